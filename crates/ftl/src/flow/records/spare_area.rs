//! Metadata on flash: versions and sequence numbers in spare areas, and the records of the trim log. A drive is
//! recovered from them; they are kept if the media store metadata.

use crate::flow::emit::add_op;
use crate::flow::fail::ask_media;
use crate::layer::Layer;
use crate::media::found::BlockHeader;
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use crate::state::blocks::Blocks;
use crate::state::op::{Op, OpId};
use crate::state::outbox::Outbox;
use crate::state::state::State;
use crate::state::store::Store;
use crate::state::trim::TrimLog;
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

/// A program that copies the metadata of its source.
#[inline(always)]
pub(crate) fn carry(state: &mut State, store: &mut Store, out: &mut Outbox, mut op: Op) -> OpId {
    op.version = 0;
    let (from, span) = (op.from, op.span());
    let id = add_op(&mut state.ops, store, op);
    if store.keeps_metadata() {
        carry_stored(state, store, out, id, (from, span));
    }
    id
}

#[cold]
fn carry_stored(
    state: &mut State,
    store: &mut Store,
    out: &mut Outbox,
    id: OpId,
    (from, Span { lpn, mask, .. }): (Ppn, Span),
) {
    let versions = store.stored_versions(from, lpn, mask);
    state.ops[id].version = versions.iter().map(|(_, version)| *version).max().unwrap_or(0);
    store.set_versions(id, versions);
    if store.keeps_bytes() {
        ask_media(state.now, store, out, |store| store.bring(id, from, lpn));
    }
    load_record(&mut state.trims, store, id, lpn, from);
}

/// A relocation of a log page copies the records of its source.
fn load_record(trims: &mut TrimLog, store: &Store, op: OpId, lpn: Lpn, from: Ppn) {
    if trims.is_log(lpn)
        && let Some(record) = store.trims(from)
    {
        trims.set_record(op, record);
    }
}

/// A log page is on flash. Returns whether the media have stored what it says.
fn store_record(layer: &mut Layer, op: OpId, lpn: Lpn, ppn: Ppn) -> bool {
    if layer.state.trims.is_log(lpn)
        && let Some(record) = layer.state.trims.record_of(op)
    {
        if ask_media(layer.state.now, &mut layer.store, &mut layer.out, |store| {
            store.record_trims(ppn, record)
        })
        .is_none()
        {
            return false;
        }
        layer.state.trims.end_program(op);
    }
    true
}

/// Every copy in a block is about to be lost.
#[cold]
pub(crate) fn hold_trims_of(state: &mut State, store: &Store, block: BlockId) {
    if !state.trims.has_unlogged() {
        return;
    }
    for slot in 0..1 << state.geometry.slot_shift {
        let ppn = state.geometry.ppn(block, slot);
        for (span, version) in store.stored(ppn) {
            if !state.is_metadata(span.lpn) {
                state.trims.hold(span.lpn, span.mask, version);
            }
        }
    }
    let Some(base) = store.base_in(block) else { return };
    let plane = state.geometry.plane_of(block);
    let all = SectorMask::first(state.geometry.sectors_per_unit);
    for slot in 0..1 << state.geometry.slot_shift {
        if let Some(lpn) = base.owner_of(plane, block, slot) {
            state.trims.hold(lpn, all, 0);
        }
    }
}

/// A unit is on flash, with its spare area. Returns whether the media have stored it.
#[cold]
pub(crate) fn store_unit(layer: &mut Layer, part: OpId, span: Span, version: u64, ppn: Ppn) -> bool {
    layer.store.count_unit();
    if layer.state.trims.is_void(part, span, version) {
        return layer.out.fault().is_none();
    }
    ask_media(layer.state.now, &mut layer.store, &mut layer.out, |store| {
        store.program(part, span, version, ppn)
    })
    .is_some()
        && store_record(layer, part, span.lpn, ppn)
}

/// Metadata that the first program of a block writes.
pub(crate) fn header(blocks: &Blocks, store: &Store, block: BlockId) -> BlockHeader {
    let info = blocks.block(block);
    BlockHeader {
        region: RegionId(info.region),
        mode: info.mode(),
        erases: info.erases,
        opened: store.next_unit(),
    }
}
