//! Admission of a request: which pages it covers, and its other effects: its entry in the slab, prefetches, the scheme's controller loop.

use crate::file::table::fetch;
use crate::flow::buffer::merge::watch_merged;
use crate::flow::collect::victim::collect_if_short;
use crate::flow::complete::part_done;
use crate::flow::fail::{has_failed, illegal, no_place};
use crate::flow::host::read::take_read;
use crate::flow::moves::moves::enqueue_move;
use crate::layer::Layer;
use crate::plan::decision::Command;
use crate::plan::region::RegionId;
use crate::state::blocks::capacity::{set_quota, set_slot_quota};
use crate::state::job::MoveReason;
use crate::state::request::{Effect, Outcome, Pending, Prefetch, RequestId};
use crate::state::requests::Requests;
use crate::state::state::{Config, State};
use crate::view::View;
use std::slice::from_ref;
use wordline_device::Ack;
use wordline_units::{HostOp, HostRequest, Lpn, SimTime};

/// Complete a write that was never admitted: the buffer is full, and its data have no place.
#[cold]
pub(crate) fn refuse(layer: &mut Layer, write: HostRequest, number: u64) {
    let pages = layer.state.config.addressing.extent(&write).pages();
    layer.state.counters.host.write_page_bytes += pages as u64 * layer.state.geometry.unit;
    let outcome = no_place(&mut layer.state, &mut layer.out);
    let id = enter(layer, write, number, outcome);
    part_done(&layer.state, &mut layer.requests, &mut layer.out, id);
}

/// Complete a write to a worn-out drive.
#[cold]
pub(crate) fn refuse_worn_out(layer: &mut Layer, write: HostRequest, number: u64) -> RequestId {
    let id = enter(layer, write, number, Outcome::WornOut);
    part_done(&layer.state, &mut layer.requests, &mut layer.out, id);
    id
}

/// Enter a request as one of a single part that succeeds, until its parts are known.
#[inline(always)]
pub(crate) fn enter(layer: &mut Layer, request: HostRequest, number: u64, outcome: Outcome) -> RequestId {
    let (admitted, ended) = (layer.state.now, SimTime::NEVER);
    let pending = Pending { request, admitted, ended, number, outcome, remaining: 1, ..Pending::NONE };
    let id = layer.requests.enter(pending, layer.store.keeps_bytes());
    layer.state.outstanding += 1;
    layer.merge_buffer.last_request = layer.state.now;
    layer.state.draining = false;
    layer.state.counters.host_requests[request.op as usize] += 1;
    layer.state.counters.host_bytes[request.op as usize] += request.bytes();
    id
}

/// Whether the write buffer, if it answers writes, has room for a request.
pub(crate) fn admits(state: &State, request: &HostRequest) -> bool {
    match state.config.ack {
        Ack::Buffer(pages) if request.op == HostOp::Write => {
            let more = state.config.addressing.extent(request).pages();
            state.buffered == 0 || state.buffered + more as u64 <= pages as u64
        }
        _ => true,
    }
}

/// First and last page of a request.
#[inline(always)]
pub(crate) fn pages_of(config: &Config, request: &HostRequest) -> (Lpn, Lpn) {
    let last = request.lba.0.saturating_add(u64::from(request.blocks.saturating_sub(1)));
    (Lpn(config.addressing.page_of(request.lba.0)), Lpn(config.addressing.page_of(last)))
}

/// Prefetch into the CPU cache what will be needed soon. Who asks names a constant, whose arm is all that is left of this.
#[inline(always)]
pub(crate) fn prefetch(state: &State, requests: &Requests, what: Prefetch) {
    match what {
        Prefetch::Leaf(lpn) => state.map.prefetch_leaf(lpn),
        Prefetch::Place(lpn) => state.map.prefetch(lpn), // pages beside it lie beside it in the map
        Prefetch::Blocks(first, last) => {
            for lpn in first.0..last.0.saturating_add(1).min(first.0.saturating_add(8)) {
                if let Some(ppn) = state.map.peek(Lpn(lpn)) {
                    let block = state.geometry.block_of(ppn);
                    fetch(state.blocks.all(), block.index());
                    state.aging.prefetch(block);
                }
            }
        }
        Prefetch::Op(id) => fetch(from_ref(&state.ops[id]), 0),
        Prefetch::BlockOf(id) => {
            fetch(state.blocks.all(), state.geometry.block_of(state.ops[id].ppn).index());
        }
        Prefetch::RequestOf(id) => {
            if let Some(request) = state.ops[id].owner.request() {
                fetch(from_ref(&requests[request]), 0);
            }
        }
    }
}

/// A write request has been admitted: the controller loop may be due.
pub(crate) fn count_write_request(layer: &mut Layer) {
    if layer.seat.layout.tick_every_writes == 0 {
        return;
    }
    layer.seat.writes_until_tick -= 1;
    if layer.seat.writes_until_tick > 0 {
        return;
    }
    layer.seat.writes_until_tick = layer.seat.layout.tick_every_writes;
    let mut commands = vec![];
    layer.seat.scheme.tick(&View::of(&layer.state), &mut commands);
    if has_failed(&layer.state, &layer.seat, &mut layer.out, "tick") {
        commands.clear();
    }
    for command in commands {
        match command {
            Command::SetQuota(region, _) | Command::SetSlotQuota(region, _)
                if region.index() >= layer.state.blocks.regions().len() =>
            {
                let decision = format!("{command:?}");
                illegal(layer.state.now, &layer.seat, &mut layer.out, decision, "unknown region".into());
            }
            Command::SetQuota(region, quota) => {
                set_quota(&mut layer.state.blocks, region, quota);
                look_at_all(layer, region);
            }
            Command::SetSlotQuota(region, quota) => {
                set_slot_quota(&mut layer.state.blocks, region, quota);
                look_at_all(layer, region);
            }
            Command::Enqueue(m) => enqueue_move(layer, m, MoveReason::Scheme),
        }
    }
}

/// The limits of a region may have changed: each of its planes is checked.
fn look_at_all(layer: &mut Layer, region: RegionId) {
    for plane in layer.state.blocks.pool_of(region).planes() {
        layer.out.ask(Effect::Wake(plane));
        collect_if_short(layer, region, plane);
    }
}

/// Remove a completed request; its number may be reused. Returns what it read, where media keep bytes.
#[inline]
pub(crate) fn release(layer: &mut Layer, id: RequestId) -> Vec<u8> {
    layer.requests.leave(id);
    layer.state.outstanding -= 1;
    if layer.state.outstanding == 0 {
        watch_merged(layer);
    }
    if layer.store.keeps_bytes() { take_read(&layer.state, &mut layer.requests, id) } else { vec![] }
}
