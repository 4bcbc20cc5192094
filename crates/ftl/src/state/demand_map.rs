//! A map that lies on flash, of which RAM holds the part that was used last, for drives without RAM for all of it:
//! DFTL (Gupta, Kim and Urgaonkar, "DFTL: A Flash Translation Layer Employing Demand-based Selective Caching of
//! Page-level Address Mappings", ASPLOS 2009), with a cache of whole pages of the map.
//!
//! The map is cut into *map pages*, each as large as a mapping unit, of entries of [`MAP_ENTRY`] bytes. They are pages
//! behind the last logical one, as those of the trim log are: programmed in the home region with cause `metadata`,
//! moved by collection, and found by a directory in RAM, which is their part of the engine's own map. A page of the
//! host's that is looked up finds its map page in the cache, or waits until that has been read; who needs the same one
//! meanwhile waits for the same read. The least recently used page makes room, and is programmed if it has changed.
//! What is looked up decides when things happen and what they cost, never what they find: the engine's map is the
//! truth, so what is late here cannot be wrong.
//!
//! An entry changes when a program commits or a page is trimmed. Where its map page is not in the cache, since it has
//! been displaced or because collection moved the data, the change waits in RAM, in the journal, and is taken up when
//! the page comes to the cache again (the paper's lazy copying, carried further): collection itself never waits for the
//! map, so it can not come to need more room than it makes.
//!
//! A journal may have a bound. A change beyond it has the pages brought in that have the most changes, until what is
//! left is within the bound; programs of the host that come meanwhile wait for the last of those reads. A page that is
//! displaced is programmed, which may lead to a collection, which changes entries again, and pages brought in for these
//! could displace others without end. So each request of the host allows as many as the map has pages, and what it
//! costs ends with the requests.

use crate::file::saved::sorted;
use crate::ftl::Ftl;
use crate::image::base::Mapped;
use crate::media::Media;
use crate::plan::layout::Layout;
use crate::state::cause::Cause;
use crate::state::journal::Journal;
use crate::state::latency::{LatencyPart, LatencyParts};
use crate::state::op::{Class, Op, OpId, OpKind, Owner};
use crate::state::request::RequestId;
use crate::state::staging::Staging;
use crate::state::state::State;
use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::Range;
use wordline_device::{Dram, MAP_ENTRY, map_pages};
use wordline_units::{Bytes, Lpn, SectorMask, SimTime};

/// Who waits for a map page.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Waiting {
    /// A read, which can be queued then.
    Read(OpId),
    /// A host program, among other things.
    Program(OpId),
    /// A read request that will find that it has nothing to read.
    Request(RequestId),
}

/// Where a map page comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// From flash, which takes a read.
    Flash,
    /// From RAM, where it waits for its program.
    Ram,
    /// It was never programmed, and is blank.
    Nothing,
}

/// Whether a cached map page differs from what is on flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Dirty {
    No,
    Yes,
}

/// What of the map is in RAM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DemandMap {
    /// The first map page, behind all other pages.
    first: u32,
    /// Map pages, and entries in each.
    pages: u32,
    entries: u32,
    cached: Cache,
    /// Map pages that are being read, with who waits, in the order in which they came.
    loading: BTreeMap<u32, Vec<Waiting>>,
    /// Changes that wait for their map page.
    journal: Journal,
    /// The map page that was asked for last to shorten the journal.
    asked: u32,
    /// Map pages that flash lacks as a whole: no place was found for them, or a power cut has lost their changes.
    owed: BTreeSet<u32>,
    /// Which map pages have a copy on flash, and how many.
    on_flash: Vec<bool>,
    mapped: u32,
    /// When the map page came that an operation had to wait for, by operation.
    #[serde(serialize_with = "sorted")]
    came: FxHashMap<u32, SimTime>,
    /// The same of the operation that ends at this moment.
    ending: SimTime,
}

/// Map pages by their last use.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "SavedCache", from = "SavedCache")]
struct Cache(LruCache<u32, Dirty, FxBuildHasher>);

/// Its size, and its pages from the least recently used on.
#[derive(Clone, Serialize, Deserialize)]
struct SavedCache(NonZeroUsize, Vec<(u32, Dirty)>);

impl From<Cache> for SavedCache {
    fn from(Cache(pages): Cache) -> SavedCache {
        SavedCache(pages.cap(), pages.iter().rev().map(|(page, dirty)| (*page, *dirty)).collect())
    }
}

