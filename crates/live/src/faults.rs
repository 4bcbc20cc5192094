//! Injected faults: reads that fail, writes without space, ignored flushes, and armed power cuts.

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
    /// Number of the last armed power cut or read error.
    last_number: u64,
    cuts: Vec<Armed>,
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

    fn new_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Let this many reads of a range fail.
    pub(crate) fn plant_read_error(&mut self, range: Range<u64>, count: u64) {
        let number = self.new_number();
        self.read_errors.push(ReadError { number, range, left: count });
    }

    /// Arm a power cut.
    pub(crate) fn arm(&mut self, due: Due, seed: Option<u64>) {
        let number = self.new_number();
        self.cuts.push(Armed { number, due, seed });
    }

    /// Armed power cuts.
    pub(crate) fn cuts(&self) -> &[Armed] {
        &self.cuts
    }

    /// Time of the next power cut, among those with a drawn time.
    pub(crate) fn next_cut(&self) -> Option<SimTime> {
        self.cuts.iter().filter_map(|cut| if let Due::At(at) = cut.due { Some(at) } else { None }).min()
    }

    /// The power cut with this drawn time.
    pub(crate) fn cut_at(&self, at: SimTime) -> Option<Armed> {
        self.cuts.iter().find(|cut| cut.due == Due::At(at)).copied()
    }

    /// A power cut that was armed for a number of replies, all of which have been given.
    pub(crate) fn due_cut(&self) -> Option<Armed> {
        self.cuts.iter().find(|cut| matches!(cut.due, Due::Writes(0) | Due::Flushes(0))).copied()
    }

    /// Count an acknowledged write towards armed power cuts.
    pub(crate) fn count_write(&mut self) {
        for cut in &mut self.cuts {
            if let Due::Writes(left) = &mut cut.due {
                *left = left.saturating_sub(1);
            }
        }
    }

    /// Count an acknowledged flush towards armed power cuts.
    pub(crate) fn count_flush(&mut self) {
        for cut in &mut self.cuts {
            if let Due::Flushes(left) = &mut cut.due {
                *left = left.saturating_sub(1);
            }
        }
    }

    /// Cancel all armed power cuts.
    pub(crate) fn disarm_all(&mut self) {
        self.cuts.clear();
    }

    /// Cancel the power cut or read error with a number. Returns whether there is one.
    pub(crate) fn disarm(&mut self, number: u64) -> bool {
        let before = self.numbers().count();
        self.cuts.retain(|cut| cut.number != number);
        self.read_errors.retain(|error| error.number != number);
        self.numbers().count() < before
    }

    /// The numbers of armed power cuts and read errors.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.cuts.iter().map(|cut| cut.number).chain(self.read_errors.iter().map(|error| error.number))
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

    /// Remove all faults except armed power cuts.
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
        faults.plant_read_error(4096..8192, 2);
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
    #[test]
    fn armed_cut_is_due_after_its_replies_or_at_its_time() {
        let mut faults = Faults::default();
        faults.arm(Due::Writes(1), Some(7));
        faults.arm(Due::Flushes(2), None);
        faults.arm(Due::At(SimTime(9)), Some(8));
        assert_eq!((faults.next_cut(), faults.due_cut()), (Some(SimTime(9)), None));
        assert_eq!(faults.cut_at(SimTime(9)).map(|cut| cut.seed), Some(Some(8)));
        faults.count_flush();
        assert_eq!(faults.due_cut(), None);
        faults.count_write();
        assert_eq!(faults.due_cut().map(|cut| cut.seed), Some(Some(7)));
        assert!(faults.disarm(1) && !faults.disarm(1));
        assert_eq!(faults.numbers().collect::<Vec<_>>(), [2, 3]);
        faults.count_flush();
        assert_eq!(faults.due_cut().map(|cut| cut.number), Some(2));
        faults.disarm_all();
        assert_eq!((faults.numbers().count(), faults.next_cut()), (0, None));
    }
}
