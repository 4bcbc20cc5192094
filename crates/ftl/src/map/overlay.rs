//! A page map in which some sectors are mapped separately. Most pages are stored whole, in a slot of their
//! own. Runs of sectors of several pages share other slots. Each sector has exactly one place, in a run or in
//! its page. The distinction only affects how it is looked up.

use crate::file::saved::{Saved, saved, sorted};
use crate::file::table::Table;
use crate::image::base::BaseImage;
use crate::map::page::PageMap;
use crate::plan::region::{MapKind, RegionId};
use crate::plan::span::{Dead, Invalidated, Located, Places, Span, Spans};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::io;
use std::sync::Arc;
use wordline_flash::Geometry;
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

/// Runs by page and by slot. Both lists are short and stored in the tables themselves.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Runs {
    #[serde(serialize_with = "sorted")]
    of: FxHashMap<u32, SmallVec<[(u32, SectorMask); 2]>>,
    #[serde(serialize_with = "sorted")]
    at: FxHashMap<u32, SmallVec<[Span; 4]>>,
}

/// The overlay on its page map. With extents, every slot may be shared.
pub(crate) struct Overlay {
    kind: MapKind,
    pages: PageMap,
    /// Missing or invalid sectors of each slot that holds a page.
    gone: Table<u32>,
    runs: Runs,
    /// Whether the slots of each block hold runs.
    shared: Vec<bool>,
    /// Number of mapped sectors.
    mapped: u64,
}

impl Saved for Overlay {
    saved! { Overlay,
        values: [runs, shared, mapped],
        parts: [pages, gone],
        rebuilt: [kind],
    }
}

impl Overlay {
    pub fn new(kind: MapKind, geometry: &Arc<Geometry>, logical_pages: u32) -> io::Result<Overlay> {
        let blocks = geometry.blocks as usize;
        Ok(Overlay {
            kind,
            pages: PageMap::new(geometry, logical_pages)?,
            gone: Table::zeroed(blocks.saturating_mul(geometry.most_slots as usize))?,
            runs: Runs::default(),
            shared: vec![kind == MapKind::Extent; blocks],
            mapped: 0,
        })
    }

    #[inline]
    pub fn kind(&self) -> MapKind {
        self.kind
    }

    pub fn sectors(&self) -> u32 {
        self.pages.geometry().sectors_per_unit
    }

    pub fn adopt(&mut self, image: BaseImage) {
        self.mapped = image.mapped() as u64 * self.sectors() as u64;
        for (lpn, mask) in &image.lacking {
            if let Some(ppn) = image.place_of(*lpn) {
                self.mapped -= mask.count() as u64;
                let at = self.pages.owner_index(ppn);
                self.gone[at] = mask.0;
            }
        }
        self.pages.adopt(image);
    }

    /// The place of a page, and the valid sectors there.
    fn page(&mut self, lpn: Lpn) -> Option<(Ppn, SectorMask)> {
        let ppn = self.pages.lookup(lpn);
        (!ppn.is_none()).then(|| (ppn, self.in_page(ppn)))
    }

    pub fn locate(&self, lpn: Lpn) -> Option<Ppn> {
        self.pages.locate(lpn)
    }

    pub fn held(&self, lpn: Lpn) -> SectorMask {
        let runs = self.runs.of.get(&lpn.0).into_iter().flatten();
        let page = self.pages.locate(lpn).map_or(SectorMask::EMPTY, |ppn| self.in_page(ppn));
        runs.fold(page, |mask, (_, run)| mask.union(*run))
    }

    /// As of its page map, except for [`Self::mixed`].
    pub fn uniform(&self, pages: std::ops::Range<u32>) -> Option<bool> {
        self.pages.uniform(pages)
    }

    /// Pages that may hold data in some sectors only.
    pub fn mixed(&self) -> Vec<Lpn> {
        self.runs.of.keys().map(|page| Lpn(*page)).collect()
    }

    /// The valid sectors in a slot that holds one page.
    fn in_page(&self, ppn: Ppn) -> SectorMask {
        SectorMask::first(self.sectors()).minus(SectorMask(self.gone[self.pages.owner_index(ppn)]))
    }

    pub fn resolve(&mut self, lpn: Lpn, wanted: SectorMask, out: &mut Places) {
        if let Some(runs) = self.runs.of.get(&lpn.0) {
            let there = runs.iter().map(|(ppn, mask)| Located { ppn: Ppn(*ppn), mask: mask.and(wanted) });
            out.extend(there.filter(|l| !l.mask.is_empty()));
        }
        if let Some((ppn, mask)) = self.page(lpn)
            && !mask.and(wanted).is_empty()
        {
            out.push(Located { ppn, mask: mask.and(wanted) });
        }
    }

