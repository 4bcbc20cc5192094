//! Trims outlive a power cut once a FLUSH has completed, through the trim log: pages past the
//! logical end, each with the version of the newest trim of every page in a range. A FLUSH programs
//! those of the ranges that were trimmed since the last one, in the home region like any page, and
//! collection moves them like any page, so that the record lives as long as old copies may.
//!
//! A trim that no FLUSH has covered may be undone by a cut: the page's newest copy is still on flash.
//! When that copy is erased, the trim alone keeps an older one from coming back. Such trims stand in
//! protected RAM until they are logged.

use crate::file::saved::{sorted, sorted_set};
use crate::ftl::Ftl;
use crate::media::Media;
use crate::plan::decision::{Gather, Origin, Parcel, Place, PlanePick, Route};
use crate::plan::map_kind::MapKind;
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use crate::state::cause::Cause;
use crate::state::op::{Class, Op, OpId, OpKind, Owner};
use crate::state::request::RequestId;
use crate::view::View;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use wordline_flash::Geometry;
use wordline_units::{BlockId, Lpn, PlaneId, Ppn, SectorMask};

/// Bytes of a version in a page of the log.
const ENTRY_BYTES: u64 = 8;

/// A trim that no page of the log holds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Unlogged {
    pub version: u64,
    /// A copy that it killed has been erased: it stands in protected RAM.
    pub held: bool,
}

/// What of the log is in RAM. A drive that is never trimmed keeps nothing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TrimLog {
    /// The first page of the log, behind the last logical page.
    first: u32,
    /// Logical pages in the range of one page of the log.
    range: u32,
    /// Entries for each logical page: one, or one a sector where sectors are mapped.
    grain: u32,
    sectors: u32,
    /// Ranges with a trim since they were last programmed.
    dirty: BTreeSet<u32>,
    /// Ranges whose page has been programmed.
    #[serde(serialize_with = "sorted_set")]
    logged: FxHashSet<u32>,
    /// The newest trim of each entry, by range; kept where media keep metadata.
    #[serde(serialize_with = "sorted")]
    versions: FxHashMap<u32, Vec<u64>>,
    /// By entry.
    #[serde(serialize_with = "sorted")]
    unlogged: FxHashMap<u64, Unlogged>,
    /// What programs of log pages carry, by operation.
    #[serde(serialize_with = "sorted")]
    records: FxHashMap<u32, Arc<[u64]>>,
    /// Programs under way that lack sectors, since they were trimmed, or overwritten, before the
    /// sectors were read: their pages are marked as padding.
    #[serde(serialize_with = "sorted_set")]
    pub void: FxHashSet<u32>,
}

impl TrimLog {
    pub fn new(geometry: &Geometry, kind: MapKind, logical_pages: u32) -> TrimLog {
        let sectors = geometry.sectors_per_unit;
        let grain = if kind.knows_sectors() { sectors } else { 1 };
        TrimLog {
            first: logical_pages,
            range: ((geometry.unit / ENTRY_BYTES) as u32 / grain).max(1),
            grain,
            sectors,
            dirty: BTreeSet::new(),
            logged: FxHashSet::default(),
            versions: FxHashMap::default(),
            unlogged: FxHashMap::default(),
            records: FxHashMap::default(),
            void: FxHashSet::default(),
        }
    }

    /// Pages of the log and of the drive together.
    pub fn end(&self) -> u32 {
        self.first.saturating_add(self.first.div_ceil(self.range))
    }

    #[inline]
    pub fn is_log(&self, lpn: Lpn) -> bool {
        (self.first..self.end()).contains(&lpn.0)
    }

