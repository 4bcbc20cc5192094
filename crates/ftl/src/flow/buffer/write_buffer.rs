//! When the write buffer is flushed: immediately, above a fill level, or also when the drive is idle. It is a queue of
//! programs that have all their data and are not issued yet. They are in the staging index like any other, so that
//! reads are served from it; an overwrite replaces a waiting page, whose old data are never programmed. The scheme
//! places a page when it leaves the buffer, not when it enters: its knowledge of free space is then current, and moves
//! that must come first are made for this page.
//!
//! Every host program passes here: if nothing is buffered, it is issued at once.

use crate::flow::buffer::merge::merge;
use crate::flow::buffer::program_buffer::launch;
use crate::flow::buffer::waited_for::is_waited_for;
use crate::flow::next::Next;
use crate::flow::place::decide::{place_host, send_after};
use crate::flow::place::plane::pick_plane;
use crate::layer::Layer;
use crate::plan::decision::{Gather, Origin, Parcel, Place, PlanePick, Route, Tag};
use crate::plan::span::Span;
use crate::state::op::{Op, OpId, Ops};
use crate::state::requests::Requests;
use crate::state::staging::Staging;
use crate::state::state::{Config, State};
use crate::state::write_buffer::{Part, WriteBuffer};
use wordline_device::Ack;
use wordline_units::{HostOp, HostRequest, Lpn};

/// Placement of host data on arrival: none, if they may wait in the write buffer.
pub(crate) fn placed_later(write_buffer: &Option<Box<WriteBuffer>>) -> Option<Place> {
    let place = Place { gather: Gather::Fill, plane: PlanePick::Home, route: Route::NOWHERE };
    write_buffer.as_ref().map(|_| place)
}

/// A host program, with its chain, has all its data, and what must come first is done: it waits in the write or
/// merge buffer, or is issued.
#[inline]
pub(crate) fn send(layer: &mut Layer, lead: OpId) -> Next {
    let route = layer.state.ops[lead].route;
    if let Some(key) = route.buffer_key() {
        return merge(layer, lead, key);
    }
    if layer.write_buffer.is_none() || route != Route::NOWHERE {
        launch(layer, lead);
        return Next::Nothing;
    }
    if !may_wait(&layer.state, &layer.requests, lead) {
        return place_and_send(layer, lead);
    }
    enqueue(&layer.state.staging, &layer.state.ops, &mut layer.write_buffer, lead);
    match &layer.write_buffer {
        Some(b) if b.is_high() => Next::EmptyTo(b.low()),
        _ => Next::Nothing,
    }
}

/// Whether nothing waits for a program to be on flash, and its page is still as written, so that a later write may
/// join it.
fn may_wait(state: &State, requests: &Requests, lead: OpId) -> bool {
    let waits = |id: OpId| {
        let op = &state.ops[id];
        op.owner.is_host()
            && op.version >= state.staging.committed(op.stage)
            && !is_waited_for(&state.config, &state.ops, requests, id)
    };
    !state.draining && state.ops.chain(lead).all(waits)
}

/// Add a program at the end of the buffer's queue.
fn enqueue(staging: &Staging, ops: &Ops, write_buffer: &mut Option<Box<WriteBuffer>>, lead: OpId) {
    let part = |id: OpId| {
        let Op { stage, version, .. } = ops[id];
        Part { op: id, stage, version, committed: staging.committed(stage) }
    };
    let parts: Vec<Part> = ops.chain(lead).map(part).collect();
    if let Some(b) = write_buffer {
        b.add(lead, &parts);
    }
}

/// A program waits no more.
fn leave(ops: &Ops, write_buffer: &mut Option<Box<WriteBuffer>>, turn: u64) -> Option<OpId> {
    let b = write_buffer.as_mut()?;
    let lead = b.at(turn)?;
    let stages: Vec<u32> = ops.chain(lead).map(|part| ops[part].stage).collect();
    b.take(turn, &stages);
    Some(lead)
}

/// The program of a waiting page has been overwritten: it returns to the end of the queue, or is issued if the
/// write requires it.
pub(crate) fn written_anew(layer: &mut Layer, stage: u32, tag: Tag, goes: bool) -> Next {
    let Some(b) = &mut layer.write_buffer else { return Next::Nothing };
    let Some(turn) = b.turn_of(stage) else { return Next::Nothing };
    if let Some(lead) = b.at(turn) {
        b.note(lead, tag);
    }
    if goes {
        return send_off(layer, turn);
    }
    if let Some(lead) = leave(&layer.state.ops, &mut layer.write_buffer, turn) {
        enqueue(&layer.state.staging, &layer.state.ops, &mut layer.write_buffer, lead);
    }
    Next::Nothing
}

/// Issue a waiting page, if it waits.
pub(crate) fn evict_page(layer: &mut Layer, lpn: Lpn) -> Next {
    let stage = layer.state.staging.find(lpn);
    let Some(b) = layer.write_buffer.as_ref() else { return Next::Nothing };
    let turn = stage.and_then(|stage| b.turn_of(stage));
    turn.map_or(Next::Nothing, |turn| send_off(layer, turn))
}

/// A program that waits goes to flash.
fn send_off(layer: &mut Layer, turn: u64) -> Next {
    leave(&layer.state.ops, &mut layer.write_buffer, turn)
        .map_or(Next::Nothing, |lead| place_and_send(layer, lead))
}

/// Ask the scheme to place a program, and issue it once the moves that must come first are done.
fn place_and_send(layer: &mut Layer, lead: OpId) -> Next {
    let tag = layer.write_buffer.as_mut().map_or(Tag::default(), |b| b.take_tag(lead));
    let parts: Vec<OpId> = layer.state.ops.chain(lead).collect();
    let spans: Vec<Span> = parts.iter().map(|part| layer.state.ops[*part].span()).collect();
    let home = layer.state.blocks.stripe().plane(spans[0].lpn);
    let parcel = Parcel { origin: Origin::Host(tag), spans: &spans, home };
    let Some((place, moves)) = place_host(&layer.state, &mut layer.seat, &mut layer.out, &parcel) else {
        return Next::Nothing;
    };
    let plane = pick_plane(&mut layer.state, &place, home, spans.len());
    for part in parts {
        let op = &mut layer.state.ops[part];
        (op.route, op.pick, op.plane) = (place.route, place.plane, plane);
    }
    send_after(&mut layer.state.ops, lead, 0, moves)
}

/// Issue the least recently written pages above this number of waiting pages.
pub(crate) fn send_least_recent(layer: &mut Layer, pages: u64) -> Option<Next> {
    let turn = layer.write_buffer.as_ref()?.beyond(pages)?;
    Some(send_off(layer, turn))
}

/// A write that the full buffer blocks must not wait for data that nothing issues.
pub(crate) fn make_space_in_buffer(
    config: &Config,
    write_buffer: &mut Option<Box<WriteBuffer>>,
    request: &HostRequest,
) -> Next {
    let (Ack::Buffer(size), Some(_), HostOp::Write) = (config.ack, write_buffer, request.op) else {
        return Next::Nothing;
    };
    let pages = config.addressing.extent(request).pages();
    Next::EmptyTo(u64::from(size).saturating_sub(u64::from(pages)))
}
