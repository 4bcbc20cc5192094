//! Injected faults: reads that fail, writes without space, ignored flushes, and the time of a power cut.

use std::ops::Range;
use wordline_units::SimTime;

/// When to cut the power.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutWhen {
    /// Immediately.
    Now,
    /// After this many more acknowledged writes, once the last reply has been sent.
    AfterWrites(u64),
    /// After this many more acknowledged flushes, once the last reply has been sent.
    AfterFlushes(u64),
    /// At a random time of the drive: at most `within` from now.
    Drawn {
        /// Seed of the random time.
        seed: u64,
        /// In nanoseconds of the drive's time, at least 1.
        within: u64,
    },
}

/// An armed power cut, and the seed that determines which data it loses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Armed {
    /// The number that cancels it.
    pub number: u64,
    pub due: Due,
    pub seed: Option<u64>,
}

/// Condition of an armed power cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Due {
    Writes(u64),
    Flushes(u64),
    At(SimTime),
}

/// A range of the drive whose reads fail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReadError {
    /// The number that cancels it.
    pub number: u64,
    /// The range, in bytes.
    pub range: Range<u64>,
    /// How many more reads fail.
    pub left: u64,
}

/// A fault that applies to the next few requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Times {
    /// How many more requests it applies to.
    pub left: u64,
    /// How many requests it has applied to.
    pub met: u64,
}

impl Times {
    /// Apply the fault to this many more requests. Returns how many are left.
    pub(crate) fn plant(&mut self, count: u64) -> u64 {
        self.left = self.left.saturating_add(count);
        self.left
    }

    /// Whether the fault applies to this request, which then counts.
    pub(crate) fn meet(&mut self) -> bool {
        let met = self.left > 0;
        self.left -= u64::from(met);
        self.met += u64::from(met);
        met
    }
}

/// Faults that are injected now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Faults {
    pub read_errors: Vec<ReadError>,
    /// Number of reads that failed because of an injected fault.
    pub failed_reads: u64,
    /// Flushes that are acknowledged but not executed.
    pub early_flushes: Times,
    /// Writes that fail for lack of space.
    pub no_space: Times,
}

impl Faults {
    /// Whether a read of a range fails; the fault then has one read fewer left.
    pub(crate) fn fails(&mut self, range: &Range<u64>) -> bool {
        let meets = |e: &&mut ReadError| e.range.start < range.end && range.start < e.range.end;
        let Some(met) = self.read_errors.iter_mut().find(meets) else { return false };
        met.left -= 1;
        self.failed_reads += 1;
        self.read_errors.retain(|e| e.left > 0);
        true
    }

    /// Remove all faults.
    pub(crate) fn clear(&mut self) {
        self.read_errors.clear();
        self.early_flushes.left = 0;
        self.no_space.left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn injected_fault_hits_as_often_as_asked() {
        let mut faults = Faults::default();
        faults.read_errors.push(ReadError { number: 1, range: 4096..8192, left: 2 });
        let reads = [0..4096, 0..4097, 8191..9000, 4096..8192].map(|r| faults.fails(&r));
        assert_eq!(reads, [false, true, true, false]);
        faults.early_flushes.plant(1);
        assert_eq!([faults.early_flushes.meet(), faults.early_flushes.meet()], [true, false]);
        faults.no_space.plant(1);
        assert_eq!(faults.no_space.plant(u64::MAX), u64::MAX);
        faults.clear();
        assert!(!faults.no_space.meet());
        assert_eq!((faults.failed_reads, faults.early_flushes.met), (2, 1));
    }
}
