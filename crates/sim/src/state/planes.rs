//! All planes: what is queued in each, what each is at, and what operations of the host have waited for.

use crate::state::array::Arrays;
use crate::state::plane::{Place, Plane, Want};
use crate::state::queue::Queue;
use crate::state::queue_delay::{QueueDelays, Work};
use crate::state::registers::{RegisterUse, Registers};
use crate::state::resources::{NOTHING, User};
use crate::state::scheduler::Scheduler;
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::{BusyTime, Class, Ftl, OpId, OpKind, QueueEntry, Saved, fetch, saved_fields};
use wordline_units::{DieId, PlaneId, SimDuration, SimTime};

/// Number of planes from which on a drive has many.
const MANY: usize = 64;

/// The planes of a drive, and the delays of what is queued there. The first operation of a plane waits for at most one
/// resource: `wants` says for which.
#[derive(Clone, Debug)]
pub(crate) struct Planes {
    planes: Vec<Plane>,
    delays: QueueDelays,
    geometry: Geometry,
}

impl Saved for Planes {
    saved_fields! { Planes,
        values: [planes, delays],
        parts: [],
        rebuilt: [geometry],
    }
}

/// The operation that a plane would begin next, if it has a register for it.
#[inline(always)]
fn first_of(p: &Plane, scheduler: &Scheduler, ftl: &Ftl) -> Option<QueueEntry> {
    let mut queued = p.queue.queued();
    if ftl.is_held(p.place.die) {
        queued &= 1 << Class::Held as u8;
    }
    if scheduler.arrays().serves_reads_alone(p.place.array as usize) {
        queued &= 1 << Class::Read as u8;
    }
    if queued == 0 {
        return None;
    }
    let first = p.queue.first(scheduler.first_rank(p.place.array, queued));
    (p.registers.is_one() || p.registers.suit(&first)).then_some(first)
}

/// Tell the layer what an operation of the host has been through that is over now, given how long its plane had been busy
/// when it began.
#[inline(always)]
fn break_down(
    (held, busy): (&RegisterUse, BusyTime),
    delays: &mut QueueDelays,
    suspends: bool,
    ftl: &mut Ftl,
    now: SimTime,
) {
    let id = held.held.op;
    let work = if held.held.is_program() { Work::Program } else { Work::Read };
    let told = ftl.breakdown_mut();
    let idle_delay = if suspends {
        *told = delays.breakdown_of_all(id, held, busy, now, work);
        delays.idle(id)
    } else {
        delays.break_down(id, held, busy, now, work, told)
    };
    if idle_delay > SimDuration::ZERO
        && let Some(request) = ftl.request_of(id)
    {
        let request = ftl.pending_mut(request);
        request.behind_idle = request.behind_idle.max(idle_delay);
    }
}

impl Planes {
    /// The idle planes of a drive.
    pub fn new(spec: &DeviceSpec, geometry: &Geometry) -> Planes {
        let planes = (0..geometry.planes).map(|p| Plane::new(spec, geometry, PlaneId(p))).collect();
        Planes { planes, delays: QueueDelays::default(), geometry: geometry.clone() }
    }

    /// Restart at time 0.
    pub fn start_anew(&mut self) {
        self.planes.iter_mut().for_each(|plane| plane.registers.start_anew());
    }