    pub fn still_at(&mut self, span: Span, ppn: Ppn) -> SectorMask {
        let runs = self.runs.of.get(&span.lpn.0).into_iter().flatten();
        let in_run = runs.filter(|(at, _)| *at == ppn.0).fold(SectorMask::EMPTY, |m, run| m.union(run.1));
        let in_page = self.page(span.lpn).filter(|(at, _)| *at == ppn).map_or(SectorMask::EMPTY, |p| p.1);
        in_run.union(in_page).and(span.mask)
    }

    /// Number of valid sectors that a slot counts for. A slot that holds one page counts as a whole until its
    /// last sector is invalid.
    pub fn weight(&self, keep: SectorMask) -> u32 {
        if self.kind.is_by_page() { self.sectors() } else { keep.count() }
    }

    /// The invalidation of sectors in a slot; `is_last` says whether no valid sector is left.
    fn death(&self, ppn: Ppn, lost: SectorMask, is_last: bool) -> Invalidated {
        let weighs = !self.kind.is_by_page() || is_last;
        Invalidated { ppn, sectors: if weighs { self.weight(lost) } else { 0 } }
    }

    /// Remove sectors from wherever they are.
    pub fn remove(&mut self, lpn: Lpn, mask: SectorMask, dead: &mut Dead) {
        if let Some(mut runs) = self.runs.of.remove(&lpn.0) {
            for (ppn, run) in runs.iter_mut() {
                let lost = run.and(mask);
                if lost.is_empty() {
                    continue;
                }
                *run = run.minus(lost);
                self.mapped -= lost.count() as u64;
                let is_last = self.leaves_run(lpn, Ppn(*ppn), lost);
                dead.push(self.death(Ppn(*ppn), lost, is_last));
            }
            runs.retain(|(_, run)| !run.is_empty());
            if !runs.is_empty() {
                self.runs.of.insert(lpn.0, runs);
            }
        }
        if let Some((ppn, there)) = self.page(lpn) {
            let lost = there.and(mask);
            if !lost.is_empty() {
                self.mapped -= lost.count() as u64;
                dead.push(self.death(ppn, lost, lost == there));
                let at = self.pages.owner_index(ppn);
                self.gone[at] |= lost.0;
                if lost == there {
                    self.pages.invalidate(ppn);
                    self.pages.clear_entry(lpn);
                }
            }
        }
    }

    /// Remove sectors of a page from a slot of runs. Returns whether no valid sector is left there.
    fn leaves_run(&mut self, lpn: Lpn, ppn: Ppn, lost: SectorMask) -> bool {
        let Some(spans) = self.runs.at.get_mut(&ppn.0) else { return false };
        for span in spans.iter_mut().filter(|span| span.lpn == lpn) {
            span.mask = span.mask.minus(lost);
        }
        spans.retain(|span| !span.mask.is_empty());
        let is_last = spans.is_empty();
        if is_last {
            self.runs.at.remove(&ppn.0);
            self.pages.invalidate(ppn);
        }
        is_last
    }

    /// Install sectors at a new place. If the slot holds only this page and all of the page's valid sectors,
    /// the page moves there. Otherwise they become a run.
    pub fn install(&mut self, span: Span, keep: SectorMask, ppn: Ppn, dead: &mut Dead) {
        self.remove(span.lpn, keep, dead);
        self.mapped += keep.count() as u64;
        let block = self.pages.geometry().block_of(ppn);
        if !self.shared[block.index()] && self.pages.lookup(span.lpn).is_none() {
            self.pages.install(span.lpn, ppn, dead);
            let (at, all) = (self.pages.owner_index(ppn), SectorMask::first(self.sectors()));
            self.gone[at] = all.minus(keep).0;
            return;
        }
        self.pages.settle(span.lpn, ppn);
        let runs = self.runs.of.entry(span.lpn.0).or_default();
        match runs.iter_mut().find(|(at, _)| *at == ppn.0) {
            Some((_, run)) => *run = run.union(keep),
            None => runs.push((ppn.0, keep)),
        }
        let spans = self.runs.at.entry(ppn.0).or_default();
        match spans.iter_mut().find(|s| s.lpn == span.lpn) {
            Some(s) => s.mask = s.mask.union(keep),
            None => spans.push(Span { mask: keep, ..span }),
        }
    }

    pub fn live_in(&mut self, ppn: Ppn, out: &mut Spans) {
        if let Some(spans) = self.runs.at.get(&ppn.0) {
            out.extend(spans.iter().copied());
        } else if let Some(lpn) = self.pages.live_at(ppn) {
            out.push(Span { lpn, mask: self.in_page(ppn), offset: 0 });
        }
    }

