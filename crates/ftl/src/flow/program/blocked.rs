//! A program finds no slot in its plane: it waits, goes to another plane, is dropped, or finally fails.

use crate::flow::buffer::program_buffer::launch;
use crate::flow::collect::invalidate::end_move;
use crate::flow::collect::job::give_up_page;
use crate::flow::collect::level::levels;
use crate::flow::collect::victim::collect_for;
use crate::flow::complete::{awaited, settle};
use crate::flow::emit::entry_of;
use crate::flow::fail::{internal, no_place};
use crate::flow::metadata::demand_map::{metadata_not_programmed, metadata_over};
use crate::flow::moves::moves::leave_buffer;
use crate::flow::program::bind::{leave_buffer_all, refuses_conversion};
use crate::layer::Layer;
use crate::plan::decision::{PlanePick, Route, Target};
use crate::plan::region::RegionId;
use crate::state::blocks::admission::{Claim, has_open_slot, has_room};
use crate::state::blocks::free_space::spare_slots;
use crate::state::blocks::superblock_members::superblock_planes;
use crate::state::blocks::{Blocks, planes_mut};
use crate::state::moves::Moves;
use crate::state::op::{Op, OpId, Owner};
use crate::state::outbox::Outbox;
use crate::state::request::Effect;
use crate::state::state::State;
use crate::state::without_effect::WithoutEffect;
use wordline_counters::Cause;
use wordline_units::PlaneId;

/// Result for a program that finds no slot in its plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Blocked {
    /// It waits there.
    Waits,
    /// It has left for another plane.
    ChangesPlane,
    /// It is given up.
    Dropped,
}

/// What is abandoned if nothing else can continue, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GiveUp {
    /// Programs of moves alone: the data stay in place, and no longer prevent collection of their block.
    Moves,
    /// All programs that can be abandoned, writes included.
    Writes,
}

/// Handle a program that found no slot in its plane.
pub(crate) fn find_space(layer: &mut Layer, id: OpId) -> Blocked {
    // A program into the same pool might wait for the very block that the move pins.
    let mere = |op: &Op| op.owner == Owner::Move(OpId::NONE) && !leaves_its_pool(&layer.state.blocks, op);
    if layer.state.ops.chain(id).all(|p| mere(&layer.state.ops[p])) {
        abandon_moves(layer, id);
        return Blocked::Dropped;
    }
    if let Some(there) = member_with_space(&layer.state, id) {
        change_plane(&mut layer.state, &mut layer.out, id, there);
        return Blocked::ChangesPlane;
    }
    let (plane, route) = (layer.state.ops[id].plane, layer.state.ops[id].route);
    // A page that its job waits for, not one of a group: that job reads on without it, and what it
    // reads is the data that other groups wait for.
    let op = &layer.state.ops[id];
    let blocks_gc = matches!(op.owner, Owner::Job(_)) && op.in_window;
    if let Owner::Job(from) = op.owner
        && blocks_gc
    {
        for p in superblock_planes(&layer.state.blocks, from, layer.state.geometry.plane_at(op.from)) {
            planes_mut(&mut layer.state.blocks).block_gc(PlaneId(p));
        }
    }
    for target in route.targets() {
        if !layer.state.blocks.is_there(target.region, plane) {
            continue;
        }
        for p in superblock_planes(&layer.state.blocks, target.region, plane) {
            planes_mut(&mut layer.state.blocks).block_program(PlaneId(p), target.region);
            if blocks_gc {
                planes_mut(&mut layer.state.blocks).block_gc(PlaneId(p));
            }
        }
        collect_for(layer, target.region, plane);
    }
    Blocked::Waits
}

/// Abandon pages that find no place in their target: they stay where they are.
fn abandon_moves(layer: &mut Layer, lead: OpId) {
    let op = &layer.state.ops[lead];
    layer.state.backlog.take(op.plane, op.kind);
    let mut part = lead;
    while !part.is_none() {
        let op = &layer.state.ops[part];
        let (lpn, from, idle, owner, next) = (op.lpn, op.from, op.idle, op.owner, op.chain);
        let in_window = op.in_window;
        leave_buffer(&mut layer.state.blocks, &mut layer.state.ops, part);
        layer.state.ops.remove(part);
        match owner {
            Owner::Job(region) => give_up_page(layer, region, layer.state.geometry.plane_at(from), in_window),
            Owner::Move(waits) => {
                layer.state.counters.moves_dropped += 1;
                layer.state.counters.without_effect.count(WithoutEffect::MoveNoRoom);
                end_move(layer, lpn, from, idle, waits);
            }
            _ => internal(
                layer.state.now,
                &mut layer.out,
                format!("a program of {owner:?} was canceled, which only moves may be"),
            ),
        }
        part = next;
    }
}

