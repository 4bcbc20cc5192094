//! The dispatcher: the sequence of steps that a call of the device triggers, and the steps that follow from each.
//!
//! Only this file determines the order of steps. A write is issued parcel by parcel, so that the scheme sees the
//! effects of one when it is asked about the next; a program changes the map part by part, and the space freed by a
//! part is used before the part's completion is reported; a host program whose last wait has ended precedes what its
//! end triggers.

use crate::flow::buffer::gather::{gather_whole, on_page_read};
use crate::flow::buffer::merge::{idle_timer, make_space_in_merged, merge_timer, seal_merged};
use crate::flow::buffer::program_buffer::{enter_if_it_waits, launch, make_space_in_groups, pad_timer, seal};
use crate::flow::buffer::write_buffer::{evict_page, make_space_in_buffer, send, send_least_recent};
use crate::flow::collect::invalidate::{invalidate, leave_move, unpin};
use crate::flow::collect::job::{go_on, job_page_over, read_on_in_buffer};
use crate::flow::collect::join::begin_to_join;
use crate::flow::collect::refresh::{refresh, scan_for_old};
use crate::flow::complete::{part_done, settle};
use crate::flow::host::fill::fill;
use crate::flow::host::flush::submit_flush;
use crate::flow::host::read::{host_read_over, submit_read};
use crate::flow::host::submit::{count_write_request, enter, refuse_worn_out};
use crate::flow::host::trim::{submit_trim, trim_mapped, trim_staged};
use crate::flow::host::write::{Unplaced, enter_unit, parcel_from, place_parcel, submit_write};
use crate::flow::metadata::demand_map::{
    allow_map_pages, keep_read_map_page, metadata_over, metadata_programmed, note_map_change,
    on_map_entry_loaded,
};
use crate::flow::moves::moves::{
    begin_held_move, enqueue_move, finish_move_read, leave_joined_moves, rewrite_read_done,
};
use crate::flow::moves::relocate::{Relocated, Relocation, relocate};
use crate::flow::next::Next;
use crate::flow::place::plane::pick_again;
use crate::flow::program::array::count_energy;
use crate::flow::program::bind::{Binding, bind_now};
use crate::flow::program::blocked::{Blocked, drop_held_moves, find_space, give_up};
use crate::flow::program::commit::{commit, erase_done, leave_block, program_done, read_done};
use crate::flow::records::superseded::drop_replaced;
use crate::layer::Layer;
use crate::media::host_data::HostData;
use crate::plan::decision::Move;
use crate::plan::region::RegionId;
use crate::plan::span::Dead;
use crate::state::job::MoveReason;
use crate::state::latency::LatencyBreakdown;
use crate::state::op::{Op, OpId, Owner};
use crate::state::request::{Outcome, RequestId, Timer};
use wordline_counters::{Cause, OpKind};
use wordline_units::{BlockId, HostOp, HostRequest, PlaneId, Ppn};

/// Admit a request that `validate` has accepted and that arrived at `request.arrival`. `data` are the bytes
/// of a write, if the media store data. A worn-out drive accepts no writes.
pub(crate) fn submit(layer: &mut Layer, request: HostRequest, number: u64, data: HostData<'_>) -> RequestId {
    if request.op == HostOp::Write && layer.state.wear.over.is_some() {
        return refuse_worn_out(layer, request, number);
    }
    scan_for_old(layer);
    allow_map_pages(layer);
    let id = enter(layer, request, number, Outcome::Done);
    if let Some(below) = layer.state.config.gc.pace_below
        && request.op == HostOp::Write
    {
        let pages = u64::from(layer.state.config.addressing.extent(&request).pages());
        let waited = layer.requests.pace_mut().admit(&layer.state, below, &request, pages);
        *layer.state.counters.host.writes_paced.get_or_insert(0) += u64::from(waited);
    }
    match request.op {
        HostOp::Read => submit_read(layer, id, &request),
        HostOp::Write => write(layer, id, &request, data),
        HostOp::Trim => trim(layer, &request),
        HostOp::Flush => flush(layer, id),
    }
    part_done(&layer.state, &mut layer.requests, &mut layer.out, id);
    id
}

