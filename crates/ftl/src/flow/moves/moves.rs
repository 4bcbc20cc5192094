//! Pages that a scheme moves from one region to another, and the end of such a move.

use crate::flow::next::Next;
use crate::ftl::Ftl;
use crate::plan::decision::{Move, PlanePick};
use crate::plan::layout::IdleHold;
use crate::plan::region::MovedIn;
use crate::plan::span::Span;
use crate::state::job::MoveReason;
use crate::state::op::{Class, Op, OpId, Owner};
use crate::state::program_buffer::WriteStream;
use crate::state::state::State;
use crate::state::without_effect::WithoutEffect;
use wordline_counters::{Cause, OpKind};
use wordline_units::{Lpn, PlaneId, Ppn, SectorMask};

impl Ftl {
    /// Read a page that shall move.
    pub(crate) fn enqueue_move(&mut self, m: Move, why: MoveReason) {
        if let Some(id) = self.begin_move(m, why) {
            self.emit(id);
        }
    }

    /// Move a page that has just been read, of which these sectors have been transferred: its plane continues with
    /// the others, since its register still holds the page.
    #[inline(never)]
    pub(crate) fn move_on(&mut self, m: Move, read: Ppn, brought: SectorMask) {
        let Some(id) = self.begin_move(m, MoveReason::Scheme) else { return };
        let held = self.is_held(self.state.geometry.die_of(self.state.ops[id].plane));
        if m.seen != read || held || self.out.goes_on() {
            return self.emit(id);
        }
        let op = &mut self.state.ops[id];
        op.to_bring = Some(op.mask.minus(brought).count() as u8);
        self.go_on_with(id);
    }

    /// Create the read of a page to be moved, if it is still where the scheme saw it and is not being moved yet. A
    /// move that the host waits for may itself wait for room.
    pub(crate) fn begin_move(&mut self, mut m: Move, why: MoveReason) -> Option<OpId> {
        let (idle, waits) = match why {
            MoveReason::Scheme => (false, OpId::NONE),
            MoveReason::Idleness => (true, OpId::NONE),
            MoveReason::Program(lead) => (false, lead),
        };
        let region = m.route.region();
        if region.index() >= self.state.regions.len() {
            self.illegal(format!("move to region {}", region.0), "unknown region".into());
            return None;
        }
        if self.state.wear.over.is_some() && waits.is_none() {
            return None;
        }
        if self.state.has_full_buffer(region) {
            if waits.is_none() {
                self.state.counters.without_effect.count(WithoutEffect::MoveFullBuffer);
            } else {
                self.moves.waiting.push_back((m, waits));
            }
            return None;
        }
        if why != MoveReason::Scheme {
            m.seen = self.follow(m.lpn, m.seen);
        }
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        let span = Span { lpn: m.lpn, mask: all, offset: 0 };
        let valid = m.lpn.0 < self.state.logical_pages && !m.seen.is_none();
        let there = if valid { self.state.map.still_at(span, m.seen) } else { SectorMask::EMPTY };
        if there.is_empty() || !self.moves.under_way.insert(m.lpn) {
            self.state.counters.moves_dropped += 1;
            self.state.counters.without_effect.count(match (valid, there.is_empty()) {
                (false, _) => WithoutEffect::MoveNoSuchPage,
                (true, true) => WithoutEffect::MovePageElsewhere,
                (true, false) => WithoutEffect::MoveAlreadyUnderWay,
            });
            if !waits.is_none() {
                self.awaited(waits);
            }
            return None;
        }
        let block = self.state.geometry.block_of(m.seen);
        let plane = self.state.geometry.plane_of(block);
        let class = match waits.is_none() {
            true if idle && self.layout.idle_hold != IdleHold::Grain => Class::Held,
            true => Class::Background,
            false => Class::Write,
        };
        let mut read = Op::new(OpKind::Read, plane, Cause::Migrate, class);
        (read.lpn, read.ppn, read.mask, read.route) = (m.lpn, m.seen, there, m.route);
        (read.owner, read.idle) = (Owner::Move(waits), idle);
        read.pick = m.plane;
        if matches!(self.state.regions[region.index()].region.moved_in, MovedIn::Through(_)) {
            read.buffered = true;
            self.state.regions[region.index()].buffered += 1;
        }
        self.state.blocks[block.index()].readers += 1;
        if idle {
            self.begin_idle_work(self.state.geometry.die_of(plane));
        }
        Some(self.add_op(read))
    }

