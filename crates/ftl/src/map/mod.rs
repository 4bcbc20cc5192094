//! Where the newest committed copy of each sector lies, and what is still live at each place: one
//! interface over the kinds of map.
//!
//! `resolve` says where sectors are, `install` makes a place their home and reports what died,
//! `live_in` says what of a place is still needed. The page map knows one place a logical page; the
//! others know sectors, so that several logical pages may share a place.

mod overlay;
mod page;
mod sector;

use crate::file::saved::{Loader, Saved, Saver, StateError};
use crate::image::base::BaseImage;
use crate::scheme::RegionId;
use overlay::Overlay;
use page::PageMap;
use sector::SectorMap;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;
use wordline_flash::Geometry;
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

/// Some sectors of one logical page that lie in one place. Sector `s` of the page is physical
/// sector `s` of the place under a page map; under a sector map they stand one behind the other
/// from `offset` on, in increasing order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// The logical page.
    pub lpn: Lpn,
    /// Its sectors.
    pub mask: SectorMask,
    /// First physical sector within the place (sector maps only).
    pub offset: u8,
}

/// Sectors of one logical page and the place that holds them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Located {
    /// The place.
    pub ppn: Ppn,
    /// The sectors of the page that lie there.
    pub mask: SectorMask,
}

/// Sectors that a commit or a trim left dead at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Killed {
    pub ppn: Ppn,
    pub sectors: u32,
}

/// Regions, by their positions in the layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegionSet(u16);

impl RegionSet {
    /// One region.
    pub const fn of(region: RegionId) -> RegionSet {
        RegionSet(1 << region.0)
    }

    /// These and one more.
    pub(crate) const fn and(self, region: RegionId) -> RegionSet {
        RegionSet(self.0 | 1 << region.0)
    }

    /// Whether a region is one of them.
    pub const fn contains(self, region: RegionId) -> bool {
        self.0 >> region.0 & 1 == 1
    }
}

/// The kind of map that a scheme asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapKind {
    /// One place for each logical page; a partial update is a read-modify-write.
    Page,
    /// One place for each sector.
    Sector,
    /// A page map, and over it runs of sectors: those that lie in the regions of the set, where several
    /// logical pages share a slot, in so many slots at most. A sector has its place in a run, else in its page.
    Overlay(RegionSet, u32),
    /// One place for each logical page, with the sectors that it has there; several may share a slot.
    Extent,
}

impl MapKind {
    /// Whether parts of several pages may share a slot.
    #[inline]
    pub fn shares_slots(self) -> bool {
        matches!(self, MapKind::Overlay(..) | MapKind::Extent)
    }

    /// Whether sectors of a page are written, trimmed and lost one by one.
    #[inline]
    pub fn knows_sectors(self) -> bool {
        self != MapKind::Page
    }
}

/// A table that a drive holds beside a page map, as the literature counts it: entries of so many bits. What the
/// engine itself needs is another matter.
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

/// Bits that number so many things.
fn bits_for(things: u64) -> u32 {
    u64::BITS - things.saturating_sub(1).leading_zeros()
}

impl MapKind {
    /// What a drive of so many logical pages holds beside a page map, whose cache has so many slots.
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

/// A map of one of the kinds.
pub(crate) enum Map {
    Page(PageMap),
    Sector(SectorMap),
    Overlay(Overlay),
}

impl Saved for Map {
    fn save(&self, to: &mut Saver) -> io::Result<()> {
        match self {
            Map::Page(m) => m.save(to),
            Map::Sector(m) => to.value(m),
            Map::Overlay(m) => m.save(to),
        }
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        match self {
            Map::Page(m) => m.load(from),
            Map::Sector(m) => from.value("sector map").map(|saved| *m = saved),
            Map::Overlay(m) => m.load(from),
        }
    }
}

impl Map {
    /// # Errors
    /// When the system has no address space for its tables.
    pub fn new(kind: MapKind, geometry: &Arc<Geometry>, logical_pages: u32) -> io::Result<Map> {
        Ok(match kind {
            MapKind::Page => Map::Page(PageMap::new(geometry, logical_pages)?),
            MapKind::Sector => Map::Sector(SectorMap::new(geometry)),
            MapKind::Overlay(..) | MapKind::Extent => {
                Map::Overlay(Overlay::new(kind, geometry, logical_pages)?)
            }
        })
    }

    #[inline]
    pub fn kind(&self) -> MapKind {
        match self {
            Map::Page(_) => MapKind::Page,
            Map::Sector(_) => MapKind::Sector,
            Map::Overlay(m) => m.kind(),
        }
    }

