//! Injected faults: reads that fail, writes without space, ignored flushes, and the time of a power cut.

use std::ops::Range;
use wordline_units::SimTime;

/// When the power is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutWhen {
    /// At once.
    Now,
    /// After this many more writes have been acknowledged; the last reply has been sent.
    AfterWrites(u64),
    /// When so many more flushes have been.
    AfterFlushes(u64),
    /// At a time of the drive, drawn by a seed within this many nanoseconds from now.
    Drawn {
        /// The seed.
        seed: u64,
        /// Nanoseconds of the drive's time, at least 1.
        within: u64,
    },
}

/// An armed power cut, and the seed that determines its losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Armed {
    /// Number by which it is cancelled.
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

/// An unreadable part of the drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReadError {
    /// Number by which it is cancelled.
    pub number: u64,
    /// In bytes.
    pub range: Range<u64>,
    /// How many more reads fail.
    pub left: u64,
}

/// A fault that is met some times.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Times {
    /// How many more times.
    pub left: u64,
    /// How often it has been met.
    pub met: u64,
}

impl Times {
    /// So many times more.
    pub(crate) fn plant(&mut self, count: u64) -> u64 {
        self.left = self.left.saturating_add(count);
        self.left
    }

    /// Whether it is met now, which is then one time fewer.
    pub(crate) fn meet(&mut self) -> bool {
        let met = self.left > 0;
        self.left -= u64::from(met);
        self.met += u64::from(met);
        met
    }
}

/// Faults injected now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Faults {
    pub read_errors: Vec<ReadError>,
    /// How many reads have met one.
    pub failed_reads: u64,
    /// Flushes that are acknowledged but not executed.
    pub early_flushes: Times,
    /// Writes that find no space.
    pub no_space: Times,
}

impl Faults {
    /// Whether a read of a range fails, which is then one fewer.
    pub(crate) fn fails(&mut self, range: &Range<u64>) -> bool {
        let meets = |e: &&mut ReadError| e.range.start < range.end && range.start < e.range.end;
        let Some(met) = self.read_errors.iter_mut().find(meets) else { return false };
        met.left -= 1;
        self.failed_reads += 1;
        self.read_errors.retain(|e| e.left > 0);
        true
    }

    /// Nothing is planted any more.
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
    fn a_planted_fault_is_met_as_often_as_it_was_asked_for() {
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
