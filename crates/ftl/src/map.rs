//! Where the newest committed copy of each sector lies, and what is still live at each place: one
//! interface over the kinds of map.
//!
//! `resolve` says where sectors are, `install` makes a place their home and reports what died,
//! `live_in` says what of a place is still needed. The page map knows one place a logical page; the
//! sector map one a sector, so that several logical pages may share a place.

use crate::base::BaseImage;
use crate::saved::{Loader, Saved, Saver, StateError, saved, sorted};
use crate::table::Table;
use rustc_hash::FxHashMap;
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

const LEAF: u32 = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum BaseState {
    /// Holds nothing of the base image.
    Not,
    /// Holds the base image, and nothing of it has died.
    Untouched,
    /// Holds the base image, with live bits of its own.
    Touched,
}

/// One place for each logical page.
pub(crate) struct PageMap {
    geometry: Arc<Geometry>,
    /// Leaf of each group of [`LEAF`] logical pages, counted from 1; 0 where nothing was touched.
    directory: Table<u32>,
    /// The places themselves, in the order in which their leaves were first touched.
    leaves: Table<u32>,
    touched_leaves: u32,
    /// Logical page of each slot.
    owners: Table<u32>,
    /// A bit for each slot that is live.
    live: Table<u64>,
    /// Slots of the largest block.
    slots_per_block: u32,
    words_per_block: u32,
    /// Blocks opened so far, for the first time.
    opened_blocks: u32,
    base: Option<BaseImage>,
    base_state: Vec<BaseState>,
    mapped: u32,
}

impl Saved for PageMap {
    saved! { PageMap,
        values: [touched_leaves, opened_blocks, base, base_state, mapped],
        parts: [directory, leaves, owners, live],
        rebuilt: [geometry, slots_per_block, words_per_block],
    }
}

impl PageMap {
    fn new(geometry: &Arc<Geometry>, logical_pages: u32) -> io::Result<PageMap> {
        let slots = geometry.most_slots;
        let words = slots.div_ceil(64);
        let (blocks, leaves) = (geometry.blocks as usize, logical_pages.div_ceil(LEAF) as usize);
        Ok(PageMap {
            directory: Table::zeroed(leaves)?,
            leaves: Table::dense(leaves * LEAF as usize)?,
            touched_leaves: 0,
            owners: Table::zeroed(blocks * slots as usize)?,
            live: Table::zeroed(blocks * words as usize)?,
            slots_per_block: slots,
            words_per_block: words,
            opened_blocks: 0,
            base: None,
            base_state: vec![BaseState::Not; blocks],
            mapped: 0,
            geometry: geometry.clone(),
        })
    }

    #[inline]
    fn entry(&mut self, lpn: Lpn) -> &mut u32 {
        let leaf = self.directory[(lpn.0 / LEAF) as usize];
        let leaf = if leaf == 0 { self.materialise(lpn.0 / LEAF) } else { leaf };
        &mut self.leaves[((leaf - 1) * LEAF + lpn.0 % LEAF) as usize]
    }

    #[inline]
    fn lookup(&mut self, lpn: Lpn) -> Ppn {
        let leaf = self.directory[(lpn.0 / LEAF) as usize];
        if leaf == 0 && self.base.is_none() {
            return Ppn::NONE;
        }
        Ppn(*self.entry(lpn))
    }

    #[cold]
    fn materialise(&mut self, index: u32) -> u32 {
        let first = (self.touched_leaves * LEAF) as usize;
        for (i, entry) in self.leaves[first..first + LEAF as usize].iter_mut().enumerate() {
            let place = self.base.as_ref().and_then(|b| b.place_of(Lpn(index * LEAF + i as u32)));
            *entry = place.unwrap_or(Ppn::NONE).0;
        }
        self.touched_leaves += 1;
        self.directory[index as usize] = self.touched_leaves;
        self.touched_leaves
    }

    #[inline(always)]
    fn owner_index(&self, ppn: Ppn) -> usize {
        let (block, slot) = (self.geometry.block_of(ppn), self.geometry.slot_of(ppn));
        block.index() * self.slots_per_block as usize + slot as usize
    }

    fn words(&self, block: BlockId) -> std::ops::Range<usize> {
        let first = block.index() * self.words_per_block as usize;
        first..first + self.words_per_block as usize
    }

