//! The queues of the planes: which operation is the first of each, what it is noted to wait for, and what
//! becomes of programs that find no page.

use crate::device::Device;
use crate::device::watch;
use crate::error::DeviceError;
use crate::probe::{Moment, Probe};
use crate::state::agenda::Ask;
use crate::state::plane::{Place, Want};
use crate::state::registers::Passing;
use wordline_ftl::{Blocked, BusyTime, Class, Ftl, GiveUp, OpId, OpKind};
use wordline_units::{DieId, PlaneId};

/// The rank of an operation in its queue.
#[inline(always)]
fn rank(ftl: &Ftl, id: OpId) -> usize {
    (ftl.op(id).key >> 56) as usize
}

/// What a plane of two registers has to know of an operation.
pub(crate) fn passing(ftl: &Ftl, id: OpId) -> Passing {
    let op = ftl.op(id);
    Passing {
        is_program: op.kind == OpKind::Program,
        may_be_cached: ftl.may_be_cached(id),
        cause: op.cause(),
    }
}

impl<P: Probe> Device<P> {
    #[inline]
    pub(crate) fn enqueue(&mut self, id: OpId) {
        if P::WATCHES {
            watch::queued(&mut self.probe, &self.ftl, id, self.clock.now());
        }
        if self.ftl.serves_host(id) {
            let plane = self.ftl.op(id).plane.index();
            let busy = self.busy_until_now(plane, id);
            self.queue_delays.queue(id, self.clock.now(), busy);
        }
        self.stand_in_queue(id);
    }

    #[inline(always)]
    pub(crate) fn stand_in_queue(&mut self, id: OpId) {
        let op = self.ftl.op_mut(id);
        op.next = OpId::NONE;
        let (plane, rank) = (op.plane.index(), (op.key >> 56) as usize);
        if let Some(last) = self.planes[plane].queue.push(rank, id) {
            self.ftl.op_mut(last).next = id;
        }
        self.has_more(plane);
        if self.arrays.suspends() {
            self.interrupt(id, plane);
        }
    }

    /// More stands in the queue of a plane: it offers what is first, or with multi-plane commands does so when all
    /// have been queued.
    #[inline(always)]
    fn has_more(&mut self, plane: usize) {
        if self.arrays.is_multiplane() {
            self.agenda.ask_later(plane as u32);
        } else if self.planes[plane].registers.may_begin() {
            self.serve_plane(plane);
        }
    }

    /// How long a plane has been busy, with the operation that it is at, as one sees it that would begin.
    #[inline(always)]
    fn busy_until_now(&mut self, plane: usize, id: OpId) -> BusyTime {
        let registers = &mut self.planes[plane].registers;
        if registers.is_one() {
            registers.busy_until(self.clock.now(), |at| self.ftl.op(at).cause())
        } else {
            registers.busy_for(id, self.clock.now(), |id| passing(&self.ftl, id))
        }
    }

    /// The operation that a plane would begin next, if it has a register for it.
    #[inline(always)]
    pub(crate) fn first(&self, plane: usize) -> OpId {
        let p = &self.planes[plane];
        let mut queued = p.queue.queued();
        if self.ftl.is_held(p.place.die) {
            queued &= 1 << Class::Held as u8;
        }
        if self.arrays.serves_reads_alone(p.place.array as usize) {
            queued &= 1 << Class::Read as u8;
        }
        if queued == 0 {
            return OpId::NONE;
        }
        let rank = match &self.fair {
            None => queued.trailing_zeros() as usize,
            Some(fair) => fair.rank(p.place.array, queued),
        };
        let first = p.queue.head(rank);
        let has_register = p.registers.is_one() || p.registers.suit(first, |id| passing(&self.ftl, id));
        if has_register { first } else { OpId::NONE }
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self, plane: usize, id: OpId) {
        let next = self.ftl.op(id).next;
        self.planes[plane].queue.pop(rank(&self.ftl, id), id, next);
    }

