//! Look-ups in a demand-paged map: a map page is loaded into the cache, and operations that need one of its entries
//! wait. The number of changes that wait for their map page is limited.

use crate::flow::buffer::program_buffer::launch;
use crate::flow::complete::{awaited, part_done, set_ending};
use crate::flow::emit::{add_and_emit, add_op, emit};
use crate::flow::metadata::trim_log::program_metadata;
use crate::layer::Layer;
use crate::state::blocks::pin;
use crate::state::demand_map::{DemandMap, Found, Waiting};
use crate::state::op::{Class, Op, OpId, Owner};
use crate::state::outbox::Outbox;
use crate::state::requests::Requests;
use crate::state::state::State;
use crate::state::store::Store;
use crate::state::trim::TrimLog;
use wordline_counters::{Cause, OpKind};
use wordline_units::{Lpn, SectorMask, SimTime};

/// Source of a map page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// From flash, which takes a read.
    Flash,
    /// From RAM, where it waits for its program.
    Ram,
    /// It was never programmed, and is blank.
    Nothing,
}

/// Look up the entry of a logical page: returns whether it is in RAM. If not, its map page is being loaded.
#[inline(always)]
pub(crate) fn finds_entry(layer: &mut Layer, lpn: Lpn) -> bool {
    layer.state.demand.is_none() || look_up(layer, lpn)
}

#[inline(never)]
fn look_up(layer: &mut Layer, lpn: Lpn) -> bool {
    let state = &mut layer.state;
    let Some(map) = &mut state.demand else { return true };
    state.counters.map.lookups += 1;
    let page = match map.find(lpn) {
        Found::InCache => {
            state.counters.map.hits += 1;
            return true;
        }
        Found::Loading => return false,
        Found::Missing(page) => page,
    };
    let from = bring(layer, page);
    layer.state.counters.map.hits += u64::from(from == Source::Ram);
    from != Source::Flash
}

/// Whether a map page is in the cache, or is being loaded.
fn bring(layer: &mut Layer, page: u32) -> Source {
    let state = &mut layer.state;
    let Some(map) = &mut state.demand else { return Source::Nothing };
    let at = map.lpn(page);
    // It has just been displaced, and has not come to flash yet.
    let is_in_ram = !state.staging.mask(at).is_empty();
    let ppn = state.map.place(at);
    if is_in_ram || ppn.is_none() {
        keep_map_page(layer, page);
        return if is_in_ram { Source::Ram } else { Source::Nothing };
    }
    map.begin_read(page);
    let block = state.geometry.block_of(ppn);
    pin(&mut state.blocks, block);
    let mut read = Op::new(OpKind::Read, state.geometry.plane_of(block), Cause::Metadata, Class::Read);
    (read.lpn, read.ppn) = (at, ppn);
    read.mask = SectorMask::first(state.geometry.sectors_per_unit);
    read.owner = Owner::Map;
    let read = add_op(&mut layer.state.ops, &mut layer.store, read);
    emit(&mut layer.state, &mut layer.out, read);
    Source::Flash
}

/// The entry of a logical page has changed, or its place.
#[inline(always)]
pub(crate) fn note_map_change(layer: &mut Layer, lpn: Lpn) {
    if layer.state.demand.is_some() {
        change_entry(layer, lpn);
    }
}

#[inline(never)]
fn change_entry(layer: &mut Layer, lpn: Lpn) {
    if layer.state.is_metadata(lpn) {
        return;
    }
    let State { demand, staging, .. } = &mut layer.state;
    if let Some(map) = demand {
        map.change(lpn, staging);
    }
    shorten_journal(layer);
}

/// Handle the end of the program of a page of the drive's own tables.
#[cold]
pub(crate) fn metadata_over(layer: &mut Layer, lpn: Lpn) {
    let State { demand, staging, .. } = &mut layer.state;
    let Some(map) = demand else { return };
    let Some(page) = map.number(lpn).filter(|_| staging.mask(lpn).is_empty()) else { return };
    // Collection may have moved a page that is being read: it is on its way to the cache, and is not brought twice.
    if map.end_program(page) {
        shorten_journal(layer);
    }
}

/// Handle the arrival of a request, which allows map pages to be loaded.
#[inline(always)]
pub(crate) fn allow_map_pages(layer: &mut Layer) {
    if let Some(map) = &mut layer.state.demand {
        map.allow_reads();
        shorten_journal(layer);
    }
}

