//! An operation on its way to the device.

use crate::state::backlog::Backlog;
use crate::state::op::{Op, OpId, Ops, QueueEntry};
use crate::state::outbox::Outbox;
use crate::state::request::Effect;
use crate::state::state::{Config, State};
use crate::state::store::Store;

/// The part of an operation that a queue needs.
#[inline(always)]
pub(crate) fn entry_of(config: &Config, ops: &Ops, id: OpId) -> QueueEntry {
    QueueEntry::of(id, &ops[id], config.array.has_windows)
}

/// Hand an operation to the device.
#[inline(always)]
pub(crate) fn emit(state: &mut State, out: &mut Outbox, id: OpId) {
    let op = state.ops.stamp(id);
    state.backlog.add(op.plane, op.kind);
    let entry = QueueEntry::of(id, op, state.config.array.has_windows);
    out.ask(Effect::Queue(entry));
}

/// A new operation that the device has at once. What it is known to be here, its entry in a queue need not look up.
#[inline(always)]
pub(crate) fn add_and_emit(state: &mut State, store: &mut Store, out: &mut Outbox, mut op: Op) -> OpId {
    op.key = state.ops.next_turn(&op);
    state.backlog.add(op.plane, op.kind);
    let entry = QueueEntry::of(OpId::NONE, &op, state.config.array.has_windows);
    let id = add_op(&mut state.ops, store, op);
    out.ask(Effect::Queue(entry.numbered(id)));
    id
}

/// Hand the device an operation that its plane continues with at once.
pub(crate) fn go_on_with(ops: &mut Ops, backlog: &mut Backlog, out: &mut Outbox, id: OpId) {
    let op = ops.stamp(id);
    backlog.add(op.plane, op.kind);
    out.go_on_with(id);
}

/// Room for the data of an operation.
#[inline(always)]
pub(crate) fn add_op(ops: &mut Ops, store: &mut Store, op: Op) -> OpId {
    let id = ops.add(op);
    if store.keeps_metadata() {
        store.enter(id);
    }
    id
}

/// Give a program the newest data that RAM has for its sectors, and nothing else.
#[inline(always)]
pub(crate) fn load_page(ops: &Ops, store: &mut Store, id: OpId, stage: u32) {
    if store.keeps_bytes() {
        store.load(id, stage, ops[id].mask);
    }
}
