//! A trace, or part of its time, to be fitted.

use crate::generators::twin::statistics::{Depth, Statistics};
use crate::workload::workload::Workload;
use std::ops::Range;
use wordline_trace::{DriveShape, ErrorKind, Overrides, Pacing, Problem, WorkloadError};
use wordline_units::HostRequest;

/// Page size in bytes by which writes count as large or partial.
pub(crate) const PAGE: u64 = 16 << 10;

pub(crate) const SEED: u64 = 1;

/// A drive that is large enough for every trace.
pub(crate) const ROOM: DriveShape =
    DriveShape { logical_bytes: 1 << 63, sector_bytes: 4096, unit_bytes: 4096 };

/// A trace, or part of its time.
pub(crate) struct Piece {
    pub(crate) workload: Workload,
    pub(crate) text: String,
    /// The part, in nanoseconds from the first request of the trace.
    pub(crate) time: Range<u64>,
}

impl Piece {
    /// A whole trace.
    ///
    /// # Errors
    /// An invalid trace; a workload that is not a trace.
    pub fn whole(text: &str) -> Result<Piece, WorkloadError> {
        let workload = Workload::parse(text, Overrides::default())?;
        if workload.is_drawn() || workload.pacing() == Pacing::Jobs {
            let what = "not a trace: it is generated from numbers";
            return Err(refused(text, what, "share it unchanged"));
        }
        Ok(Piece { workload, text: text.to_string(), time: 0..u64::MAX })
    }

    /// The requests in a time span, with times from its start.
    pub fn within(&self, time: Range<u64>) -> Piece {
        Piece { workload: self.workload.clone(), text: self.text.clone(), time }
    }

    /// Its requests, with times from 0.
    pub fn requests(
        &self,
    ) -> Result<impl Iterator<Item = Result<HostRequest, WorkloadError>>, WorkloadError> {
        let (mut first, time) = (None, self.time.clone());
        Ok(self.workload.open(ROOM, SEED)?.filter_map(move |request| match request {
            Ok(mut r) => {
                let at = r.arrival.0 - *first.get_or_insert(r.arrival.0);
                r.arrival.0 = at.saturating_sub(time.start);
                time.contains(&at).then_some(Ok(r))
            }
            Err(e) => Some(Err(e)),
        }))
    }

    /// All its figures.
    ///
    /// # Errors
    /// An invalid trace; a trace without reads and writes.
    pub fn statistics(&self) -> Result<Statistics, WorkloadError> {
        let mut found = Statistics::new(PAGE, Depth::Full);
        for request in self.requests()? {
            found.add(&request?);
        }
        if found.requests() == 0 {
            let what = "no reads or writes";
            return Err(refused(&self.text, what, "a twin needs reads or writes"));
        }
        Ok(found)
    }
}

pub(crate) fn refused(text: &str, what: &str, hint: &str) -> WorkloadError {
    Problem::new(ErrorKind::Content, text, what).allowed("a trace of reads or writes").hint(hint).into()
}
