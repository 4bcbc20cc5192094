//! The kinds of map for schemes, and their tables in addition to a page map.

use crate::plan::region::RegionId;
use serde::{Deserialize, Serialize};
use wordline_flash::Geometry;

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
    #[inline]
    pub fn shares_slots(self) -> bool {
        matches!(self, MapKind::Overlay(..) | MapKind::Extent)
    }

    /// Whether a page has one place of its own.
    #[inline]
    pub fn is_by_page(self) -> bool {
        matches!(self, MapKind::Page | MapKind::ValidSectors)
    }

    /// Whether sectors of a page are written, trimmed and lost individually.
    #[inline]
    pub fn knows_sectors(self) -> bool {
        self != MapKind::Page
    }
}

impl MapKind {
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
