//! Gathers pages that collection wants whole: a page that is partly in a victim is read from all its places,
//! moved to protected RAM, and programmed as one. A place that holds parts of several such pages is read once
//! for all of them.

use crate::flow::buffer::program_buffer::launch;
use crate::flow::collect::invalidate::{invalidate, unpin};
use crate::flow::collect::job::job_page_over;
use crate::flow::complete::settle;
use crate::flow::emit::{add_op, emit};
use crate::flow::fail::ask_media;
use crate::flow::records::superseded::look_later;
use crate::layer::Layer;
use crate::media::page::PageData;
use crate::plan::span::{Dead, Places, Span, Spans};
use crate::state::blocks::{job_mut, pin};
use crate::state::op::{Op, OpId, Owner};
use smallvec::SmallVec;
use wordline_counters::OpKind;
use wordline_units::{Ppn, SectorMask};

/// Gather a collected page: read its parts that are elsewhere. No place that it is read from is erased
/// before it has left all of them.
pub(crate) fn gather_whole(layer: &mut Layer, id: OpId) {
    let op = &layer.state.ops[id];
    let (lpn, from) = (op.lpn, op.from);
    let mut places = Places::new();
    let all = SectorMask::first(layer.state.geometry.sectors_per_unit);
    layer.state.map.resolve(lpn, all, &mut places);
    let others: SmallVec<[Ppn; 4]> = places.iter().map(|at| at.ppn).filter(|ppn| *ppn != from).collect();
    layer.state.ops[id].awaits = others.len() as u32;
    if let Some(more) = places.len().checked_sub(1) {
        layer.state.counters.places.gathered[more.min(3)] += 1;
    }
    layer.gathering.begin(id, lpn, places);
    for ppn in &others {
        pin(&mut layer.state.blocks, layer.state.geometry.block_of(*ppn));
        if !layer.gathering.wait(id, *ppn) {
            read_for(layer, id, *ppn);
        }
    }
    if others.is_empty() {
        gathered(layer, id);
    }
}

/// Read a place for a page that is gathered. A place in the victim itself is read for everything that
/// moves from it.
fn read_for(layer: &mut Layer, id: OpId, ppn: Ppn) {
    layer.gathering.read_for(id, ppn);
    let mut spans = Spans::new();
    layer.state.map.live_in(ppn, &mut spans);
    let sectors = spans.iter().map(|span| span.mask.count()).sum();
    let op = &layer.state.ops[id];
    let Owner::Job(region) = op.owner else { return };
    let (from, idle) = (op.from, op.idle);
    let block = layer.state.geometry.block_of(ppn);
    let plane = layer.state.geometry.plane_of(block);
    let mut read = Op::new(OpKind::Read, plane, op.cause, op.class);
    (read.lpn, read.ppn, read.mask) = (op.lpn, ppn, SectorMask::first(sectors));
    (read.owner, read.idle) = (Owner::Gather, idle);
    let one_a_page = layer.state.blocks.region(region).units_per_page == 1;
    let at = layer.state.geometry.plane_at(from);
    if let Some(job) = job_mut(&mut layer.state.blocks, region, at)
        && job.block == block
        && one_a_page
    {
        job.inflight += 1;
        job.window += 1;
        read.owner = Owner::Job(region);
        layer.gathering.read_early(ppn);
    }
    pin(&mut layer.state.blocks, block);
    let read = add_op(&mut layer.state.ops, &mut layer.store, read);
    emit(&mut layer.state, &mut layer.out, read);
}

/// Handle the end of the read of a place, for all pages that waited for it.
#[inline]
pub(crate) fn on_page_read(layer: &mut Layer, ppn: Ppn) {
    for id in layer.gathering.take_waiting(ppn) {
        let left = &mut layer.state.ops[id].awaits;
        *left -= 1;
        if *left == 0 {
            gathered(layer, id);
        }
    }
}

/// Handle the end of gathering: what is still where it was read moves to protected RAM, and is programmed
/// as one page. Sectors overwritten or moved meanwhile are excluded.
fn gathered(layer: &mut Layer, id: OpId) {
    let (lpn, from, owner) = {
        let op = &layer.state.ops[id];
        (op.lpn, op.from, op.owner)
    };
    let places = layer.gathering.end(id, lpn);
    let plane = layer.state.geometry.plane_at(from);
    let stage = layer.state.staging.enter(lpn);
    layer.state.staging.get(stage).add_program();
    let (mut whole, mut versions) = (SectorMask::EMPTY, vec![]);
    let mut dead = Dead::new();
    for at in &places {
        let there = layer.state.map.still_at(Span { lpn, mask: at.mask, offset: 0 }, at.ppn);
        let mut page = PageData::default();
        if layer.store.keeps_bytes() && !there.is_empty() {
            let Some(found) =
                ask_media(layer.state.now, &mut layer.store, &mut layer.out, |m| m.read(at.ppn, lpn))
            else {
                return;
            };
            page = found;
        }
        layer.state.map.unmap(lpn, there, &mut dead);
        let found = layer.store.stored_versions(at.ppn, lpn, there);
        for (mask, version) in &found {
            layer.store.protect(lpn, *mask, *version, &page);
        }
        versions.extend(found);
        let entry = layer.state.staging.get(stage);
        let older = entry.take_in(there);
        entry.begin_relocation(id, there);
        if layer.store.keeps_bytes() && !there.is_empty() {
            layer.store.add(id, &page, there);
            layer.store.stage(stage, &page, older);
        }
        whole = whole.union(there);
    }
    invalidate(layer, &dead);
    if layer.store.keeps_bytes() {
        look_later(&mut layer.store, &dead);
    }
    let op = &mut layer.state.ops[id];
    (op.mask, op.stage, op.from) = (whole, stage, Ppn::NONE);
    (op.owner, op.version) = (Owner::Nobody, versions.iter().map(|v| v.1).max().unwrap_or(0));
    layer.store.set_versions(id, versions);
    if whole.is_empty() {
        settle(layer, id);
    } else {
        launch(layer, id);
    }
    if let Owner::Job(region) = owner {
        job_page_over(layer, region, plane, true);
    }
    for at in places.iter().filter(|at| at.ppn != from) {
        unpin(layer, layer.state.geometry.block_of(at.ppn));
    }
}
