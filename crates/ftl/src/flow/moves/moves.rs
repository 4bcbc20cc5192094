//! Pages that a scheme moves from one region to another, and the end of such a move.

use crate::flow::buffer::program_buffer::enter_program_buffer;
use crate::flow::collect::hold::{begin_idle_work, end_idle_work};
use crate::flow::complete::awaited;
use crate::flow::emit::{add_op, emit, go_on_with};
use crate::flow::fail::illegal;
use crate::flow::next::Next;
use crate::flow::place::plane::moves_to;
use crate::flow::records::spare_area::carry;
use crate::layer::Layer;
use crate::plan::decision::{Move, PlanePick, Target};
use crate::plan::layout::IdleHold;
use crate::plan::region::MovedIn;
use crate::plan::span::Span;
use crate::state::blocks;
use crate::state::blocks::admission::{Claim, grants_conversion, has_room};
use crate::state::blocks::free_space::has_full_buffer;
use crate::state::blocks::superblock_members::least_filled_plane;
use crate::state::blocks::{Blocks, pin};
use crate::state::job::MoveReason;
use crate::state::op::{Class, Op, OpId, Ops, Owner};
use crate::state::region::WriteStream;
use crate::state::state::State;
use crate::state::without_effect::WithoutEffect;
use wordline_counters::{Cause, OpKind};
use wordline_units::{Lpn, PlaneId, Ppn, SectorMask};

/// Read a page that shall move.
pub(crate) fn enqueue_move(layer: &mut Layer, m: Move, why: MoveReason) {
    if let Some(id) = begin_move(layer, m, why) {
        emit(&mut layer.state, &mut layer.out, id);
    }
}

/// Move a page that has just been read, of which these sectors have been transferred: its plane continues with
/// the others, since its register still holds the page.
#[inline(never)]
pub(crate) fn move_on(layer: &mut Layer, m: Move, read: Ppn, brought: SectorMask) {
    let Some(id) = begin_move(layer, m, MoveReason::Scheme) else { return };
    let held = layer.held_dies.is_held(layer.state.geometry.die_of(layer.state.ops[id].plane));
    if m.seen != read || held || layer.out.goes_on() {
        return emit(&mut layer.state, &mut layer.out, id);
    }
    let op = &mut layer.state.ops[id];
    op.to_bring = Some(op.mask.minus(brought).count() as u8);
    go_on_with(&mut layer.state.ops, &mut layer.state.backlog, &mut layer.out, id);
}

/// Create the read of a page to be moved, if it is still where the scheme saw it and is not being moved yet. A
/// move that the host waits for may itself wait for room.
pub(crate) fn begin_move(layer: &mut Layer, mut m: Move, why: MoveReason) -> Option<OpId> {
    let (idle, waits) = match why {
        MoveReason::Scheme => (false, OpId::NONE),
        MoveReason::Idleness => (true, OpId::NONE),
        MoveReason::Program(lead) => (false, lead),
    };
    let region = m.route.region();
    if region.index() >= layer.state.blocks.regions().len() {
        illegal(
            layer.state.now,
            &layer.seat,
            &mut layer.out,
            format!("move to region {}", region.0),
            "unknown region".into(),
        );
        return None;
    }
    if layer.state.wear.over.is_some() && waits.is_none() {
        return None;
    }
    if has_full_buffer(&layer.state.blocks, region) {
        if waits.is_none() {
            layer.state.counters.without_effect.count(WithoutEffect::MoveFullBuffer);
        } else {
            layer.moves.waiting.push_back((m, waits));
        }
        return None;
    }
    if why != MoveReason::Scheme {
        m.seen = follow(&mut layer.state, m.lpn, m.seen);
    }
    let all = SectorMask::first(layer.state.geometry.sectors_per_unit);
    let span = Span { lpn: m.lpn, mask: all, offset: 0 };
    let valid = m.lpn.0 < layer.state.config.logical_pages && !m.seen.is_none();
    let there = if valid { layer.state.map.still_at(span, m.seen) } else { SectorMask::EMPTY };
    if there.is_empty() || !layer.moves.under_way.insert(m.lpn) {
        layer.state.counters.moves_dropped += 1;
        layer.state.counters.without_effect.count(match (valid, there.is_empty()) {
            (false, _) => WithoutEffect::MoveNoSuchPage,
            (true, true) => WithoutEffect::MovePageElsewhere,
            (true, false) => WithoutEffect::MoveAlreadyUnderWay,
        });
        if !waits.is_none() {
            awaited(&mut layer.state, waits);
        }
        return None;
    }
    let block = layer.state.geometry.block_of(m.seen);
    let plane = layer.state.geometry.plane_of(block);
    if idle && !may_find_slot(&layer.state, &m, plane) {
        layer.moves.under_way.remove(&m.lpn);
        layer.state.counters.without_effect.count(WithoutEffect::MoveNoRoom);
        return None;
    }
    let class = match waits.is_none() {
        true if idle && layer.seat.layout.idle_hold != IdleHold::Grain => Class::Held,
        true => Class::Background,
        false => Class::Write,
    };
    let mut read = Op::new(OpKind::Read, plane, Cause::Migrate, class);
    (read.lpn, read.ppn, read.mask, read.route) = (m.lpn, m.seen, there, m.route);
    (read.owner, read.idle) = (Owner::Move(waits), idle);
    read.pick = m.plane;
    if matches!(layer.state.blocks.region(region).region.moved_in, MovedIn::Through(_)) {
        read.buffered = true;
        blocks::enter_buffer(&mut layer.state.blocks, region);
    }
    pin(&mut layer.state.blocks, block);
    if idle {
        begin_idle_work(layer, layer.state.geometry.die_of(plane));
    }
    Some(add_op(&mut layer.state.ops, &mut layer.store, read))
}