    fn touch_base(&mut self, block: BlockId) {
        if self.base_state[block.index()] != BaseState::Untouched {
            return;
        }
        self.base_state[block.index()] = BaseState::Touched;
        let Some(base) = &self.base else { return };
        let range = base.live_slots(self.geometry.plane_of(block), block);
        let words = self.words(block);
        let words = &mut self.live[words];
        for slot in range {
            words[slot as usize / 64] |= 1 << (slot % 64);
        }
    }

    #[inline]
    fn bit(&self, ppn: Ppn) -> (usize, u64) {
        let (block, slot) = (ppn.0 >> self.geometry.slot_shift, self.geometry.slot_of(ppn));
        (block as usize * self.words_per_block as usize + (slot / 64) as usize, 1 << (slot % 64))
    }

    #[inline]
    fn kill(&mut self, ppn: Ppn) -> Killed {
        let block = self.geometry.block_of(ppn);
        if self.base_state[block.index()] == BaseState::Untouched {
            self.touch_base(block);
        }
        let (word, bit) = self.bit(ppn);
        debug_assert!(self.live[word] & bit != 0, "place {ppn} dies twice");
        self.live[word] &= !bit;
        Killed { ppn, sectors: self.geometry.sectors_per_unit }
    }

    /// A page is live at a place from now on.
    #[inline]
    fn settle(&mut self, lpn: Lpn, ppn: Ppn) {
        let (word, bit) = self.bit(ppn);
        self.live[word] |= bit;
        let at = self.owner_index(ppn);
        self.owners[at] = lpn.0;
    }

    /// Live slots of a block from `from` on, the first of them.
    fn next_live(&mut self, block: BlockId, from: u32) -> Option<u32> {
        self.touch_base(block);
        let words = &self.live[self.words(block)];
        let mut word = from as usize / 64;
        let mut bits = *words.get(word)? & (u64::MAX << (from % 64));
        loop {
            if bits != 0 {
                return Some(word as u32 * 64 + bits.trailing_zeros());
            }
            word += 1;
            bits = *words.get(word)?;
        }
    }

    fn owner(&self, ppn: Ppn) -> Option<Lpn> {
        let (block, slot) = (self.geometry.block_of(ppn), self.geometry.slot_of(ppn));
        if self.base_state[block.index()] != BaseState::Not
            && let Some(base) = &self.base
            && let Some(lpn) = base.owner_of(self.geometry.plane_of(block), block, slot)
        {
            return Some(lpn);
        }
        Some(Lpn(self.owners[self.owner_index(ppn)]))
    }
}

/// One place for each sector; several logical pages may share a place.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct SectorMap {
    slot_shift: u32,
    sectors: u32,
    /// Where each sector lies: place and physical sector within it.
    #[serde(serialize_with = "sorted")]
    places: FxHashMap<u64, (u32, u8)>,
    /// What each place holds: logical page and sector of each physical sector.
    #[serde(serialize_with = "sorted")]
    owners: FxHashMap<u32, Vec<Option<(u32, u8)>>>,
    /// Places of each block that hold a live sector. Collection moves a place whole, so these, and
    /// not the sectors, are what emptying a block costs.
    #[serde(serialize_with = "sorted")]
    live_slots: FxHashMap<u32, u32>,
}

impl SectorMap {
    fn key(&self, lpn: Lpn, sector: u32) -> u64 {
        lpn.0 as u64 * self.sectors as u64 + sector as u64
    }

    fn remove(&mut self, lpn: Lpn, mask: SectorMask, dead: &mut Vec<Killed>) {
        for s in mask.iter() {
            let key = self.key(lpn, s);
            if let Some((ppn, at)) = self.places.remove(&key) {
                if let Some(owners) = self.owners.get_mut(&ppn) {
                    owners[at as usize] = None;
                    if owners.iter().all(Option::is_none) {
                        *self.live_slots.entry(ppn >> self.slot_shift).or_default() -= 1;
                    }
                }
                dead.push(Killed { ppn: Ppn(ppn), sectors: 1 });
            }
        }
    }
}

/// The kind of map that a scheme asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MapKind {
    /// One place for each logical page; a partial update is a read-modify-write.
    Page,
    /// One place for each sector.
    Sector,
}

