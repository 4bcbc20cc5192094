//! Faults that are planted: reads that fail, writes without space, flushes that lie, and the moment at which the power goes.

use std::ops::Range;
use wordline_units::SimTime;

/// When the power is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutWhen {
    /// At once.
    Now,
    /// When so many more writes have been answered; the answer of the last has been sent.
    AfterWrites(u64),
    /// When so many more flushes have been.
    AfterFlushes(u64),
    /// At a moment of the drive's time, drawn from a seed within so many nanoseconds from now.
    Drawn {
        /// The seed.
        seed: u64,
        /// Nanoseconds of the drive's time, at least 1.
        within: u64,
    },
}

/// A cut that is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Armed {
    Writes(u64),
    Flushes(u64),
    At(SimTime),
}

/// A part of the drive that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ReadError {
    /// In bytes.
    pub range: Range<u64>,
    /// How many more reads fail.
    pub left: u64,
}

/// What is planted now.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Faults {
    pub read_errors: Vec<ReadError>,
    /// Flushes that are acknowledged without being asked of the drive.
    pub early_flushes: u64,
    /// Writes that find no space.
    pub no_space: u64,
    /// How many of each have been met.
    pub failed_reads: u64,
    pub lied_flushes: u64,
    pub refused_writes: u64,
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

    /// Whether a write finds no space, which is then one fewer.
    pub(crate) fn refuses(&mut self) -> bool {
        let refuses = self.no_space > 0;
        self.no_space = self.no_space.saturating_sub(1);
        self.refused_writes += u64::from(refuses);
        refuses
    }

    /// Whether a flush lies, which is then one fewer.
    pub(crate) fn lies(&mut self) -> bool {
        let lies = self.early_flushes > 0;
        self.early_flushes = self.early_flushes.saturating_sub(1);
        self.lied_flushes += u64::from(lies);
        lies
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planted_fault_is_met_as_often_as_it_was_asked_for() {
        let mut faults = Faults { early_flushes: 1, ..Faults::default() };
        faults.read_errors.push(ReadError { range: 4096..8192, left: 2 });
        let reads = [0..4096, 0..4097, 8191..9000, 4096..8192].map(|r| faults.fails(&r));
        assert_eq!(reads, [false, true, true, false]);
        assert_eq!([faults.lies(), faults.lies()], [true, false]);
        faults.no_space = 1;
        assert_eq!([faults.refuses(), faults.refuses()], [true, false]);
        assert_eq!((faults.failed_reads, faults.lied_flushes), (2, 1));
    }
}
