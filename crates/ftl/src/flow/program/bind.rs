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
use crate::state::admission::Claim;
use crate::state::block::Phase;
use crate::state::op::{Class, Op, OpId, Owner};
use crate::state::outbox::Outbox;
use crate::state::state::State;
use crate::state::store::Store;
use std::fmt::Debug;
use wordline_counters::{Cause, OpKind};
use wordline_device::Trigger;
use wordline_units::{BlockId, PlaneId};

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
    let op = &layer.state.ops[id];
    let (plane, privileged, slots) = (op.plane, op.privileged, op.slots as u32);
    for target in route.targets() {
        let region = target.region;
        if !layer.state.is_there(region, plane) {
            let why = format!("plane {plane} has no blocks of region {}", region.0);
            illegal(&layer.state, &layer.seat, &mut layer.out, format!("route to region {}", region.0), why);
            return None;
        }
        let r = &layer.state.regions[region.index()];
        let (units, rule) = (r.units_per_page, r.region.rule);
        let whole = units * r.pages_per_program;
        if slots > whole {
            let why = format!("the wordline was assembled for region {}", route.region().0);
            let decision = format!("a wordline of {slots} pages falls back to region {}", r.region.name);
            illegal(&layer.state, &layer.seat, &mut layer.out, decision, why);
            return None;
        }
        if slots < whole && r.pages_per_program > 1 {
            if layer.state.has_room(target, plane, Claim::of(privileged)) {
                divert(layer, id, target);
                return Some(Binding::Diverted);
            }
        } else if refuses_conversion(&layer.state, id, target, plane) {
            layer.state.counters.capacity.conversions_refused += 1;
        } else if let Some((block, page)) = take_slot(layer, id, target, reserve) {
            let ppn = layer.state.geometry.ppn(block, page * units);
            let op = &mut layer.state.ops[id];
            (op.ppn, op.bound_class) = (ppn, target.class);
            let asked = &layer.state.regions[route.region().index()].region;
            if matches!(asked.moved_in, MovedIn::Through(_)) {
                leave_buffer_all(&mut layer.state, id);
            }
            if rule.tells_types() {
                count_page_type(&mut layer.state, id, target, page);
            }
            let op = &layer.state.ops[id];
            if op.owner != Owner::Parity
                && let Some(old) = layer.state.map.prefetch_commit(op.lpn, op.from, ppn)
            {
                let block = layer.state.geometry.block_of(old).index();
                fetch(&layer.state.blocks, block);
            }
            if layer.state.superblocks.parity.is_written() {
                complete_superpage(&mut layer.state, &mut layer.store, &mut layer.out, id, target);
            }
            return Some(Binding::Bound);
        }
    }
    Some(Binding::Blocked)
}

/// A program has its slot: if its superpage lacks parity alone, that is programmed next.
#[inline(never)]
fn complete_superpage(state: &mut State, store: &mut Store, out: &mut Outbox, id: OpId, target: Target) {
    let Target { region, class } = target;
    let op = &state.ops[id];
    if op.owner == Owner::Parity || !state.has_superblocks(region) {
        return;
    }
    let group = state.superblock_planes(region, op.plane);
    if !state.superblocks.parity.count_program(region, &group) {
        return;
    }
    let plane = state.least_filled_of_superblock(region, PlaneId(group.start), None);
    let r = &state.regions[region.index()];
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
        && state.at(region, plane).open[class as usize].is_empty()
        && !state.grants_conversion(region, plane)
}

/// A page leaves its plane's queue for the group of its fallback region.
fn divert(layer: &mut Layer, id: OpId, target: Target) {
    leave_buffer_all(&mut layer.state, id);
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
    let levels = layer.state.wear.spec.static_beyond.is_some() && levels(&layer.state, op);
    if !layer.state.grants_slot(region, plane, Claim::of(privileged)) {
        return None;
    }
    let local = layer.state.local(region, plane);
    let may_open = levels && layer.state.grants_block(region, plane, Claim::of(reserve));
    layer.state.planes.changed(plane);
    let r = &mut layer.state.regions[region.index()];
    let (rule, shape, units, trigger) = (r.region.rule, r.shape, r.units_per_page, r.region.trigger);
    let at = &mut r.planes[local];
    let mut opened = false;
    // Data at rest stay apart from those of the frontier, where blocks are plain and there is another.
    let open = at.open[class as usize].len();
    let apart = levels && !rule.by_bit() && !rule.reprograms() && (open > 1 || open == 1 && may_open);
    let head = match at.open[class as usize].get(apart as usize) {
        Some(b) => BlockId(*b),
        // Pages of this type come later in the life of a block.
        None if !rule.begins_with(shape, class) && rule.classes(shape).contains(&class) => return None,
        None => {
            opened = true;
            open_block(layer, target, plane, reserve, levels)?
        }
    };
    let block = &mut layer.state.blocks[head.index()];
    let before = block.state;
    let page = rule.take(shape, &mut block.state, class)?;
    block.writers += 1;
    let state = block.state;
    let pages = rule.pages_per_program();
    let r = &mut layer.state.regions[region.index()];
    let at = &mut r.planes[local];
    at.open_slots -= (pages * units) as u64;
    if rule.by_bit() {
        r.left[(page % shape.bits as u32) as usize] -= 1;
    }
    if rule.reprograms() {
        layer.state.change_lists(region, plane, head, before);
    } else if !rule.has_left(shape, &state, class) {
        at.open[class as usize].retain(|b| *b != head.0);
        let next = at.open[class as usize].front().copied();
        if rule.programmed(&state) == shape.pages() {
            layer.state.blocks[head.index()].phase = Phase::Full;
        }
        for block in [Some(head.0), next].into_iter().flatten() {
            layer.state.look_at_frontier(region, plane, BlockId(block));
        }
    }
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
    let r = &layer.state.regions[region.index()];
    if !r.region.rule.classes(r.shape).contains(&class) {
        let rule = r.region.rule;
        illegal(
            &layer.state,
            &layer.seat,
            &mut layer.out,
            format!("route to {class:?} slots"),
            format!(
                "blocks with program rule {rule:?} \
                                                                   have no such slots"
            ),
        );
        return None;
    }
    if !layer.state.grants_block(region, plane, Claim::of(reserve)) {
        return None;
    }
    let block = layer.state.take_block(region, plane, |free, blocks| {
        if levels { free.take_most_worn(|b| blocks[b as usize].erases) } else { free.take() }
    })?;
    layer.state.open(region, plane, block);
    if layer.state.has_superblocks(region) {
        layer.state.open_superblock_members(region, plane, block);
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
    let r = &state.regions[got.region.index()];
    let bit = r.shape.page_type(page) as usize;
    let types = &mut state.counters.regions[got.region.index()].page_types;
    if let Some(types) = types.get_mut(asked as usize) {
        types[bit] += 1;
    }
}

/// A program starts: its data no longer need places in the buffer.
pub(crate) fn leave_buffer_all(state: &mut State, lead: OpId) {
    let mut part = lead;
    while !part.is_none() {
        leave_buffer(state, part);
        part = state.ops[part].chain;
    }
}