fn write(layer: &mut Layer, id: RequestId, request: &HostRequest, data: HostData<'_>) {
    let Some(write) = submit_write(layer, id, request, data) else { return };
    let mut first = write.extent.first;
    let mut unplaced = Unplaced::new();
    while first <= write.extent.last {
        let parcel = parcel_from(&layer.state.blocks, &write, first);
        first = parcel.end;
        for unit in parcel {
            let next = enter_unit(layer, &write, unit, &mut unplaced);
            follow_up(layer, next);
        }
        while !unplaced.is_empty() {
            let next = place_parcel(layer, &write, &mut unplaced);
            follow_up(layer, next);
        }
    }
    count_write_request(layer);
}

fn trim(layer: &mut Layer, request: &HostRequest) {
    for (lpn, mask) in submit_trim(&layer.state, &mut layer.requests, request) {
        let next = evict_page(layer, lpn);
        follow_up(layer, next);
        let is_staged = trim_staged(layer, lpn, mask);
        send_ready(layer);
        trim_mapped(layer, lpn, mask, is_staged);
    }
}

fn flush(layer: &mut Layer, id: RequestId) {
    layer.requests.next_version();
    empty_buffers(layer);
    submit_flush(layer, id);
}

/// Data that wait for other data in a full buffer must not block a write.
pub(crate) fn make_space(layer: &mut Layer, request: &HostRequest) {
    let next = make_space_in_buffer(&layer.state.config, &mut layer.write_buffer, request);
    follow_up(layer, next);
    make_space_in_groups(layer);
    make_space_in_merged(layer, request);
}

/// End of the run: pad data that wait for other data, and let `idle` flush its choice.
pub(crate) fn drain(layer: &mut Layer) {
    layer.state.draining = true;
    empty_buffers(layer);
    seal(layer, true);
    send_ready(layer);
}

/// Nothing is pending: host data stop waiting for other data, and so do moved pages whose buffer places others
/// need. Returns whether any did.
#[cold]
pub(crate) fn complete_groups(layer: &mut Layer) -> bool {
    if layer.state.incomplete_units > 0 {
        seal(layer, false);
        return true;
    }
    if layer.moves.waiting.is_empty() {
        return false;
    }
    let before = layer.out.asked();
    seal(layer, true);
    begin_held_moves(layer);
    layer.out.asked() > before
}

/// Nothing is pending, and programs wait although no block can free a slot: fragments of pages are joined, if there
/// are any. Returns whether there are.
#[cold]
pub(crate) fn join_pieces(layer: &mut Layer) -> bool {
    let joins = begin_to_join(layer);
    send_ready(layer);
    joins
}

/// A timer is due.
pub(crate) fn timer(layer: &mut Layer, timer: Timer) {
    match timer {
        Timer::Pad { region, plane, stream, generation } => {
            pad_timer(layer, region, plane, stream, generation);
        }
        Timer::Merge { page } => merge_timer(layer, page),
        Timer::MergeIdle => {
            if idle_timer(layer) {
                empty_buffers(layer);
            }
        }
        Timer::IdlePace => layer.idle_jobs.ring(), // whoever drives asks for work
        Timer::WritePace => layer.requests.pace_mut().ring(), // and admits what waits
    }
    send_ready(layer);
}

/// Merge buffer and write buffer are sent off.
fn empty_buffers(layer: &mut Layer) {
    seal_merged(layer);
    follow_up(layer, Next::EmptyTo(0));
}

/// Bind a program to the first free slot of its route. A page that falls back on a region with whole-wordline
/// programs joins the group that forms there.
#[inline]
pub(crate) fn bind(layer: &mut Layer, id: OpId) -> Binding {
    let binding = bind_now(layer, id);
    begin_held_moves(layer);
    binding
}

/// A program found no slot in its plane. Start a collection that may help; if none can start yet, each page
/// invalidated in the plane is a new chance, and the device gives up only when nothing is pending anywhere. A move
/// within its pool that nothing waits for is dropped, since it pins its source block; a program of a superblock
/// goes to another plane with a free slot.
pub(crate) fn blocked(layer: &mut Layer, id: OpId) -> Blocked {
    let becomes = find_space(layer, id);
    begin_held_moves(layer);
    becomes
}

/// Abandon a program that can never be bound: the drive is full or worn out.
pub(crate) fn fail(layer: &mut Layer, lead: OpId) {
    give_up(layer, lead);
    begin_held_moves(layer);
}

