//! Host writes: a write is cut into the units of physical pages; each parcel is placed by the scheme, staged, and
//! issued when it has all its data. An overwrite of a write that still waits joins it.

use crate::flow::buffer::merge::supersede;
use crate::flow::buffer::write_buffer::{placed_later, written_anew};
use crate::flow::emit::{add_op, load_page};
use crate::flow::fail::{has_failed, illegal};
use crate::flow::host::fill::{cancel_fill, fetch_missing};
use crate::flow::metadata::demand_map::{awaits_entry, awaits_journal, finds_entry};
use crate::flow::next::Next;
use crate::flow::place::decide::{place_host, send_after};
use crate::flow::place::plane::pick_plane;
use crate::layer::Layer;
use crate::media::host_data::HostData;
use crate::media::page::PageData;
use crate::plan::decision::{Gather, Origin, Parcel, Place, Tag};
use crate::plan::layout::Hooks;
use crate::plan::region::RegionSet;
use crate::plan::span::{Places, SECTORS_MAX, Span, Spans};
use crate::state::addressing::Extent;
use crate::state::blocks::Blocks;
use crate::state::demand_map::Waiting;
use crate::state::op::{Class, NONE, Op, OpId, Owner};
use crate::state::request::RequestId;
use crate::state::requests::Requests;
use crate::state::state::{Config, State};
use crate::view::View;
use arrayvec::ArrayVec;
use std::ops::Range;
use wordline_counters::{Cause, OpKind};
use wordline_units::{HostRequest, Lpn, PlaneId, SectorMask};

/// A host write, as admitted.
pub(crate) struct HostWrite<'a> {
    id: RequestId,
    pub extent: Extent,
    tag: Tag,
    /// Its bytes, where media keep them.
    data: HostData<'a>,
}

/// The unplaced part of the current parcel, and where it is staged. It is separate from its write, since it is large
/// and is not moved.
pub(crate) struct Unplaced {
    spans: Spans,
    stages: ArrayVec<u32, SECTORS_MAX>,
}

impl Unplaced {
    /// Nothing.
    #[inline(always)]
    pub fn new() -> Unplaced {
        // Not as a constant, all of which would be copied.
        Unplaced { spans: Spans::new(), stages: ArrayVec::new() }
    }

    /// Whether it exists.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// A span that is staged has no place.
    #[inline]
    fn push(&mut self, span: Span, stage: u32) {
        self.spans.push(span);
        self.stages.push(stage);
    }

    /// All is placed, or will not be placed.
    #[inline]
    fn clear(&mut self) {
        self.spans.clear();
        self.stages.clear();
    }
}

impl HostWrite<'_> {
    /// The data that it brings of a page; `sector` is the bytes of a sector.
    fn page(&self, lpn: Lpn, sector: usize) -> PageData {
        let before = self.extent.before(lpn, 0) as usize * sector;
        self.data.page((lpn.0 - self.extent.first) as usize, before, self.extent.covered(lpn.0), sector)
    }
}

/// A write is admitted, and the scheme asked for its note; nothing if it cannot decide yet.
#[inline]
pub(crate) fn submit_write<'a>(
    layer: &mut Layer,
    id: RequestId,
    request: &HostRequest,
    data: HostData<'a>,
) -> Option<HostWrite<'a>> {
    layer.requests.next_version();
    let tag = if layer.seat.hooks.contains(Hooks::ADMIT) {
        layer.seat.scheme.admit(request, &View::of(&layer.state))
    } else {
        Tag::default()
    };
    if has_failed(&layer.state, &layer.seat, &mut layer.out, "admit") {
        return None;
    }
    let extent = layer.state.config.addressing.extent(request);
    layer.state.counters.host.multi_page_writes += u64::from(extent.last > extent.first);
    Some(HostWrite { id, extent, tag, data })
}

