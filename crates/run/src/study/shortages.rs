//! Blocks that are being emptied, and since when their regions have been short of free blocks.

use std::collections::HashMap;
use wordline_ftl::{Collecting, Reason, RegionId};
use wordline_report::Emptied;
use wordline_units::{BlockId, SimDuration, SimTime};

/// A region short of free blocks.
#[derive(Clone, Copy)]
struct Short {
    /// Since when without a break.
    since: SimTime,
    /// Number of its blocks that are being emptied.
    blocks: u32,
    /// Since when none is.
    quiet: SimTime,
    /// Bytes that have left it for another region in that time.
    moved_bytes: u64,
}

/// A longer time without such a block ends a shortage.
const BREAK: SimDuration = SimDuration(100_000_000);

/// Blocks being emptied: since when, the cause, and the free blocks of their regions at that time.
#[derive(Default)]
pub(crate) struct Shortages {
    emptying: HashMap<BlockId, (SimTime, Collecting, Short)>,
    regions: HashMap<RegionId, Short>,
}

impl Shortages {
    /// A block starts to be emptied, or continues.
    pub fn begin(&mut self, empties: Collecting, at: SimTime) {
        if self.emptying.contains_key(&empties.block) {
            return;
        }
        let new = Short { since: at, blocks: 0, quiet: at, moved_bytes: 0 };
        let short = self.regions.entry(empties.region).or_insert(new);
        if short.blocks == 0 && at.since(short.quiet) > BREAK {
            *short = new;
        }
        short.blocks += 1;
        self.emptying.insert(empties.block, (at, empties, *short));
    }

    /// Bytes leave a region for another.
    pub fn left(&mut self, region: RegionId, bytes: u64) {
        if let Some(short) = self.regions.get_mut(&region) {
            short.moved_bytes += bytes;
        }
    }

    /// A block is erased.
    pub fn end(&mut self, block: BlockId, at: SimTime) {
        let Some((_, begun, _)) = self.emptying.remove(&block) else { return };
        if let Some(short) = self.regions.get_mut(&begun.region) {
            short.blocks = short.blocks.saturating_sub(1);
            short.quiet = at;
        }
    }

    /// A block that is emptied, as it was at the start; with name and mode of its region.
    pub fn emptied(&self, empties: Collecting, (region, mode): (String, String)) -> Emptied {
        let known = self.emptying.get(&empties.block);
        let begun = known.map_or(empties, |(_, begun, _)| *begun);
        let reason = match empties.reason {
            Reason::Shortage => "shortage",
            Reason::Idleness => "idleness",
            Reason::Levelling => "levelling",
            Reason::Refresh => "refresh",
        };
        Emptied {
            block: empties.block.0,
            region,
            mode,
            reason: reason.to_string(),
            since_ns: known.map_or(0, |(since, ..)| since.0),
            free_blocks: begun.free_blocks,
            valid_percent: begun.valid_percent,
            short_since_ns: known.map_or(0, |(.., short)| short.since.0),
            moved_bytes: known.map_or(0, |(.., short)| short.moved_bytes),
        }
    }
}
