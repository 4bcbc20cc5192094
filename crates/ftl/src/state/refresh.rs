//! Blocks whose data are too old, or have been read too often, and when the ages of all are looked at next.

use crate::file::saved::{Saved, saved};
use std::collections::BTreeMap;
use wordline_counters::Due;
use wordline_flash::Refresh;
use wordline_units::{BlockId, SimTime};

/// The blocks that are due.
pub(crate) struct Refreshing {
    pub rule: Refresh,
    pub due: BTreeMap<u32, Due>,
    /// When the ages of all blocks are looked at next.
    pub next_scan: SimTime,
}

impl Saved for Refreshing {
    saved! { Refreshing, values: [due, next_scan], parts: [], rebuilt: [rule] }
}

impl Refreshing {
    pub fn new(rule: Refresh) -> Refreshing {
        Refreshing { rule, due: BTreeMap::new(), next_scan: Self::first_scan(rule) }
    }

    fn first_scan(rule: Refresh) -> SimTime {
        if rule.age.is_some() { SimTime(0) } else { SimTime::NEVER }
    }

    /// Time begins anew.
    pub fn start_anew(&mut self) {
        self.next_scan = Self::first_scan(self.rule);
    }

    /// A block has been erased.
    pub fn erased(&mut self, block: BlockId) {
        self.due.remove(&block.0);
    }
}
