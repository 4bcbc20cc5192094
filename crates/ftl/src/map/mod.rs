//! Where the newest committed copy of each sector lies, and what is still live at each place: one
//! interface over the kinds of map.
//!
//! `resolve` says where sectors are, `install` makes a place their home and reports what died,
//! `live_in` says what of a place is still needed. The page map knows one place a logical page; the
//! others know sectors, so that several logical pages may share a place.

pub(crate) mod overlay;
pub(crate) mod page;
pub(crate) mod sector;

use crate::file::saved::{Loader, Saved, Saver};
use crate::file::state_file::StateError;
use crate::image::base::BaseImage;
use crate::map::overlay::{IsFirst, Overlay};
use crate::map::page::PageMap;
use crate::map::sector::SectorMap;
use crate::plan::region::{MapKind, RegionId};
use crate::plan::span::{Dead, Located, Places, Span, Spans};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use wordline_flash::Geometry;
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

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
            MapKind::Overlay(..) | MapKind::Extent | MapKind::ValidSectors => {
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

    /// The places of the requested sectors; those that were never written are omitted.
    #[inline(always)]
    pub fn resolve(&mut self, lpn: Lpn, wanted: SectorMask, out: &mut Places) {
        out.clear();
        if let Map::Page(m) = self {
            let ppn = m.lookup(lpn);
            if !ppn.is_none() && !wanted.is_empty() {
                out.push(Located { ppn, mask: wanted });
            }
        } else {
            self.resolve_sectors(lpn, wanted, out);
        }
    }

    #[inline(never)]
    fn resolve_sectors(&mut self, lpn: Lpn, wanted: SectorMask, out: &mut Places) {
        match self {
            Map::Page(_) => {}
            Map::Sector(m) => m.resolve(lpn, wanted, out),
            Map::Overlay(m) => m.resolve(lpn, wanted, out),
        }
    }

    /// Map the sectors `keep` of a span to a place where they were programmed, and report what became invalid.
    #[inline(always)]
    pub fn install(&mut self, span: Span, keep: SectorMask, ppn: Ppn, dead: &mut Dead) {
        if let Map::Page(m) = self {
            m.install(span.lpn, ppn, dead);
        } else {
            self.install_sectors(span, keep, ppn, dead);
        }
    }

    #[inline(never)]
    fn install_sectors(&mut self, span: Span, keep: SectorMask, ppn: Ppn, dead: &mut Dead) {
        match self {
            Map::Page(_) => {}
            Map::Sector(m) => m.install(span, keep, ppn, dead),
            Map::Overlay(m) => m.install(span, keep, ppn, dead),
        }
    }

    /// Map those sectors of a span to a place that are still mapped to `from`, and return them.
    #[inline]
    pub fn relocate(&mut self, span: Span, from: Ppn, ppn: Ppn, dead: &mut Dead) -> SectorMask {
        if let Map::Page(m) = self {
            return if m.relocate(span.lpn, from, ppn, dead) { span.mask } else { SectorMask::EMPTY };
        }
        let keep = self.still_at(span, from);
        if !keep.is_empty() {
            self.install_sectors(span, keep, ppn, dead);
        }
        keep
    }

    /// Sectors that become valid at a place when `keep` is installed.
    #[inline]
    pub fn weight(&self, keep: SectorMask) -> u32 {
        match self {
            Map::Page(m) => m.geometry().sectors_per_unit,
            Map::Overlay(m) => m.weight(keep),
            Map::Sector(_) => keep.count(),
        }
    }

    /// Forget sectors. A page map removes whole pages only and ignores a partial span.
    pub fn unmap(&mut self, lpn: Lpn, mask: SectorMask, dead: &mut Dead) {
        match self {
            Map::Page(m) if mask.count() < m.geometry().sectors_per_unit => {}
            Map::Page(m) => m.unmap(lpn, dead),
            Map::Sector(m) => m.remove(lpn, mask, dead),
            Map::Overlay(m) => m.remove(lpn, mask, dead),
        }
    }

    /// The part of a span that is still mapped to a place, which a relocation may commit.
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

    /// The valid data of a place.
    #[inline(always)]
    pub fn live_in(&mut self, ppn: Ppn, out: &mut Spans) {
        out.clear();
        if let Map::Page(m) = self {
            if let Some(lpn) = m.live_at(ppn) {
                let mask = SectorMask::first(m.geometry().sectors_per_unit);
                out.push(Span { lpn, mask, offset: 0 });
            }
        } else {
            self.live_sectors_in(ppn, out);
        }
    }

    #[inline(never)]
    fn live_sectors_in(&mut self, ppn: Ppn, out: &mut Spans) {
        match self {
            Map::Page(_) => {}
            Map::Sector(m) => m.live_in(ppn, out),
            Map::Overlay(m) => m.live_in(ppn, out),
        }
    }

    /// Sectors to program when a block with this many valid sectors is emptied: a slot moves as a whole, however few of
    /// its sectors are valid.
    #[inline]
    pub fn relocation_cost(&self, block: BlockId, live_sectors: u32) -> u32 {
        match self {
            Map::Page(_) => live_sectors, // all sectors of a slot live and die together
            Map::Sector(m) => m.live_slots(block) * m.sectors(),
            Map::Overlay(m) => m.live_slots(block) * m.sectors(),
        }
    }

    /// The logical page at a place, in a block that does not belong to a base image.
    pub fn page_at(&self, ppn: Ppn) -> Option<Lpn> {
        match self {
            Map::Page(m) => m.page_at(ppn),
            Map::Sector(_) => None,
            Map::Overlay(m) => m.page_at(ppn),
        }
    }

    /// The first valid slot of a block from a slot on.
    #[inline(always)]
    pub fn next_live(&mut self, block: BlockId, from: u32, slots: u32) -> Option<u32> {
        match self {
            Map::Page(m) => m.next_live(block, from),
            Map::Sector(m) => m.next_live(block, from, slots),
            Map::Overlay(m) => m.next_live(block, from),
        }
    }

    /// The sectors of all valid slots of a range whose first slot is valid, counted from that slot; a slot has
    /// `per_unit`.
    #[inline]
    pub fn live_sectors(&mut self, block: BlockId, slots: Range<u32>, per_unit: u32) -> SectorMask {
        let unit = SectorMask::first(per_unit);
        let mut mask = unit;
        let mut at = slots.start + 1;
        while at < slots.end
            && let Some(next) = self.next_live(block, at, slots.end)
            && next < slots.end
        {
            mask = mask.union(SectorMask(unit.0 << ((next - slots.start) * per_unit)));
            at = next + 1;
        }
        mask
    }

    /// A region opens a block, possibly for the first time.
    pub fn open(&mut self, block: BlockId, region: RegionId, is_first: IsFirst) {
        match self {
            Map::Page(m) if is_first.0 => m.open_first(),
            Map::Overlay(m) => m.open(block, region, is_first),
            _ => {}
        }
    }

    /// A block is about to be emptied.
    pub fn begin_emptying(&mut self, block: BlockId) {
        match self {
            Map::Page(m) => m.begin_emptying(block),
            Map::Sector(_) => {}
            Map::Overlay(m) => m.begin_emptying(block),
        }
    }

    /// A block without valid data is erased.
    pub fn erase(&mut self, block: BlockId) {
        match self {
            Map::Page(m) => m.erase(block),
            Map::Sector(m) => m.erase(block),
            Map::Overlay(m) => m.erase(block),
        }
    }

    /// Forget the contents of places without valid data.
    pub fn forget_history(&mut self) {
        match self {
            Map::Page(m) => m.forget_history(),
            Map::Sector(_) => {}
            Map::Overlay(m) => m.forget_history(),
        }
    }

    /// Valid sectors on flash, counted from the map itself; slow, for checks.
    pub fn count_live_sectors(&mut self, logical_pages: u32) -> u64 {
        match self {
            Map::Page(m) => {
                let pages = (0..logical_pages).filter(|l| !m.lookup(Lpn(*l)).is_none()).count();
                pages as u64 * m.geometry().sectors_per_unit as u64
            }
            Map::Sector(m) => m.mapped(),
            Map::Overlay(m) => m.count_live_sectors(logical_pages),
        }
    }

    /// Contradictions in the tables of the map; slow, for checks.
    pub fn contradiction(&mut self) -> Option<String> {
        if let Map::Overlay(m) = self { m.contradiction() } else { None }
    }

    /// Logical pages (where each has a place to itself) or sectors (other maps) that are mapped.
    pub fn mapped(&self) -> u64 {
        match self {
            Map::Page(m) => m.mapped() as u64,
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

    /// The place of a page: its only one under a page map, its own slot under an overlay.
    pub fn locate(&self, lpn: Lpn) -> Option<Ppn> {
        match self {
            Map::Page(m) => m.locate(lpn),
            Map::Sector(_) => None,
            Map::Overlay(m) => m.locate(lpn),
        }
    }

    /// Whether all sectors of a range of pages hold data, or none does, as far as that is known without a look at each
    /// page, and except for [`Self::mixed`].
    pub fn uniform(&self, pages: std::ops::Range<u32>) -> Option<bool> {
        match self {
            Map::Page(m) => m.uniform(pages),
            Map::Sector(m) => (m.mapped() == 0).then_some(false),
            Map::Overlay(m) => m.uniform(pages),
        }
    }

    /// Pages that may differ from a uniform range around them.
    pub fn mixed(&self) -> Vec<Lpn> {
        match self {
            Map::Page(_) | Map::Sector(_) => vec![],
            Map::Overlay(m) => m.mixed(),
        }
    }

    /// The sectors of a page that are mapped.
    pub fn held(&self, lpn: Lpn) -> SectorMask {
        match self {
            Map::Page(m) if m.locate(lpn).is_some() => SectorMask::first(m.geometry().sectors_per_unit),
            Map::Page(_) => SectorMask::EMPTY,
            Map::Sector(m) => m.held(lpn),
            Map::Overlay(m) => m.held(lpn),
        }
    }

    /// Prefetch the data that [`Self::prefetch`] will access.
    #[inline]
    pub fn prefetch_leaf(&self, lpn: Lpn) {
        if let Map::Page(m) = self {
            m.prefetch_leaf(lpn);
        }
    }

    /// Prefetch the data that the collection of the following slots will access.
    #[inline]
    pub fn prefetch_behind(&self, ppn: Ppn) {
        if let Map::Page(m) = self {
            m.prefetch_behind(ppn);
        }
    }

    /// The place of a page, as far as it is known without changing the map.
    #[inline]
    pub fn peek(&self, lpn: Lpn) -> Option<Ppn> {
        if let Map::Page(m) = self { m.peek(lpn) } else { None }
    }

    /// Prefetch the map entry that a request will need.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        if let Map::Page(m) = self {
            m.prefetch(lpn);
        }
    }

    /// Prefetch the data that a program to `ppn` will access at its commit, and return the place of the page until
    /// then: `from`, if it is moved from there.
    #[inline(always)]
    pub fn prefetch_commit(&self, lpn: Lpn, from: Ppn, ppn: Ppn) -> Option<Ppn> {
        if let Map::Page(m) = self { m.prefetch_commit(lpn, from, ppn) } else { None }
    }
}