    /// Take a base image as the contents at time 0.
    pub fn adopt(&mut self, image: BaseImage) {
        match self {
            Map::Page(m) => m.adopt(image),
            Map::Sector(m) => m.adopt(&image),
            Map::Overlay(m) => m.adopt(image),
        }
    }

    /// The single place of a logical page under a page map.
    #[inline]
    pub fn place(&mut self, lpn: Lpn) -> Ppn {
        match self {
            Map::Page(m) => m.lookup(lpn),
            _ => Ppn::NONE,
        }
    }

    /// Where the wanted sectors lie; those that were never written are left out.
    #[inline]
    pub fn resolve(&mut self, lpn: Lpn, wanted: SectorMask, out: &mut Vec<Located>) {
        out.clear();
        match self {
            Map::Page(m) => {
                let ppn = m.lookup(lpn);
                if !ppn.is_none() && !wanted.is_empty() {
                    out.push(Located { ppn, mask: wanted });
                }
            }
            Map::Sector(m) => m.resolve(lpn, wanted, out),
            Map::Overlay(m) => m.resolve(lpn, wanted, out),
        }
    }

    /// Make a place the home of the sectors `keep` of a span that was programmed there, and say what
    /// that left dead.
    #[inline]
    pub fn install(&mut self, span: Span, keep: SectorMask, ppn: Ppn, dead: &mut Vec<Killed>) {
        match self {
            Map::Page(m) => m.install(span.lpn, ppn, dead),
            Map::Sector(m) => m.install(span, keep, ppn, dead),
            Map::Overlay(m) => m.install(span, keep, ppn, dead),
        }
    }

    /// Make a place the home of what of a span still lies at `from`: returns those sectors.
    #[inline]
    pub fn relocate(&mut self, span: Span, from: Ppn, ppn: Ppn, dead: &mut Vec<Killed>) -> SectorMask {
        if let Map::Page(m) = self {
            return if m.relocate(span.lpn, from, ppn, dead) { span.mask } else { SectorMask::EMPTY };
        }
        let keep = self.still_at(span, from);
        if !keep.is_empty() {
            self.install(span, keep, ppn, dead);
        }
        keep
    }

    /// Sectors that installing `keep` makes live at a place.
    #[inline]
    pub fn weight(&self, keep: SectorMask) -> u32 {
        match self {
            Map::Page(m) => m.geometry.sectors_per_unit,
            _ => keep.count(),
        }
    }

    /// Forget sectors. A page map forgets whole pages only and leaves a partial span alone.
    pub fn forget(&mut self, lpn: Lpn, mask: SectorMask, dead: &mut Vec<Killed>) {
        match self {
            Map::Page(m) if mask.count() < m.geometry.sectors_per_unit => {}
            Map::Page(m) => m.forget(lpn, dead),
            Map::Sector(m) => m.remove(lpn, mask, dead),
            Map::Overlay(m) => m.remove(lpn, mask, dead),
        }
    }

    /// The part of a span that still lies at a place: what a relocation may commit.
    #[inline]
    pub fn still_at(&mut self, span: Span, ppn: Ppn) -> SectorMask {
        match self {
            Map::Page(m) => {
                if m.lookup(span.lpn) == ppn {
                    span.mask
                } else {
                    SectorMask::EMPTY
                }
            }
            Map::Sector(m) => m.still_at(span, ppn),
            Map::Overlay(m) => m.still_at(span, ppn),
        }
    }

    /// What of a place is still live.
    pub fn live_in(&mut self, ppn: Ppn, out: &mut Vec<Span>) {
        out.clear();
        match self {
            Map::Page(m) => {
                if let Some(lpn) = m.live_at(ppn) {
                    let mask = SectorMask::first(m.geometry.sectors_per_unit);
                    out.push(Span { lpn, mask, offset: 0 });
                }
            }
            Map::Sector(m) => m.live_in(ppn, out),
            Map::Overlay(m) => m.live_in(ppn, out),
        }
    }

    /// What emptying a block with so many live sectors has to program, in sectors: a slot moves whole,
    /// however few of its sectors still live.
    #[inline]
    pub fn burden(&self, block: BlockId, live_sectors: u32) -> u32 {
        match self {
            Map::Page(_) => live_sectors, // all sectors of a slot live and die together
            Map::Sector(m) => m.live_slots(block) * m.sectors,
            Map::Overlay(m) => m.live_slots(block) * m.sectors(),
        }
    }

    /// The logical page that lives at a place, in a block that is no part of a base image.
    pub fn page_at(&self, ppn: Ppn) -> Option<Lpn> {
        match self {
            Map::Page(m) => m.page_at(ppn),
            Map::Sector(_) => None,
            Map::Overlay(m) => m.page_at(ppn),
        }
    }

