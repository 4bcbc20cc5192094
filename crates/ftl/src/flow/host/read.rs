//! Host reads: sectors in RAM are served from there, the rest by the map.

use crate::flow::buffer::read_cache::{cache_read, find_cached};
use crate::flow::complete::{begin_ending, part_done, set_ending};
use crate::flow::emit::add_op;
use crate::flow::fail::has_failed;
use crate::flow::metadata::demand_map::{awaits_entry, emit_mapped, finds_entry};
use crate::flow::moves::moves::move_on;
use crate::layer::Layer;
use crate::media::error::MediaError;
use crate::media::page::PageData;
use crate::plan::decision::ReadSeen;
use crate::plan::layout::Hooks;
use crate::plan::span::{Located, Places};
use crate::state::blocks::pin;
use crate::state::demand_map::Waiting;
use crate::state::op::{Class, Op, OpId, Ops, Owner};
use crate::state::outbox::Outbox;
use crate::state::request::{Outcome, RequestId};
use crate::state::requests::Requests;
use crate::state::state::State;
use crate::state::store::Store;
use crate::view::View;
use smallvec::SmallVec;
use wordline_counters::{Cause, OpKind};
use wordline_device::UnwrittenReads;
use wordline_units::{HostOp, HostRequest, Lpn, Ppn, SectorMask, SimTime};

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

pub(crate) fn submit_read(layer: &mut Layer, id: RequestId, request: &HostRequest) {
    let extent = layer.state.config.addressing.extent(request);
    if layer.store.keeps_bytes() {
        layer.requests.expect_data(id, bytes_of(&layer.state, request));
    }
    let mut reading = Reading { last: OpId::NONE, by_place: SmallVec::new() };
    for unit in extent.units() {
        read_unit(layer, id, Lpn(unit), extent.covered(unit), &mut reading);
    }
}

/// How many bytes a read returns.
fn bytes_of(state: &State, request: &HostRequest) -> usize {
    state.config.addressing.extent(request).sectors() as usize * state.geometry.sector as usize
}

/// Take the bytes that a completed request returns: none unless it is a read.
#[cold]
pub(crate) fn take_read(state: &State, requests: &mut Requests, id: RequestId) -> Vec<u8> {
    let request = requests[id].request;
    let bytes = if request.op == HostOp::Read { bytes_of(state, &request) } else { 0 };
    requests.take_data(id, bytes)
}

#[inline(never)]
fn read_unit(layer: &mut Layer, id: RequestId, lpn: Lpn, wanted: SectorMask, reading: &mut Reading) {
    let mut wanted = wanted;
    let is_whole = layer.state.config.counts_updates
        && wanted == SectorMask::first(layer.state.geometry.sectors_per_unit);
    if let Some(stage) = layer.state.staging.find(lpn) {
        let in_ram = layer.state.staging.get(stage).mask().and(wanted);
        if !in_ram.is_empty() {
            layer.state.counters.flash.reads_from_ram += 1;
            wanted = wanted.minus(in_ram);
            if layer.store.keeps_bytes() {
                let page = layer.store.staged(stage);
                deliver(&layer.state, &mut layer.requests, (id, lpn, in_ram), &page);
            }
            if wanted.is_empty() {
                return;
            }
        }
    }
    let mut located = Places::new();
    if layer.read_cache.is_on() {
        let held = find_cached(&mut layer.state.counters, &mut layer.read_cache, lpn, wanted);
        wanted = wanted.minus(held);
        if layer.store.keeps_bytes() {
            layer.state.map.resolve(lpn, held, &mut located);
            for at in &located {
                deliver_place(layer, id, lpn, *at);
            }
        }
    }
    let finds = wanted.is_empty() || finds_entry(layer, lpn);
    layer.state.map.resolve(lpn, wanted, &mut located);
    if located.is_empty() && !wanted.is_empty() {
        layer.state.counters.reads_unmapped += 1;
        if !finds && awaits_entry(&mut layer.state.demand, lpn, Waiting::Request(id)) {
            layer.requests.add_part(id);
        }
    }
    if is_whole {
        count_places(&mut layer.state, &located);
    }
    let mut lacking = SectorMask::EMPTY;
    if layer.state.config.unwritten == UnwrittenReads::Read {
        lacking = find_page_of_unwritten(&mut layer.state, lpn, wanted, &mut located);
    }
    for at in &located {
        read_place(layer, id, lpn, *at, std::mem::take(&mut lacking), reading);
    }
}

