//! FLUSH: it completes when all earlier writes are on flash, and all earlier trims are logged.

use crate::flow::buffer::program_buffer::seal;
use crate::flow::complete::part_done;
use crate::flow::fail::no_place;
use crate::flow::metadata::trim_log::log_trims;
use crate::layer::Layer;
use crate::state::op::Owner;
use crate::state::outbox::Outbox;
use crate::state::request::{Outcome, RequestId};
use crate::state::requests::Requests;
use crate::state::state::State;
use wordline_counters::OpKind;

/// A FLUSH is admitted, and the buffers have been issued: it waits for all these programs.
pub(crate) fn submit_flush(layer: &mut Layer, id: RequestId) {
    let earlier = layer.requests.unsettled();
    log_trims(layer, id);
    seal(layer, false);
    if earlier > 0 {
        layer.requests.flush(id, earlier);
    }
}

/// Complete the outstanding flushes and FUA writes if nothing is pending and acknowledged earlier writes
/// have no place: the data stay in the buffer. Returns whether there was one.
pub(crate) fn fail_flushes(state: &mut State, requests: &mut Requests, out: &mut Outbox) -> bool {
    let mut ended: Vec<RequestId> = vec![];
    // Pages of the trim log wait like data, and are programmed when there is a place.
    for id in state.ops.alive() {
        let op = &mut state.ops[id];
        if let (OpKind::Program, Some(request)) = (op.kind, op.owner.request()) {
            op.owner = Owner::Answered;
            ended.push(request);
        }
    }
    ended.extend(requests.take_all_waiting());
    let outcome = if ended.is_empty() { Outcome::Done } else { no_place(state, out) };
    for request in &ended {
        requests[*request].outcome = outcome;
        part_done(state, requests, out, *request);
    }
    !ended.is_empty()
}