    pub fn page_at(&self, ppn: Ppn) -> Option<Lpn> {
        self.pages.page_at(ppn)
    }

    pub fn begin_emptying(&mut self, block: BlockId) {
        self.pages.begin_emptying(block);
    }

    pub fn live_slots(&self, block: BlockId) -> u32 {
        self.pages.live_slots(block)
    }

    pub fn next_live(&mut self, block: BlockId, from: u32) -> Option<u32> {
        self.pages.next_live(block, from)
    }

    pub fn open(&mut self, block: BlockId, region: RegionId, is_first: IsFirst) {
        if let MapKind::Overlay(regions, _) = self.kind {
            self.shared[block.index()] = regions.contains(region);
        }
        if is_first.0 {
            self.pages.open_first();
        }
    }

    pub fn erase(&mut self, block: BlockId) {
        self.pages.erase(block);
        let slots = self.pages.geometry().most_slots as usize;
        self.gone[block.index() * slots..][..slots].fill(0);
    }

    /// Forget the contents of slots without valid sectors.
    pub fn forget_history(&mut self) {
        self.pages.forget_history();
        for ppn in 0..self.gone.len() as u32 {
            let (block, slot) = (ppn / self.pages.slots_per_block(), ppn % self.pages.slots_per_block());
            let place = self.pages.geometry().ppn(BlockId(block), slot);
            if !self.pages.is_live(place) {
                self.gone[self.pages.owner_index(place)] = 0;
            }
        }
    }

    /// Number of mapped sectors, or of pages if each has a slot of its own.
    pub fn mapped(&self) -> u64 {
        if self.kind.is_by_page() { self.pages.mapped() as u64 } else { self.mapped }
    }

    /// Number of valid sectors in all slots, each slot counted by [`Self::weight`].
    pub fn count_live_sectors(&mut self, logical_pages: u32) -> u64 {
        if !self.kind.is_by_page() {
            return self.count_mapped_sectors(logical_pages);
        }
        let runs: usize = self.runs.of.values().map(SmallVec::len).sum();
        (self.pages.mapped() as u64 + runs as u64) * self.sectors() as u64
    }

    fn count_mapped_sectors(&mut self, logical_pages: u32) -> u64 {
        let in_pages: u32 =
            (0..logical_pages).filter_map(|l| self.page(Lpn(l))).map(|(_, mask)| mask.count()).sum();
        let in_runs: u32 = self.runs.of.values().flatten().map(|(_, run)| run.count()).sum();
        in_pages as u64 + in_runs as u64
    }

    /// Check that each sector of a page has exactly one place, that runs by page and by slot agree, and that
    /// a page of an extent map has one place.
    pub fn contradiction(&mut self) -> Option<String> {
        let known = |of: &Runs, lpn: u32, ppn: u32, run: SectorMask| {
            let spans = of.at.get(&ppn);
            spans.is_some_and(|s| s.iter().any(|s| s.lpn.0 == lpn && s.mask == run))
        };
        let lpns: Vec<u32> = self.runs.of.keys().copied().collect();
        for lpn in lpns {
            let mut taken = self.page(Lpn(lpn)).map_or(SectorMask::EMPTY, |(_, mask)| mask);
            for (ppn, run) in &self.runs.of[&lpn] {
                if run.is_empty() || !taken.and(*run).is_empty() {
                    return Some(format!(
                        "logical page {lpn}: a sector is mapped twice, or a run has no slot"
                    ));
                }
                if !known(&self.runs, lpn, *ppn, *run) {
                    return Some(format!(
                        "logical page {lpn} maps a run to slot {ppn}, which does not list it"
                    ));
                }
                taken = taken.union(*run);
            }
        }
        let by_page: usize = self.runs.of.values().map(SmallVec::len).sum();
        let by_place: usize = self.runs.at.values().map(SmallVec::len).sum();
        let counted = self.mapped;
        let mapped = self.count_mapped_sectors(self.pages.logical_pages());
        (by_page != by_place || mapped != counted).then(|| {
            format!(
                "{by_page} runs are known by page and {by_place} by place; {mapped} sectors are mapped, and \
                 counted {counted}"
            )
        })
    }

    pub fn bytes(&self) -> u64 {
        let of = self.runs.of.len() * (size_of::<SmallVec<[(u32, SectorMask); 2]>>() + 8);
        let at = self.runs.at.len() * (size_of::<SmallVec<[Span; 4]>>() + 8);
        self.pages.bytes() + self.pages.slots_in_use() * 4 + (of + at) as u64
    }
}

/// Whether a block is opened for the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IsFirst(pub bool);
