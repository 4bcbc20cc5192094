//! Late binding: a program gets its slot when its plane is ready to start it, from the first target of its
//! route that has one. If none has, it waits, falls back, is dropped, or fails.

use crate::file::table::fetch;
use crate::flow::buffer::program_buffer::add_page;
use crate::flow::collect::level::levels;
use crate::flow::collect::victim::collect_after_taking;
use crate::flow::emit::add_and_emit;
use crate::flow::fail::illegal;
use crate::flow::moves::moves::leave_buffer;
use crate::layer::Layer;
use crate::plan::decision::{Route, Target};
use crate::plan::region::MovedIn;
use crate::state::blocks::admission::{
    Claim, grants_block, grants_conversion, grants_slot, has_room, spares_reserve,
};
use crate::state::blocks::frontier::{Head, head_of, open, open_superblock_members, take_block, take_page};
use crate::state::blocks::superblock_members::{
    has_superblocks, least_filled_of_superblock, members, superblock_planes,
};
use crate::state::blocks::{Blocks, completes_superpage, planes_mut};
use crate::state::op::{Class, Op, OpId, Ops, Owner};
use crate::state::outbox::Outbox;
use crate::state::state::State;
use crate::state::store::Store;
use wordline_counters::{Cause, OpKind};
use wordline_device::Trigger;
use wordline_units::{BlockId, PlaneId, SimDuration};

/// Result of an attempt to bind a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// It has its page.
    Bound,
    /// It has left the queue to be programmed together with others.
    Diverted,
    /// No slot of its route is free: it waits, or is abandoned.
    Blocked,
}

/// Bind a program to the first free slot of its route.
#[inline]
pub(crate) fn bind_now(layer: &mut Layer, id: OpId) -> Binding {
    let op = &layer.state.ops[id];
    let (privileged, route) = (op.privileged, op.route);
    // Where pages of another type will do, no block of the reserve is opened for one type.
    if privileged && route.has_alternates() {
        let bound = bind_along(layer, id, route, false);
        if bound != Some(Binding::Blocked) {
            return bound.unwrap_or(Binding::Blocked);
        }
    }
    let bound = bind_along(layer, id, route, privileged);
    layer.state.counters.stalls += (bound == Some(Binding::Blocked)) as u64;
    bound.unwrap_or(Binding::Blocked)
}

/// Bind a program along its route, if necessary to a block opened from the reserve; `None` after an
/// illegal decision of the scheme.
#[inline]
fn bind_along(layer: &mut Layer, id: OpId, route: Route, reserve: bool) -> Option<Binding> {
    for target in route.targets() {
        let binding = bind_to(layer, id, target, reserve)?;
        if binding != Binding::Blocked {
            return Some(binding);
        }
    }
    Some(Binding::Blocked)
}

/// Bind a program to a slot of a target. The first has one in most cases.
#[inline(never)]
fn bind_to(layer: &mut Layer, id: OpId, target: Target, reserve: bool) -> Option<Binding> {
    let op = &layer.state.ops[id];
    let (plane, privileged, slots, first) = (op.plane, op.privileged, op.slots as u32, op.route.region());
    let region = target.region;
    if !layer.state.blocks.is_there(region, plane) {
        let why = format!("plane {plane} has no blocks of region {}", region.0);
        let decision = format!("route to region {}", region.0);
        illegal(layer.state.now, &layer.seat, &mut layer.out, decision, why);
        return None;
    }
    let r = &layer.state.blocks.region(region);
    let (units, rule) = (r.units_per_page, r.region.rule);
    let whole = units * r.pages_per_program;
    if slots > whole {
        let why = format!("the wordline was assembled for region {}", first.0);
        let decision = format!("a wordline of {slots} pages falls back to region {}", r.region.name);
        illegal(layer.state.now, &layer.seat, &mut layer.out, decision, why);
        return None;
    }
    if slots < whole && r.pages_per_program > 1 {
        if has_room(&layer.state.blocks, target, plane, Claim::of(privileged)) {
            divert(layer, id, target);
            return Some(Binding::Diverted);
        }
        return Some(Binding::Blocked);
    }
    if refuses_conversion(&layer.state, id, target, plane) {
        layer.state.counters.capacity.conversions_refused += 1;
        return Some(Binding::Blocked);
    }
    let Some((block, page)) = take_slot(layer, id, target, reserve) else { return Some(Binding::Blocked) };
    let ppn = layer.state.geometry.ppn(block, page * units);
    let op = &mut layer.state.ops[id];
    (op.ppn, op.bound_class) = (ppn, target.class);
    if matches!(layer.state.blocks.region(first).region.moved_in, MovedIn::Through(_)) {
        leave_buffer_all(&mut layer.state.blocks, &mut layer.state.ops, id);
    }
    if rule.tells_types() {
        count_page_type(&mut layer.state, id, target, page);
    }
    let op = &layer.state.ops[id];
    if op.owner != Owner::Parity
        && let Some(old) = layer.state.map.prefetch_commit(op.lpn, op.from, ppn)
    {
        let block = layer.state.geometry.block_of(old).index();
        fetch(layer.state.blocks.all(), block);
    }
    if layer.state.blocks.parity().is_written() {
        complete_superpage(&mut layer.state, &mut layer.store, &mut layer.out, id, target);
    }
    Some(Binding::Bound)
}