    /// The first live slot of a block from a slot on.
    pub fn next_live(&mut self, block: BlockId, from: u32, slots: u32) -> Option<u32> {
        match self {
            Map::Page(m) => m.next_live(block, from),
            Map::Sector(m) => m.next_live(block, from, slots),
            Map::Overlay(m) => m.next_live(block, from),
        }
    }

    /// A region opens a block, perhaps the first that ever does.
    pub fn open(&mut self, block: BlockId, region: RegionId, is_first: IsFirst) {
        match self {
            Map::Page(m) if is_first.0 => m.open_first(),
            Map::Overlay(m) => m.open(block, region, is_first),
            _ => {}
        }
    }

    /// A block without live data is erased.
    pub fn erase(&mut self, block: BlockId) {
        match self {
            Map::Page(m) => m.erase(block),
            Map::Sector(m) => m.erase(block),
            Map::Overlay(m) => m.erase(block),
        }
    }

    /// Sectors that are mapped, counted from the map itself; slow, for checks.
    pub fn count_mapped_sectors(&mut self, logical_pages: u32) -> u64 {
        match self {
            Map::Page(m) => {
                let pages = (0..logical_pages).filter(|l| !m.lookup(Lpn(*l)).is_none()).count();
                pages as u64 * m.geometry.sectors_per_unit as u64
            }
            Map::Sector(m) => m.mapped(),
            Map::Overlay(m) => m.count_mapped_sectors(logical_pages),
        }
    }

    /// What contradicts itself in the tables of the map; slow, for checks.
    pub fn contradiction(&mut self) -> Option<String> {
        if let Map::Overlay(m) = self { m.contradiction() } else { None }
    }

    /// Logical pages (page map) or sectors (other maps) that are mapped.
    pub fn mapped(&self) -> u64 {
        match self {
            Map::Page(m) => m.mapped as u64,
            Map::Sector(m) => m.mapped(),
            Map::Overlay(m) => m.mapped(),
        }
    }

    /// Bytes of the map and its inverse that are in use.
    pub fn bytes(&self) -> u64 {
        match self {
            Map::Page(m) => m.bytes(),
            Map::Sector(m) => m.bytes(),
            Map::Overlay(m) => m.bytes(),
        }
    }

    /// The place of a page: its only one under a page map, that of the page itself under an overlay.
    pub fn locate(&self, lpn: Lpn) -> Option<Ppn> {
        match self {
            Map::Page(m) => m.locate(lpn),
            Map::Sector(_) => None,
            Map::Overlay(m) => m.locate(lpn),
        }
    }

    /// The sectors of a page that are mapped.
    pub fn held(&self, lpn: Lpn) -> SectorMask {
        match self {
            Map::Page(m) if m.locate(lpn).is_some() => SectorMask::first(m.geometry.sectors_per_unit),
            Map::Page(_) => SectorMask::EMPTY,
            Map::Sector(m) => m.held(lpn),
            Map::Overlay(m) => m.held(lpn),
        }
    }

    /// Bring closer what [`Self::prefetch`] will look at.
    #[inline]
    pub fn prefetch_leaf(&self, lpn: Lpn) {
        if let Map::Page(m) = self {
            m.prefetch_leaf(lpn);
        }
    }

    /// Bring closer what the collection of the slots behind this one will look at.
    #[inline]
    pub fn prefetch_behind(&self, ppn: Ppn) {
        if let Map::Page(m) = self {
            m.prefetch_behind(ppn);
        }
    }

    /// The place of a page, as far as it is known without a step that changes the map.
    #[inline]
    pub fn peek(&self, lpn: Lpn) -> Option<Ppn> {
        if let Map::Page(m) = self { m.peek(lpn) } else { None }
    }

    /// Bring the entry that a request is about to need closer.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        if let Map::Page(m) = self {
            m.prefetch(lpn);
        }
    }

    /// Bring closer what a program to `ppn` will touch when it commits, and say where the page lies
    /// until then: at `from`, where it is moved from there.
    #[inline]
    pub fn prefetch_commit(&self, lpn: Lpn, from: Ppn, ppn: Ppn) -> Option<Ppn> {
        if let Map::Page(m) = self { m.prefetch_commit(lpn, from, ppn) } else { None }
    }
}

/// Whether a block is opened for the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IsFirst(pub bool);

/// Ask the processor for an element of a table; a hint that reads nothing.
#[inline(always)]
pub(crate) fn fetch<T>(table: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = table.get(at) {
        // SAFETY: a prefetch has no effect but on the cache, and faults on no address.
        unsafe {
            std::arch::x86_64::_mm_prefetch(
                std::ptr::from_ref(element).cast(),
                std::arch::x86_64::_MM_HINT_T0,
            );
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, at);
}
