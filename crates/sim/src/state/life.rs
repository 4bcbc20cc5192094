//! The end of life that is asked for.

use crate::end::EndOfLife;

/// The end that is asked for, and whether it has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    end: EndOfLife,
    least_bytes: u64,
    /// Blocks that had retired when this was last looked at: it changes with them only.
    retired: u32,
    is_short: bool,
}

impl Default for Watch {
    fn default() -> Watch {
        Watch { end: EndOfLife::OutOfSpace, least_bytes: 0, retired: 0, is_short: false }
    }
}

impl Watch {
    /// A drive that ends at a condition, or when it holds less than this many bytes. Record the remaining bytes, and
    /// the number of retired blocks.
    pub fn new(end: EndOfLife, least_bytes: u64, left: u64, retired: u32) -> Watch {
        Watch { end, least_bytes, retired, is_short: left < least_bytes }
    }

    /// The condition that the drive has reached, with this many retired blocks and failed reads. The remaining bytes
    /// are computed only after another block has retired.
    pub fn ended_by(&mut self, retired: u32, unread: u64, left: impl FnOnce() -> u64) -> Option<EndOfLife> {
        if retired != self.retired {
            self.retired = retired;
            self.is_short = left() < self.least_bytes;
        }
        let is_unread = self.end == EndOfLife::Uncorrectable && unread > 0;
        (self.is_short || is_unread).then_some(self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drive_runs_short_at_the_block_that_crosses_the_limit() {
        let end = EndOfLife::OutOfSpace;
        let mut watch = Watch::new(end, 100, 120, 3);
        assert_eq!(watch.ended_by(3, 9, || unreachable!("no block has retired")), None);
        assert_eq!(watch.ended_by(4, 9, || 100), None);
        assert_eq!(watch.ended_by(5, 9, || 99), Some(end));
        assert_eq!(Watch::new(end, 100, 99, 0).ended_by(0, 0, || 99), Some(end));
    }

    #[test]
    fn read_that_fails_ends_it_only_where_that_is_asked() {
        let end = EndOfLife::Uncorrectable;
        assert_eq!(Watch::new(end, 0, 9, 0).ended_by(0, 1, || 9), Some(end));
        assert_eq!(Watch::new(end, 0, 9, 0).ended_by(0, 0, || 9), None);
        assert_eq!(Watch::default().ended_by(1, 1, || 0), None);
    }
}