/// A program has its slot: if its superpage lacks parity alone, that is programmed next.
#[inline(never)]
fn complete_superpage(state: &mut State, store: &mut Store, out: &mut Outbox, id: OpId, target: Target) {
    let Target { region, class } = target;
    let op = &state.ops[id];
    if op.owner == Owner::Parity || !has_superblocks(&state.blocks, region) {
        return;
    }
    let group = superblock_planes(&state.blocks, region, op.plane);
    if !completes_superpage(&mut state.blocks, region, &group) {
        return;
    }
    let plane =
        least_filled_of_superblock(&mut state.blocks, &state.backlog, region, PlaneId(group.start), None);
    let r = &state.blocks.region(region);
    let slots = (r.units_per_page * r.pages_per_program) as u8;
    let last = &state.ops[id];
    // A die that is held is so for the job alone.
    let order = if last.class == Class::Held { Class::Urgent } else { last.class };
    let mut parity = Op::new(OpKind::Program, plane, Cause::Parity, order);
    (parity.owner, parity.route, parity.slots) = (Owner::Parity, Route::to(region, class), slots);
    (parity.idle, parity.privileged, parity.in_window) = (last.idle, last.privileged, false);
    add_and_emit(state, store, out, parity);
}

/// Whether a move by a scheme would convert one block too many to a mode with fewer bits.
#[inline]
pub(crate) fn refuses_conversion(state: &State, id: OpId, target: Target, plane: PlaneId) -> bool {
    let Target { region, class } = target;
    matches!(state.ops[id].owner, Owner::Move(_))
        && state.blocks.at(region, plane).open[class as usize].is_empty()
        && !grants_conversion(&state.blocks, &state.trims, &state.demand, region, plane)
}

/// A page leaves its plane's queue for the group of its fallback region.
fn divert(layer: &mut Layer, id: OpId, target: Target) {
    leave_buffer_all(&mut layer.state.blocks, &mut layer.state.ops, id);
    let op = &mut layer.state.ops[id];
    op.route = Route::to(target.region, target.class);
    layer.state.backlog.take(op.plane, op.kind);
    add_page(layer, target.region, id);
}

#[inline]
fn take_slot(layer: &mut Layer, id: OpId, target: Target, reserve: bool) -> Option<(BlockId, u32)> {
    let Target { region, class } = target;
    let op = &layer.state.ops[id];
    let (plane, privileged) = (op.plane, op.privileged);
    let levels = layer.state.wear.spec.static_beyond.is_some() && levels(&layer.state.blocks, op);
    let blocks = &mut layer.state.blocks;
    if !grants_slot(blocks, region, plane, Claim::of(privileged)) {
        return None;
    }
    let may_open = levels && grants_block(blocks, region, plane, Claim::of(reserve));
    planes_mut(blocks).changed(plane);
    let (rule, trigger) = (blocks.region(region).region.rule, blocks.region(region).region.trigger);
    // Data at rest stay apart from those of the frontier, where blocks are plain and there is another.
    let open = || blocks.at(region, plane).open[class as usize].len();
    let apart = levels && !rule.by_bit() && !rule.reprograms() && open() > usize::from(!may_open);
    let (head, opened) = match head_of(blocks, target, plane, apart) {
        Head::Open(head) => (head, false),
        Head::Later => return None,
        Head::Erased if !levels && spares_reserve(blocks, target, plane, Claim::of(privileged)) => {
            return None;
        }
        Head::Erased => (open_block(layer, target, plane, reserve, levels)?, true),
    };
    let page = take_page(&mut layer.state.blocks, &layer.state.map, target, plane, head)?;
    if opened || matches!(trigger, Trigger::FreeSlots(_)) {
        collect_after_taking(layer, region, plane);
    }
    Some((head, page))
}

/// Open an erased block for a region, in the region's mode. Data at rest get the most worn one.
fn open_block(
    layer: &mut Layer,
    target: Target,
    plane: PlaneId,
    reserve: bool,
    levels: bool,
) -> Option<BlockId> {
    let Target { region, class } = target;
    let r = &layer.state.blocks.region(region);
    if !r.region.rule.classes(r.shape).contains(&class) {
        let rule = r.region.rule;
        let why = format!("blocks with program rule {rule:?} have no such slots");
        let decision = format!("route to {class:?} slots");
        illegal(layer.state.now, &layer.seat, &mut layer.out, decision, why);
        return None;
    }
    if !grants_block(&layer.state.blocks, region, plane, Claim::of(reserve)) {
        return None;
    }
    let block = take_block(&mut layer.state.blocks, region, plane, |free, blocks| {
        if levels { free.take_most_worn(|b| blocks[b as usize].erases) } else { free.take() }
    })?;
    let State { blocks, map, aging, now, .. } = &mut layer.state;
    open(blocks, map, region, plane, block);
    if has_superblocks(blocks, region) {
        open_superblock_members(blocks, map, region, plane, block);
        members(blocks, region, plane, block).for_each(|(_, b)| aging.opened(b, *now, SimDuration::ZERO));
    } else {
        aging.opened(block, *now, SimDuration::ZERO);
    }
    Some(block)
}

/// A host program under a rule with page types is bound: count the requested and the actual type.
fn count_page_type(state: &mut State, id: OpId, got: Target, page: u32) {
    let op = &state.ops[id];
    if !op.owner.is_host() {
        return;
    }
    let asked = op.route.targets().next().map_or(got.class, |t| t.class);
    let r = &state.blocks.region(got.region);
    let bit = r.shape.page_type(page) as usize;
    let types = &mut state.counters.regions[got.region.index()].page_types;
    if let Some(types) = types.get_mut(asked as usize) {
        types[bit] += 1;
    }
}

/// A program starts: its data no longer need places in the buffer.
pub(crate) fn leave_buffer_all(blocks: &mut Blocks, ops: &mut Ops, lead: OpId) {
    let mut part = lead;
    while !part.is_none() {
        leave_buffer(blocks, ops, part);
        part = ops[part].chain;
    }
}
