//! Pools and regions: the owners of blocks, with cell mode and rules.

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
    /// A region that belongs to no scheme.
    pub const OTHER: RegionId = RegionId(u8::MAX);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Blocks of one medium that can change owner or mode. Pools of a medium are consecutive in each plane, in layout
/// order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    /// Index of the medium.
    pub medium: usize,
    /// Blocks in each plane.
    pub blocks_per_plane: u32,
    /// Which erased block is opened next.
    pub free: FreeOrder,
}

/// Which of a pool's erased blocks is opened next. Blocks that were never opened come first, by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FreeOrder {
    /// The one that was erased first.
    Fifo,
    /// The one with the fewest erases, for wear leveling; ties go to the one erased first.
    LeastErased,
}

/// A region owns a block from opening to erase, and sets its cell mode and program rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// Its name in reports.
    pub name: Cow<'static, str>,
    /// The pool of its blocks.
    pub pool: PoolId,
    /// Cell mode of its blocks.
    pub mode: CellMode,
    /// The order of programs in its blocks.
    pub rule: ProgramRule,
    /// Maximum number of blocks per plane that it can own; `u32::MAX` for no limit.
    pub quota: u32,
    /// Blocks per plane of its pool that the other regions leave to it.
    pub kept: u32,
    /// When a plane of it is collected.
    pub trigger: Trigger,
    /// The victim rule.
    pub victim: Victim,
    /// How long data wait for the rest of a one-shot group before padding while no request waits for them; `None`:
    /// without limit, which requires a protected program buffer.
    pub pad_after: Option<SimDuration>,
    /// The same while a request waits for them, and for data in the same group.
    pub pad_host_after: SimDuration,
    /// Whether pages that wait for a one-shot program survive a power cut. If so, a victim can be erased while its
    /// last pages wait.
    pub protected: bool,
    /// Source of the earlier bits of an incomplete wordline.
    pub earlier_bits: EarlierBits,
    /// Whether a block with free slots can be a victim while it is open for no class.
    pub partial_victims: bool,
    /// Whether GC moves all data to another pool, so that this region need not reserve an erased block.
    pub evicts_to_other_pool: bool,
    /// How units from another pool, or moved by a scheme, share pages.
    pub moved_in: MovedIn,
    /// Maximum number of programmed slots per plane in its blocks, valid or not; `u64::MAX` for no limit but that of
    /// `quota`.
    pub slot_quota: u64,
}

impl Region {
    /// A region without a quota, with greedy GC at a quarter of free blocks, whose one-shot groups wait 500 us; other
    /// settings are typical. Regions of device files take trigger, victim and waits from there.
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
            kept: 0,
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

/// How units moved into a region share pages of several units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MovedIn {
    /// They wait for others until a page is full.
    Packed,
    /// They do so in a buffer of this many units. A move that the host waits for starts when there is space in it,
    /// and releases the space when the program of its page starts.
    Through(u32),
    /// Each has a page of its own, and the rest of it is padded.
    Alone,
    /// Each is written with the other unit of its page, its neighbor in a pair, if that is in the region: it is read,
    /// leaves its place for protected RAM, and both are programmed as one page. Only where a page holds two.
    Rewritten,
}

/// Source of the earlier bits of a wordline when a further one is programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EarlierBits {
    /// In RAM: a program takes only its own time.
    Buffered,
    /// On flash: each is read first, on the die that programs.
    Reread,
    /// On flash: all of them are read first, in this much time.
    RereadIn(SimDuration),
}
