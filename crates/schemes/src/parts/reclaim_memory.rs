//! Settings of reclaim, and its memory of the host and of candidate blocks.

use crate::parameters::{Parameter, Parameters};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_ftl::View;
use wordline_units::{BlockId, DieId, Fraction, SimTime};

pub(crate) const RECLAIM: Parameter =
    Parameter::new("reclaim", "off", "on or off: convert blocks with cold data back to QLC in idle time");

pub(crate) const RECLAIM_BELOW: Parameter = Parameter::new(
    "reclaim_below",
    "10%",
    "free capacity, as a share of the stored data, below which reclaim also runs outside idle time",
);

/// Default number of reads after which read counts are halved, if blocks are reclaimed.
pub(crate) const DECAY: u64 = 4_000_000;

/// How far ahead the host's writes are foreseen, ns: a mean over this long, for this long.
const HORIZON: f64 = 10e9;

/// Blocks are given back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reclaim {
    /// Free capacity that does not wait, to the data stored.
    pub below: Fraction,
    /// Bytes of a unit of the map, set by `layout`.
    pub unit: u64,
}

impl Reclaim {
    pub fn from_parameters(p: &mut Parameters) -> Option<Reclaim> {
        let on = p.choice("reclaim", &[("on", true), ("off", false)]);
        let below = p.take("reclaim_below");
        on.then_some(Reclaim { below, unit: 0 })
    }
}

/// Memory of the host, and of candidate blocks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Host writes and pages read so far; the same idle time lasts while neither changes.
    writes: u64,
    reads: u64,
    /// Bytes that the host would write within the horizon, as it was when it last wrote.
    demand: f64,
    wrote: SimTime,
    /// Both together when a die last gave a block back.
    given: BTreeMap<u32, u64>,
    /// Erase counts of full blocks, and pages read when they were first found full.
    full: BTreeMap<u32, (u32, u64)>,
}

impl Memory {
    /// Bytes that the host will write within the horizon if it continues as before: an exponentially weighted
    /// mean of its rate, times the horizon.
    pub fn demand(&self, now: SimTime) -> f64 {
        self.demand * libm::exp(-(now.since(self.wrote).0 as f64) / HORIZON)
    }

    /// Note a host write, and its bytes.
    pub fn write(&mut self, bytes: u64, now: SimTime) {
        self.writes += 1;
        self.demand = self.demand(now) + bytes as f64;
        self.wrote = now;
    }

    /// The host has read a page.
    pub fn read(&mut self) {
        self.reads += 1;
    }

    /// Pages that the host has read.
    pub fn pages_read(&self) -> u64 {
        self.reads
    }

    /// Note which of these blocks are full, and since how many reads.
    pub fn look(&mut self, blocks: impl Iterator<Item = BlockId>, view: &View) {
        for block in blocks {
            let found = (view.erases(block), self.reads);
            let known = self.full.entry(block.0).or_insert(found);
            if known.0 != found.0 {
                *known = found;
            }
        }
    }

    /// Whether a block has been full for this number of page reads.
    pub fn has_rested(&self, block: BlockId, reads: u64) -> bool {
        self.full.get(&block.0).is_some_and(|(_, at)| self.reads - at >= reads)
    }

    /// Whether a die has given a block back in this idle time.
    pub fn has_given(&self, die: DieId) -> bool {
        self.given.get(&die.0) == Some(&(self.writes + self.reads))
    }

    /// A die gives a block back.
    pub fn give(&mut self, die: DieId) {
        self.given.insert(die.0, self.writes + self.reads);
    }
}
