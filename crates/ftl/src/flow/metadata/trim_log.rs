//! Programs of the trim log: a FLUSH writes the ranges trimmed since the last one.

use crate::flow::buffer::program_buffer::launch;
use crate::flow::emit::add_op;
use crate::flow::place::decide::metadata_place;
use crate::flow::place::plane::pick_plane;
use crate::layer::Layer;
use crate::state::op::{Class, Op, OpId, Owner};
use crate::state::request::RequestId;
use crate::state::requests::Requests;
use crate::state::state::State;
use crate::state::store::Store;
use crate::state::trim::TrimLog;
use smallvec::SmallVec;
use wordline_counters::{Cause, OpKind};
use wordline_units::{Lpn, SectorMask};

/// Note a trim that has invalidated data that may be on flash.
pub(crate) fn note_trim(
    trims: &mut TrimLog,
    store: &mut Store,
    requests: &Requests,
    lpn: Lpn,
    mask: SectorMask,
) {
    trims.note(lpn);
    if store.keeps_metadata() {
        let version = requests.version();
        trims.remember(lpn, mask, version);
        let entries: SmallVec<[_; 4]> = trims.entries(lpn, mask).map(|e| (e, version)).collect();
        store.protect_trims(&entries);
    }
}

/// Program the ranges trimmed since the last program of the log. A FLUSH waits for them.
pub(crate) fn log_trims(layer: &mut Layer, flush: RequestId) {
    for range in layer.state.trims.take_dirty() {
        let page = layer.state.trims.page(range);
        let op = program_metadata(&mut layer.state, &mut layer.store, &mut layer.requests, page, Some(flush));
        if layer.store.keeps_metadata() {
            layer.state.trims.begin_program(op, range);
        }
        launch(layer, op);
    }
}

/// Create the program of a page of the drive's own tables, which a request may wait for.
pub(crate) fn program_metadata(
    state: &mut State,
    store: &mut Store,
    requests: &mut Requests,
    lpn: Lpn,
    waits: Option<RequestId>,
) -> OpId {
    let place = metadata_place(&state.blocks);
    let plane = pick_plane(state, &place, state.blocks.stripe().plane(lpn), 1);
    let all = SectorMask::first(state.geometry.sectors_per_unit);
    let stage = state.staging.enter(lpn);
    let entry = state.staging.get(stage);
    entry.add_program();
    entry.take_in(all);
    let mut op = Op::new(OpKind::Program, plane, Cause::Metadata, Class::Write);
    (op.lpn, op.mask, op.stage, op.version) = (lpn, all, stage, requests.version());
    (op.owner, op.route) = (waits.map_or(Owner::Answered, Owner::Request), place.route);
    if let Some(request) = waits {
        requests.add_part(request);
    }
    requests.add_unsettled();
    state.buffered += u64::from(state.config.ack.is_buffer());
    add_op(&mut state.ops, store, op)
}