/// Abandon what waits for room in a buffer that nothing leaves any more. Returns whether there was any.
pub(crate) fn fail_held_moves(layer: &mut Layer) -> bool {
    let any = drop_held_moves(&mut layer.state, &mut layer.moves);
    send_ready(layer);
    any
}

/// No pending program can be bound: units that wait for page-mates although nothing waits for them give up their
/// places, which ends their moves. Returns whether there were any.
pub(crate) fn end_joined_moves(layer: &mut Layer) -> bool {
    let any = leave_joined_moves(layer);
    send_ready(layer);
    any
}

/// Handle the end of an operation, as far as a host request may wait for it. Returns the next operation of its
/// plane, if one starts at once.
#[inline]
pub(crate) fn done(layer: &mut Layer, id: OpId) -> Option<OpId> {
    let op = &layer.state.ops[id];
    let kind = op.kind;
    layer.state.backlog.take(op.plane, kind);
    if layer.state.counters.energy.is_some() {
        count_energy(&mut layer.state, id);
    }
    match kind {
        OpKind::Read => read_over(layer, id),
        OpKind::Program => program_over(layer, id),
        OpKind::Erase => erase_done(layer, id),
    }
    layer.state.breakdown.queued = LatencyBreakdown::NONE.queued;
    layer.out.take_continuation()
}

#[inline]
fn read_over(layer: &mut Layer, id: OpId) {
    let op = &layer.state.ops[id];
    let (ppn, plane, lpn, mask, owner) = (op.ppn, op.plane, op.lpn, op.mask, op.owner);
    read_done(&mut layer.state, &mut layer.requests, id);
    match owner {
        Owner::Request(request) => host_read_over(layer, id, request),
        Owner::Rmw(program) => {
            layer.state.ops.remove(id);
            fill(layer, program, mask, ppn);
        }
        Owner::Job(region) => collected_read_over(layer, id, (region, plane, ppn)),
        Owner::Gather => {
            layer.state.ops.remove(id);
            on_page_read(layer, ppn);
        }
        Owner::Move(waits) => {
            let next = finish_move_read(layer, id, waits);
            follow_up(layer, next);
        }
        Owner::Rewrite(unit) => {
            let next = rewrite_read_done(layer, id, unit);
            follow_up(layer, next);
        }
        Owner::Map => {
            layer.state.ops.remove(id);
            let waiting = layer.state.demand.as_mut().map_or(vec![], |map| map.end_read(lpn));
            for waiting in waiting {
                on_map_entry_loaded(&mut layer.state, &mut layer.requests, &mut layer.out, waiting);
                send_ready(layer);
            }
            keep_read_map_page(layer, lpn);
        }
        Owner::Nobody | Owner::Answered | Owner::Parity => layer.state.ops.remove(id),
    }
    send_ready(layer);
    unpin(layer, layer.state.geometry.block_of(ppn));
    refresh(layer, plane);
}

#[inline(never)]
fn collected_read_over(layer: &mut Layer, id: OpId, from: (RegionId, PlaneId, Ppn)) {
    if layer.gathering.is_waiting() {
        on_page_read(layer, from.2);
    }
    let mut relocated = Relocated::new();
    if relocate(layer, id, from, &mut relocated) == Relocation::Listed {
        launch_relocated(layer, from, &relocated);
    }
}

/// The programs of a page of a victim fill their pages, or wait for others.
#[inline(never)]
fn launch_relocated(layer: &mut Layer, (region, plane, _): (RegionId, PlaneId, Ppn), relocated: &Relocated) {
    if relocated.is_empty() {
        go_on(layer, region, plane);
    }
    for &(lead, gathers) in relocated {
        if gathers {
            gather_whole(layer, lead);
        } else {
            launch(layer, lead);
        }
    }
    read_on_in_buffer(layer, region, plane);
}

#[inline]
fn program_over(layer: &mut Layer, lead: OpId) {
    let Op { ppn: first, plane, owner, .. } = layer.state.ops[lead];
    let block = layer.state.geometry.block_of(first);
    program_done(layer, lead, block);
    let mut part = lead;
    if owner == Owner::Parity {
        layer.state.ops.remove(lead);
        part = OpId::NONE;
    }
    while !part.is_none() {
        part = part_over(layer, part, (plane, block, first));
    }
    if !layer.store.keeps_metadata() || layer.out.fault().is_none() {
        leave_block(layer, plane, block);
    }
}

