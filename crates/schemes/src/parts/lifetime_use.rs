//! How far a medium is used up, as a model of lifetimes counts it, and when the next look is due.

use crate::parameters::Parameters;
use serde::{Deserialize, Serialize};
use wordline_ftl::{Cause, RegionId, View};
use wordline_units::SimTime;

/// What the cycles that a medium has behind it are counted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Used {
    /// Mean number of erases per block.
    Erases,
    /// All that was programmed, in sizes of the medium: collections are in it.
    Programs,
    /// The same without collections: what was written to the medium.
    Writes,
}

impl Used {
    pub fn take(p: &mut Parameters) -> Used {
        p.choice("used", &[("erases", Used::Erases), ("programs", Used::Programs), ("writes", Used::Writes)])
    }

    /// Bytes by cause that count.
    fn bytes(self, by_cause: &[u64; Cause::COUNT]) -> u64 {
        let all: u64 = by_cause.iter().sum();
        let collected = if self == Used::Writes { by_cause[Cause::Gc as usize] } else { 0 };
        all - collected
    }
}

/// What was programmed in two regions since the drive was made: its own counts start over with every run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    seen: [u64; 2],
    before: [u64; 2],
    looked: SimTime,
}

impl Ledger {
    /// Cycles that two media have behind them, regions 0 and 1, of this many bytes each.
    pub fn cycles(&mut self, used: Used, view: &View, bytes: [u64; 2]) -> [f64; 2] {
        let regions = [RegionId(0), RegionId(1)];
        if used == Used::Erases {
            return regions.map(|region| view.mean_erases(region));
        }
        let now = regions.map(|region| used.bytes(view.program_bytes(region)));
        let anew = view.now < self.looked || now.iter().zip(self.seen).any(|(now, seen)| *now < seen);
        if anew {
            self.before.iter_mut().zip(self.seen).for_each(|(before, seen)| *before += seen);
        }
        self.seen = now;
        self.looked = view.now;
        [0, 1].map(|i| (self.before[i] + now[i]) as f64 / bytes[i].max(1) as f64)
    }
}

/// What periods are counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counted {
    Pages,
    Requests,
}

impl Counted {
    pub fn take(p: &mut Parameters) -> Counted {
        p.choice("counts", &[("pages", Counted::Pages), ("requests", Counted::Requests)])
    }
}