    /// Current place of a page, if it has only been collected since it was seen.
    pub(crate) fn follow(&mut self, lpn: Lpn, seen: Ppn) -> Ppn {
        if lpn.0 >= self.state.logical_pages || seen.is_none() {
            return seen;
        }
        let now = self.state.map.place(lpn);
        let region = |state: &State, ppn| state.region_of(state.geometry.block_of(ppn));
        let stays = !now.is_none() && region(&self.state, now) == region(&self.state, seen);
        if stays { now } else { seen }
    }

    /// The page of a move has been read: program it elsewhere.
    pub(crate) fn finish_move_read(&mut self, id: OpId, waits: OpId) -> Next {
        let read = self.state.ops[id].clone();
        let span = Span { lpn: read.lpn, mask: read.mask, offset: 0 };
        let there = self.state.map.still_at(span, read.ppn);
        if there.is_empty() {
            // It follows its page, with the place that it has in a buffer.
            let now = self.follow(read.lpn, read.ppn);
            if (read.idle || !waits.is_none()) && now != read.ppn {
                let block = self.state.geometry.block_of(now);
                let left = read.plane;
                let mut again = read;
                (again.ppn, again.plane) = (now, self.state.geometry.plane_of(block));
                self.state.blocks[block.index()].readers += 1;
                if again.idle {
                    // The die that it leaves has no idle work any more, and the other one has.
                    self.end_idle_work(self.state.geometry.die_of(left));
                    self.begin_idle_work(self.state.geometry.die_of(again.plane));
                }
                self.state.ops.remove(id);
                let again = self.add_op(again);
                self.emit(again);
                return Next::Nothing;
            }
            self.leave_buffer(id);
            self.state.ops.remove(id);
            self.state.counters.moves_dropped += 1;
            self.state.counters.without_effect.count(WithoutEffect::MoveOverwritten);
            return Next::MoveDropped { lpn: read.lpn, from: read.ppn, idle: read.idle, waits };
        }
        self.state.ops.remove(id);
        // The source stays pinned until the move commits. Were its block erased and programmed again,
        // the page could come back to the very same place with newer data, and the move take it for
        // the old.
        self.state.blocks[self.state.geometry.block_of(read.ppn).index()].readers += 1;
        let region = read.route.region();
        let plane = match read.pick {
            PlanePick::Home if self.state.reaches(region, read.plane) => {
                self.state.least_filled_plane(region, read.plane, WriteStream::Moved)
            }
            pick => self.moves_to(region, pick, read.plane),
        };
        let op = self.program_of(&read, waits, there, plane);
        if self.state.regions[region.index()].region.moved_in != MovedIn::Rewritten || !self.read_rest(op) {
            return Next::Launch(op);
        }
        Next::Nothing
    }

    /// Create the program of sectors read for a move, with the host program that waits for it, if any.
    fn program_of(&mut self, read: &Op, waits: OpId, there: SectorMask, plane: PlaneId) -> OpId {
        let mut op = Op::new(OpKind::Program, plane, Cause::Migrate, read.class);
        (op.lpn, op.mask, op.from, op.route) = (read.lpn, there, read.ppn, read.route);
        (op.owner, op.idle) = (Owner::Move(waits), read.idle);
        op.buffered = read.buffered;
        self.carry(op)
    }