/// A part of a program, whose first slot is at a place, is on flash. Returns the next part.
#[inline(always)]
fn part_over(layer: &mut Layer, part: OpId, (plane, block, first): (PlaneId, BlockId, Ppn)) -> OpId {
    let op = &layer.state.ops[part];
    let (ppn, following) = (Ppn(first.0 + u32::from(op.slot)), op.chain);
    let mut dead = Dead::new();
    if let Some(committed) = commit(layer, part, (plane, block, ppn), &mut dead) {
        invalidate(layer, &dead);
        if layer.store.keeps_bytes() {
            let lpn = (!committed.is_newest).then_some(committed.lpn);
            drop_replaced(&mut layer.state, &mut layer.store, &dead, ppn, lpn);
        }
        if committed.is_newest {
            note_map_change(layer, committed.lpn);
        }
        follow_up(layer, committed.next);
    }
    following
}

/// Carry out the steps that follow from a step, recursively. The usual steps after writes and programs are carried
/// out directly.
#[inline(always)]
pub(crate) fn follow_up(layer: &mut Layer, next: Next) {
    match next {
        Next::Nothing => {}
        Next::Send(lead) => {
            let next = send(layer, lead);
            if next != Next::Nothing {
                carry_out(layer, next);
            }
        }
        Next::Settled(part) => settled(layer, part),
        Next::PageOver { region, plane, in_window } => job_page_over(layer, region, plane, in_window),
        next => carry_out(layer, next),
    }
    send_ready(layer);
}

#[inline(never)]
fn carry_out(layer: &mut Layer, next: Next) {
    match next {
        Next::Nothing => {}
        Next::Send(lead) => {
            let next = send(layer, lead);
            carry_out(layer, next);
        }
        Next::Launch(lead) => {
            enter_if_it_waits(layer, lead);
            send_ready(layer);
            launch(layer, lead);
        }
        Next::Moves(lead, moves) => begin_moves(layer, lead, moves),
        Next::EmptyTo(pages) => {
            while let Some(next) = send_least_recent(layer, pages) {
                carry_out(layer, next);
                send_ready(layer);
            }
        }
        Next::PageOver { region, plane, in_window } => job_page_over(layer, region, plane, in_window),
        Next::MoveOver { lpn, from, idle, waits } => {
            leave_move(layer, lpn, from, idle, waits);
            send_ready(layer);
            unpin(layer, layer.state.geometry.block_of(from));
        }
        Next::MoveDropped { lpn, from, idle, waits } => {
            begin_held_moves(layer);
            leave_move(layer, lpn, from, idle, waits);
        }
        Next::Settled(part) => settled(layer, part),
    }
}

/// Issue host programs that no longer wait.
#[inline(always)]
fn send_ready(layer: &mut Layer) {
    if !layer.state.ready.is_empty() {
        send_all_ready(layer);
    }
}

#[inline(never)]
fn send_all_ready(layer: &mut Layer) {
    while let Some(lead) = layer.state.ready.pop_front() {
        pick_again(&mut layer.state, lead);
        carry_out(layer, Next::Send(lead));
    }
}

/// Start moves for which their buffer now has room.
#[inline(always)]
fn begin_held_moves(layer: &mut Layer) {
    send_ready(layer);
    while !layer.moves.waiting.is_empty() && begin_held_move(layer) {
        send_ready(layer);
    }
}

/// Start the moves that the scheme requires before a host program.
fn begin_moves(layer: &mut Layer, lead: OpId, moves: Vec<Move>) {
    for m in moves {
        enqueue_move(layer, m, MoveReason::Program(lead));
        send_ready(layer);
    }
}

/// Handle the end of a program of data from RAM.
#[inline]
fn settled(layer: &mut Layer, part: OpId) {
    let op = &layer.state.ops[part];
    let (lpn, cause, version) = (op.lpn, op.cause, op.version);
    if cause == Cause::Metadata {
        metadata_programmed(&mut layer.state.trims, &mut layer.state.demand, lpn, version);
    }
    settle(layer, part);
    // One that collection moved by way of RAM, too.
    if cause != Cause::Host && layer.state.is_metadata(lpn) {
        metadata_over(layer, lpn);
    }
}
