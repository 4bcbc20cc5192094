//! How far a medium is used up, as a model of lifetimes counts it, and when the next look is due.

use crate::parameters::Parameters;
use serde::{Deserialize, Serialize};
use wordline_ftl::{Cause, RegionId, View};
use wordline_units::SimTime;

/// Measure of the P/E cycles of a medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Used {
    /// Mean number of erases per block.
    Erases,
    /// All programmed bytes over the size of the medium, including GC.
    Programs,
    /// The same without GC.
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

/// Programmed bytes of two regions since the drive was created: the engine's own counters start over with
/// every run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    seen: [u64; 2],
    before: [u64; 2],
    looked: SimTime,
}

impl Ledger {
    /// P/E cycles of two media, regions 0 and 1, of this many bytes each.
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

/// Unit of periods.
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
