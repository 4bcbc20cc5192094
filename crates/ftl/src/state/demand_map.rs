//! A map that lies on flash, of which RAM holds the part that was used last, for drives without RAM for all of it:
//! DFTL (Gupta, Kim and Urgaonkar, "DFTL: A Flash Translation Layer Employing Demand-based Selective Caching of
//! Page-level Address Mappings", ASPLOS 2009), with a cache of whole pages of the map.
//!
//! The map is cut into *map pages*, each as large as a mapping unit, of entries of [`MAP_ENTRY`] bytes. They are pages
//! after the last logical one, like those of the trim log: programmed in the home region with cause `metadata`, moved
//! by GC, and found by a directory in RAM, which is their part of the engine's own map. A host page that is looked up
//! finds its map page in the cache, or waits for its read; further look-ups of the same page wait for the same read.
//! The least recently used page makes room, and is programmed if it has changed. Look-ups determine when things happen
//! and what they cost, never their results: the engine's map is authoritative, so delays here cannot cause errors.
//!
//! An entry changes when a program commits or a page is trimmed. Where its map page is not in the cache, since it has
//! been displaced or because collection moved the data, the change waits in RAM, in the journal, and is taken up when
//! the page is loaded into the cache again (the paper's lazy copying, carried further): collection itself never waits
//! for the map, so it can not come to need more room than it makes.
//!
//! A journal may have a bound. A change beyond it has the pages brought in that have the most changes, until what is
//! left is within the bound; programs of the host that come meanwhile wait for the last of those reads. A page that is
//! displaced is programmed, which may lead to a collection, which changes entries again, and pages brought in for these
//! could displace others without end. So each host request allows as many reads as the map has pages, and their cost
//! ends with the requests.

use crate::file::saved::sorted;
use crate::image::base::Mapped;
use crate::plan::layout::Layout;
use crate::state::journal::Journal;
use crate::state::latency::{LatencyPart, LatencyParts};
use crate::state::op::OpId;
use crate::state::request::RequestId;
use crate::state::staging::Staging;
use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::Range;
use wordline_device::{Dram, MAP_ENTRY, map_pages};
use wordline_units::{Bytes, Lpn, SimTime};

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

/// Where the entry of a logical page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    /// In the cache.
    InCache,
    /// In a map page that is being read.
    Loading,
    /// In this map page, which must be brought.
    Missing(u32),
}

/// Whether a cached map page differs from flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Dirty {
    No,
    Yes,
}

/// The part of the map in RAM.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct DemandMap {
    /// The first map page, behind all other pages.
    first: u32,
    /// Map pages, and entries in each.
    pages: u32,
    entries: u32,
    cached: Cache,
    /// Map pages that are being read, with their waiters, in order.
    loading: BTreeMap<u32, Vec<Waiting>>,
    /// Changes that wait for their map page.
    journal: Journal,
    /// The map page last requested to shorten the journal.
    asked: u32,
    /// Map pages that flash lacks as a whole: no place was found for them, or a power cut has lost their changes.
    owed: BTreeSet<u32>,
    /// The map pages that have a copy on flash, and their number.
    on_flash: Vec<bool>,
    mapped: u32,
    /// Arrival of the map page for which an operation had to wait, by operation.
    #[serde(serialize_with = "sorted")]
    came: FxHashMap<u32, SimTime>,
    /// The same for the operation that ends now.
    ending: SimTime,
}

