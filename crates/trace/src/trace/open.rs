//! All parts of a trace, opened as one stream of records.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::reading::record::RecordReader;
use crate::source::source::Source;
use crate::trace::detect::Identified;
use crate::trace::join::{Chained, Identity, Merged, OpenPart};
use crate::trace::options::Backwards;
use crate::trace::sorted::Sorted;
use std::io;

/// Maximum number of files that are merged. More files are concatenated and sorted.
pub(crate) const SIDE_BY_SIDE: usize = 256;

/// All parts of a trace as one stream of records.
pub(crate) fn open_all(
    source: &Source,
    identified: &Identified,
    backwards: Backwards,
    identity: Identity,
) -> Result<Box<dyn RecordReader>, WorkloadError> {
    let (format, settings) = (identified.format, identified.settings.clone());
    let sort = backwards == Backwards::Sort;
    let reader: Box<dyn RecordReader> = if let [part] = source.parts() {
        (format.open)(&settings, part.open()?)
    } else {
        let names = source.parts().iter().map(|p| p.name.clone()).collect();
        let parts = source.parts().to_vec();
        let open: OpenPart = Box::new(move |n| {
            let content = parts[n as usize].open().map_err(|e| io::Error::other(e.to_string()))?;
            Ok((format.open)(&settings, content))
        });
        if sort || source.parts().len() > SIDE_BY_SIDE {
            return Ok(Box::new(Sorted::new(Box::new(Chained::new(names, identity, open)))));
        }
        let failed =
            |e: io::Error| WorkloadError::from(Problem::new(ErrorKind::Io, source.label(), e.to_string()));
        Box::new(Merged::new(names, identity, open).map_err(failed)?)
    };
    Ok(if sort { Box::new(Sorted::new(reader)) } else { reader })
}
