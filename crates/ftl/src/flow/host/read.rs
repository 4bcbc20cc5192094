//! Host reads: sectors in RAM are served from there, the rest by the map.

use crate::ftl::Ftl;
use crate::media::error::MediaError;
use crate::media::page::PageData;
use crate::plan::decision::ReadSeen;
use crate::plan::layout::Hooks;
use crate::plan::span::{Located, Places};
use crate::state::demand_map::Waiting;
use crate::state::op::{Class, Op, OpId, Owner};
use crate::state::request::{Outcome, RequestId};
use crate::view::View;
use smallvec::SmallVec;
use wordline_counters::{Cause, OpKind};
use wordline_device::UnwrittenReads;
use wordline_units::{HostRequest, Lpn, Ppn, SectorMask, SimTime};

/// Number of failed host reads whose reasons are kept.
const MOST_READ_ERRORS: usize = 64;

/// Create the operations of an admitted host read.
struct Reading {
    /// The last of them.
    last: OpId,
    /// If pages share slots, all of them, sorted by place.
    by_place: SmallVec<[(Ppn, OpId); 4]>,
}

/// Report to the scheme the pages that a read has returned, and the sectors of each.
type Seen = SmallVec<[(ReadSeen, SectorMask); 1]>;

impl Ftl {
    pub(crate) fn submit_read(&mut self, id: RequestId, request: &HostRequest) {
        let extent = self.addressing.extent(request);
        if self.store.keeps_bytes() {
            let bytes = extent.sectors() as usize * self.state.geometry.sector as usize;
            self.requests.expect_data(id, bytes);
        }
        let mut reading = Reading { last: OpId::NONE, by_place: SmallVec::new() };
        for unit in extent.first..=extent.last {
            self.read_unit(id, Lpn(unit), extent.covered(unit), &mut reading);
        }
    }

    #[inline]
    fn read_unit(&mut self, id: RequestId, lpn: Lpn, wanted: SectorMask, reading: &mut Reading) {
        let mut wanted = wanted;
        let is_whole =
            self.counts_updates && wanted == SectorMask::first(self.state.geometry.sectors_per_unit);
        if let Some(stage) = self.state.staging.find(lpn) {
            let in_ram = self.state.staging.get(stage).mask().and(wanted);
            if !in_ram.is_empty() {
                self.state.counters.flash.reads_from_ram += 1;
                wanted = wanted.minus(in_ram);
                if self.store.keeps_bytes() {
                    self.deliver(id, lpn, in_ram, self.store.staged(stage));
                }
                if wanted.is_empty() {
                    return;
                }
            }
        }
        let mut located = Places::new();
        if self.read_cache.is_on() {
            let held = self.find_cached(lpn, wanted);
            wanted = wanted.minus(held);
            if self.store.keeps_bytes() {
                self.state.map.resolve(lpn, held, &mut located);
                for at in &located {
                    let page = self.read_for_host(id, at.ppn, lpn);
                    self.deliver(id, lpn, at.mask, page);
                }
            }
        }
        let finds = wanted.is_empty() || self.finds_entry(lpn);
        self.state.map.resolve(lpn, wanted, &mut located);
        if located.is_empty() && !wanted.is_empty() {
            self.state.counters.reads_unmapped += 1;
            if !finds && self.awaits_entry(lpn, Waiting::Request(id)) {
                self.requests.add_part(id);
            }
        }
        if is_whole {
            self.count_places(&located);
        }
        let mut lacking = SectorMask::EMPTY;
        if self.state.unwritten == UnwrittenReads::Read {
            lacking = self.find_page_of_unwritten(lpn, wanted, &mut located);
        }
        for at in &located {
            self.read_place(id, lpn, *at, std::mem::take(&mut lacking), reading);
        }
    }

    /// Which of the wanted sectors were never written. They are read with the first place of written ones, or else
    /// where other sectors of the page are; without a place if there are none.
    #[inline(never)]
    fn find_page_of_unwritten(&mut self, lpn: Lpn, wanted: SectorMask, located: &mut Places) -> SectorMask {
        let lacking = located.iter().fold(wanted, |left, at| left.minus(at.mask));
        if located.is_empty() && !lacking.is_empty() {
            self.state.map.resolve(lpn, SectorMask::first(self.state.geometry.sectors_per_unit), located);
            located.truncate(1);
            located.iter_mut().for_each(|at| at.mask = SectorMask::EMPTY);
        }
        lacking
    }