/// Whether a move in idle time can get a slot as things are, if it stays in its plane. One that is begun without would
/// be given up and asked for again, for ever; an erase of its plane asks for it anew.
fn may_find_slot(state: &State, m: &Move, plane: PlaneId) -> bool {
    let State { blocks, trims, demand, .. } = state;
    let may_have = |target: Target| {
        let Target { region, class } = target;
        if !blocks.is_there(region, plane) || !blocks.region(region).has_slots_of(class) {
            return true; // an error, at the end of its read
        }
        let opens = blocks.at(region, plane).open[class as usize].is_empty();
        has_room(blocks, target, plane, Claim::Data)
            && (!opens || grants_conversion(blocks, trims, demand, region, plane))
    };
    m.plane != PlanePick::Home || m.route.targets().any(may_have)
}

/// Current place of a page, if it has only been collected since it was seen.
pub(crate) fn follow(state: &mut State, lpn: Lpn, seen: Ppn) -> Ppn {
    if lpn.0 >= state.config.logical_pages || seen.is_none() {
        return seen;
    }
    let now = state.map.place(lpn);
    let region = |state: &State, ppn| state.blocks.region_of(state.geometry.block_of(ppn));
    let stays = !now.is_none() && region(state, now) == region(state, seen);
    if stays { now } else { seen }
}

/// The page of a move has been read: program it elsewhere.
pub(crate) fn finish_move_read(layer: &mut Layer, id: OpId, waits: OpId) -> Next {
    let read = layer.state.ops[id].clone();
    let span = Span { lpn: read.lpn, mask: read.mask, offset: 0 };
    let there = layer.state.map.still_at(span, read.ppn);
    if there.is_empty() {
        // It follows its page, with the place that it has in a buffer.
        let now = follow(&mut layer.state, read.lpn, read.ppn);
        if (read.idle || !waits.is_none()) && now != read.ppn {
            let block = layer.state.geometry.block_of(now);
            let left = read.plane;
            let mut again = read;
            (again.ppn, again.plane) = (now, layer.state.geometry.plane_of(block));
            pin(&mut layer.state.blocks, block);
            if again.idle {
                // The die that it leaves has no idle work any more, and the other one has.
                end_idle_work(layer, layer.state.geometry.die_of(left));
                begin_idle_work(layer, layer.state.geometry.die_of(again.plane));
            }
            layer.state.ops.remove(id);
            let again = add_op(&mut layer.state.ops, &mut layer.store, again);
            emit(&mut layer.state, &mut layer.out, again);
            return Next::Nothing;
        }
        leave_buffer(&mut layer.state.blocks, &mut layer.state.ops, id);
        layer.state.ops.remove(id);
        layer.state.counters.moves_dropped += 1;
        layer.state.counters.without_effect.count(WithoutEffect::MoveOverwritten);
        return Next::MoveDropped { lpn: read.lpn, from: read.ppn, idle: read.idle, waits };
    }
    layer.state.ops.remove(id);
    // The source stays pinned until the move commits. Were its block erased and programmed again,
    // the page could come back to the very same place with newer data, and the move take it for
    // the old.
    pin(&mut layer.state.blocks, layer.state.geometry.block_of(read.ppn));
    let region = read.route.region();
    let plane = match read.pick {
        PlanePick::Home if layer.state.blocks.reaches(region, read.plane) => least_filled_plane(
            &mut layer.state.blocks,
            &layer.state.backlog,
            region,
            read.plane,
            (WriteStream::Moved, 1),
        ),
        pick => moves_to(&mut layer.state, region, pick, read.plane),
    };
    let op = program_of(layer, &read, waits, there, plane);
    if layer.state.blocks.region(region).region.moved_in != MovedIn::Rewritten || !read_rest(layer, op) {
        return Next::Launch(op);
    }
    Next::Nothing
}