/// A parcel: the units of one physical page, from this one on, as far as the write extends.
#[inline]
pub(crate) fn parcel_from(blocks: &Blocks, write: &HostWrite, first: u32) -> Range<u32> {
    let per_page = blocks.stripe().units_per_page();
    let end = if per_page == 1 { first + 1 } else { (first / per_page + 1).saturating_mul(per_page) };
    first..end.min(write.extent.last + 1)
}

/// A unit of a parcel arrives in RAM: it joins a program that waits for it, or the unplaced part of the parcel.
#[inline]
pub(crate) fn enter_unit(layer: &mut Layer, write: &HostWrite, unit: u32, unplaced: &mut Unplaced) -> Next {
    let mask = write.extent.covered(unit);
    layer.state.counters.host.write_page_bytes += layer.state.geometry.unit;
    let span = Span { lpn: Lpn(unit), mask, offset: 0 };
    layer.read_cache.drop(span.lpn, mask);
    if layer.state.config.counts_updates {
        count_update(&mut layer.state, span);
    }
    let stage = layer.state.staging.enter(Lpn(unit));
    merge_into_waiting(layer, write, stage, mask).unwrap_or_else(|| {
        unplaced.push(span, stage);
        Next::Nothing
    })
}

/// Place the rest of a parcel: all of it, or of a partial page as much as the scheme wants in one place.
#[inline]
pub(crate) fn place_parcel(layer: &mut Layer, write: &HostWrite, unplaced: &mut Unplaced) -> Next {
    if layer.seat.hooks.contains(Hooks::SPLIT_WRITE) && unplaced.spans.len() == 1 {
        return place_some(layer, write, unplaced);
    }
    let next = place_whole(layer, write, unplaced);
    unplaced.clear();
    next
}

#[inline]
fn place_whole(layer: &mut Layer, write: &HostWrite, unplaced: &Unplaced) -> Next {
    let home = layer.state.blocks.stripe().plane(unplaced.spans[0].lpn);
    let parcel = Parcel { origin: Origin::Host(write.tag), spans: &unplaced.spans, home };
    let (place, plane, moves) = match placed_later(&layer.write_buffer) {
        Some(place) => (place, home, vec![]),
        None => {
            let placed = place_host(&layer.state, &mut layer.seat, &mut layer.out, &parcel);
            let Some((place, moves)) = placed else { return Next::Nothing };
            (place, pick_plane(&mut layer.state, &place, home, unplaced.spans.len()), moves)
        }
    };
    let (lead, awaited) = stage_parcel(layer, write, unplaced, &place, plane);
    send_after(&mut layer.state.ops, lead, awaited, moves)
}

/// Place as many sectors of the one span as the scheme wants together, and leave the others: none if it cannot
/// decide.
fn place_some(layer: &mut Layer, write: &HostWrite, unplaced: &mut Unplaced) -> Next {
    let rest = unplaced.spans[0];
    unplaced.clear();
    let home = layer.state.blocks.stripe().plane(rest.lpn);
    let together = layer.seat.scheme.split_write(&rest, &View::of(&layer.state)).and(rest.mask);
    if has_failed(&layer.state, &layer.seat, &mut layer.out, "split_write") {
        return Next::Nothing;
    }
    let mask = if together.is_empty() { rest.mask } else { together };
    let spans = [Span { mask, ..rest }];
    let parcel = Parcel { origin: Origin::Host(write.tag), spans: &spans, home };
    let Some((place, moves)) = place_host(&layer.state, &mut layer.seat, &mut layer.out, &parcel) else {
        return Next::Nothing;
    };
    let plane = pick_plane(&mut layer.state, &place, home, spans.len());
    // What was placed before may have taken older sectors along that this one rewrites.
    layer.requests.next_version();
    // It may have ended the entry that was found, too.
    unplaced.push(spans[0], layer.state.staging.enter(rest.lpn));
    let (lead, awaited) = stage_parcel(layer, write, unplaced, &place, plane);
    unplaced.clear();
    let left = rest.mask.minus(mask);
    if !left.is_empty() {
        unplaced.push(Span { mask: left, ..rest }, NONE);
    }
    send_after(&mut layer.state.ops, lead, awaited, moves)
}

