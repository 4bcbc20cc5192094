//! What a scheme divides its drive into: pools and regions, which own blocks under a mode and rules, and the map over them.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use wordline_device::{Trigger, Victim};
use wordline_flash::{Geometry, ProgramRule};
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

    #[inline(always)]
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Regions, by their positions in the layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RegionSet(u16);

impl RegionSet {
    /// One region.
    pub const fn of(region: RegionId) -> RegionSet {
        RegionSet(1 << region.0)
    }

    /// This set with another region.
    pub const fn and(self, region: RegionId) -> RegionSet {
        RegionSet(self.0 | 1 << region.0)
    }

    /// Whether a region is included.
    pub const fn contains(self, region: RegionId) -> bool {
        self.0 >> region.0 & 1 == 1
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The regions of the set.
    pub fn iter(self) -> impl Iterator<Item = RegionId> {
        (0..16).map(RegionId).filter(move |region| self.contains(*region))
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

/// The kind of map of a scheme.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapKind {
    /// One place for each logical page; a partial update is a read-modify-write.
    Page,
    /// The same, with flags of the written sectors: a partial update reads only the missing ones among these.
    ValidSectors,
    /// One place for each sector.
    Sector,
    /// A page map with runs of sectors over it: those in the regions of the set, where several logical pages
    /// share a slot, in at most this many slots. A sector is in a run, else in its page.
    Overlay(RegionSet, u32),
    /// One place per logical page, with its sectors there; several pages can share a slot.
    Extent,
}

impl MapKind {
    /// Whether parts of several pages can share a slot.
    #[inline(always)]
    pub fn shares_slots(self) -> bool {
        matches!(self, MapKind::Overlay(..) | MapKind::Extent)
    }

    /// Whether a page has one place of its own.
    #[inline(always)]
    pub fn is_by_page(self) -> bool {
        matches!(self, MapKind::Page | MapKind::ValidSectors)
    }

    /// Whether sectors of a page are written, trimmed and lost individually.
    #[inline(always)]
    pub fn knows_sectors(self) -> bool {
        self != MapKind::Page
    }

    /// Tables of a drive of this many logical pages in addition to a page map, for a cache of this many slots.
    ///
    /// An overlay has an entry for each sector of its slots: the logical page, the slot, a flag for each sector
    /// and the offset of the first. A table numbers the slots of at most half the cache, as in section IV-C of
    /// "A Two-level SLC Cache Hierarchy for Hybrid SSDs"; a larger overlay has several tables. Extents add flags
    /// and offset to the entries of the page map.
    pub(crate) fn tables(self, geometry: &Geometry, logical_pages: u32, cache_slots: u64) -> Vec<MapTable> {
        let sectors = geometry.sectors_per_unit;
        let within = sectors + bits_for(sectors as u64);
        match self {
            MapKind::Page | MapKind::Sector => vec![],
            MapKind::ValidSectors => {
                let entries = logical_pages as u64;
                vec![MapTable { name: "valid sectors", entries, entry_bits: sectors }]
            }
            MapKind::Overlay(_, slots) => {
                let tables = (slots as u64).div_ceil((cache_slots / 2).max(1));
                let slot_bits = bits_for((slots as u64).div_ceil(tables.max(1)));
                let entry_bits = bits_for(logical_pages as u64) + slot_bits + within;
                vec![MapTable { name: "SMT", entries: slots as u64 * sectors as u64, entry_bits }]
            }
            MapKind::Extent => {
                vec![MapTable { name: "extents", entries: logical_pages as u64, entry_bits: within }]
            }
        }
    }
}

/// A table in addition to a page map, counted as in the literature: entries of this many bits. The memory of the
/// engine itself is separate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapTable {
    /// Its name.
    pub name: &'static str,
    /// Its entries.
    pub entries: u64,
    /// Bits of an entry.
    pub entry_bits: u32,
}

impl MapTable {
    /// Its size, rounded up.
    pub fn bytes(&self) -> u64 {
        (self.entries * self.entry_bits as u64).div_ceil(8)
    }
}

/// Bits that number this many things.
fn bits_for(things: u64) -> u32 {
    u64::BITS - things.saturating_sub(1).leading_zeros()
}