    /// Note what a plane wants next of its array or bus.
    pub(crate) fn post(&mut self, plane: usize) {
        self.withdraw(plane);
        let first = self.first(plane);
        if !first.is_none() {
            self.want(plane, first);
        }
    }

    /// Take back what a plane wants next.
    #[inline(always)]
    fn withdraw(&mut self, plane: usize) {
        let p = &mut self.planes[plane];
        match std::mem::replace(&mut p.wants, Want::Nothing) {
            Want::Nothing => {}
            Want::Array => self.arrays.withdraw(p.place.array as usize, plane),
            Want::Bus => self.buses.withdraw(p.place.channel as usize, plane),
        }
    }

    #[inline(always)]
    fn want(&mut self, plane: usize, first: OpId) {
        let op = self.ftl.op(first);
        let p = &mut self.planes[plane];
        if op.kind == OpKind::Program {
            p.wants = Want::Bus;
            self.buses.want(p.place.channel as usize, plane, op.key);
        } else {
            p.wants = Want::Array;
            self.arrays.want(p.place.array as usize, plane, op.key);
        }
    }

    /// A plane goes on with an operation on what its register holds: only the bus is wanted.
    pub(crate) fn continue_with(&mut self, plane: usize, id: OpId) {
        self.occupy(plane, id);
        let p = &mut self.planes[plane];
        p.registers.note_goes_on(id, self.clock.now());
        let channel = p.place.channel as usize;
        self.buses.want(channel, plane, self.ftl.op(id).key);
        self.agenda.ask_if(self.buses.is_due(channel), Ask::Bus(channel as u32));
    }

    /// Begin what a plane would do next, or note that it waits for its array or bus.
    #[inline]
    pub(crate) fn offer(&mut self, plane: usize) {
        self.withdraw(plane);
        let first = self.first(plane);
        if first.is_none() {
            return;
        }
        let Place { array, channel, .. } = self.planes[plane].place;
        let (array, channel) = (array as usize, channel as usize);
        if self.ftl.op(first).kind == OpKind::Program {
            if self.buses.is_idle(channel) {
                self.pop(plane, first);
                self.begin_program(plane, first);
            } else {
                self.want(plane, first);
                self.agenda.ask_if(self.buses.is_due(channel), Ask::Bus(channel as u32));
            }
        } else if self.arrays.is_idle(array) {
            self.pop(plane, first);
            self.occupy(plane, first);
            self.begin_on_array(array, plane, first);
        } else {
            self.want(plane, first);
            self.agenda.ask_if(self.arrays.is_due(array), Ask::Array(array as u32));
        }
    }

    /// The operation that a plane offered under a key, taken off its queue. A hold that has
    /// begun since withdraws the offer, and the plane posts what it wants now.
    #[inline(always)]
    pub(crate) fn take(&mut self, plane: usize, key: u64) -> Option<OpId> {
        self.planes[plane].wants = Want::Nothing;
        let first = self.first(plane);
        if first.is_none() || self.ftl.op(first).key != key {
            self.post(plane);
            return None;
        }
        self.pop(plane, first);
        Some(first)
    }

    /// What has been queued at one moment has all been queued before any of it begins, so that what is alike goes
    /// together: its planes say what they want, and then their buses and arrays serve.
    pub(crate) fn begin_newly_queued(&mut self) {
        let mut planes = self.agenda.take_later();
        planes.retain(|plane| self.planes[*plane as usize].registers.may_begin());
        planes.iter().for_each(|plane| self.post(*plane as usize));
        for plane in &planes {
            let Place { array, channel, .. } = self.planes[*plane as usize].place;
            self.serve_bus(channel as usize);
            self.serve_array(array as usize);
        }
        self.agenda.reuse(planes);
    }

