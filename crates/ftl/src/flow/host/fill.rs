//! Read-modify-write: the missing sectors of a host program are read and added to it. A later write or a trim may make
//! them unnecessary, and the program continues without them.

use crate::flow::complete::awaited;
use crate::flow::emit::load_page;
use crate::flow::fail::ask_media;
use crate::flow::metadata::demand_map::emit_mapped;
use crate::layer::Layer;
use crate::media::page::PageData;
use crate::plan::region::MapKind;
use crate::plan::span::{Located, Places};
use crate::state::blocks::pin;
use crate::state::op::{Class, Op, OpId, Owner};
use crate::state::outbox::Outbox;
use crate::state::staging::Fill;
use crate::state::state::State;
use crate::state::store::Store;
use wordline_counters::{Cause, OpKind};
use wordline_units::{Ppn, SectorMask};

/// Read the missing sectors of a program from the first place that has some of them. Returns whether there is one.
pub(crate) fn fetch_missing(
    state: &mut State,
    store: &mut Store,
    out: &mut Outbox,
    id: OpId,
    stage: u32,
) -> bool {
    let all = SectorMask::first(state.geometry.sectors_per_unit);
    let op = &state.ops[id];
    let (lpn, mask, version) = (op.lpn, op.mask, op.version);
    // Of what is newer than the program it has no use.
    let wanted = state.staging.get(stage).current(all.minus(mask), version);
    if wanted.is_empty() {
        return false;
    }
    let mut located = Places::new();
    state.map.resolve(lpn, wanted, &mut located);
    let first = located.iter().find(|at| fills_from(state, at.ppn)).copied();
    let Some(Located { ppn, mask: missing }) = first else { return false };
    let block = state.geometry.block_of(ppn);
    let mut read = Op::new(OpKind::Read, state.geometry.plane_of(block), Cause::Rmw, Class::Write);
    (read.lpn, read.ppn, read.mask) = (lpn, ppn, missing);
    read.owner = Owner::Rmw(id);
    pin(&mut state.blocks, block);
    let read = emit_mapped(state, store, out, read);
    state.staging.get(stage).begin_fill(Fill { program: id, read });
    true
}

/// Whether missing sectors are taken from a place: under an overlay a page is not split for a run.
fn fills_from(state: &State, ppn: Ppn) -> bool {
    match state.map_kind() {
        MapKind::Overlay(regions, _) => {
            regions.contains(state.blocks.region_of(state.geometry.block_of(ppn)))
        }
        _ => true,
    }
}

/// The missing sectors of a read-modify-write have been read.
pub(crate) fn fill(layer: &mut Layer, program: OpId, brought: wordline_units::SectorMask, ppn: Ppn) {
    let op = &layer.state.ops[program];
    let (stage, lpn, version) = (op.stage, op.lpn, op.version);
    let entry = layer.state.staging.get(stage);
    // After a trim, or with something newer on flash, what was read is old: a page will be born
    // invalid, of sectors the program has fewer.
    let brought = entry.current(brought, version);
    if !brought.is_empty() {
        let mut old = PageData::default();
        if layer.store.keeps_bytes() {
            let Some(page) =
                ask_media(layer.state.now, &mut layer.store, &mut layer.out, |m| m.read(ppn, lpn))
            else {
                return;
            };
            old = page;
        }
        let missing = layer.state.staging.get(stage).take_in(brought);
        layer.state.ops[program].mask = layer.state.ops[program].mask.union(brought);
        if layer.store.keeps_bytes() {
            layer.store.stage(stage, &old, missing);
            load_page(&layer.state.ops, &mut layer.store, program, stage);
        }
    } else if layer.store.keeps_metadata() && !layer.state.map_kind().knows_sectors() {
        layer.state.trims.make_void(program);
    }
    // What a trim that a cut undid has left in a second place.
    if layer.state.map_kind().knows_sectors()
        && fetch_missing(&mut layer.state, &mut layer.store, &mut layer.out, program, stage)
    {
        return;
    }
    filled(&mut layer.state, program);
}

/// A later write or a trim made the read of missing sectors unnecessary; the program continues without them.
pub(crate) fn cancel_fill(state: &mut State, fill: Fill) {
    state.ops[fill.read].owner = Owner::Nobody;
    filled(state, fill.program);
}

/// A program's missing sectors are present, or no longer needed.
pub(crate) fn filled(state: &mut State, id: OpId) {
    let op = &state.ops[id];
    let (stage, lead) = (op.stage, op.lead);
    state.staging.get(stage).end_fill(id);
    awaited(state, if lead.is_none() { id } else { lead });
}