impl From<SavedCache> for Cache {
    fn from(SavedCache(size, pages): SavedCache) -> Cache {
        let mut cache = LruCache::with_hasher(size, FxBuildHasher);
        pages.into_iter().for_each(|(page, dirty)| _ = cache.push(page, dirty));
        Cache(cache)
    }
}

impl DemandMap {
    /// That of so many logical pages, behind all pages that there are so far; none where the map is in RAM.
    pub fn new(dram: &Dram, unit: Bytes, logical_pages: u32, first: u32) -> Option<Box<DemandMap>> {
        let size = NonZeroUsize::new((dram.map_cache.0 / unit.0.max(1)) as usize)?;
        let pages = map_pages(logical_pages as u64, unit) as u32;
        Some(Box::new(DemandMap {
            first,
            pages,
            entries: (unit.0 / MAP_ENTRY).max(1) as u32,
            cached: SavedCache(size.min(NonZeroUsize::new(pages as usize).unwrap_or(size)), vec![]).into(),
            loading: BTreeMap::new(),
            journal: Journal::new(dram.map_journal),
            asked: 0,
            owed: BTreeSet::new(),
            on_flash: vec![false; pages as usize],
            mapped: 0,
            came: FxHashMap::default(),
            ending: SimTime(0),
        }))
    }

    /// The first map page.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// The page behind the last.
    pub fn end(&self) -> u32 {
        self.first.saturating_add(self.pages)
    }

    /// How many map pages there are.
    pub fn pages(&self) -> u32 {
        self.pages
    }

    /// Map pages that are mapped themselves.
    pub fn mapped(&self) -> u64 {
        self.mapped as u64
    }

    /// The map page with the entry of a logical page.
    fn page_of(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.entries
    }

    /// Whether two logical pages have their entries in one map page.
    pub fn together(&self, one: Lpn, other: Lpn) -> bool {
        self.page_of(one) == self.page_of(other)
    }

    /// The map pages with the entries of some logical pages, and all others between the first and the last of them.
    pub fn of(&self, mapped: &Mapped) -> Range<u32> {
        let (first, last) = match mapped {
            Mapped::First(n) => (Some(Lpn(0)), n.checked_sub(1).map(Lpn)),
            Mapped::Set(set) => (set.first().copied(), set.last().copied()),
        };
        let (Some(first), Some(last)) = (first, last) else { return 0..0 };
        self.first + self.page_of(first)..self.first + self.page_of(last) + 1
    }

    /// A map page has a copy on flash.
    pub fn set_on_flash(&mut self, lpn: Lpn) {
        let had = std::mem::replace(&mut self.on_flash[(lpn.0 - self.first) as usize], true);
        self.mapped += u32::from(!had);
    }

    /// The entry of a logical page has changed.
    fn change(&mut self, lpn: Lpn, staging: &Staging) {
        let (page, entry) = (self.page_of(lpn), lpn.0 % self.entries);
        if let Some(dirty) = self.cached.0.peek_mut(&page) {
            *dirty = Dirty::Yes;
            return;
        }
        let leaves = || !staging.mask(Lpn(self.first + page)).is_empty();
        let under_way = self.loading.contains_key(&page) || leaves();
        self.journal.note(page, entry, under_way);
    }

    /// A map page comes to the cache. Returns the one that goes, where that has changes.
    fn keep(&mut self, page: u32) -> Option<u32> {
        let changed = self.journal.take(page) | self.owed.remove(&page);
        let dirty = if changed { Dirty::Yes } else { Dirty::No };
        let (gone, dirty) = self.cached.0.push(page, dirty)?;
        (dirty == Dirty::Yes).then_some(gone)
    }

    /// Map pages of which flash has not the newest, where power fails now: those on their way count, too.
    pub fn stale(&self, under_way: impl Iterator<Item = Lpn>) -> BTreeSet<u32> {
        let dirty = self.cached.0.iter().filter(|(_, dirty)| **dirty == Dirty::Yes).map(|(page, _)| *page);
        let under_way = under_way.filter_map(|lpn| lpn.0.checked_sub(self.first));
        dirty.chain(under_way).chain(self.journal.pages()).chain(self.owed.iter().copied()).collect()
    }

    /// Take over what [`Self::stale`] found when the power failed.
    pub fn restore(&mut self, stale: BTreeSet<u32>) {
        self.owed = stale;
    }