/// Create the programs of a parcel, and start the reads that a read-modify-write needs. Returns the first program, and how
/// many reads and entries of the map it waits for.
fn stage_parcel(
    layer: &mut Layer,
    write: &HostWrite,
    parcel: &Unplaced,
    place: &Place,
    plane: PlaneId,
) -> (OpId, u32) {
    let mut programs = Programs { lead: OpId::NONE, last: OpId::NONE, awaited: 0 };
    for slot in 0..parcel.spans.len() {
        stage_unit(layer, write, (parcel, slot), (place, plane), &mut programs);
    }
    let Programs { lead, awaited, .. } = programs;
    if let Some(b) = &mut layer.write_buffer {
        b.note(lead, write.tag);
    }
    (lead, awaited + u32::from(awaits_journal(&mut layer.state.demand, lead)))
}

/// The programs of a parcel so far: the first, the last, and how many reads and entries of the map they wait for.
struct Programs {
    lead: OpId,
    last: OpId,
    awaited: u32,
}

/// Create the program of a unit of a parcel.
#[inline(never)]
fn stage_unit(
    layer: &mut Layer,
    write: &HostWrite,
    (parcel, slot): (&Unplaced, usize),
    (place, plane): (&Place, PlaneId),
    programs: &mut Programs,
) {
    let (span, stage) = (parcel.spans[slot], parcel.stages[slot]);
    let version = layer.requests.version();
    let mut op = Op::new(OpKind::Program, plane, Cause::Host, Class::Write);
    (op.lpn, op.mask, op.stage, op.version) = (span.lpn, span.mask, stage, version);
    (op.route, op.pick, op.slot) = (place.route, place.plane, slot as u8);
    op.owner = Owner::Answered;
    layer.state.buffered += u64::from(layer.state.config.ack.is_buffer());
    if waits_for_flash(&layer.state.config, &layer.requests, write.id) {
        op.owner = Owner::Request(write.id);
        layer.requests.add_part(write.id);
    }
    layer.requests.add_unsettled();
    let finds = finds_entry(layer, span.lpn);
    let op = add_op(&mut layer.state.ops, &mut layer.store, op);
    let is_first = programs.lead.is_none();
    if is_first {
        programs.lead = op;
    }
    let lead = programs.lead;
    let waits = !finds && awaits_entry(&mut layer.state.demand, span.lpn, Waiting::Program(lead));
    let entry = layer.state.staging.get(stage);
    entry.add_program();
    let in_ram = entry.mask();
    entry.take_in(span.mask);
    if layer.store.keeps_bytes() {
        stage_data(layer, write, stage, span);
    }
    if let Some(b) = &mut layer.write_buffer {
        b.written(stage, version);
    }
    programs.awaited += u32::from(waits) + gather(layer, op, stage, in_ram, place.gather) as u32;
    if !layer.merge_buffer.pages.is_empty() && place.route.buffer_key().is_none() {
        supersede(&mut layer.state, &mut layer.requests, &mut layer.merge_buffer, op, None);
    }
    load_page(&layer.state.ops, &mut layer.store, op, stage);
    if !is_first {
        layer.state.ops[programs.last].chain = op;
        layer.state.ops[op].lead = lead;
    }
    programs.last = op;
}

