//! Trims outlive a power cut once a FLUSH has completed, through the trim log: pages past the
//! logical end, each with the version of the newest trim of every page in a range. A FLUSH programs
//! those of the ranges that were trimmed since the last one, in the home region like any page, and
//! collection moves them like any page, so that the record lives as long as old copies may.
//!
//! A trim that no FLUSH has covered may be undone by a cut: the page's newest copy is still on flash. When
//! that copy is erased, the trim alone keeps an older one from coming back. Such trims are in protected RAM
//! until they are logged.

use crate::file::saved::{sorted, sorted_set};
use crate::plan::region::MapKind;
use crate::plan::span::Span;
use crate::state::id::OpId;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use wordline_flash::Geometry;
use wordline_units::{Lpn, SectorMask};

/// Bytes of a version in a page of the log.
const ENTRY_BYTES: u64 = 8;

/// A trim that no page of the log holds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Unlogged {
    pub version: u64,
    /// A copy that it invalidated has been erased, so the trim must stay in protected RAM.
    pub held: bool,
}

/// The part of the log in RAM. A drive that is never trimmed keeps nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TrimLog {
    /// The first page of the log, behind the last logical page.
    first: u32,
    /// Logical pages in the range of one page of the log.
    range: u32,
    /// Entries per logical page: one, or one per sector if sectors are mapped.
    grain: u32,
    sectors: u32,
    /// Ranges with a trim since they were last programmed.
    dirty: BTreeSet<u32>,
    /// Ranges whose page has been programmed.
    #[serde(serialize_with = "sorted_set")]
    logged: FxHashSet<u32>,
    /// The newest trim of each entry, by range; kept only if the media keep metadata.
    #[serde(serialize_with = "sorted")]
    versions: FxHashMap<u32, Vec<u64>>,
    /// By entry.
    #[serde(serialize_with = "sorted")]
    unlogged: FxHashMap<u64, Unlogged>,
    /// Contents of the programs of log pages, by operation.
    #[serde(serialize_with = "sorted")]
    records: FxHashMap<u32, Arc<[u64]>>,
    /// Programs in progress whose missing sectors were trimmed or overwritten before they were read: their pages are
    /// marked as padding.
    #[serde(serialize_with = "sorted_set")]
    void: FxHashSet<u32>,
}

/// Maximum number of pages of the trim log for this many logical pages, in addition to those of the host.
pub fn trim_log_pages(geometry: &Geometry, kind: MapKind, logical_pages: u32) -> u32 {
    logical_pages.div_ceil(range(geometry, kind))
}

/// Logical pages in the range of one page of the log.
fn range(geometry: &Geometry, kind: MapKind) -> u32 {
    ((geometry.unit / ENTRY_BYTES) as u32 / grain(geometry, kind)).max(1)
}

/// Entries for each logical page.
fn grain(geometry: &Geometry, kind: MapKind) -> u32 {
    if kind.knows_sectors() { geometry.sectors_per_unit } else { 1 }
}

impl TrimLog {
    pub fn new(geometry: &Geometry, kind: MapKind, logical_pages: u32) -> TrimLog {
        TrimLog {
            first: logical_pages,
            range: range(geometry, kind),
            grain: grain(geometry, kind),
            sectors: geometry.sectors_per_unit,
            dirty: BTreeSet::new(),
            logged: FxHashSet::default(),
            versions: FxHashMap::default(),
            unlogged: FxHashMap::default(),
            records: FxHashMap::default(),
            void: FxHashSet::default(),
        }
    }

    /// Forget data that only a power cut needs.
    pub fn forget_history(&mut self) {
        self.versions.clear();
        self.unlogged.clear();
        self.records.clear();
    }

    /// Pages of the drive including the log.
    pub fn end(&self) -> u32 {
        self.first.saturating_add(self.first.div_ceil(self.range))
    }

    #[inline]
    pub fn is_log(&self, lpn: Lpn) -> bool {
        (self.first..self.end()).contains(&lpn.0)
    }

    /// Pages of the log that are mapped.
    pub fn pages(&self) -> u64 {
        self.logged.len() as u64
    }

    pub fn note(&mut self, lpn: Lpn) {
        self.dirty.insert(lpn.0 / self.range);
    }

    pub fn page(&self, range: u32) -> Lpn {
        Lpn(self.first + range)
    }

    fn range_of_page(&self, lpn: Lpn) -> u32 {
        lpn.0 - self.first
    }

    /// The entries of some sectors of a page.
    pub fn entries(&self, lpn: Lpn, mask: SectorMask) -> impl Iterator<Item = u64> + use<> {
        let first = lpn.0 as u64 * self.grain as u64;
        let mask = if self.grain == 1 { SectorMask(1) } else { mask };
        mask.iter().map(move |s| first + s as u64)
    }

    /// The sectors that an entry stands for.
    pub fn sectors_of(&self, entry: u64) -> (Lpn, SectorMask) {
        let lpn = Lpn((entry / self.grain as u64) as u32);
        let all = SectorMask::first(self.sectors);
        (lpn, if self.grain == 1 { all } else { SectorMask(1 << (entry % self.grain as u64)) })
    }