/// A map of one of the kinds.
pub(crate) enum Map {
    Page(PageMap),
    Sector(SectorMap),
}

impl Saved for Map {
    fn save(&self, to: &mut Saver) -> io::Result<()> {
        match self {
            Map::Page(m) => m.save(to),
            Map::Sector(m) => to.value(m),
        }
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), StateError> {
        match self {
            Map::Page(m) => m.load(from),
            Map::Sector(m) => from.value("sector map").map(|saved| *m = saved),
        }
    }
}

impl Map {
    /// # Errors
    /// When the system has no address space for its tables.
    pub fn new(kind: MapKind, geometry: &Arc<Geometry>, logical_pages: u32) -> io::Result<Map> {
        Ok(match kind {
            MapKind::Page => Map::Page(PageMap::new(geometry, logical_pages)?),
            MapKind::Sector => Map::Sector(SectorMap {
                slot_shift: geometry.slot_shift,
                sectors: geometry.sectors_per_unit,
                ..SectorMap::default()
            }),
        })
    }

    pub fn kind(&self) -> MapKind {
        match self {
            Map::Page(_) => MapKind::Page,
            Map::Sector(_) => MapKind::Sector,
        }
    }

    /// Take a base image as the contents at time 0.
    pub fn adopt(&mut self, image: BaseImage) {
        match self {
            Map::Page(m) => {
                m.mapped = image.mapped();
                for (block, programmed, _) in image.blocks() {
                    if programmed > 0 {
                        m.base_state[block.index()] = BaseState::Untouched;
                    }
                }
                m.base = Some(image);
            }
            Map::Sector(m) => {
                let all = SectorMask::first(m.sectors);
                let shift = m.slot_shift;
                let mut dead = vec![];
                let places: Vec<(Lpn, Ppn)> = image
                    .blocks()
                    .flat_map(|(block, programmed, live)| {
                        (programmed - live..programmed).map(move |slot| Ppn(block.0 << shift | slot))
                    })
                    .filter_map(|ppn| {
                        let block = BlockId(ppn.0 >> shift);
                        let plane = image.plane_of(block)?;
                        Some((image.owner_of(plane, block, ppn.0 & ((1 << shift) - 1))?, ppn))
                    })
                    .collect();
                for (lpn, ppn) in places {
                    self.install(Span { lpn, mask: all, offset: 0 }, all, ppn, &mut dead);
                }
            }
        }
    }

    /// The single place of a logical page under a page map.
    #[inline]
    pub fn place(&mut self, lpn: Lpn) -> Ppn {
        match self {
            Map::Page(m) => m.lookup(lpn),
            Map::Sector(_) => Ppn::NONE,
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
            Map::Sector(m) => {
                for s in wanted.iter() {
                    let Some(&(ppn, _)) = m.places.get(&m.key(lpn, s)) else { continue };
                    let bit = SectorMask(1 << s);
                    match out.iter_mut().find(|l| l.ppn.0 == ppn) {
                        Some(l) => l.mask = l.mask.union(bit),
                        None => out.push(Located { ppn: Ppn(ppn), mask: bit }),
                    }
                }
            }
        }
    }

    /// Make a place the home of the sectors `keep` of a span that was programmed there, and say what
    /// that left dead.
    #[inline]
    pub fn install(&mut self, span: Span, keep: SectorMask, ppn: Ppn, dead: &mut Vec<Killed>) {
        match self {
            Map::Page(m) => {
                let old = Ppn(std::mem::replace(m.entry(span.lpn), ppn.0));
                if old.is_none() {
                    m.mapped += 1;
                } else {
                    let killed = m.kill(old);
                    dead.push(killed);
                }
                m.settle(span.lpn, ppn);
            }
            Map::Sector(m) => {
                m.remove(span.lpn, keep, dead);
                let owners = m.owners.entry(ppn.0).or_insert_with(|| vec![None; m.sectors as usize]);
                if !keep.is_empty() && owners.iter().all(Option::is_none) {
                    *m.live_slots.entry(ppn.0 >> m.slot_shift).or_default() += 1;
                }
                for (i, s) in span.mask.iter().enumerate() {
                    let at = span.offset as usize + i;
                    if !keep.covers(SectorMask(1 << s)) {
                        continue;
                    }
                    debug_assert!(owners[at].is_none(), "physical sector {at} of {ppn} is taken");
                    owners[at] = Some((span.lpn.0, s as u8));
                    m.places.insert(span.lpn.0 as u64 * m.sectors as u64 + s as u64, (ppn.0, at as u8));
                }
            }
        }
    }