/// Nothing is pending, and a program has no slot in its plane. If its data have left their old place, or if it may
/// go to any plane, it goes to the plane with the most room, or else to one where a collection would free space; if
/// no plane of its regions can take data that have no other copy, it goes to another region of its pool, and
/// finally, on a cache, to any plane: no acknowledged data are lost. Returns whether there is one.
pub(crate) fn send_elsewhere(layer: &mut Layer, id: OpId) -> bool {
    let op = &layer.state.ops[id];
    let has_no_other_place = op.owner == Owner::Nobody || op.owner.is_host();
    // Where data lie in any plane, those of a victim, too, may have more room elsewhere; and so may what a cache
    // passes on, which may have lain in any plane of the cache.
    let may_change_plane = layer.state.config.goes_anywhere()
        || op.owner == Owner::Nobody
        || (matches!(op.owner, Owner::Job(_)) && leaves_its_pool(&layer.state.blocks, op))
        || (op.owner.is_host() && op.pick != PlanePick::Home);
    if may_change_plane && find_plane(layer, id) {
        return true;
    }
    if has_no_other_place && let Some(target) = region_with_room(&layer.state, id) {
        go_to_region(layer, id, target);
        return true;
    }
    // What leaves a cache may lie in any plane, and may have filled this one.
    let has_cache = || layer.state.blocks.regions().iter().any(|r| r.region.evicts_to_other_pool);
    has_no_other_place && !may_change_plane && has_cache() && find_plane(layer, id)
}

/// Send a program to the plane with the most room, or to one where a collection frees some. Returns whether there
/// is one.
fn find_plane(layer: &mut Layer, id: OpId) -> bool {
    let Some(there) = plane_with_room(&layer.state, id).or_else(|| plane_that_collects(layer, id)) else {
        return false;
    };
    // The reserve there is for what is collected there.
    layer.state.ops[id].privileged = false;
    change_plane(&mut layer.state, &mut layer.out, id, there);
    true
}

/// Whether the data of a program are in another pool.
fn leaves_its_pool(blocks: &Blocks, op: &Op) -> bool {
    let source = blocks.region_of(blocks.geometry().block_of(op.from));
    !blocks.share_pool(source, op.route.region())
}

/// The plane with the most room, other than its own, that has a slot for a program.
fn plane_with_room(state: &State, id: OpId) -> Option<PlaneId> {
    let op = &state.ops[id];
    op.route.targets().find_map(|target| {
        let takes = state.blocks.pool_of(target.region).planes();
        let takes = takes.filter(|p| *p != op.plane && has_room(&state.blocks, target, *p, Claim::Data));
        let takes = takes.filter(|p| !refuses_conversion(state, id, target, *p));
        takes.max_by_key(|p| spare_slots(&state.blocks, &state.backlog, target.region, *p))
    })
}

/// A plane, other than its own, where a collection starts that frees space for a program.
fn plane_that_collects(layer: &mut Layer, id: OpId) -> Option<PlaneId> {
    let (here, route) = (layer.state.ops[id].plane, layer.state.ops[id].route);
    for region in route.targets().map(|target| target.region) {
        for plane in layer.state.blocks.pool_of(region).planes().filter(|plane| *plane != here) {
            let before = layer.out.asked();
            collect_for(layer, region, plane);
            if layer.out.asked() > before {
                return Some(plane);
            }
        }
    }
    None
}

/// A region of the same pool that has a slot for a program in its plane: one with an equal program unit, or else
/// one with a smaller unit.
fn region_with_room(state: &State, id: OpId) -> Option<Target> {
    if !state.map_kind().is_by_page() {
        return None; // maps by sectors know of some regions that they hold parts of pages
    }
    let op = &state.ops[id];
    let wanted = op.route.region();
    let as_much = at_once(&state.blocks, wanted);
    let in_pool = |r: &RegionId| state.blocks.share_pool(*r, wanted);
    let regions = || (0..state.blocks.regions().len() as u8).map(RegionId).filter(in_pool);
    let alike = regions().filter(|r| at_once(&state.blocks, *r) == as_much);
    let lesser = regions().filter(|r| at_once(&state.blocks, *r).0 < as_much.0);
    let mut targets = alike.chain(lesser).flat_map(|region| {
        let r = &state.blocks.region(region);
        r.region.rule.classes(r.shape).iter().map(move |class| Target { region, class: *class })
    });
    targets.find(|target| {
        !op.route.targets().any(|t| t == *target) && has_room(&state.blocks, *target, op.plane, Claim::Data)
    })
}

/// Units in one program operation of a region, and how many of them share a page.
fn at_once(blocks: &Blocks, region: RegionId) -> (u32, u32) {
    let r = &blocks.region(region);
    (r.units_per_page * r.pages_per_program, r.units_per_page)
}