/// If more changes wait than the limit, map pages are loaded until the rest is within it.
fn shorten_journal(layer: &mut Layer) {
    while let Some(page) = layer.state.demand.as_mut().and_then(|map| map.next_to_bring()) {
        if bring(layer, page) == Source::Flash
            && let Some(map) = &mut layer.state.demand
        {
            map.note_asked(page);
        }
    }
}

/// Make a host program wait for the last of the map pages being loaded, if more changes wait than the limit.
/// Returns whether it does.
#[inline(always)]
pub(crate) fn awaits_journal(demand: &mut Option<Box<DemandMap>>, lead: OpId) -> bool {
    demand.as_mut().is_some_and(|map| map.await_journal(lead))
}

/// Wait for the map page of a logical page, if it is being loaded. Returns whether it is.
#[inline(always)]
pub(crate) fn awaits_entry(demand: &mut Option<Box<DemandMap>>, lpn: Lpn, waiting: Waiting) -> bool {
    demand.as_mut().is_some_and(|map| map.await_entry(lpn, waiting))
}

/// Queue a read of a page's data, as soon as its map page is in RAM.
#[inline(always)]
pub(crate) fn emit_mapped(state: &mut State, store: &mut Store, out: &mut Outbox, read: Op) -> OpId {
    if state.demand.is_none() {
        return add_and_emit(state, store, out, read);
    }
    let lpn = read.lpn;
    let read = add_op(&mut state.ops, store, read);
    if !awaits_entry(&mut state.demand, lpn, Waiting::Read(read)) {
        emit(state, out, read);
    }
    read
}

/// The map page that an operation waited for is in RAM.
pub(crate) fn on_map_entry_loaded(
    state: &mut State,
    requests: &mut Requests,
    out: &mut Outbox,
    waiting: Waiting,
) {
    match waiting {
        Waiting::Read(read) => {
            note_entry(&mut state.demand, state.now, read);
            emit(state, out, read);
        }
        Waiting::Program(lead) => {
            let mut part = lead;
            while !part.is_none() {
                note_entry(&mut state.demand, state.now, part);
                part = state.ops[part].chain;
            }
            awaited(state, lead);
        }
        Waiting::Request(request) => {
            set_ending(&mut state.demand, state.now);
            part_done(state, requests, out, request);
            set_ending(&mut state.demand, SimTime(0));
        }
    }
}

/// The map page that an operation waited for is in RAM.
fn note_entry(demand: &mut Option<Box<DemandMap>>, now: SimTime, id: OpId) {
    if let Some(map) = demand {
        map.note_arrival(id, now);
    }
}

/// A map page that was read enters the cache.
pub(crate) fn keep_read_map_page(layer: &mut Layer, lpn: Lpn) {
    let page = layer.state.demand.as_ref().and_then(|map| map.number(lpn));
    page.into_iter().for_each(|page| keep_map_page(layer, page));
}

/// A map page enters the cache, and another may be evicted.
fn keep_map_page(layer: &mut Layer, page: u32) {
    let Some(map) = &mut layer.state.demand else { return };
    let Some(gone) = map.keep(page) else { return };
    let lpn = map.lpn(gone);
    let program = program_metadata(&mut layer.state, &mut layer.store, &mut layer.requests, lpn, None);
    launch(layer, program);
}

/// A map page has no place: its changes continue to wait in RAM.
#[cold]
pub(crate) fn map_page_not_written(demand: &mut Option<Box<DemandMap>>, lpn: Lpn) {
    if let Some(map) = demand {
        map.owe(lpn);
    }
}

/// Handle the end of the program of a page of the drive's own tables.
pub(crate) fn metadata_programmed(
    trims: &mut TrimLog,
    demand: &mut Option<Box<DemandMap>>,
    lpn: Lpn,
    version: u64,
) {
    if trims.is_log(lpn) {
        trims.logged(lpn, version);
    } else if let Some(map) = demand {
        map.set_on_flash(lpn);
    }
}

/// A page of the drive's own tables has no place.
pub(crate) fn metadata_not_programmed(
    trims: &mut TrimLog,
    demand: &mut Option<Box<DemandMap>>,
    op: OpId,
    lpn: Lpn,
) {
    if trims.is_log(lpn) {
        trims.not_logged(op, lpn);
    } else {
        map_page_not_written(demand, lpn);
    }
}