    /// The places of all planes, in order.
    pub fn places(&self) -> impl Iterator<Item = Place> + '_ {
        self.planes.iter().map(|plane| plane.place)
    }

    /// The place of a plane.
    #[inline(always)]
    pub fn place(&self, plane: usize) -> Place {
        self.planes[plane].place
    }

    /// The planes of a die.
    pub fn of_die(&self, die: DieId) -> impl Iterator<Item = usize> + use<> {
        self.geometry.planes_of_die(die).map(|plane| plane as usize)
    }

    /// Whether they are so many that a plane has left the nearest caches when its next event comes.
    #[inline(always)]
    pub fn are_many(&self) -> bool {
        self.planes.len() >= MANY
    }

    /// Ask for the memory of a plane.
    #[inline(always)]
    pub fn prefetch(&self, plane: usize) {
        fetch(&self.planes, plane);
    }

    /// The queue of a plane.
    #[inline(always)]
    pub fn queue(&self, plane: usize) -> &Queue {
        &self.planes[plane].queue
    }

    /// What operations have waited for.
    #[inline(always)]
    pub fn delays(&self) -> &QueueDelays {
        &self.delays
    }

    /// The registers of a plane.
    #[inline(always)]
    pub fn registers(&self, plane: usize) -> &Registers {
        &self.planes[plane].registers
    }

    /// The registers of a plane, for what changes in them.
    #[inline(always)]
    pub fn registers_mut(&mut self, plane: usize) -> &mut Registers {
        &mut self.planes[plane].registers
    }

    /// The registers of a plane, for what changes in them, and its place.
    #[inline(always)]
    pub fn at(&mut self, plane: usize) -> (&mut Registers, Place) {
        let p = &mut self.planes[plane];
        (&mut p.registers, p.place)
    }

    /// An operation has its plane from now on. Returns its place.
    #[inline(always)]
    pub fn give(&mut self, entry: QueueEntry, now: SimTime) -> Place {
        let p = &mut self.planes[entry.plane.index()];
        p.registers.give(entry, now);
        p.place
    }

    /// What the first operation of a plane's queue waits for.
    #[inline(always)]
    pub fn wants(&self, plane: usize) -> Want {
        self.planes[plane].wants
    }

    /// The first operation of a plane's queue waits for this from now on. Returns what it waited for, and where.
    #[inline(always)]
    pub fn set_wants(&mut self, plane: usize, wants: Want) -> (Want, Place) {
        let p = &mut self.planes[plane];
        (std::mem::replace(&mut p.wants, wants), p.place)
    }

    /// An operation of the host is queued at its plane: its delays count from now on.
    #[inline(always)]
    pub fn note_queued(&mut self, entry: QueueEntry, now: SimTime) {
        let busy = self.busy_until(entry.plane.index(), entry.kind(), now);
        self.delays.queue(entry.op, now, busy);
    }

    /// A program of the host found no free page in its plane.
    pub fn note_blocked(&mut self, id: OpId, plane: PlaneId, now: SimTime) {
        let busy = self.busy_until(plane.index(), OpKind::Program, now);
        self.delays.block(id, now, busy);
    }

    /// How long a plane has been busy, with the operation that it is at, as one of a kind sees it that would begin.
    #[inline(always)]
    fn busy_until(&mut self, plane: usize, kind: OpKind, now: SimTime) -> BusyTime {
        let registers = &mut self.planes[plane].registers;
        if registers.is_one() { registers.busy_until(now) } else { registers.busy_for(kind, now) }
    }

    /// Queue an operation at its plane, as the last of its class. Returns whether the plane could begin one.
    #[inline(always)]
    pub fn push(&mut self, entry: QueueEntry) -> bool {
        let p = &mut self.planes[entry.plane.index()];
        p.queue.push(entry);
        p.registers.may_begin()
    }

    /// Queue an operation at its plane, before all others of its class.
    pub fn push_first(&mut self, entry: QueueEntry) {
        self.planes[entry.plane.index()].queue.push_first(entry);
    }

    /// Take the first operation of its class off the queue of its plane.
    #[inline(always)]
    pub fn pop(&mut self, first: QueueEntry) {
        self.planes[first.plane.index()].queue.pop(first.rank());
    }

    /// The first operation of its class leaves the queue of its plane, which it has from now on.
    #[inline(always)]
    pub fn start(&mut self, first: QueueEntry, now: SimTime) {
        let p = &mut self.planes[first.plane.index()];
        p.queue.pop(first.rank());
        p.registers.give(first, now);
    }

    /// Whether a plane has a single, free register, and an empty queue; and its place.
    #[inline(always)]
    pub fn is_free(&self, plane: usize) -> (bool, Place) {
        let p = &self.planes[plane];
        (p.is_free(), p.place)
    }

    /// The operation that a plane would begin next, if it has a register for it.
    #[inline(always)]
    pub fn first(&self, plane: usize, scheduler: &Scheduler, ftl: &Ftl) -> Option<QueueEntry> {
        first_of(&self.planes[plane], scheduler, ftl)
    }

    /// The same, and its place, once what the plane has requested before is withdrawn.
    #[inline(always)]
    pub fn reconsider(
        &mut self,
        plane: usize,
        scheduler: &mut Scheduler,
        ftl: &Ftl,
    ) -> Option<(QueueEntry, Place)> {
        let p = &mut self.planes[plane];
        scheduler.withdraw(p.place, plane, std::mem::replace(&mut p.wants, Want::Nothing));
        Some((first_of(p, scheduler, ftl)?, p.place))
    }

    /// An operation leaves its plane at its end. Tell the layer what one of the host has been through. Returns where that
    /// is, and whether the plane has a single register.
    #[inline(always)]
    pub fn end(&mut self, entry: QueueEntry, suspends: bool, ftl: &mut Ftl, now: SimTime) -> (Place, bool) {
        let (id, p) = (entry.op, &mut self.planes[entry.plane.index()]);
        debug_assert_eq!(p.registers.register(id).held, entry);
        if entry.serves_host() {
            let (held, busy) = (p.registers.register(id), p.registers.busy_before(id));
            break_down((held, busy), &mut self.delays, suspends, ftl, now);
        }
        let is_one = p.registers.is_one();
        if is_one {
            p.registers.leave(now);
        } else {
            p.registers.leave_register(id, now);
        }
        (p.place, is_one)
    }

    /// A suspended operation releases its plane. To those who wait, it ends here, and what is left is queued again.
    pub fn suspend(&mut self, User { op, plane }: User, now: SimTime) {
        let registers = &mut self.planes[plane as usize].registers;
        let (held, busy) = registers.suspend(now);
        if held.held.serves_host() {
            let work = if self.delays.is_continued(op) { Work::Rest } else { Work::Program };
            let breakdown = self.delays.breakdown(op, &held, busy, now, work);
            self.delays.continue_later(op, breakdown, now, registers.busy());
        }
    }

    /// Idle work that has ended occupied a plane from a time until now: operations of the host that waited for the array
    /// of that plane, or for all of a die that is held, were behind it.
    pub fn charge_idle_work(
        &mut self,
        plane: usize,
        span: (SimTime, SimTime),
        is_held: bool,
        arrays: &Arrays,
    ) {
        let (from, now) = span;
        let Place { die, array, .. } = self.planes[plane].place;
        for other in self.of_die(die) {
            let Plane { registers, queue, place, .. } = &self.planes[other];
            if !is_held && place.array != array {
                continue;
            }
            let (current, cached) = (registers.current(), registers.cached());
            let waits_for_array = !current.held.is_none() && arrays.wanted(other) != NOTHING;
            for (held, waits) in [(current, waits_for_array), (cached, cached.waits)] {
                if waits && held.held.serves_host() {
                    self.delays.behind_idle(held.held.op, from, Some(held.turned), now);
                }
            }
            for waiting in queue.iter().filter(|waiting| waiting.serves_host()) {
                self.delays.behind_idle(waiting.op, from, None, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_ftl::Cause;
    use wordline_swarm::Tiny;

    fn planes() -> Planes {
        let spec = Tiny { planes: 2, ..Tiny::default() }.spec(1);
        Planes::new(&spec, &spec.geometry().unwrap())
    }

    fn entry(id: u32, plane: u32, kind: OpKind) -> QueueEntry {
        QueueEntry::new(OpId(id), PlaneId(plane), 1 << 56 | u64::from(id), kind, Cause::Host)
    }

    #[test]
    fn plane_is_free_until_it_has_or_queues_an_operation() {
        let mut planes = planes();
        assert!(planes.is_free(0).0 && planes.is_free(1).0);
        assert!(planes.push(entry(1, 0, OpKind::Read)));
        planes.give(entry(2, 1, OpKind::Read), SimTime(3));
        assert!(!planes.push(entry(3, 1, OpKind::Read)));
        planes.pop(entry(3, 1, OpKind::Read));
        assert!(!planes.is_free(0).0 && !planes.is_free(1).0);
        planes.pop(entry(1, 0, OpKind::Read));
        planes.registers_mut(1).leave(SimTime(9));
        assert!(planes.is_free(0).0 && planes.is_free(1).0);
        // What waits for a resource is still to be taken from there.
        assert_eq!(planes.set_wants(0, Want::Bus).0, Want::Nothing);
        assert!(!planes.is_free(0).0);
        assert_eq!((planes.set_wants(0, Want::Nothing).0, planes.wants(0)), (Want::Bus, Want::Nothing));
    }

    #[test]
    fn suspended_operation_frees_its_plane() {
        let mut planes = planes();
        let (program, user) = (entry(4, 0, OpKind::Program), User { op: OpId(4), plane: 0 });
        planes.note_queued(program, SimTime(0));
        planes.give(program, SimTime(10));
        planes.suspend(user, SimTime(14));
        assert!(planes.is_free(0).0, "a read can have its register");
        planes.registers_mut(0).resume(program, SimTime(50));
        assert_eq!(planes.registers(0).current().began, SimTime(50));
    }
}