/// Which of the wanted sectors were never written. They are read with the first place of written ones, or else
/// where other sectors of the page are; without a place if there are none.
#[inline(never)]
fn find_page_of_unwritten(
    state: &mut State,
    lpn: Lpn,
    wanted: SectorMask,
    located: &mut Places,
) -> SectorMask {
    let lacking = located.iter().fold(wanted, |left, at| left.minus(at.mask));
    if located.is_empty() && !lacking.is_empty() {
        state.map.resolve(lpn, SectorMask::first(state.geometry.sectors_per_unit), located);
        located.truncate(1);
        located.iter_mut().for_each(|at| at.mask = SectorMask::EMPTY);
    }
    lacking
}

/// Count the region of a page that the host reads whole.
fn count_places(state: &mut State, located: &[Located]) {
    let counters = &mut state.counters;
    if let Some(more) = located.len().checked_sub(1) {
        counters.places.host[more.min(3)] += 1;
    }
    for at in located {
        let region = state.blocks.region_of(state.geometry.block_of(at.ppn));
        state.counters.regions[region.index()].counts.whole_page_reads += 1;
    }
}

/// Read the sectors of a page at one place, and as many more as it lacks there.
#[inline]
fn read_place(
    layer: &mut Layer,
    id: RequestId,
    lpn: Lpn,
    at: Located,
    lacking: SectorMask,
    reading: &mut Reading,
) {
    let sectors = layer.state.geometry.sectors_per_unit;
    if let Some((with, shift)) = joins(&layer.state, reading, lpn, at) {
        // What shares a page is sensed once; each part is in the chain for its delivery.
        reading.last = with;
        let lead = &mut layer.state.ops[with];
        lead.mask = lead.mask.union(SectorMask(at.mask.union(lacking).0 << shift));
        let mut part = Op::new(OpKind::Read, lead.plane, Cause::Host, Class::Read);
        (part.lpn, part.ppn, part.mask, part.chain) = (lpn, at.ppn, at.mask, lead.chain);
        let part = add_op(&mut layer.state.ops, &mut layer.store, part);
        layer.state.ops[with].chain = part;
        return;
    }
    let block = layer.state.geometry.block_of(at.ppn);
    pin(&mut layer.state.blocks, block);
    let mut op = Op::new(OpKind::Read, layer.state.geometry.plane_of(block), Cause::Host, Class::Read);
    // What the page lacks takes its time on the bus, behind the bits that are delivered.
    let more = if lacking.is_empty() { 0 } else { lacking.0.checked_shl(sectors).unwrap_or(0) };
    (op.lpn, op.ppn, op.mask) = (lpn, at.ppn, at.mask.union(SectorMask(more)));
    op.owner = Owner::Request(id);
    layer.requests.add_part(id);
    let op = emit_mapped(&mut layer.state, &mut layer.store, &mut layer.out, op);
    reading.last = op;
    if layer.state.map_kind().shares_slots() {
        reading.by_place.push((at.ppn, op));
    }
}

/// The operation of the same request that already reads this place, and the bit of its mask at which its sectors
/// start: the last if units share a page, any if pages share a unit.
#[inline]
fn joins(state: &State, reading: &Reading, lpn: Lpn, at: Located) -> Option<(OpId, u32)> {
    if state.map_kind().shares_slots() {
        let (_, op) = reading.by_place.iter().find(|(ppn, _)| *ppn == at.ppn)?;
        let used = u32::BITS - state.ops[*op].mask.0.leading_zeros();
        let shift = used.max(state.geometry.sectors_per_unit);
        return (shift + state.geometry.sectors_per_unit <= u32::BITS).then_some((*op, shift));
    }
    let last = reading.last;
    if last.is_none() || !state.map_kind().is_by_page() {
        return None;
    }
    let op = &state.ops[last];
    let units = state.geometry.units_per_page(state.geometry.medium_index(op.plane));
    let shares = units > 1
        && at.ppn.0 > op.ppn.0
        && op.ppn.0 / units == at.ppn.0 / units
        && state.geometry.block_of(op.ppn) == state.geometry.block_of(at.ppn)
        && state.demand.as_ref().is_none_or(|map| map.share_map_page(op.lpn, lpn));
    shares.then(|| (last, (at.ppn.0 - op.ppn.0) * state.geometry.sectors_per_unit))
}

/// Copy sectors of a page into the data that a read request returns.
#[cold]
pub(crate) fn deliver(
    state: &State,
    requests: &mut Requests,
    (id, lpn, mask): (RequestId, Lpn, SectorMask),
    page: &PageData,
) {
    let extent = state.config.addressing.extent(&requests[id].request);
    let bytes = state.geometry.sector as usize;
    for s in mask.iter() {
        let at = extent.before(lpn, s) as usize * bytes;
        requests.deliver(id, at, page.sector(s, bytes));
    }
}

