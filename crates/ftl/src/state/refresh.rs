//! Blocks with data that are too old or were read too often, and the time of the next check of ages.

use crate::file::saved::{Saved, saved};
use std::collections::BTreeMap;
use std::ops::Range;
use wordline_counters::Due;
use wordline_flash::Refresh;
use wordline_units::{BlockId, SimTime};

/// The blocks that are due.
pub(crate) struct Refreshing {
    rule: Refresh,
    due: BTreeMap<u32, Due>,
    /// When the ages of all blocks are looked at next.
    next_scan: SimTime,
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

    /// When data are too old or have been read too often.
    pub fn rule(&self) -> Refresh {
        self.rule
    }

    /// Whether the ages of all blocks are due for a check now.
    #[inline(always)]
    pub fn is_scan_due(&self, now: SimTime) -> bool {
        now >= self.next_scan
    }

    /// The ages were checked: set the time of the next check.
    pub fn scan_at(&mut self, next: SimTime) {
        self.next_scan = next;
    }

    /// Mark a block as due; the first reason counts.
    pub fn note_due(&mut self, block: BlockId, why: Due) {
        self.due.entry(block.0).or_insert(why);
    }

    /// Whether no block is due.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// The blocks of a range that are due, and why.
    pub fn due_in(&self, blocks: Range<u32>) -> Vec<(u32, Due)> {
        self.due.range(blocks).map(|(block, why)| (*block, *why)).collect()
    }

    /// A block is no longer due: it has been erased, or is being emptied.
    pub fn forget(&mut self, block: BlockId) {
        self.due.remove(&block.0);
    }

    /// Restart the clock at 0.
    pub fn start_anew(&mut self) {
        self.next_scan = Self::first_scan(self.rule);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_is_due_for_its_first_reason_until_forgotten() {
        let mut refreshing = Refreshing::new(Refresh::default());
        assert!(!refreshing.is_scan_due(SimTime(1 << 60)), "no age is too old");
        refreshing.note_due(BlockId(5), Due::Age);
        refreshing.note_due(BlockId(5), Due::Reads);
        refreshing.note_due(BlockId(9), Due::Reads);
        assert!(refreshing.due_in(0..9) == [(5, Due::Age)] && !refreshing.is_empty());
        refreshing.forget(BlockId(5));
        refreshing.forget(BlockId(9));
        assert!(refreshing.is_empty());
    }
}