    /// Pages of the log that are mapped, in the unit that the map counts.
    pub fn mapped(&self) -> u64 {
        self.logged.len() as u64 * self.grain as u64
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

    fn remember(&mut self, lpn: Lpn, mask: SectorMask, version: u64) {
        for entry in self.entries(lpn, mask) {
            self.raise(entry, version);
            let unlogged = self.unlogged.entry(entry).or_insert(Unlogged { version, held: false });
            unlogged.version = version;
        }
    }

    /// A copy is about to be lost for good: if a trim alone has made it stale, that trim must not be
    /// forgotten, or an older copy could come back.
    pub fn hold(&mut self, lpn: Lpn, mask: SectorMask, version: u64) {
        for entry in self.entries(lpn, mask) {
            if let Some(trim) = self.unlogged.get_mut(&entry) {
                trim.held |= version < trim.version;
            }
        }
    }

    /// Whether a program that ends is void. Its data are gone then, as if erased.
    pub fn is_void(&mut self, op: u32, span: Span, version: u64) -> bool {
        let void = self.void.remove(&op);
        if void {
            self.hold(span.lpn, span.mask, version);
        }
        void
    }

    /// The trims that a cut does not take: those held, or `all` of those not yet logged.
    pub fn kept(&self, all: AllTrims) -> Vec<(u64, u64)> {
        let kept = self.unlogged.iter().filter(|(_, t)| t.held || all == AllTrims::Kept);
        let mut kept: Vec<(u64, u64)> = kept.map(|(entry, t)| (*entry, t.version)).collect();
        kept.sort_unstable();
        kept
    }

    /// Take over a trim that outlived the cut in protected RAM.
    pub fn restore(&mut self, entry: u64, version: u64) {
        self.raise(entry, version);
        let trim = self.unlogged.entry(entry).or_insert(Unlogged { version, held: true });
        trim.version = trim.version.max(version);
        self.note(self.sectors_of(entry).0);
    }

    /// Take over a page of the log that was found on flash.
    pub fn merge(&mut self, lpn: Lpn, record: &[u64]) {
        let range = self.range_of_page(lpn);
        for (entry, version) in self.record_entries(range, record) {
            self.raise(entry, version);
        }
    }

    /// The entries that a page of the log names.
    pub fn record_entries(&self, range: u32, record: &[u64]) -> Vec<(u64, u64)> {
        let first = range as u64 * self.range as u64 * self.grain as u64;
        let entries = record.iter().enumerate().filter(|(_, v)| **v > 0);
        entries.map(|(at, v)| (first + at as u64, *v)).collect()
    }

    /// What the program of a log page that is on its way carries.
    /// Nothing for other programs.
    pub fn record(&self, op: u32, lpn: Lpn) -> Vec<(u64, u64)> {
        self.records.get(&op).map_or(vec![], |r| self.record_entries(self.range_of_page(lpn), r))
    }

    /// Every entry that was ever trimmed, with the newest trim.
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

impl<M: Media> Ftl<M> {
    /// A trim has made data stale that may be on flash.
    pub(crate) fn note_trim(&mut self, lpn: Lpn, mask: SectorMask) {
        self.state.trims.note(lpn);
        if M::METADATA {
            self.state.trims.remember(lpn, mask, self.version);
        }
    }

    /// Program the ranges that were trimmed since they were last programmed. A FLUSH waits for them.
    pub(crate) fn log_trims(&mut self, flush: RequestId) {
        for range in std::mem::take(&mut self.state.trims.dirty) {
            let op = self.program_metadata(self.state.trims.page(range), Some(flush));
            if M::METADATA
                && let Some(versions) = self.state.trims.versions.get(&range)
            {
                let record = versions.as_slice().into();
                self.state.trims.records.insert(op.0, record);
            }
            self.launch(op);
        }
    }

    /// Make the program of a page of the drive's own tables, which a request may wait for.
    pub(crate) fn program_metadata(&mut self, lpn: Lpn, waits: Option<RequestId>) -> OpId {
        let place = self.metadata_place();
        let plane = self.pick_plane(&place, self.state.stripe.plane(lpn));
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        let stage = self.state.staging.enter(lpn);
        let entry = self.state.staging.get(stage);
        entry.pending += 1;
        entry.mask = all;
        let mut op = Op::new(OpKind::Program, plane, Cause::Metadata, Class::Write);
        (op.lpn, op.mask, op.stage, op.version) = (lpn, all, stage, self.version);
        (op.owned_by, op.route) = (Owner::Request, place.route);
        if let Some(request) = waits {
            op.owner = request.0;
            self.requests[request.0 as usize].remaining += 1;
        }
        self.unsettled += 1;
        self.state.buffered += u64::from(self.ack.is_buffer());
        self.add_op(op)
    }

    /// Where pages of the drive's own tables go: to the home region, whatever the scheme does with data.
    fn metadata_place(&self) -> Place {
        let home = self.state.home;
        let r = &self.state.regions[home.index()];
        let route = Route::classes(home, r.region.rule.classes(r.shape));
        Place { gather: Gather::AsIs, plane: PlanePick::Home, route }
    }

    /// Where a collected page goes: the scheme says, except for pages that are not the host's.
    #[inline]
    pub(crate) fn place_collected(&mut self, region: RegionId, spans: &[Span], home: PlaneId) -> Place {
        if spans.first().is_some_and(|s| self.state.is_metadata(s.lpn)) {
            return self.metadata_place();
        }
        let parcel = Parcel { origin: Origin::Collected(region), spans, home };
        self.scheme.place(&parcel, &View::of(&self.state))
    }

    /// A relocation of a log page carries what its source holds.
    pub(crate) fn load_record(&mut self, op: u32, lpn: Lpn, from: Ppn) {
        if self.state.trims.is_log(lpn)
            && let Some(record) = self.media.trims(from)
        {
            self.state.trims.records.insert(op, record);
        }
    }

    /// A log page is on flash.
    pub(crate) fn store_record(&mut self, op: u32, lpn: Lpn, ppn: Ppn) {
        if self.state.trims.is_log(lpn)
            && let Some(record) = self.state.trims.records.remove(&op)
        {
            self.media.record_trims(ppn, record);
        }
    }

    /// A page of the drive's own tables has been programmed anew.
    pub(crate) fn metadata_programmed(&mut self, lpn: Lpn, version: u64) {
        if self.state.trims.is_log(lpn) {
            self.trims_logged(lpn, version);
        } else if let Some(map) = &mut self.state.demand {
            map.set_on_flash(lpn);
        }
    }

    /// No place could be found for a page of the drive's own tables.
    pub(crate) fn metadata_not_programmed(&mut self, op: u32, lpn: Lpn) {
        if self.state.trims.is_log(lpn) {
            self.trims_not_logged(op, lpn);
        } else {
            self.map_page_not_written(lpn);
        }
    }

    /// The program of a log page that a FLUSH asked for is over: its trims are durable.
    #[cold]
    fn trims_logged(&mut self, lpn: Lpn, version: u64) {
        let log = &mut self.state.trims;
        log.set_logged(lpn);
        let range = log.range_of_page(lpn);
        let each = log.range as u64 * log.grain as u64;
        log.unlogged.retain(|entry, trim| (entry / each) as u32 != range || trim.version > version);
    }

    /// No place could be found for a log page: the next FLUSH tries again.
    #[cold]
    fn trims_not_logged(&mut self, op: u32, lpn: Lpn) {
        self.state.trims.records.remove(&op);
        let range = self.state.trims.range_of_page(lpn);
        self.state.trims.dirty.insert(range);
    }

    /// Every copy in a block is about to be lost.
    pub(crate) fn hold_trims_of(&mut self, block: BlockId) {
        if self.state.trims.unlogged.is_empty() {
            return;
        }
        for slot in 0..1 << self.state.geometry.slot_shift {
            let ppn = self.state.geometry.ppn(block, slot);
            for (span, version) in self.media.stored(ppn) {
                if !self.state.is_metadata(span.lpn) {
                    self.state.trims.hold(span.lpn, span.mask, version);
                }
            }
        }
        let Some(base) = self.base.as_ref().filter(|_| self.media.holds_base(block)) else { return };
        let plane = self.state.geometry.plane_of(block);
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        for slot in 0..1 << self.state.geometry.slot_shift {
            if let Some(lpn) = base.owner_of(plane, block, slot) {
                self.state.trims.hold(lpn, all, 0);
            }
        }
    }
}