    /// Count the region of a page that the host reads whole.
    fn count_places(&mut self, located: &[Located]) {
        let counters = &mut self.state.counters;
        if let Some(more) = located.len().checked_sub(1) {
            counters.places.host[more.min(3)] += 1;
        }
        for at in located {
            let region = self.state.region_of(self.state.geometry.block_of(at.ppn));
            self.state.counters.regions[region.index()].counts.whole_page_reads += 1;
        }
    }

    /// Read the sectors of a page at one place, and as many more as it lacks there.
    #[inline]
    fn read_place(
        &mut self,
        id: RequestId,
        lpn: Lpn,
        at: Located,
        lacking: SectorMask,
        reading: &mut Reading,
    ) {
        let sectors = self.state.geometry.sectors_per_unit;
        if let Some((with, shift)) = self.joins(reading, lpn, at) {
            // What shares a page is sensed once; each part is in the chain for its delivery.
            reading.last = with;
            let lead = &mut self.state.ops[with];
            lead.mask = lead.mask.union(SectorMask(at.mask.union(lacking).0 << shift));
            let mut part = Op::new(OpKind::Read, lead.plane, Cause::Host, Class::Read);
            (part.lpn, part.ppn, part.mask, part.chain) = (lpn, at.ppn, at.mask, lead.chain);
            let part = self.add_op(part);
            self.state.ops[with].chain = part;
            return;
        }
        let block = self.state.geometry.block_of(at.ppn);
        self.state.blocks[block.index()].readers += 1;
        let mut op = Op::new(OpKind::Read, self.state.geometry.plane_of(block), Cause::Host, Class::Read);
        // What the page lacks takes its time on the bus, behind the bits that are delivered.
        let more = if lacking.is_empty() { 0 } else { lacking.0.checked_shl(sectors).unwrap_or(0) };
        (op.lpn, op.ppn, op.mask) = (lpn, at.ppn, at.mask.union(SectorMask(more)));
        op.owner = Owner::Request(id);
        self.requests.add_part(id);
        let op = self.emit_mapped(op);
        reading.last = op;
        if self.state.map_kind().shares_slots() {
            reading.by_place.push((at.ppn, op));
        }
    }

    /// The operation of the same request that already reads this place, and the bit of its mask at which its sectors
    /// start: the last if units share a page, any if pages share a unit.
    #[inline]
    fn joins(&self, reading: &Reading, lpn: Lpn, at: Located) -> Option<(OpId, u32)> {
        if self.state.map_kind().shares_slots() {
            let (_, op) = reading.by_place.iter().find(|(ppn, _)| *ppn == at.ppn)?;
            let used = u32::BITS - self.state.ops[*op].mask.0.leading_zeros();
            let shift = used.max(self.state.geometry.sectors_per_unit);
            return (shift + self.state.geometry.sectors_per_unit <= u32::BITS).then_some((*op, shift));
        }
        let last = reading.last;
        if last.is_none() || !self.state.map_kind().is_by_page() {
            return None;
        }
        let op = &self.state.ops[last];
        let units = self.state.geometry.units_per_page(self.state.geometry.medium_index(op.plane));
        let shares = units > 1
            && at.ppn.0 > op.ppn.0
            && op.ppn.0 / units == at.ppn.0 / units
            && self.state.geometry.block_of(op.ppn) == self.state.geometry.block_of(at.ppn)
            && self.state.demand.as_ref().is_none_or(|map| map.share_map_page(op.lpn, lpn));
        shares.then(|| (last, (at.ppn.0 - op.ppn.0) * self.state.geometry.sectors_per_unit))
    }

    /// Copy sectors of a page into the data that a read request returns.
    #[cold]
    pub(crate) fn deliver(&mut self, id: RequestId, lpn: Lpn, mask: SectorMask, page: PageData) {
        let extent = self.addressing.extent(&self.requests[id].request);
        let bytes = self.state.geometry.sector as usize;
        for s in mask.iter() {
            let at = extent.before(lpn, s) as usize * bytes;
            self.requests.deliver(id, at, page.sector(s, bytes));
        }
    }