    /// The most is counted from now on.
    pub fn start_anew(&mut self) {
        self.journal.start_anew();
    }

    /// Of a piece that ends a request now, what it waited in RAM for its map page is apart.
    pub fn split(&self, parts: &mut LatencyParts, admitted: SimTime) {
        let miss = self.ending.0.saturating_sub(admitted.0).min(parts[LatencyPart::Staging]);
        parts[LatencyPart::MapMiss] = miss;
        parts[LatencyPart::Staging] -= miss;
    }
}

impl State {
    /// Whether a page is one of the drive's own tables, behind the last logical page.
    #[inline]
    pub(crate) fn is_metadata(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.logical_pages
    }

    /// The page behind the last of all, those of the drive's own tables among them.
    pub(crate) fn end_of_pages(&self) -> u32 {
        self.demand.as_ref().map_or(self.trims.end(), |map| map.end())
    }
}

/// Why a drive under a layout cannot have its map on flash, if it cannot.
pub(crate) fn refusal(layout: &Layout) -> Option<String> {
    let why = if layout.map.knows_sectors() || layout.merges.is_some() {
        "its map knows parts of pages, and has no entry of a fixed size for each page"
    } else if layout.outpost.is_some() {
        "its data lie on two media from the beginning, and where its map would lie is not defined"
    } else {
        return None;
    };
    Some(format!(
        "{why}, so the map cannot be cached by pages; set dram.map_cache=off, or choose another scheme"
    ))
}

impl<M: Media> Ftl<M> {
    /// The entry of a logical page is needed: whether it is in RAM. If not, its map page is on its way.
    #[inline(always)]
    pub(crate) fn finds_entry(&mut self, lpn: Lpn) -> bool {
        self.state.demand.is_none() || self.look_up(lpn)
    }

    #[inline(never)]
    fn look_up(&mut self, lpn: Lpn) -> bool {
        let state = &mut self.state;
        let Some(map) = &mut state.demand else { return true };
        let page = map.page_of(lpn);
        state.counters.map_lookups += 1;
        if map.cached.0.get(&page).is_some() {
            state.counters.map_hits += 1;
            return true;
        }
        if map.loading.contains_key(&page) {
            return false;
        }
        let from = self.bring(page);
        self.state.counters.map_hits += u64::from(from == Source::Ram);
        from != Source::Flash
    }

    /// A map page comes to the cache, or is on its way.
    fn bring(&mut self, page: u32) -> Source {
        let state = &mut self.state;
        let Some(map) = &mut state.demand else { return Source::Nothing };
        let at = Lpn(map.first + page);
        // It has just been displaced, and has not come to flash yet.
        let is_in_ram = !state.staging.mask(at).is_empty();
        let ppn = state.map.place(at);
        if is_in_ram || ppn.is_none() {
            self.keep_map_page(page);
            return if is_in_ram { Source::Ram } else { Source::Nothing };
        }
        map.loading.insert(page, vec![]);
        map.journal.set(page, true);
        let block = state.geometry.block_of(ppn);
        state.blocks[block.index()].readers += 1;
        let mut read = Op::new(OpKind::Read, state.geometry.plane_of(block), Cause::Metadata, Class::Read);
        (read.lpn, read.ppn) = (at, ppn);
        read.mask = SectorMask::first(state.geometry.sectors_per_unit);
        read.owned_by = Owner::Map;
        let read = self.add_op(read);
        self.emit(read);
        Source::Flash
    }

    /// The entry of a logical page has changed, or its place.
    #[inline(always)]
    pub(crate) fn note_map_change(&mut self, lpn: Lpn) {
        if self.state.demand.is_some() {
            self.change_entry(lpn);
        }
    }

    #[inline(never)]
    fn change_entry(&mut self, lpn: Lpn) {
        if self.state.is_metadata(lpn) {
            return;
        }
        let State { demand, staging, .. } = &mut self.state;
        if let Some(map) = demand {
            map.change(lpn, staging);
        }
        self.shorten_journal();
    }

    /// The program of one of the drive's own tables is over.
    #[cold]
    pub(crate) fn metadata_over(&mut self, lpn: Lpn) {
        let State { demand, staging, .. } = &mut self.state;
        let Some(map) = demand else { return };
        if lpn.0 >= map.first && staging.mask(lpn).is_empty() {
            map.journal.set(lpn.0 - map.first, false);
            self.shorten_journal();
        }
    }