    fn range_of_entry(&self, entry: u64) -> (u32, usize) {
        let each = self.range as u64 * self.grain as u64;
        ((entry / each) as u32, (entry % each) as usize)
    }

    /// The newest trim of an entry; 0 for none.
    pub fn version(&self, entry: u64) -> u64 {
        let (range, at) = self.range_of_entry(entry);
        self.versions.get(&range).map_or(0, |v| v[at])
    }

    /// Note the newest trim of an entry.
    pub fn raise(&mut self, entry: u64, version: u64) {
        let (range, at) = self.range_of_entry(entry);
        let each = (self.range * self.grain) as usize;
        let newest = &mut self.versions.entry(range).or_insert_with(|| vec![0; each])[at];
        *newest = version.max(*newest);
    }

    pub(crate) fn remember(&mut self, lpn: Lpn, mask: SectorMask, version: u64) {
        for entry in self.entries(lpn, mask) {
            self.raise(entry, version);
            let unlogged = self.unlogged.entry(entry).or_insert(Unlogged { version, held: false });
            unlogged.version = version;
        }
    }

    /// A copy is about to be erased: if only a trim has invalidated it, that trim must be kept, or an older copy could
    /// return.
    pub fn hold(&mut self, lpn: Lpn, mask: SectorMask, version: u64) {
        for entry in self.entries(lpn, mask) {
            if let Some(trim) = self.unlogged.get_mut(&entry) {
                trim.held |= version < trim.version;
            }
        }
    }

    /// The missing sectors of a program in progress were trimmed or overwritten before they were read.
    pub fn make_void(&mut self, op: OpId) {
        self.void.insert(op.0);
    }

    /// A program ends without a place.
    pub fn forget_void(&mut self, op: OpId) {
        self.void.remove(&op.0);
    }

    /// Whether a program that ends is void. Its data are then lost, as if erased.
    pub fn is_void(&mut self, op: OpId, span: Span, version: u64) -> bool {
        let void = self.void.remove(&op.0);
        if void {
            self.hold(span.lpn, span.mask, version);
        }
        void
    }

    /// Whether any trim is in no page of the log.
    pub fn has_unlogged(&self) -> bool {
        !self.unlogged.is_empty()
    }

    /// Whether the newest trim of an entry is in no page of the log.
    pub fn is_unlogged(&self, entry: u64) -> bool {
        self.unlogged.contains_key(&entry)
    }

    /// The ranges trimmed since they were last programmed, which are programmed now.
    pub fn take_dirty(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.dirty)
    }

    /// A program writes the page of a range as it is now.
    pub fn begin_program(&mut self, op: OpId, range: u32) {
        if let Some(versions) = self.versions.get(&range) {
            self.records.insert(op.0, versions.as_slice().into());
        }
    }

    /// A program writes this page of the log.
    pub fn set_record(&mut self, op: OpId, record: Arc<[u64]>) {
        self.records.insert(op.0, record);
    }

    /// What a program in progress writes to its page of the log.
    pub fn record_of(&self, op: OpId) -> Option<Arc<[u64]>> {
        self.records.get(&op.0).cloned()
    }

    /// A program has written its page of the log.
    pub fn end_program(&mut self, op: OpId) {
        self.records.remove(&op.0);
    }

    /// A page of the log that a FLUSH wrote is on flash, with the trims up to a version: these are durable.
    #[cold]
    pub fn logged(&mut self, lpn: Lpn, version: u64) {
        self.set_logged(lpn);
        let range = self.range_of_page(lpn);
        let each = self.range as u64 * self.grain as u64;
        self.unlogged.retain(|entry, trim| (entry / each) as u32 != range || trim.version > version);
    }

    /// A page of the log has no place: the next FLUSH tries again.
    #[cold]
    pub fn not_logged(&mut self, op: OpId, lpn: Lpn) {
        self.end_program(op);
        self.dirty.insert(self.range_of_page(lpn));
    }

    /// The trims that survive a power cut: those kept, or `all` that are not yet logged.
    pub fn kept(&self, all: AllTrims) -> Vec<(u64, u64)> {
        let kept = self.unlogged.iter().filter(|(_, t)| t.held || all == AllTrims::Kept);
        let mut kept: Vec<(u64, u64)> = kept.map(|(entry, t)| (*entry, t.version)).collect();
        kept.sort_unstable();
        kept
    }

    /// Restore a trim that survived the cut in protected RAM.
    pub fn restore(&mut self, entry: u64, version: u64) {
        self.raise(entry, version);
        let trim = self.unlogged.entry(entry).or_insert(Unlogged { version, held: true });
        trim.version = trim.version.max(version);
        self.note(self.sectors_of(entry).0);
    }

    /// Restore a page of the log from flash.
    pub fn merge(&mut self, lpn: Lpn, record: &[u64]) {
        let range = self.range_of_page(lpn);
        for (entry, version) in self.record_entries(range, record) {
            self.raise(entry, version);
        }
    }

    /// The entries in a page of the log.
    pub fn record_entries(&self, range: u32, record: &[u64]) -> Vec<(u64, u64)> {
        let first = range as u64 * self.range as u64 * self.grain as u64;
        let entries = record.iter().enumerate().filter(|(_, v)| **v > 0);
        entries.map(|(at, v)| (first + at as u64, *v)).collect()
    }

    /// Contents of the program of a log page in progress. Empty for other programs.
    pub fn record(&self, op: OpId, lpn: Lpn) -> Vec<(u64, u64)> {
        self.records.get(&op.0).map_or(vec![], |r| self.record_entries(self.range_of_page(lpn), r))
    }

    /// All entries that were ever trimmed, with their newest trim.
    pub fn all(&self) -> Vec<(u64, u64)> {
        let mut all: Vec<(u64, u64)> =
            self.versions.iter().flat_map(|(range, v)| self.record_entries(*range, v)).collect();
        all.sort_unstable();
        all
    }

    /// A page of the log is mapped.
    pub fn set_logged(&mut self, lpn: Lpn) {
        self.logged.insert(self.range_of_page(lpn));
    }
}