/// Create the program of sectors read for a move, with the host program that waits for it, if any.
fn program_of(layer: &mut Layer, read: &Op, waits: OpId, there: SectorMask, plane: PlaneId) -> OpId {
    let mut op = Op::new(OpKind::Program, plane, Cause::Migrate, read.class);
    (op.lpn, op.mask, op.from, op.route) = (read.lpn, there, read.ppn, read.route);
    (op.owner, op.idle) = (Owner::Move(waits), read.idle);
    op.buffered = read.buffered;
    carry(&mut layer.state, &mut layer.store, &mut layer.out, op)
}

/// Read the page-mates of a moved unit in its target region. Returns whether there is any.
fn read_rest(layer: &mut Layer, program: OpId) -> bool {
    let op = &layer.state.ops[program];
    let (rest, region, class, route) = (Lpn(op.lpn.0 ^ 1), op.route.region(), op.class, op.route);
    if rest.0 >= layer.state.config.logical_pages {
        return false;
    }
    let Some(ppn) = layer.state.map.locate(rest) else { return false };
    let block = layer.state.geometry.block_of(ppn);
    if layer.state.blocks.region_of(block) != region || !layer.moves.under_way.insert(rest) {
        return false;
    }
    let plane = layer.state.geometry.plane_of(block);
    let mut read = Op::new(OpKind::Read, plane, Cause::Rmw, class);
    (read.lpn, read.ppn, read.route) = (rest, ppn, route);
    read.mask = SectorMask::first(layer.state.geometry.sectors_per_unit);
    read.owner = Owner::Rewrite(program);
    pin(&mut layer.state.blocks, block);
    let read = add_op(&mut layer.state.ops, &mut layer.store, read);
    emit(&mut layer.state, &mut layer.out, read);
    true
}

/// The rest of a moved unit's page has been read: it moves to protected RAM, and is programmed with the unit. It
/// must not stay pinned, since the collection that frees space for the program may need its block. Data
/// overwritten or collected meanwhile stay where they are.
pub(crate) fn rewrite_read_done(layer: &mut Layer, id: OpId, unit: OpId) -> Next {
    let read = layer.state.ops[id].clone();
    layer.state.ops.remove(id);
    let span = Span { lpn: read.lpn, mask: read.mask, offset: 0 };
    let there = layer.state.map.still_at(span, read.ppn);
    if there.is_empty() {
        layer.moves.under_way.remove(&read.lpn);
        return Next::Launch(unit);
    }
    pin(&mut layer.state.blocks, layer.state.geometry.block_of(read.ppn)); // until the move ends
    let plane = layer.state.ops[unit].plane;
    let rest = program_of(layer, &read, OpId::NONE, there, plane);
    enter_program_buffer(layer, layer.state.ops[unit].route.region(), rest);
    // What nobody can give up leads, so that the program is not given up.
    layer.state.ops[unit].slot = 1;
    layer.state.ops[rest].chain = unit;
    Next::Launch(rest)
}

/// No pending program can be bound: units that wait for page-mates although nothing waits for them give up their
/// places, which ends their moves. Returns whether there were any.
pub(crate) fn leave_joined_moves(layer: &mut Layer) -> bool {
    let joined: Vec<(OpId, OpId)> = (layer.state.ops.alive().into_iter())
        .filter(|id| layer.state.ops[*id].kind == OpKind::Program)
        .filter(|id| layer.state.ops[*id].owner == Owner::Nobody)
        .map(|id| (id, layer.state.ops[id].chain))
        .filter(|(_, unit)| !unit.is_none() && matches!(layer.state.ops[*unit].owner, Owner::Move(_)))
        .collect();
    for (lead, unit) in &joined {
        let region = layer.state.ops[*lead].route.region();
        enter_program_buffer(layer, region, *unit);
    }
    !joined.is_empty()
}

/// A move releases its place in the buffer of the region.
pub(crate) fn leave_buffer(blocks: &mut Blocks, ops: &mut Ops, id: OpId) {
    let op = &mut ops[id];
    if !std::mem::replace(&mut op.buffered, false) {
        return;
    }
    let region = op.route.region();
    blocks::leave_buffer(blocks, region);
}

/// Start the move that has waited longest for a place in a buffer, if there is one now. Returns whether it does.
#[inline]
pub(crate) fn begin_held_move(layer: &mut Layer) -> bool {
    if let Some((m, _)) = layer.moves.waiting.front()
        && !has_full_buffer(&layer.state.blocks, m.route.region())
        && let Some((m, waits)) = layer.moves.waiting.pop_front()
    {
        enqueue_move(layer, m, MoveReason::Program(waits));
        return true;
    }
    false
}
