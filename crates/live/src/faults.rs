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

/// A fault that applies to the next few requests of its kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A flush is acknowledged but not executed.
    EarlyFlush,
    /// A write fails for lack of space.
    NoSpace,
}

/// How often a fault applies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Times {
    /// How many more requests it applies to.
    pub left: u64,
    /// How many requests it has applied to.
    pub met: u64,
}

/// Faults that are injected now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Faults {
    read_errors: Vec<ReadError>,
    /// Number of reads that failed because of an injected fault.
    failed_reads: u64,
    early_flushes: Times,
    no_space: Times,
}

impl Faults {
    /// Ranges whose reads fail.
    pub(crate) fn read_errors(&self) -> &[ReadError] {
        &self.read_errors
    }

    /// Number of reads that failed because of an injected fault.
    pub(crate) fn failed_reads(&self) -> u64 {
        self.failed_reads
    }

    /// How often a fault applies.
    pub(crate) fn times(&self, fault: Fault) -> Times {
        match fault {
            Fault::EarlyFlush => self.early_flushes,
            Fault::NoSpace => self.no_space,
        }
    }

    fn times_mut(&mut self, fault: Fault) -> &mut Times {
        match fault {
            Fault::EarlyFlush => &mut self.early_flushes,
            Fault::NoSpace => &mut self.no_space,
        }
    }

    /// Apply a fault to this many more requests. Returns how many are left.
    pub(crate) fn plant(&mut self, fault: Fault, count: u64) -> u64 {
        let times = self.times_mut(fault);
        times.left = times.left.saturating_add(count);
        times.left
    }

    /// Whether a fault applies to this request, which then counts.
    pub(crate) fn meets(&mut self, fault: Fault) -> bool {
        let times = self.times_mut(fault);
        let met = times.left > 0;
        times.left -= u64::from(met);
        times.met += u64::from(met);
        met
    }

    /// Let reads of a range fail.
    pub(crate) fn plant_read_error(&mut self, error: ReadError) {
        self.read_errors.push(error);
    }

    /// Cancel the read error with a number. Returns whether there is one.
    pub(crate) fn cancel(&mut self, number: u64) -> bool {
        let before = self.read_errors.len();
        self.read_errors.retain(|error| error.number != number);
        self.read_errors.len() < before
    }

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
        faults.plant_read_error(ReadError { number: 1, range: 4096..8192, left: 2 });
        let reads = [0..4096, 0..4097, 8191..9000, 4096..8192].map(|r| faults.fails(&r));
        assert_eq!(reads, [false, true, true, false]);
        faults.plant(Fault::EarlyFlush, 1);
        assert_eq!([faults.meets(Fault::EarlyFlush), faults.meets(Fault::EarlyFlush)], [true, false]);
        faults.plant(Fault::NoSpace, 1);
        assert_eq!(faults.plant(Fault::NoSpace, u64::MAX), u64::MAX);
        faults.clear();
        assert!(!faults.meets(Fault::NoSpace));
        assert_eq!((faults.failed_reads(), faults.times(Fault::EarlyFlush).met), (2, 1));
    }
}
