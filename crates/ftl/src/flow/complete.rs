//! Completion: a part of a request, a host program, or what a host program waited for has ended, and those that wait
//! are notified.

use crate::layer::Layer;
use crate::state::demand_map::DemandMap;
use crate::state::op::{NONE, Op, OpId};
use crate::state::outbox::Outbox;
use crate::state::request::RequestId;
use crate::state::requests::Requests;
use crate::state::state::State;
use wordline_units::{HostRequest, SimTime};

/// One part of a request has ended.
#[inline]
pub(crate) fn part_done(state: &State, requests: &mut Requests, out: &mut Outbox, id: RequestId) {
    let request = &mut requests[id];
    request.remaining -= 1;
    if request.remaining == 0 {
        let now = state.now;
        let HostRequest { op, arrival, .. } = request.request;
        state.breakdown.split(&mut request.parts, op, arrival, request.admitted, now);
        if let Some(map) = &state.demand {
            map.split(&mut request.parts, request.admitted);
        }
        request.ended = now;
        out.complete(id);
    }
}

/// Notify all that wait for a host program: the request that owns it, and others.
#[inline]
pub(crate) fn notify(
    state: &State,
    requests: &mut Requests,
    out: &mut Outbox,
    id: OpId,
    owner: Option<RequestId>,
) {
    if let Some(request) = owner {
        part_done(state, requests, out, request);
    }
    if requests.has_waiting() {
        notify_others(state, requests, out, id);
    }
}

#[inline(never)]
fn notify_others(state: &State, requests: &mut Requests, out: &mut Outbox, id: OpId) {
    for request in requests.take_waiting_for(id) {
        part_done(state, requests, out, request);
    }
}

/// A host program is over, committed or not.
pub(crate) fn settle(layer: &mut Layer, part: OpId) {
    let Op { stage, version, owner, .. } = layer.state.ops[part];
    if stage != NONE && layer.state.staging.settle(stage) {
        if let Some(b) = &mut layer.write_buffer {
            b.remove(stage);
        }
        if layer.store.keeps_bytes() {
            layer.store.unstage(stage);
        }
    }
    begin_ending(&mut layer.state.demand, part);
    notify(&layer.state, &mut layer.requests, &mut layer.out, part, owner.request());
    set_ending(&mut layer.state.demand, SimTime(0));
    if owner.is_host() {
        layer.state.buffered -= u64::from(layer.state.config.ack.is_buffer());
        if layer.requests.settle() {
            end_flushes(&layer.state, &mut layer.requests, &mut layer.out, version);
        }
    }
    layer.state.ops.remove(part);
}

/// A program of a host write of this version has ended while flushes wait.
#[inline(never)]
fn end_flushes(state: &State, requests: &mut Requests, out: &mut Outbox, version: u64) {
    for request in requests.settle_flushes(version) {
        part_done(state, requests, out, request);
    }
}

/// One of the reads and moves that a host program waits for has ended: after the last the program is ready.
pub(crate) fn awaited(state: &mut State, lead: OpId) {
    let left = &mut state.ops[lead].awaits;
    *left -= 1;
    if *left == 0 {
        state.ready.push_back(lead);
    }
}

/// Begin to end an operation of a request: requests that end with it learn when its map page was loaded.
#[inline(always)]
pub(crate) fn begin_ending(demand: &mut Option<Box<DemandMap>>, id: OpId) {
    if let Some(map) = demand {
        map.begin_ending(id);
    }
}

/// Note when the map page came that what ends now has waited for; 0 for none.
#[inline(always)]
pub(crate) fn set_ending(demand: &mut Option<Box<DemandMap>>, came: SimTime) {
    if let Some(map) = demand {
        map.set_ending(came);
    }
}