    #[cold]
    pub(crate) fn deliver_read(&mut self, request: RequestId, id: OpId) {
        let all = wordline_units::SectorMask::first(self.state.geometry.sectors_per_unit);
        let mut part = id;
        while !part.is_none() {
            let op = &self.state.ops[part];
            let (lpn, ppn, mask, next) = (op.lpn, op.ppn, op.mask.and(all), op.chain);
            let page = self.read_for_host(request, ppn, lpn);
            self.deliver(request, lpn, mask, page);
            part = next;
        }
    }

    /// Get the data of a host read from the media. A read that the media cannot serve ends like one with uncorrectable
    /// errors, and the drive continues.
    fn read_for_host(&mut self, id: RequestId, ppn: Ppn, lpn: Lpn) -> PageData {
        match self.store.read(ppn, lpn) {
            Ok(page) => page,
            Err(error) => {
                let request = &mut self.requests[id];
                request.outcome = Outcome::Uncorrectable;
                if self.read_errors.len() == MOST_READ_ERRORS {
                    self.read_errors.remove(0);
                }
                self.read_errors.push((request.number, error));
                PageData::default()
            }
        }
    }

    /// Handle the end of a host read: deliver its data, notify the request, and the scheme, which may move the pages.
    #[inline]
    pub(crate) fn host_read_over(&mut self, id: OpId, request: RequestId) {
        if self.store.keeps_bytes() {
            self.deliver_read(request, id);
        }
        let is_shown = self.enabled_hooks.contains(Hooks::READ);
        if (is_shown || self.read_cache.is_on()) && !self.state.ops[id].retries.failed {
            if self.read_cache.is_on() {
                self.cache_read(id);
            }
            if is_shown {
                return self.show_read(id, request);
            }
        }
        self.end_host_read(id, request);
    }

    /// Remove the operation of a read, and notify its request.
    #[inline]
    fn end_host_read(&mut self, id: OpId, request: RequestId) {
        self.drop_chain(id);
        self.begin_ending(id);
        self.part_done(request);
        self.set_ending(SimTime(0));
    }

    /// Like it, for a read that the scheme observes.
    fn show_read(&mut self, id: OpId, request: RequestId) {
        let mut seen = Seen::new();
        self.note_seen(id, &mut seen);
        self.end_host_read(id, request);
        for &(ref seen, brought) in &seen {
            let m = self.scheme.read(seen, &View::of(&self.state));
            if let (Some(m), false) = (m, self.has_failed("read")) {
                self.move_on(m, seen.ppn, brought);
            }
        }
    }

    /// Report to the scheme the pages that a read has returned.
    fn note_seen(&self, id: OpId, seen: &mut Seen) {
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        let op = &self.state.ops[id];
        let mode = self.state.blocks[self.state.geometry.block_of(op.ppn).index()].mode();
        let retries = op.retries.count;
        for part in self.state.ops.chain(id) {
            let Op { lpn, ppn, mask, .. } = self.state.ops[part];
            seen.push((ReadSeen { lpn, ppn, mode, retries }, mask.and(all)));
        }
    }

    fn drop_chain(&mut self, lead: OpId) {
        let mut part = lead;
        while !part.is_none() {
            let next = self.state.ops[part].chain;
            self.state.ops.remove(part);
            part = next;
        }
    }
}

/// The newest bytes of a sector, as a host read would return them now, within their page; none if it was never written.
///
/// # Errors
/// When the media cannot read them.
pub fn newest_page_of(ftl: &mut Ftl, lpn: Lpn, sector: u32) -> Result<PageData, MediaError> {
    let mask = SectorMask::span(sector, sector + 1);
    if let Some(stage) = ftl.state.staging.find(lpn)
        && ftl.state.staging.mask(lpn).covers(mask)
    {
        return Ok(ftl.store.staged(stage));
    }
    let mut located = Places::new();
    ftl.state.map.resolve(lpn, mask, &mut located);
    located.first().map_or(Ok(PageData::default()), |at| ftl.store.read(at.ppn, lpn))
}
