//! Pools and regions: who owns a block, in which mode, and under which rules.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use wordline_device::{Trigger, Victim};
use wordline_flash::ProgramRule;
use wordline_units::{CellMode, Fraction, SimDuration};

/// A pool, by its position in [`Layout::pools`](crate::Layout::pools).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PoolId(pub u8);

/// A region, by its position in [`Layout::regions`](crate::Layout::regions).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct RegionId(pub u8);

impl RegionId {
    /// None of a scheme's own.
    pub const OTHER: RegionId = RegionId(u8::MAX);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Blocks of one medium that may change owner or mode. Pools of a medium lie one behind the other
/// in each plane, in the order of the layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Index of the medium.
    pub medium: usize,
    /// Blocks in each plane.
    pub blocks_per_plane: u32,
    /// Which erased block is opened next.
    pub free: FreeOrder,
}

/// Which of a pool's erased blocks is opened next. Those that were never opened go first, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeOrder {
    /// The one that was erased first.
    Fifo,
    /// The one erased least often, so that blocks wear alike; of equals, the one that was erased first.
    LeastErased,
}

/// Owns a block from opening to erase, and gives it its cell mode and program rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// Its name in reports.
    pub name: Cow<'static, str>,
    /// Where its blocks come from.
    pub pool: PoolId,
    /// Bits a cell holds while it owns the block.
    pub mode: CellMode,
    /// The order of programs in its blocks.
    pub rule: ProgramRule,
    /// The most blocks of each plane that it may own; `u32::MAX` for no limit.
    pub quota: u32,
    /// When a plane of it is collected.
    pub trigger: Trigger,
    /// Which block is then taken.
    pub victim: Victim,
    /// How long data that no request waits for wait for the rest of a one-shot group before it is padded; `None` for
    /// ever, which only a protected program buffer may.
    pub pad_after: Option<SimDuration>,
    /// The same for data that a request waits for, and for what goes with them.
    pub pad_host_after: SimDuration,
    /// Whether pages waiting for a one-shot program are safe from a power cut. Then a victim may be
    /// erased while its last pages wait.
    pub protected: bool,
    /// What becomes of the earlier bits of a wordline that is not yet full.
    pub earlier_bits: EarlierBits,
    /// Whether a block with slots left may be collected while it is the frontier of no class.
    pub partial_victims: bool,
    /// Whether all that is collected here goes to another pool, so that this one need not keep an erased
    /// block for it.
    pub evicts_to_other_pool: bool,
    /// How units that come from another pool, or by a scheme's own wish, share pages.
    pub moved_in: MovedIn,
    /// The most slots of each plane that may be programmed in its blocks, live or not; `u64::MAX` for no limit
    /// but that of `quota`.
    pub slot_quota: u64,
}

impl Region {
    /// A region without a quota, with greedy collection from a quarter of free blocks down, whose one-shot groups wait
    /// 500 us for company; the rest as most regions have it. Those of device files take trigger, victim and waits from
    /// there.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        pool: PoolId,
        mode: CellMode,
        rule: ProgramRule,
    ) -> Region {
        Region {
            name: name.into(),
            pool,
            mode,
            rule,
            quota: u32::MAX,
            trigger: Trigger::FreeBlocks(Fraction::percent(25)),
            victim: Victim::Greedy,
            pad_after: Some(SimDuration(500_000)),
            pad_host_after: SimDuration(500_000),
            protected: false,
            earlier_bits: EarlierBits::Buffered,
            partial_victims: false,
            evicts_to_other_pool: false,
            moved_in: MovedIn::Packed,
            slot_quota: u64::MAX,
        }
    }
}

/// How units that are moved into a region share pages, where a page holds several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MovedIn {
    /// They wait for company until a page is full.
    Packed,
    /// They do so in a buffer of this many units. A move that the host waits for begins when there is room, and gives
    /// it back when the program of its page begins.
    Through(u32),
    /// Each has a page to itself, and the rest of it is padded.
    Alone,
    /// Each is written with the other unit of its page, the next to it in a pair, if that lies in the region: it is
    /// read, leaves its place for protected RAM, and both are programmed as one page. Only where a page holds two.
    Rewritten,
}

/// Where the earlier bits of a wordline are found when a further one is programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlierBits {
    /// In RAM: a program takes its own time.
    Buffered,
    /// On flash: each is read first, on the die that programs.
    Reread,
    /// On flash: all of them are read first, in this much time.
    RereadIn(SimDuration),
}
