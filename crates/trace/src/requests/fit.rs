//! Fits a trace to a drive that is smaller than the trace's addresses. Nothing is changed without a request:
//! the error states the touched size, the capacity, and the effect of each mode.

use crate::requests::pages::RankedPages;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use wordline_units::{HostOp, LBA_BYTES};

/// How to treat requests beyond the end of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fit {
    /// Refuse the workload.
    #[default]
    Error,
    /// Take addresses modulo the drive's size. A request that would cross the end is moved back so that it
    /// ends at the end of the drive. The number and lengths of requests stay the same.
    Wrap,
    /// Renumber the touched logical pages densely, in order of address. Contiguous data stay contiguous, and
    /// gaps are removed.
    Compact,
}

impl FromStr for Fit {
    type Err = String;
    fn from_str(text: &str) -> Result<Fit, String> {
        match text {
            "error" => Ok(Fit::Error),
            "wrap" => Ok(Fit::Wrap),
            "compact" => Ok(Fit::Compact),
            _ => Err(format!("{text:?} is not a fit mode; allowed: error, wrap, compact")),
        }
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fit::Error => "error",
            Fit::Wrap => "wrap",
            Fit::Compact => "compact",
        })
    }
}

/// Properties of the drive that a workload needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct DriveShape {
    /// Logical capacity in bytes.
    pub logical_bytes: u64,
    /// Size of a sector in bytes, the unit of masks, transfers and mapping.
    pub sector_bytes: u32,
    /// Size of a logical page in bytes, the unit of the mapping table.
    pub unit_bytes: u32,
}

impl DriveShape {
    /// The drive's size in blocks of 512 bytes.
    pub const fn blocks(&self) -> u64 {
        self.logical_bytes / LBA_BYTES
    }

    /// Blocks of 512 bytes per logical page, at least 1.
    pub const fn unit_blocks(&self) -> u64 {
        let blocks = self.unit_bytes as u64 / LBA_BYTES;
        if blocks == 0 { 1 } else { blocks }
    }
}

/// The fit of a trace to a drive, which gives the address of each request.
#[derive(Clone)]
pub enum Placement {
    /// The address is unchanged.
    AsIs,
    /// Wrap at the end of the drive.
    Wrap {
        /// Size of the drive in blocks.
        capacity: u64,
    },
    /// Leave out units that are not touched.
    Compact {
        /// The touched units.
        pages: Arc<RankedPages>,
        /// Blocks per unit.
        unit: u64,
    },
}

impl Placement {
    /// The address and length of a request of this many blocks at `lba`. Nothing for a trim without data.
    #[inline]
    pub fn place(&self, lba: u64, blocks: u32, op: HostOp) -> Option<(u64, u32)> {
        match self {
            Placement::AsIs => Some((lba, blocks)),
            Placement::Wrap { capacity } => {
                let at = lba % capacity;
                Some((at.min(capacity.saturating_sub(blocks as u64)), blocks))
            }
            Placement::Compact { pages, unit } if op == HostOp::Trim => {
                let first = pages.rank(lba.div_ceil(*unit)) * unit;
                let past = pages.rank((lba + blocks as u64) / unit) * unit;
                (past > first).then(|| (first, (past - first) as u32))
            }
            Placement::Compact { pages, unit } => Some((pages.rank(lba / unit) * unit + lba % unit, blocks)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::pages::PageSet;

    #[test]
    fn wrapped_request_keeps_its_length_and_ends_in_range() {
        let wrap = Placement::Wrap { capacity: 100 };
        assert_eq!(wrap.place(250, 8, HostOp::Write), Some((50, 8)));
        assert_eq!(wrap.place(199, 8, HostOp::Write), Some((92, 8)));
        assert_eq!(wrap.place(92, 8, HostOp::Read), Some((92, 8)));
        assert_eq!(wrap.place(100, 100, HostOp::Read), Some((0, 100)));
    }

    #[test]
    fn compaction_closes_gaps_and_keeps_contiguity() {
        let mut set = PageSet::default();
        set.insert(10..14);
        set.insert(1000..1001);
        let fit = Placement::Compact { pages: Arc::new(set.ranked()), unit: 8 };
        assert_eq!(fit.place(83, 20, HostOp::Write), Some((3, 20)));
        assert_eq!(fit.place(8003, 5, HostOp::Read), Some((35, 5)));
        assert_eq!(fit.place(80, 8, HostOp::Write), Some((0, 8)));
        assert_eq!(fit.place(0, 1 << 20, HostOp::Trim), Some((0, 40)));
        assert_eq!(fit.place(200, 100, HostOp::Trim), None);
        assert_eq!(fit.place(81, 16, HostOp::Trim), Some((8, 8)));
    }
}
