//! Blocks whose data are too old, or have been read too often, and when the ages of all are looked at next.

use crate::file::saved::{Saved, saved};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_flash::Refresh;
use wordline_units::{BlockId, SimTime};

/// Why a block is written anew.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum Due {
    /// Its data are too old.
    Age,
    /// It has been read too often.
    Reads,
    /// A page of it takes too many retries.
    Retries,
}

impl Due {
    /// How many there are.
    pub const COUNT: usize = 3;
    /// All of them.
    pub const ALL: [Due; Due::COUNT] = [Due::Age, Due::Reads, Due::Retries];

    /// The key that reports use.
    pub const fn key(self) -> &'static str {
        ["age", "reads", "retries"][self as usize]
    }
}

/// The blocks that are due.
pub(crate) struct Refreshing {
    pub rule: Refresh,
    pub due: BTreeMap<u32, Due>,
    /// When the ages of all blocks are looked at next.
    pub next_scan: SimTime,
}

impl Saved for Refreshing {
    saved! { Refreshing, values: [due, next_scan as look_at], parts: [], rebuilt: [rule] }
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