    /// Read the page-mates of a moved unit in its target region. Returns whether there is any.
    fn read_rest(&mut self, program: OpId) -> bool {
        let op = &self.state.ops[program];
        let (rest, region, class, route) = (Lpn(op.lpn.0 ^ 1), op.route.region(), op.class, op.route);
        if rest.0 >= self.state.logical_pages {
            return false;
        }
        let Some(ppn) = self.state.map.locate(rest) else { return false };
        let block = self.state.geometry.block_of(ppn);
        if self.state.region_of(block) != region || !self.moves.under_way.insert(rest) {
            return false;
        }
        let plane = self.state.geometry.plane_of(block);
        let mut read = Op::new(OpKind::Read, plane, Cause::Rmw, class);
        (read.lpn, read.ppn, read.route) = (rest, ppn, route);
        read.mask = SectorMask::first(self.state.geometry.sectors_per_unit);
        read.owner = Owner::Rewrite(program);
        self.state.blocks[block.index()].readers += 1;
        let read = self.add_op(read);
        self.emit(read);
        true
    }

    /// The rest of a moved unit's page has been read: it moves to protected RAM, and is programmed with the unit. It
    /// must not stay pinned, since the collection that frees space for the program may need its block. Data
    /// overwritten or collected meanwhile stay where they are.
    pub(crate) fn rewrite_read_done(&mut self, id: OpId, unit: OpId) -> Next {
        let read = self.state.ops[id].clone();
        self.state.ops.remove(id);
        let span = Span { lpn: read.lpn, mask: read.mask, offset: 0 };
        let there = self.state.map.still_at(span, read.ppn);
        if there.is_empty() {
            self.moves.under_way.remove(&read.lpn);
            return Next::Launch(unit);
        }
        self.state.blocks[self.state.geometry.block_of(read.ppn).index()].readers += 1; // until the move ends
        let plane = self.state.ops[unit].plane;
        let rest = self.program_of(&read, OpId::NONE, there, plane);
        self.enter_program_buffer(self.state.ops[unit].route.region(), rest);
        // What nobody can give up leads, so that the program is not given up.
        self.state.ops[unit].slot = 1;
        self.state.ops[rest].chain = unit;
        Next::Launch(rest)
    }

    /// No pending program can be bound: units that wait for page-mates although nothing waits for them give up their
    /// places, which ends their moves. Returns whether there were any.
    pub(crate) fn leave_joined_moves(&mut self) -> bool {
        let joined: Vec<(OpId, OpId)> = (self.state.ops.alive().into_iter())
            .filter(|id| self.state.ops[*id].kind == OpKind::Program)
            .filter(|id| self.state.ops[*id].owner == Owner::Nobody)
            .map(|id| (id, self.state.ops[id].chain))
            .filter(|(_, unit)| !unit.is_none() && matches!(self.state.ops[*unit].owner, Owner::Move(_)))
            .collect();
        for (lead, unit) in &joined {
            let region = self.state.ops[*lead].route.region();
            self.enter_program_buffer(region, *unit);
        }
        !joined.is_empty()
    }

    /// A move releases its place in the buffer of the region.
    pub(crate) fn leave_buffer(&mut self, id: OpId) {
        let op = &mut self.state.ops[id];
        if !std::mem::replace(&mut op.buffered, false) {
            return;
        }
        let region = op.route.region();
        self.state.regions[region.index()].buffered -= 1;
    }

    /// Start the move that has waited longest for a place in a buffer, if there is one now. Returns whether it does.
    #[inline]
    pub(crate) fn begin_held_move(&mut self) -> bool {
        if let Some((m, _)) = self.moves.waiting.front()
            && !self.state.has_full_buffer(m.route.region())
            && let Some((m, waits)) = self.moves.waiting.pop_front()
        {
            self.enqueue_move(m, MoveReason::Program(waits));
            return true;
        }
        false
    }
}