    /// Make a place the home of what of a span still lies at `from`: returns those sectors.
    #[inline]
    pub fn relocate(&mut self, span: Span, from: Ppn, ppn: Ppn, dead: &mut Vec<Killed>) -> SectorMask {
        match self {
            Map::Page(m) => {
                let entry = m.entry(span.lpn);
                if *entry != from.0 {
                    return SectorMask::EMPTY;
                }
                *entry = ppn.0;
                let killed = m.kill(from);
                dead.push(killed);
                m.settle(span.lpn, ppn);
                span.mask
            }
            Map::Sector(_) => {
                let keep = self.still_at(span, from);
                if !keep.is_empty() {
                    self.install(span, keep, ppn, dead);
                }
                keep
            }
        }
    }

    /// Sectors that installing `keep` makes live at a place.
    #[inline]
    pub fn weight(&self, keep: SectorMask) -> u32 {
        match self {
            Map::Page(m) => m.geometry.sectors_per_unit,
            Map::Sector(_) => keep.count(),
        }
    }

    /// Forget sectors. A page map forgets whole pages only and leaves a partial span alone.
    pub fn forget(&mut self, lpn: Lpn, mask: SectorMask, dead: &mut Vec<Killed>) {
        match self {
            Map::Page(m) => {
                if mask.count() < m.geometry.sectors_per_unit || m.lookup(lpn).is_none() {
                    return;
                }
                let old = Ppn(std::mem::replace(m.entry(lpn), Ppn::NONE.0));
                m.mapped -= 1;
                let killed = m.kill(old);
                dead.push(killed);
            }
            Map::Sector(m) => m.remove(lpn, mask, dead),
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
            Map::Sector(m) => SectorMask(
                span.mask
                    .iter()
                    .filter(|s| m.places.get(&m.key(span.lpn, *s)).is_some_and(|(p, _)| *p == ppn.0))
                    .fold(0, |bits, s| bits | 1 << s),
            ),
        }
    }

    /// What of a place is still live.
    pub fn live_in(&mut self, ppn: Ppn, out: &mut Vec<Span>) {
        out.clear();
        match self {
            Map::Page(m) => {
                let block = m.geometry.block_of(ppn);
                m.touch_base(block);
                let (word, bit) = m.bit(ppn);
                if m.live[word] & bit != 0
                    && let Some(lpn) = m.owner(ppn)
                {
                    let mask = SectorMask::first(m.geometry.sectors_per_unit);
                    out.push(Span { lpn, mask, offset: 0 });
                }
            }
            Map::Sector(m) => {
                let Some(owners) = m.owners.get(&ppn.0) else { return };
                for (at, owner) in owners.iter().enumerate() {
                    let Some((lpn, s)) = *owner else { continue };
                    let bit = SectorMask(1 << s);
                    match out.iter_mut().find(|span| span.lpn.0 == lpn) {
                        Some(span) => span.mask = span.mask.union(bit),
                        None => out.push(Span { lpn: Lpn(lpn), mask: bit, offset: at as u8 }),
                    }
                }
            }
        }
    }

    /// What emptying a block with so many live sectors has to program, in sectors: a slot moves whole,
    /// however few of its sectors still live.
    #[inline]
    pub fn burden(&self, block: BlockId, live_sectors: u32) -> u32 {
        match self {
            Map::Page(_) => live_sectors, // all sectors of a slot live and die together
            Map::Sector(m) => m.live_slots.get(&block.0).copied().unwrap_or(0) * m.sectors,
        }
    }

    /// The first live slot of a block from a slot on.
    pub fn next_live(&mut self, block: BlockId, from: u32, slots: u32) -> Option<u32> {
        match self {
            Map::Page(m) => m.next_live(block, from),
            Map::Sector(m) => (from..slots).find(|slot| {
                let owners = m.owners.get(&(block.0 << m.slot_shift | slot));
                owners.is_some_and(|o| o.iter().any(Option::is_some))
            }),
        }
    }

    /// A block is opened for the first time.
    pub fn open_first(&mut self) {
        if let Map::Page(m) = self {
            m.opened_blocks += 1;
        }
    }