    /// A program finds no slot in its plane.
    pub(crate) fn block(&mut self, plane: usize, id: OpId) {
        let becomes = self.ftl.blocked(id);
        if becomes == Blocked::Dropped {
            return;
        }
        if self.ftl.serves_host(id) {
            let busy = self.busy_until_now(plane, id);
            self.queue_delays.block(id, self.clock.now(), busy);
        }
        if P::WATCHES {
            let op = self.ftl.op(id).number();
            self.probe.moment(Moment::Blocked { op, at: self.clock.now() });
        }
        if becomes == Blocked::Waits {
            self.set_aside.add(plane, id);
        }
    }

    /// Space may have come up: programs that waited at a plane try again, in their order.
    pub(crate) fn wake(&mut self, plane: PlaneId) {
        let plane = plane.index();
        while let Some(id) = self.set_aside.take_last(plane) {
            let behind = self.planes[plane].queue.push_first(rank(&self.ftl, id), id);
            self.ftl.op_mut(id).next = behind;
        }
        self.has_more(plane);
    }

    pub(crate) fn refresh_die(&mut self, die: DieId) {
        for plane in self.geometry.planes_of_die(die).map(|p| p as usize) {
            if self.planes[plane].registers.may_begin() {
                self.serve_plane(plane);
            }
        }
        if self.idle.is_idle() && self.ftl.may_work_again(die) {
            self.ftl.idle(die);
        }
    }

    /// Nothing is pending: what waits for space is let go, sent elsewhere or given up, in the order of docs/progress.md.
    /// Returns whether that changes anything.
    #[cold]
    pub(crate) fn last_resort(&mut self) -> Result<bool, DeviceError> {
        // Nothing has come since the last one that changed nothing: another would draw lots once more for nothing, and who
        // asks when would count.
        let come = self.clock.events_set() + self.submitted();
        if self.last_resorts.have_changed_nothing(come) {
            return Ok(false);
        }
        let ended = self.submitted() - u64::from(self.outstanding());
        let awaited = self.outstanding() > 0;
        let changes = self.ftl.let_go_of_dies()
            || self.send_elsewhere()
            || (awaited && self.ftl.complete_groups())
            || self.ftl.join_pieces()
            || self.give_up(GiveUp::Moves)
            || (awaited && self.give_up(GiveUp::Writes));
        if !changes && !awaited {
            self.last_resorts.note_nothing_changed(come);
            return Ok(false);
        }
        self.settle();
        if !changes || self.last_resorts.are_in_vain(self.ftl.counters().flash_ops() + ended) {
            return Err(DeviceError::Stuck {
                outstanding: self.outstanding(),
                now: self.clock.now(),
                left: self.ftl.leftovers(),
            });
        }
        self.no_fault()?;
        Ok(true)
    }

    /// What waits for space in its plane and may go elsewhere does, in the order of
    /// service. Returns whether anything does.
    #[cold]
    pub(crate) fn send_elsewhere(&mut self) -> bool {
        if !self.ftl.has_operations() {
            return false;
        }
        let mut going = self.set_aside.all();
        going.sort_unstable_by_key(|id| self.ftl.op(*id).key);
        going.retain(|id| self.ftl.send_elsewhere(*id));
        self.set_aside.retain(|id| !going.contains(&id));
        !going.is_empty()
    }

    /// Nothing is pending: what waits for space never will have it. Moves are given up, or, where requests wait, writes
    /// that are not acknowledged yet. Those that are stay in the buffer; then it is the flushes
    /// that end without what they promise, and else the first request that the full buffer holds up.
    #[cold]
    pub(crate) fn give_up(&mut self, what: GiveUp) -> bool {
        let mut gave_up = false;
        self.set_aside.retain(|id| {
            let fails = self.ftl.can_fail(id, what);
            if fails {
                self.ftl.fail(id);
                gave_up = true;
            }
            !fails
        });
        if what == GiveUp::Moves {
            self.settle();
            return gave_up;
        }
        if !gave_up {
            gave_up = self.ftl.fail_held_moves() || self.ftl.end_joined_moves() || self.ftl.fail_flushes();
        }
        if !gave_up && let Some((request, number, _)) = self.admission.take_first() {
            self.ftl.refuse(request, number);
            gave_up = true;
        }
        self.settle();
        gave_up
    }
}