/// Which unlogged trims outlive a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AllTrims {
    /// Those whose newest copy has been erased.
    Held,
    /// All, since the drive's buffer is protected.
    Kept,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a drive of 1000 pages with four sectors, with entries by page or by sector.
    fn log(grain: u32) -> TrimLog {
        TrimLog {
            first: 1000,
            range: 256 / grain,
            grain,
            sectors: 4,
            dirty: BTreeSet::new(),
            logged: FxHashSet::default(),
            versions: FxHashMap::default(),
            unlogged: FxHashMap::default(),
            records: FxHashMap::default(),
            void: FxHashSet::default(),
        }
    }

    const SOME: SectorMask = SectorMask(0b0101);

    #[test]
    fn an_entry_is_of_a_page_or_of_a_sector() {
        let (pages, sectors) = (log(1), log(4));
        assert_eq!(pages.entries(Lpn(3), SOME).collect::<Vec<_>>(), [3]);
        assert_eq!(pages.sectors_of(3), (Lpn(3), SectorMask(0b1111)));
        assert_eq!(sectors.entries(Lpn(3), SOME).collect::<Vec<_>>(), [12, 14]);
        assert_eq!(sectors.sectors_of(14), (Lpn(3), SectorMask(0b0100)));
        assert_eq!((pages.end(), sectors.end()), (1004, 1016));
        assert!(pages.is_log(Lpn(1003)) && !pages.is_log(Lpn(1004)) && !pages.is_log(Lpn(999)));
    }

    // A trim is held when the copy is lost that it alone makes stale.
    #[test]
    fn trim_is_kept_if_the_only_stale_copy_is_lost() {
        let mut log = log(1);
        log.remember(Lpn(3), SOME, 8);
        log.remember(Lpn(4), SOME, 9);
        log.hold(Lpn(3), SOME, 8);
        assert_eq!(log.kept(AllTrims::Held), []);
        log.hold(Lpn(3), SOME, 7);
        log.hold(Lpn(5), SOME, 1);
        assert_eq!(log.kept(AllTrims::Held), [(3, 8)]);
        assert_eq!(log.kept(AllTrims::Kept), [(3, 8), (4, 9)]);
    }

    #[test]
    fn void_program_loses_its_data_once_at_its_end() {
        let mut log = log(1);
        log.remember(Lpn(3), SOME, 8);
        log.void.insert(2);
        let span = Span { lpn: Lpn(3), mask: SOME, offset: 0 };
        assert!(!log.is_void(OpId(1), span, 5) && log.kept(AllTrims::Held).is_empty());
        assert!(log.is_void(OpId(2), span, 5) && !log.is_void(OpId(2), span, 5));
        assert_eq!(log.kept(AllTrims::Held), [(3, 8)]);
    }

    #[test]
    fn log_page_names_the_newest_trims_of_its_range() {
        let mut log = log(1);
        [(300, 8), (300, 6), (511, 9), (512, 10)]
            .iter()
            .for_each(|(lpn, at)| log.remember(Lpn(*lpn), SOME, *at));
        assert_eq!(log.version(300), 8);
        let record = log.versions[&1].clone();
        assert_eq!(log.record_entries(1, &record), [(300, 8), (511, 9)]);
        log.records.insert(4, record.as_slice().into());
        assert_eq!(log.record(OpId(4), log.page(1)), [(300, 8), (511, 9)]);
        assert_eq!(log.record(OpId(5), log.page(1)), []);
        assert_eq!(log.all(), [(300, 8), (511, 9), (512, 10)]);
    }

    #[test]
    fn what_outlives_a_cut_is_noted_and_held_again() {
        let mut log = log(4);
        log.restore(1030, 5);
        log.restore(1030, 4);
        assert_eq!((log.version(1030), log.kept(AllTrims::Held)), (5, vec![(1030, 5)]));
        assert!(log.dirty.contains(&4));
        let mut record = vec![0; 256];
        record[6] = 7;
        log.merge(log.page(4), &record);
        assert_eq!(log.version(1030), 7);
        log.set_logged(log.page(4));
        assert_eq!(log.pages(), 1);
    }
}
