//! Fits a trace to a drive: unchanged, modulo the drive's size, or with densely numbered pages.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::requests::fit::{DriveShape, Fit, Placement};
use crate::requests::pages::{PageSet, RankedPages};
use crate::text::numbers::{grouped, readable_bytes};
use crate::trace::replay::TraceStream;
use crate::trace::scan::Scan;
use std::sync::{Arc, Mutex, PoisonError};
use wordline_units::{HostOp, LBA_BYTES};

/// The pages that a trace touches, ranked. Those of the last unit are kept.
#[derive(Default)]
pub(crate) struct Ranked(Mutex<Option<(u64, Arc<RankedPages>)>>);

impl Ranked {
    /// The pages of `unit` blocks that reads and writes of a pass touch.
    pub(crate) fn of(
        &self,
        unit: u64,
        pass: impl FnOnce() -> Result<TraceStream, WorkloadError>,
    ) -> Result<Arc<RankedPages>, WorkloadError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pages)) = kept.as_ref().filter(|(u, _)| *u == unit) {
            return Ok(Arc::clone(pages));
        }
        let (pages, _) = touched(pass()?, unit, u64::MAX)?;
        let pages = Arc::new(pages.ranked());
        *kept = Some((unit, Arc::clone(&pages)));
        Ok(pages)
    }
}

/// The pages of `unit` blocks that reads and writes touch, and the first request beyond `capacity` with
/// its number and position.
fn touched(
    mut stream: TraceStream,
    unit: u64,
    capacity: u64,
) -> Result<(PageSet, Option<String>), WorkloadError> {
    let mut pages = PageSet::default();
    let (mut beyond, mut number) = (None, 0u64);
    while let Some(request) = stream.next().transpose()? {
        number += 1;
        let end = request.lba.0 + request.blocks as u64;
        if beyond.is_none() && end > capacity {
            beyond = Some(format!(
                "request {} ({}) ends at {}",
                grouped(number),
                stream.position(),
                readable_bytes(end.saturating_mul(LBA_BYTES))
            ));
        }
        if matches!(request.op, HostOp::Read | HostOp::Write) {
            pages.insert(request.lba.0 / unit..end.div_ceil(unit));
        }
    }
    Ok((pages, beyond))
}

/// A scanned trace, as it is fitted to a drive.
pub(crate) struct Scanned<'a> {
    pub(crate) label: &'a str,
    pub(crate) scan: &'a Scan,
    /// End of its concatenated volumes in blocks.
    pub(crate) end: u64,
    pub(crate) ranked: &'a Ranked,
    /// Begins a pass over it.
    pub(crate) pass: &'a dyn Fn() -> Result<TraceStream, WorkloadError>,
}

impl Scanned<'_> {
    /// Where its requests go on the drive.
    pub(crate) fn placement(&self, fit: Fit, drive: DriveShape) -> Result<Placement, WorkloadError> {
        let capacity = drive.blocks();
        if self.end <= capacity {
            return Ok(Placement::AsIs);
        }
        if self.scan.longest as u64 > capacity {
            let what = format!(
                "a request is {} long and the drive has {}",
                readable_bytes(self.scan.longest as u64 * LBA_BYTES),
                readable_bytes(drive.logical_bytes)
            );
            return Err(Problem::new(ErrorKind::Fit, self.label, what).allowed("a larger drive").into());
        }
        match fit {
            Fit::Wrap => Ok(Placement::Wrap { capacity }),
            Fit::Compact => {
                let unit = drive.unit_blocks();
                let pages = self.ranked.of(unit, self.pass)?;
                if pages.count() * unit > capacity {
                    // Both in pages: their sizes may round to the same figure.
                    let what = format!(
                        "the trace touches {} logical pages ({}) and the drive has {} ({}), so fit=compact \
                         does not suffice",
                        grouped(pages.count()),
                        readable_bytes(pages.count() * unit * LBA_BYTES),
                        grouped(capacity / unit),
                        readable_bytes(drive.logical_bytes)
                    );
                    return Err(Problem::new(ErrorKind::Fit, self.label, what)
                        .allowed("a larger drive, fewer requests, or fit=wrap")
                        .into());
                }
                Ok(Placement::Compact { pages, unit })
            }
            Fit::Error => Err(self.does_not_fit(drive)?),
        }
    }

    fn does_not_fit(&self, drive: DriveShape) -> Result<WorkloadError, WorkloadError> {
        let unit = drive.unit_blocks();
        let (pages, beyond) = touched((self.pass)()?, unit, drive.blocks())?;
        let touched = pages.count() * unit * LBA_BYTES;
        let volumes = self.scan.volumes.iter().filter(|v| v.requests > 0).count();
        let side = if volumes > 1 { format!(" ({volumes} volumes concatenated)") } else { String::new() };
        let what = format!(
            "the trace accesses addresses up to {}{side}, {} in total; the drive has {}. First request beyond it: {}",
            readable_bytes(self.end.saturating_mul(LBA_BYTES)),
            readable_bytes(touched),
            readable_bytes(drive.logical_bytes),
            beyond.unwrap_or_default()
        );
        let (allowed, hint) = if touched <= drive.logical_bytes {
            let hint = format!(
                "fit=compact renumbers the {} accessed pages densely into {} of the drive; fit=wrap takes \
                 addresses modulo the capacity",
                grouped(pages.count()),
                readable_bytes(touched)
            );
            ("fit=wrap, fit=compact", hint)
        } else {
            let hint = format!(
                "fit=wrap takes addresses modulo the capacity, so data overlap; renumbered densely the pages need {}, \
                 more than the drive has",
                readable_bytes(touched)
            );
            ("fit=wrap", hint)
        };
        Ok(Problem::new(ErrorKind::Fit, self.label, what).allowed(allowed).hint(hint).into())
    }
}