    /// A request comes, which allows map pages to be brought in.
    #[inline(always)]
    pub(crate) fn allow_map_pages(&mut self) {
        if let Some(map) = &mut self.state.demand {
            map.journal.allow(map.pages);
            self.shorten_journal();
        }
    }

    /// Where more changes wait than may, map pages are brought in until the rest is within the bound.
    fn shorten_journal(&mut self) {
        while let Some(page) = self.state.demand.as_mut().and_then(|map| map.journal.next_to_bring()) {
            if self.bring(page) == Source::Flash
                && let Some(map) = &mut self.state.demand
            {
                map.asked = page;
            }
        }
    }

    /// A host program waits for the last of the map pages that have been asked for, where more changes wait than may.
    /// Returns whether it does.
    #[inline(always)]
    pub(crate) fn awaits_journal(&mut self, lead: OpId) -> bool {
        let Some(map) = &mut self.state.demand else { return false };
        let asked = map.asked;
        map.journal.is_beyond()
            && map.loading.get_mut(&asked).map(|waiters| waiters.push(Waiting::Program(lead))).is_some()
    }

    /// The most RAM that changes took at once which waited for their page of the map, in bytes.
    pub fn map_journal_peak_bytes(&self) -> u64 {
        self.state.demand.as_ref().map_or(0, |map| map.journal.peak_bytes())
    }

    /// Someone waits for the map page of a logical page, if that is on its way. Returns whether it is.
    #[inline(always)]
    pub(crate) fn awaits_entry(&mut self, lpn: Lpn, waiting: Waiting) -> bool {
        let Some(map) = &mut self.state.demand else { return false };
        let page = map.page_of(lpn);
        map.loading.get_mut(&page).map(|waiters| waiters.push(waiting)).is_some()
    }

    /// Queue a read of a page's data, as soon as its map page is there.
    #[inline(always)]
    pub(crate) fn emit_mapped(&mut self, read: OpId, lpn: Lpn) {
        if !self.awaits_entry(lpn, Waiting::Read(read)) {
            self.emit(read);
        }
    }

    /// A map page has been read.
    pub(crate) fn map_page_read(&mut self, lpn: Lpn) {
        let now = self.state.now;
        let Some(map) = &mut self.state.demand else { return };
        let page = lpn.0 - map.first;
        let waiters = map.loading.remove(&page).unwrap_or_default();
        for waiting in waiters {
            match waiting {
                Waiting::Read(read) => {
                    self.note_entry(read);
                    self.emit(read);
                }
                Waiting::Program(lead) => {
                    let mut part = lead;
                    while !part.is_none() {
                        self.note_entry(part);
                        part = self.state.ops[part].chain;
                    }
                    self.awaited(lead);
                }
                Waiting::Request(request) => {
                    self.set_ending(now);
                    self.part_done(request);
                    self.set_ending(SimTime(0));
                }
            }
        }
        self.keep_map_page(page);
    }

    fn set_ending(&mut self, came: SimTime) {
        if let Some(map) = &mut self.state.demand {
            map.ending = came;
        }
    }

    /// The map page that an operation waited for is there.
    fn note_entry(&mut self, id: OpId) {
        if let Some(map) = &mut self.state.demand {
            map.came.insert(id.0, self.state.now);
        }
    }

    /// A request's operation ends: from now on requests that end are told when its map page came.
    #[inline(always)]
    pub(crate) fn begin_ending(&mut self, id: OpId) {
        if let Some(map) = &mut self.state.demand {
            map.ending = map.came.remove(&id.0).unwrap_or(SimTime(0));
        }
    }

    /// Nothing ends any more.
    #[inline(always)]
    pub(crate) fn end_ending(&mut self) {
        self.set_ending(SimTime(0));
    }

    /// A map page comes to the cache, and another one may go.
    fn keep_map_page(&mut self, page: u32) {
        let Some(map) = &mut self.state.demand else { return };
        let Some(gone) = map.keep(page) else { return };
        let lpn = Lpn(map.first + gone);
        let program = self.program_metadata(lpn, None);
        self.launch(program);
    }

    /// No place could be found for a map page: its changes go on waiting in RAM.
    #[cold]
    pub(crate) fn map_page_not_written(&mut self, lpn: Lpn) {
        if let Some(map) = &mut self.state.demand {
            map.owed.insert(lpn.0 - map.first);
        }
    }
}