/// Complete a program's page from RAM or by a read of the missing sectors. Returns whether a read is on its way.
#[inline]
pub(crate) fn gather(layer: &mut Layer, id: OpId, stage: u32, in_ram: SectorMask, gather: Gather) -> bool {
    if !layer.state.map_kind().is_by_page() && gather != Gather::Fill {
        return false;
    }
    let op = &mut layer.state.ops[id];
    op.mask = op.mask.union(in_ram);
    let (lpn, mask) = (op.lpn, op.mask);
    if SectorMask::first(layer.state.geometry.sectors_per_unit).minus(mask).is_empty() {
        return false;
    }
    let fetches = fetch_missing(&mut layer.state, &mut layer.store, &mut layer.out, id, stage);
    if fetches && gather != Gather::Fill {
        let all = SectorMask::first(layer.state.geometry.sectors_per_unit);
        illegal(
            layer.state.now,
            &layer.seat,
            &mut layer.out,
            format!("place logical page {lpn} without its missing sectors"),
            format!(
                "its sectors {:?} are stored elsewhere, and a page-level map has one entry per page",
                all.minus(mask)
            ),
        );
    }
    fetches
}

/// Count a partial page in the region of the data that it replaces, once for each region.
fn count_update(state: &mut State, span: Span) {
    let mut located = Places::new();
    state.map.resolve(span.lpn, span.mask, &mut located);
    let quarter = (span.mask.count() * 4).div_ceil(state.geometry.sectors_per_unit) - 1;
    let mut counted = RegionSet::default();
    for at in &located {
        let region = state.blocks.region_of(state.geometry.block_of(at.ppn));
        if !counted.contains(region) {
            counted = counted.and(region);
            state.counters.regions[region.index()].counts.updates[quarter as usize] += 1;
        }
    }
}

/// Whether a write completes only when its data are on flash: always without a buffer that acknowledges writes, and
/// with one if FUA is set.
#[inline]
fn waits_for_flash(config: &Config, requests: &Requests, write: RequestId) -> bool {
    !config.ack.is_buffer() || requests[write].request.attributes.is_fua()
}

/// The data of a write arrive in RAM, and, if it may complete from there, in protected RAM.
#[cold]
fn stage_data(layer: &mut Layer, write: &HostWrite, stage: u32, span: Span) {
    let sector = layer.state.geometry.sector as usize;
    let page = write.page(span.lpn, sector);
    layer.store.stage(stage, &page, span.mask);
    if layer.state.config.ack.answers_from_ram() {
        layer.store.protect(span.lpn, span.mask, layer.requests.version(), &page);
    }
}

/// Let a write join the program of its page that still waits for missing sectors or in the write buffer. Returns
/// the next step, or nothing if there is no such program.
fn merge_into_waiting(layer: &mut Layer, write: &HostWrite, stage: u32, mask: SectorMask) -> Option<Next> {
    let entry = layer.state.staging.get(stage);
    let (lpn, fill) = (entry.lpn(), entry.fill());
    let waiting = || layer.write_buffer.as_ref()?.program(stage);
    let op = fill.map(|fill| fill.program).or_else(waiting)?;
    // A flush in between separates the two: the earlier must settle on its own.
    if layer.requests.is_flushed_since(layer.state.ops[op].version) {
        return None;
    }
    layer.state.staging.get(stage).take_in(mask);
    layer.state.ops[op].mask = layer.state.ops[op].mask.union(mask);
    layer.state.ops[op].version = layer.requests.version();
    if let Some(b) = &mut layer.write_buffer {
        b.written(stage, layer.requests.version());
    }
    if layer.store.keeps_bytes() {
        stage_data(layer, write, stage, Span { lpn, mask, offset: 0 });
        load_page(&layer.state.ops, &mut layer.store, op, stage);
    }
    let forced = waits_for_flash(&layer.state.config, &layer.requests, write.id);
    if forced {
        layer.requests.wait_for(op, write.id);
    }
    let is_whole = layer.state.ops[op].mask == SectorMask::first(layer.state.geometry.sectors_per_unit);
    let Some(fill) = fill else { return Some(written_anew(layer, stage, write.tag, forced)) };
    if is_whole {
        cancel_fill(&mut layer.state, fill); // nothing is missing any more
    }
    Some(Next::Nothing)
}