#[cold]
pub(crate) fn deliver_read(layer: &mut Layer, request: RequestId, id: OpId) {
    let all = wordline_units::SectorMask::first(layer.state.geometry.sectors_per_unit);
    let mut part = id;
    while !part.is_none() {
        let op = &layer.state.ops[part];
        let (lpn, ppn, mask, next) = (op.lpn, op.ppn, op.mask.and(all), op.chain);
        deliver_place(layer, request, lpn, Located { ppn, mask });
        part = next;
    }
}

/// Get the data of a host read from the media. A read that the media cannot serve ends like one with uncorrectable
/// errors, and the drive continues.
fn deliver_place(layer: &mut Layer, id: RequestId, lpn: Lpn, at: Located) {
    let Layer { state, requests, store, .. } = layer;
    let Some(media) = store.media_mut().as_deref_mut() else { return };
    let to = &mut |page: &PageData| deliver(state, requests, (id, lpn, at.mask), page);
    if let Err(error) = media.show(at.ppn, lpn, to) {
        let request = &mut layer.requests[id];
        request.outcome = Outcome::Uncorrectable;
        if layer.read_errors.len() == MOST_READ_ERRORS {
            layer.read_errors.remove(0);
        }
        layer.read_errors.push((request.number, error));
    }
}

/// Handle the end of a host read: deliver its data, notify the request, and the scheme, which may move the pages.
#[inline]
pub(crate) fn host_read_over(layer: &mut Layer, id: OpId, request: RequestId) {
    if layer.store.keeps_bytes() {
        deliver_read(layer, request, id);
    }
    let is_shown = layer.seat.hooks.contains(Hooks::READ);
    if (is_shown || layer.read_cache.is_on()) && !layer.state.ops[id].retries.failed {
        if layer.read_cache.is_on() {
            cache_read(&mut layer.state, &mut layer.read_cache, id);
        }
        if is_shown {
            return show_read(layer, id, request);
        }
    }
    end_host_read(&mut layer.state, &mut layer.requests, &mut layer.out, id, request);
}

/// Remove the operation of a read, and notify its request.
#[inline]
fn end_host_read(state: &mut State, requests: &mut Requests, out: &mut Outbox, id: OpId, request: RequestId) {
    drop_chain(&mut state.ops, id);
    begin_ending(&mut state.demand, id);
    part_done(state, requests, out, request);
    set_ending(&mut state.demand, SimTime(0));
}

/// Like it, for a read that the scheme observes.
fn show_read(layer: &mut Layer, id: OpId, request: RequestId) {
    let mut seen = Seen::new();
    note_seen(&layer.state, id, &mut seen);
    end_host_read(&mut layer.state, &mut layer.requests, &mut layer.out, id, request);
    for &(ref seen, brought) in &seen {
        let m = layer.seat.scheme.read(seen, &View::of(&layer.state));
        if let (Some(m), false) = (m, has_failed(&layer.state, &layer.seat, &mut layer.out, "read")) {
            move_on(layer, m, seen.ppn, brought);
        }
    }
}

/// Report to the scheme the pages that a read has returned.
fn note_seen(state: &State, id: OpId, seen: &mut Seen) {
    let all = SectorMask::first(state.geometry.sectors_per_unit);
    let op = &state.ops[id];
    let mode = state.blocks.block(state.geometry.block_of(op.ppn)).mode();
    let retries = op.retries.count;
    for part in state.ops.chain(id) {
        let Op { lpn, ppn, mask, .. } = state.ops[part];
        seen.push((ReadSeen { lpn, ppn, mode, retries }, mask.and(all)));
    }
}

fn drop_chain(ops: &mut Ops, lead: OpId) {
    let mut part = lead;
    while !part.is_none() {
        let next = ops[part].chain;
        ops.remove(part);
        part = next;
    }
}

/// The newest bytes of a sector, as a host read would return them now, within their page; none if it was never written.
///
/// # Errors
/// When the media cannot read them.
pub(crate) fn newest_page_of(
    state: &mut State,
    store: &mut Store,
    lpn: Lpn,
    sector: u32,
) -> Result<PageData, MediaError> {
    let mask = SectorMask::span(sector, sector + 1);
    if let Some(stage) = state.staging.find(lpn)
        && state.staging.mask(lpn).covers(mask)
    {
        return Ok(store.staged(stage));
    }
    let mut located = Places::new();
    state.map.resolve(lpn, mask, &mut located);
    located.first().map_or(Ok(PageData::default()), |at| store.read(at.ppn, lpn))
}