/// Send a program that is in no queue to another region: split, if that one has a smaller program unit.
fn go_to_region(layer: &mut Layer, id: OpId, target: Target) {
    leave_buffer_all(&mut layer.state.blocks, &mut layer.state.ops, id);
    let fits = at_once(&layer.state.blocks, target.region)
        == at_once(&layer.state.blocks, layer.state.ops[id].route.region());
    let mut part = id;
    while !part.is_none() {
        layer.state.ops[part].route = Route::to(target.region, target.class);
        part = layer.state.ops[part].chain;
    }
    if fits {
        let entry = entry_of(&layer.state.config, &layer.state.ops, id);
        return layer.out.ask(Effect::ChangePlane(entry));
    }
    let op = &layer.state.ops[id];
    layer.state.backlog.take(op.plane, op.kind);
    launch(layer, id);
}

/// Send a program that is in no queue to another plane.
fn change_plane(state: &mut State, out: &mut Outbox, id: OpId, there: PlaneId) {
    let op = &mut state.ops[id];
    let here = std::mem::replace(&mut op.plane, there);
    state.backlog.take(here, op.kind);
    state.backlog.add(there, op.kind);
    let entry = entry_of(&state.config, &state.ops, id);
    out.ask(Effect::ChangePlane(entry));
}

/// Abandon a program that can never be bound: the drive is full or worn out.
pub(crate) fn give_up(layer: &mut Layer, lead: OpId) {
    match layer.state.ops[lead].owner {
        Owner::Move(_) | Owner::Job(_) => return abandon_moves(layer, lead),
        Owner::Parity => {
            // Its superpage stays without.
            let op = &layer.state.ops[lead];
            layer.state.backlog.take(op.plane, op.kind);
            return layer.state.ops.remove(lead);
        }
        _ => {}
    }
    let outcome = no_place(&mut layer.state, &mut layer.out);
    let op = &layer.state.ops[lead];
    layer.state.backlog.take(op.plane, op.kind);
    let mut part = lead;
    while !part.is_none() {
        let (owner, next) = (layer.state.ops[part].owner, layer.state.ops[part].chain);
        let mut metadata = None;
        if owner.is_host() {
            if layer.store.keeps_metadata() {
                layer.state.trims.forget_void(part);
            }
            if layer.state.ops[part].cause == Cause::Metadata {
                let lpn = layer.state.ops[part].lpn;
                metadata = Some(lpn);
                metadata_not_programmed(&mut layer.state.trims, &mut layer.state.demand, part, lpn);
            }
            layer.requests.will_end(part, owner.request(), outcome);
        }
        settle(layer, part);
        if let Some(lpn) = metadata {
            metadata_over(layer, lpn);
        }
        part = next;
    }
}

/// Whether a program may be abandoned: one of the host whose data are not acknowledged yet, so that the error can
/// be reported; a move that was to make room for one; one of a page whose collection relied on blocks that have
/// worn out; or parity.
pub(crate) fn can_fail(state: &State, id: OpId, what: GiveUp) -> bool {
    if what == GiveUp::Moves {
        let stays = |part| matches!(state.ops[part].owner, Owner::Move(_) | Owner::Parity);
        return state.ops.chain(id).all(stays);
    }
    match state.ops[id].owner {
        Owner::Request(_) | Owner::Answered => !state.config.ack.answers_from_ram(),
        Owner::Move(_) => true,
        Owner::Job(_) => state.wear.lost.retired > 0,
        Owner::Parity => true,
        Owner::Nobody | Owner::Rmw(_) | Owner::Gather | Owner::Rewrite(_) | Owner::Map => false,
    }
}

/// Abandon what waits for room in a buffer that nothing leaves any more. Returns whether there was any.
pub(crate) fn drop_held_moves(state: &mut State, moves: &mut Moves) -> bool {
    if state.wear.lost.retired == 0 {
        return false;
    }
    let held = std::mem::take(&mut moves.waiting);
    for (_, waits) in &held {
        state.counters.moves_dropped += 1;
        state.counters.without_effect.count(WithoutEffect::MoveNoRoom);
        awaited(state, *waits);
    }
    !held.is_empty()
}

/// Another plane of its superblock that has a slot for a program.
fn member_with_space(state: &State, id: OpId) -> Option<PlaneId> {
    let op = &state.ops[id];
    let (here, privileged) = (op.plane, op.privileged);
    // What evens out wear, and what a scheme moves, may not take every slot that there is.
    if matches!(op.owner, Owner::Move(_))
        || state.wear.spec.static_beyond.is_some() && levels(&state.blocks, op)
    {
        return None;
    }
    let claim = Claim::of(privileged);
    let mut targets = op.route.targets().filter(|t| state.blocks.is_there(t.region, here));
    targets.find_map(|target| {
        let mut planes = superblock_planes(&state.blocks, target.region, here).map(PlaneId);
        let open = planes.clone().find(|p| *p != here && has_open_slot(&state.blocks, target, *p, claim));
        open.or_else(|| planes.find(|p| *p != here && has_room(&state.blocks, target, *p, claim)))
    })
}