/// Map pages by their last use.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "SavedCache", from = "SavedCache")]
pub(crate) struct Cache(LruCache<u32, Dirty, FxBuildHasher>);

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
    /// Number of map pages that RAM can hold; none if the whole map is in RAM.
    pub fn size(dram: &Dram, unit: Bytes) -> Option<NonZeroUsize> {
        NonZeroUsize::new((dram.map_cache.0 / unit.0.max(1)) as usize)
    }

    /// Look up the entry of a logical page, whose map page is used by that.
    pub fn find(&mut self, lpn: Lpn) -> Found {
        let page = self.page_of(lpn);
        if self.cached.0.get(&page).is_some() {
            Found::InCache
        } else if self.loading.contains_key(&page) {
            Found::Loading
        } else {
            Found::Missing(page)
        }
    }

    /// The page of the drive that a map page is.
    pub fn lpn(&self, page: u32) -> Lpn {
        Lpn(self.first + page)
    }

    /// The map page that a page of the drive is, if it is one.
    pub fn number(&self, lpn: Lpn) -> Option<u32> {
        lpn.0.checked_sub(self.first)
    }

    /// A map page is read from flash, and is not asked for again to shorten the journal.
    pub fn begin_read(&mut self, page: u32) {
        self.loading.insert(page, vec![]);
        self.journal.set(page, true);
    }

    /// A map page is on flash. If nobody reads it, its changes may have it brought in again. Returns whether so.
    pub fn end_program(&mut self, page: u32) -> bool {
        let idle = !self.loading.contains_key(&page);
        if idle {
            self.journal.set(page, false);
        }
        idle
    }

    /// A request has come: as many more reads may shorten the journal as there are map pages.
    pub fn allow_reads(&mut self) {
        self.journal.allow(self.pages);
    }

    /// The map page to be brought in next, if more changes wait than may.
    pub fn next_to_bring(&mut self) -> Option<u32> {
        self.journal.next_to_bring()
    }

    /// This map page was requested last to shorten the journal.
    pub fn note_asked(&mut self, page: u32) {
        self.asked = page;
    }

    /// Maximum RAM, in bytes, of changes that waited for their map page.
    pub fn journal_peak_bytes(&self) -> u64 {
        self.journal.peak_bytes()
    }

    /// Have a host program wait for the last of the map pages being loaded, if more changes wait than may. Returns
    /// whether it does.
    pub fn await_journal(&mut self, lead: OpId) -> bool {
        let asked = self.asked;
        self.journal.is_beyond()
            && self.loading.get_mut(&asked).map(|waiters| waiters.push(Waiting::Program(lead))).is_some()
    }

    /// Wait for the map page of a logical page, if it is being loaded. Returns whether it is.
    pub fn await_entry(&mut self, lpn: Lpn, waiting: Waiting) -> bool {
        let page = self.page_of(lpn);
        self.loading.get_mut(&page).map(|waiters| waiters.push(waiting)).is_some()
    }

    /// The map page that an operation waited for has come.
    pub fn note_arrival(&mut self, op: OpId, at: SimTime) {
        self.came.insert(op.0, at);
    }

    /// An operation begins to end.
    pub fn begin_ending(&mut self, op: OpId) {
        self.ending = self.came.remove(&op.0).unwrap_or(SimTime(0));
    }

    /// What ends now has waited for a map page that came then; 0 for none.
    pub fn set_ending(&mut self, came: SimTime) {
        self.ending = came;
    }

    /// No place was found for a map page: its changes continue to wait in RAM.
    pub fn owe(&mut self, lpn: Lpn) {
        self.owed.insert(lpn.0 - self.first);
    }

    /// A map page has been read: the operations that waited for it.
    pub fn end_read(&mut self, lpn: Lpn) -> Vec<Waiting> {
        self.loading.remove(&(lpn.0 - self.first)).unwrap_or_default()
    }

    /// The map of this many logical pages, behind all existing pages; none if the map is in RAM.
    pub fn new(dram: &Dram, unit: Bytes, logical_pages: u32, first: u32) -> Option<Box<DemandMap>> {
        let size = DemandMap::size(dram, unit)?;
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

    /// Number of map pages.
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

    /// Whether two logical pages share a map page.
    pub fn share_map_page(&self, one: Lpn, other: Lpn) -> bool {
        self.page_of(one) == self.page_of(other)
    }

    /// The map pages of some logical pages, including all between the first and the last of them.
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
    pub(crate) fn change(&mut self, lpn: Lpn, staging: &Staging) {
        let (page, entry) = (self.page_of(lpn), lpn.0 % self.entries);
        if let Some(dirty) = self.cached.0.peek_mut(&page) {
            *dirty = Dirty::Yes;
            return;
        }
        let leaves = || !staging.mask(Lpn(self.first + page)).is_empty();
        let under_way = self.loading.contains_key(&page) || leaves();
        self.journal.note(page, entry, under_way);
    }

    /// A map page is loaded into the cache. Returns the one that goes, where that has changes.
    pub(crate) fn keep(&mut self, page: u32) -> Option<u32> {
        let changed = self.journal.take(page) | self.owed.remove(&page);
        let dirty = if changed { Dirty::Yes } else { Dirty::No };
        let (gone, dirty) = self.cached.0.push(page, dirty)?;
        (dirty == Dirty::Yes).then_some(gone)
    }

    /// Map pages without their newest version on flash if the power fails now, including those in flight.
    pub fn stale(&self, under_way: impl Iterator<Item = Lpn>) -> BTreeSet<u32> {
        let dirty = self.cached.0.iter().filter(|(_, dirty)| **dirty == Dirty::Yes).map(|(page, _)| *page);
        let under_way = under_way.filter_map(|lpn| lpn.0.checked_sub(self.first));
        dirty.chain(under_way).chain(self.journal.pages()).chain(self.owed.iter().copied()).collect()
    }

    /// Take over the result of [`Self::stale`] from the power failure.
    pub fn restore(&mut self, stale: BTreeSet<u32>) {
        self.owed = stale;
    }

    /// Restart the count of the peak.
    pub fn start_anew(&mut self) {
        self.journal.start_anew();
    }

    /// Time that the ending part of a request waited in RAM for its map page.
    pub fn split(&self, parts: &mut LatencyParts, admitted: SimTime) {
        let miss = self.ending.0.saturating_sub(admitted.0).min(parts[LatencyPart::Staging]);
        parts[LatencyPart::MapMiss] = miss;
        parts[LatencyPart::Staging] -= miss;
    }
}

/// Why a drive with a layout cannot have its map on flash, if so.
pub(crate) fn refusal(layout: &Layout) -> Option<String> {
    let why = if layout.map.knows_sectors() || layout.merges.is_some() {
        "its map tracks parts of pages and has no fixed-size entries"
    } else if layout.second_home.is_some() {
        "its data are on two media, so the location of the map is not defined"
    } else {
        return None;
    };
    Some(format!(
        "{why}, so the map cannot be cached page by page; set dram.map_cache=off, or choose another scheme"
    ))
}