    /// A block without live data is erased.
    pub fn erase(&mut self, block: BlockId) {
        match self {
            Map::Page(m) => {
                m.touch_base(block);
                m.base_state[block.index()] = BaseState::Not;
                let words = m.words(block);
                debug_assert!(
                    m.live[words.clone()].iter().all(|w| *w == 0),
                    "block {block} is erased with live data"
                );
                m.live[words].fill(0);
            }
            Map::Sector(m) => {
                for slot in 0..1 << m.slot_shift {
                    m.owners.remove(&(block.0 << m.slot_shift | slot));
                }
                m.live_slots.remove(&block.0);
            }
        }
    }

    /// Sectors that are mapped, counted from the map itself; slow, for checks.
    pub fn count_mapped_sectors(&mut self, logical_pages: u32) -> u64 {
        match self {
            Map::Page(m) => {
                let pages = (0..logical_pages).filter(|l| !m.lookup(Lpn(*l)).is_none()).count();
                pages as u64 * m.geometry.sectors_per_unit as u64
            }
            Map::Sector(m) => m.places.len() as u64,
        }
    }

    /// Logical pages (page map) or sectors (sector map) that are mapped.
    pub fn mapped(&self) -> u64 {
        match self {
            Map::Page(m) => m.mapped as u64,
            Map::Sector(m) => m.places.len() as u64,
        }
    }

    /// Bytes of the map and its inverse that are in use.
    pub fn bytes(&self) -> u64 {
        match self {
            Map::Page(m) => {
                let block = m.slots_per_block as u64 * 4 + m.words_per_block as u64 * 8;
                m.directory.len() as u64 * 4
                    + m.touched_leaves as u64 * LEAF as u64 * 4
                    + m.opened_blocks as u64 * block
                    + m.base_state.len() as u64
                    + m.base.as_ref().map_or(0, BaseImage::bytes)
            }
            Map::Sector(m) => m.places.len() as u64 * 16 + m.owners.len() as u64 * 32,
        }
    }

    /// Bring closer what [`Self::prefetch`] will look at.
    #[inline]
    pub fn prefetch_leaf(&self, lpn: Lpn) {
        if let Map::Page(m) = self {
            fetch(&m.directory, (lpn.0 / LEAF) as usize);
        }
    }

    /// The same for the page that lies at a place.
    #[inline]
    pub fn prefetch_owner(&self, ppn: Ppn) {
        if let Map::Page(m) = self
            && let Some(lpn) = m.owner(ppn)
        {
            fetch(&m.directory, (lpn.0 / LEAF) as usize);
        }
    }

    /// The place of a page, as far as it is known without a step that changes the map.
    #[inline]
    pub fn peek(&self, lpn: Lpn) -> Option<Ppn> {
        let Map::Page(m) = self else { return None };
        let leaf = m.directory.get((lpn.0 / LEAF) as usize)?.checked_sub(1)?;
        Some(Ppn(m.leaves[(leaf * LEAF + lpn.0 % LEAF) as usize])).filter(|ppn| !ppn.is_none())
    }

    /// The place of a page under a page map.
    pub fn locate(&self, lpn: Lpn) -> Option<Ppn> {
        let Map::Page(m) = self else { return None };
        match m.directory.get((lpn.0 / LEAF) as usize)? {
            0 => m.base.as_ref()?.place_of(lpn),
            _ => self.peek(lpn),
        }
    }

    /// Bring the entry that a request is about to need closer.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        if let Map::Page(m) = self
            && let Some(leaf) = m.directory.get((lpn.0 / LEAF) as usize)
            && *leaf != 0
        {
            fetch(&m.leaves, ((leaf - 1) * LEAF + lpn.0 % LEAF) as usize);
        }
    }

    /// Bring closer what a program to `ppn` will touch when it commits, and say where the page lies
    /// until then.
    #[inline]
    pub fn prefetch_commit(&self, lpn: Lpn, ppn: Ppn) -> Option<Ppn> {
        let Map::Page(m) = self else { return None };
        fetch(&m.live, m.bit(ppn).0);
        fetch(&m.owners, m.owner_index(ppn));
        let old = self.peek(lpn)?;
        fetch(&m.live, m.bit(old).0);
        Some(old)
    }
}

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
