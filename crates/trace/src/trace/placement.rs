//! Fits a trace to a drive: unchanged, modulo the drive's size, or with densely numbered pages.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::requests::fit::{DriveShape, Fit, Placement};
use crate::requests::pages::{PageSet, RankedPages};
use crate::text::numbers::{grouped, readable_bytes};
use crate::trace::trace::Trace;
use std::sync::{Arc, PoisonError};
use wordline_units::{HostOp, LBA_BYTES};

impl Trace {
    pub(crate) fn placement(&self, drive: DriveShape) -> Result<Placement, WorkloadError> {
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
            return Err(Problem::new(ErrorKind::Fit, self.source.label(), what)
                .allowed("a larger drive")
                .into());
        }
        match self.fit {
            Fit::Wrap => Ok(Placement::Wrap { capacity }),
            Fit::Compact => {
                let unit = drive.unit_blocks();
                let pages = self.compacted(unit)?;
                if pages.count() * unit > capacity {
                    let what = format!(
                        "the trace touches {} in {} logical pages and the drive has {}, so fit=compact \
                         does not suffice",
                        readable_bytes(pages.count() * unit * LBA_BYTES),
                        grouped(pages.count()),
                        readable_bytes(drive.logical_bytes)
                    );
                    return Err(Problem::new(ErrorKind::Fit, self.source.label(), what)
                        .allowed("a larger drive, fewer requests, or fit=wrap")
                        .into());
                }
                Ok(Placement::Compact { pages, unit })
            }
            Fit::Error => Err(self.does_not_fit(drive)?),
        }
    }

    /// The touched pages of reads and writes, ranked; cached.
    pub fn compacted(&self, unit: u64) -> Result<Arc<RankedPages>, WorkloadError> {
        let mut kept = self.compacted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pages)) = kept.as_ref().filter(|(u, _)| *u == unit) {
            return Ok(Arc::clone(pages));
        }
        let (pages, _) = self.touched(unit, u64::MAX)?;
        let pages = Arc::new(pages.ranked());
        *kept = Some((unit, Arc::clone(&pages)));
        Ok(pages)
    }

    /// The pages of `unit` blocks that reads and writes touch, and the first request beyond `capacity` with
    /// its number and position.
    fn touched(&self, unit: u64, capacity: u64) -> Result<(PageSet, Option<String>), WorkloadError> {
        let mut stream = self.stream(Placement::AsIs, u64::MAX, None)?;
        // A trace with unusable lines has already been rejected for a run.
        stream.skip_bad = true;
        stream.loops.left = 0;
        let mut pages = PageSet::default();
        let (mut beyond, mut number) = (None, 0u64);
        while let Some(request) = stream.next().transpose()? {
            number += 1;
            let end = request.lba.0 + request.blocks as u64;
            if beyond.is_none() && end > capacity {
                beyond = Some(format!(
                    "request {} ({}) ends at {}",
                    grouped(number),
                    stream.cursor.position(),
                    readable_bytes(end.saturating_mul(LBA_BYTES))
                ));
            }
            if matches!(request.op, HostOp::Read | HostOp::Write) {
                pages.insert(request.lba.0 / unit..end.div_ceil(unit));
            }
        }
        Ok((pages, beyond))
    }

    fn does_not_fit(&self, drive: DriveShape) -> Result<WorkloadError, WorkloadError> {
        let unit = drive.unit_blocks();
        let (pages, beyond) = self.touched(unit, drive.blocks())?;
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
        let label = self.source.label();
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
        Ok(Problem::new(ErrorKind::Fit, label, what).allowed(allowed).hint(hint).into())
    }
}
