//! The back end of a drive: its planes, and the scheduler of the arrays and buses that they share. Of each it asks what
//! may begin; to begin it is up to the dispatcher, which changes neither but by the methods here.
//!
//! A plane offers only the first operation of its queue, so operations of one class are served in order within it. What
//! it offers begins if its array or bus is free. Otherwise it waits for that under the key of the operation.
//!
//! A plane is busy with an operation from its start to its end, because its one register is: a read senses on the die's
//! array, then moves its data out over the channel's bus; a program moves its data in, then works on the array; an
//! erase needs the array alone. Arrays and buses are serial, and serve by (class, arrival). A program is bound to its
//! page when its transfer begins: from there to the array nothing can come between in that plane. With a second register
//! a plane may be at two operations, one at the array and one at the bus (`state/registers.rs`).

use crate::clock::Clock;
use crate::observer::Observer;
use crate::probe::Probe;
use crate::state::agenda::Ask;
use crate::state::array::{Arrays, Ended};
use crate::state::commands;
use crate::state::idle_work::IdleWork;
use crate::state::plane::{Place, Want};
use crate::state::planes::Planes;
use crate::state::resources::User;
use crate::state::scheduler::{Scheduler, user};
use crate::state::transfers;
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_ftl::{Ftl, OpId, QueueEntry, Saved, saved_fields};
use wordline_units::{DieId, PlaneId, SimTime};

/// What begins now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Begin {
    /// An operation, which has its plane from now on, begins on the array.
    OnArray(QueueEntry),
    /// An operation that has had its plane before begins on the array.
    GoesOnArray(QueueEntry),
    /// A program is bound, has its plane from now on, and is transferred.
    Program(QueueEntry),
    /// What a plane at a place holds is transferred.
    Transfer(Place, QueueEntry),
}

/// Planes and their scheduler. A plane waits for at most one array or bus for the first of its queue, and then the
/// scheduler has its request.
#[derive(Clone, Debug)]
pub(crate) struct BackEnd {
    planes: Planes,
    scheduler: Scheduler,
    idle_work: IdleWork,
}

impl Saved for BackEnd {
    saved_fields! { BackEnd,
        values: [idle_work],
        parts: [planes, scheduler],
        rebuilt: [],
    }
}

impl BackEnd {
    /// The idle back end of a drive.
    pub fn new(spec: &DeviceSpec, geometry: &Geometry) -> BackEnd {
        let planes = Planes::new(spec, geometry);
        let scheduler = Scheduler::new(spec, geometry, planes.places());
        BackEnd { scheduler, planes, idle_work: IdleWork::new(geometry.dies) }
    }

    /// Restart at time 0.
    pub fn start_anew(&mut self) {
        self.planes.start_anew();
        self.scheduler.start_anew();
        self.idle_work.start_anew();
    }

    /// The planes.
    #[inline(always)]
    pub fn planes(&self) -> &Planes {
        &self.planes
    }

    /// The scheduler.
    #[inline(always)]
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The arrays.
    #[inline(always)]
    pub fn arrays(&self) -> &Arrays {
        self.scheduler.arrays()
    }

    /// Slow a die down by this factor; 1 is normal.
    pub fn slow(&mut self, die: DieId, factor: u32) {
        self.scheduler.slow(die, factor);
    }

    /// Whom to ask next what may begin.
    #[inline(always)]
    pub fn next_ask(&mut self) -> Option<Ask> {
        self.scheduler.next_ask()
    }

    /// An operation of the host is queued at its plane: its delays count from now on.
    #[inline(always)]
    pub fn note_queued(&mut self, entry: QueueEntry, now: SimTime) {
        self.planes.note_queued(entry, now);
    }

    /// A program of the host found no free page in its plane.
    pub fn note_blocked(&mut self, id: OpId, plane: PlaneId, now: SimTime) {
        self.planes.note_blocked(id, plane, now);
    }

    /// An operation leaves its plane at its end, as [`Planes::end`] has it.
    #[inline(always)]
    pub fn end(&mut self, entry: QueueEntry, ftl: &mut Ftl, now: SimTime) -> (Place, bool) {
        self.planes.end(entry, self.scheduler.arrays().suspends(), ftl, now)
    }

    /// An operation arrives at its plane. With nothing else to do there, and its array or bus free, it begins, as it
    /// would by way of the queue.
    #[inline(always)]
    pub fn come(&mut self, entry: QueueEntry, ftl: &Ftl, now: SimTime) -> Option<Begin> {
        let (is_free, Place { array, channel, die, .. }) = self.planes.is_free(entry.plane.index());
        let arrays = self.scheduler.arrays();
        if is_free && !arrays.goes_by_commands() && !ftl.is_held(die) {
            if !entry.is_program() && arrays.is_idle(array as usize) {
                self.planes.give(entry, now);
                return Some(Begin::OnArray(entry));
            }
            if entry.is_program() && self.scheduler.buses().is_idle(channel as usize) {
                return Some(Begin::Program(entry));
            }
        }
        None
    }

    /// An operation is queued at its plane. Returns whether that offers what is first.
    #[inline(always)]
    pub fn queue(&mut self, entry: QueueEntry) -> bool {
        let may_begin = self.planes.push(entry);
        self.has_more(entry.plane.0) && may_begin
    }

    /// An operation is queued at its plane, before all others of its class.
    pub fn queue_first(&mut self, entry: QueueEntry) {
        self.planes.push_first(entry);
    }

    /// More is in the queue of a plane. Returns whether it offers what is first: with multi-plane commands it does so
    /// when all have been queued.
    #[inline(always)]
    pub fn has_more(&mut self, plane: u32) -> bool {
        let offers = !self.arrays().is_multiplane();
        if !offers {
            self.scheduler.ask_later(plane);
        }
        offers
    }

    /// What has been queued at one moment has all been queued before any of it begins, so that what is alike goes
    /// together: its planes say what they want. Their buses and arrays are asked next, plane by plane.
    pub fn post_newly_queued(&mut self, ftl: &Ftl) {
        debug_assert!(self.scheduler.is_done());
        let mut planes = self.scheduler.take_later();
        planes.retain(|plane| self.planes.registers(*plane as usize).may_begin());
        planes.iter().for_each(|plane| self.post(*plane as usize, ftl));
        for plane in planes.iter().rev() {
            let place = self.planes.place(*plane as usize);
            self.scheduler.ask_array(place.array);
            self.scheduler.ask_bus(place.channel);
        }
        self.scheduler.reuse(planes);
    }

    /// Note what a plane wants next of its array or bus.
    fn post(&mut self, plane: usize, ftl: &Ftl) {
        if let Some((first, _)) = self.planes.reconsider(plane, &mut self.scheduler, ftl) {
            self.want(first);
        }
    }

    #[inline(always)]
    fn want(&mut self, first: QueueEntry) {
        let plane = first.plane.index();
        if first.is_program() {
            let (_, place) = self.planes.set_wants(plane, Want::Bus);
            self.scheduler.want_bus(place, first);
        } else {
            let (_, place) = self.planes.set_wants(plane, Want::Array);
            self.scheduler.want_array(place, first);
        }
    }

    /// What a plane would do next begins, or the plane waits for its array or bus.
    #[inline(always)]
    pub fn offer(&mut self, plane: usize, ftl: &Ftl, now: SimTime) -> Option<Begin> {
        let (first, Place { array, channel, .. }) =
            self.planes.reconsider(plane, &mut self.scheduler, ftl)?;
        if first.is_program() {
            if self.scheduler.buses().is_idle(channel as usize) {
                self.planes.pop(first);
                return Some(Begin::Program(first));
            }
            self.want(first);
            self.scheduler.ask_bus_if_due(channel);
        } else {
            if self.scheduler.arrays().is_idle(array as usize) {
                self.planes.start(first, now);
                return Some(Begin::OnArray(first));
            }
            self.want(first);
            self.scheduler.ask_array_if_due(array);
        }
        None
    }

    /// Whether a plane could begin an operation, or an array or a bus is free and some plane waits for it.
    #[inline(always)]
    pub fn may_begin(&self, ask: Ask) -> bool {
        match ask {
            Ask::Plane(plane) => self.planes.registers(plane as usize).may_begin(),
            Ask::Array(array) => self.arrays().is_due(array as usize),
            Ask::Bus(channel) => self.scheduler.buses().is_due(channel as usize),
        }
    }

    /// What an array that is due begins: the first of what waits for it.
    #[inline(always)]
    pub fn at_array(&mut self, array: usize, ftl: &Ftl, now: SimTime) -> Option<Begin> {
        if self.arrays().is_multiplane()
            && commands::expects_sibling(array, &self.planes, &mut self.scheduler, ftl)
        {
            return None;
        }
        while let Some((plane, key)) = self.scheduler.next_at_array(array) {
            if self.planes.wants(plane) != Want::Array {
                return Some(Begin::GoesOnArray(self.planes.registers(plane).current().held));
            }
            if let Some(first) = self.take(plane, key, ftl) {
                self.planes.give(first, now);
                return Some(Begin::OnArray(first));
            }
        }
        None
    }

    /// The same of a bus.
    #[inline(always)]
    pub fn at_bus(&mut self, channel: usize, ftl: &Ftl) -> Option<Begin> {
        while let Some((plane, key)) = self.scheduler.next_at_bus(channel) {
            if self.planes.wants(plane) != Want::Bus {
                let held = self.planes.registers(plane).at_bus();
                return Some(Begin::Transfer(self.planes.place(plane), held));
            }
            if let Some(first) = self.take(plane, key, ftl) {
                return Some(Begin::Program(first));
            }
        }
        None
    }

    /// The operation that a plane offered under a key, taken off its queue. A hold that has
    /// begun since withdraws the offer, and the plane posts what it wants now.
    #[inline(always)]
    fn take(&mut self, plane: usize, key: u64, ftl: &Ftl) -> Option<QueueEntry> {
        self.planes.set_wants(plane, Want::Nothing);
        let first = self.planes.first(plane, &self.scheduler, ftl).filter(|first| first.key == key);
        match first {
            Some(first) => self.planes.pop(first),
            None => self.post(plane, ftl),
        }
        first
    }

    /// The first program of a plane found no page. The plane requests its bus for its next operation, and its bus
    /// serves others.
    #[inline(never)]
    pub fn pass_over(&mut self, plane: usize, ftl: &Ftl) {
        self.post(plane, ftl);
        let Place { array, channel, .. } = self.planes.place(plane);
        self.scheduler.ask_bus(channel);
        // While the plane has another program to try, it has not yet said what it wants of its array.
        if self.planes.first(plane, &self.scheduler, ftl).is_some_and(|next| !next.is_program()) {
            self.scheduler.ask_array_if_due(array);
        }
    }

    /// An operation that has its plane begins on the array, with ready and equal ones where commands are multi-plane.
    #[inline(always)]
    pub fn begin_on_array<P: Probe>(
        &mut self,
        entry: QueueEntry,
        ftl: &mut Ftl,
        observer: &mut Observer<P>,
        clock: &mut Clock,
    ) {
        let (now, time) = (clock.now(), ftl.begin_on_array(entry.op));
        let (registers, place) = self.planes.at(entry.plane.index());
        let (array, time) = (place.array as usize, self.scheduler.arrays().time_in(place.die, time));
        registers.note_again(time.again);
        let mut span = (now, now + time.all);
        if self.arrays().is_multiplane() {
            self.scheduler.lead(entry.op);
            if self.arrays().is_wanted(array) {
                span.1 = self.lead_others(entry, span, ftl, observer);
            }
        }
        let (event, end) = self.scheduler.begin_on_array(array, entry, span, time.all);
        clock.set(event, end);
        // Where arrays suspend, the probe learns of it when it is over.
        if !self.arrays().suspends() {
            observer.uses_array(ftl, user(&entry), &self.scheduler, span);
        }
    }

    /// A program that has been bound has its plane from now on. Returns its place, and the time of its command.
    #[inline(always)]
    pub fn begin_program(&mut self, entry: QueueEntry, ftl: &Ftl, now: SimTime) -> (Place, u64) {
        let command = commands::command_of_program(entry, &self.planes, &self.scheduler, ftl);
        (self.planes.give(entry, now), command)
    }

    /// An operation occupies the bus of its place from now on, for a command and this many sectors. Returns when that
    /// ends.
    #[inline(always)]
    pub fn begin_on_bus(
        &mut self,
        (place, entry): (Place, QueueEntry),
        sectors: u32,
        command: u64,
        clock: &mut Clock,
    ) -> SimTime {
        let now = clock.now();
        let takes = self.scheduler.buses().time(place.medium as usize, sectors as usize, command);
        let (event, end) = self.scheduler.begin_on_bus(place.channel as usize, entry, (now, now + takes));
        clock.set(event, end);
        end
    }

    /// The event of an array.
    #[inline(always)]
    pub fn end_at_array(&mut self, array: usize, now: SimTime) -> Ended {
        self.scheduler.end_at_array(array, now)
    }

    /// The operation whose turn is after this one, of those that an array did together. The array is free after the last.
    pub fn next_together(&mut self, array: usize, user: User) -> Option<User> {
        let next = self.arrays().goes_with(user.op);
        self.scheduler.pass_on(array, next);
        next
    }

    /// The transfer of a bus has ended. Returns what has been transferred, and whether it is in a cache register.
    #[inline(always)]
    pub fn end_at_bus(&mut self, channel: usize) -> Option<(QueueEntry, bool)> {
        let User { op, plane } = self.scheduler.end_at_bus(channel)?;
        let registers = self.planes.registers(plane as usize);
        Some((registers.register(op).held, registers.has_cached(op)))
    }

    /// Let ready and equal operations join the one that starts in an array, in the order of service. Returns when the last of them
    /// is done.
    fn lead_others<P: Probe>(
        &mut self,
        lead: QueueEntry,
        (now, mut end): (SimTime, SimTime),
        ftl: &mut Ftl,
        observer: &mut Observer<P>,
    ) -> SimTime {
        let (mut last, mut further) = (lead, 0);
        for (key, plane) in commands::ready_to_join(lead, &self.planes, &self.scheduler, ftl) {
            let place = self.planes.place(plane);
            self.scheduler.withdraw(place, plane, Want::Array);
            if self.planes.wants(plane) == Want::Array {
                let Some(first) = self.take(plane, key, ftl) else { continue };
                self.planes.give(first, now);
                observer.begins(ftl, first.op);
            }
            let entry = self.planes.registers(plane).current().held;
            self.scheduler.join(last.op, User { op: entry.op, plane: plane as u32 });
            (last, further) = (entry, further + 1);
            let time = ftl.begin_on_array(entry.op);
            self.planes.registers_mut(plane).note_again(time.again);
            end = end.max(now + time.all);
        }
        let medium = self.planes.place(lead.plane.index()).medium as usize;
        end + self.scheduler.arrays().further(medium, lead.kind(), further)
    }

    /// An operation has its plane again, and continues with what its register holds: only the bus is wanted.
    #[inline(never)]
    pub fn continue_with(&mut self, entry: QueueEntry, now: SimTime) {
        self.planes.give(entry, now);
        transfers::continue_with(entry, &mut self.planes, &mut self.scheduler, now);
    }

    /// A page has been sensed: it wants the bus. Returns where it is if its transfer begins now.
    #[inline(always)]
    pub fn sensed(&mut self, entry: QueueEntry, ftl: &Ftl, now: SimTime) -> Option<Place> {
        transfers::sensed(entry, &mut self.planes, &mut self.scheduler, ftl, now)
    }

    /// The data of an operation have been brought to its page register: it wants the array. Returns whether it
    /// begins there now.
    #[inline(always)]
    pub fn brought(&mut self, entry: QueueEntry, now: SimTime) -> bool {
        transfers::brought(entry, &mut self.planes, &mut self.scheduler, now)
    }

    /// The data of an operation have been brought to the cache register of its plane.
    pub fn cached(&mut self, plane: usize, now: SimTime) {
        self.planes.registers_mut(plane).note_cached(now);
        transfers::bring_in(plane, &mut self.planes, &mut self.scheduler, now);
    }

    /// An operation has left its plane of two registers. Returns whether that offers what is next.
    #[inline(never)]
    pub fn go_on(&mut self, plane: usize, ftl: &Ftl, now: SimTime) -> bool {
        transfers::go_on(plane, &mut self.planes, &mut self.scheduler, ftl, now)
    }

    /// An operation of idle work has had its plane until now: count how long, and what that cost those of the host
    /// that waited.
    #[inline(never)]
    pub fn charge_idle_work<P: Probe>(
        &mut self,
        user: User,
        ftl: &Ftl,
        observer: &mut Observer<P>,
        now: SimTime,
    ) {
        let plane = user.plane as usize;
        let (die, began) =
            (self.planes.place(plane).die, self.planes.registers(plane).register(user.op).began);
        let from = self.idle_work.count(die, began, now);
        observer.count_idle_work((ftl, user.op), &self.scheduler, (began, now));
        self.planes.charge_idle_work(plane, (from, now), ftl.is_held(die), self.scheduler.arrays());
    }

    /// An array has suspended its operation. To those who wait, that ends here, and what is left is queued again.
    #[inline(never)]
    pub fn suspend<P: Probe>(&mut self, lead: User, ftl: &Ftl, observer: &mut Observer<P>, now: SimTime) {
        let entry = self.planes.registers(lead.plane as usize).register(lead.op).held;
        observer.metrics_mut().count_suspension(entry.kind());
        for user in self.arrays().command(lead) {
            if self.planes.registers(user.plane as usize).current().held.is_idle_work() {
                self.charge_idle_work(user, ftl, observer, now);
            }
            self.planes.suspend(user, now);
        }
        self.reschedule_siblings(lead.plane as usize, ftl);
    }

    /// A host read is queued: the operation of its array may have to stop for it.
    #[inline(never)]
    pub fn interrupt(&mut self, entry: QueueEntry, ftl: &Ftl, clock: &mut Clock) {
        let now = clock.now();
        if let Some((event, end)) = commands::interrupt(entry, &self.planes, &mut self.scheduler, ftl, now) {
            clock.set(event, end);
        }
    }

    /// An array continues with what was set aside, if nothing comes before that.
    #[inline(never)]
    pub fn resume(&mut self, array: usize, ftl: &Ftl, clock: &mut Clock) {
        let now = clock.now();
        let lead = commands::resume(array, &mut self.planes, &self.scheduler, ftl, now);
        let Some(lead) = lead else { return };
        if let Some((event, end)) = self.scheduler.resume(array, now) {
            clock.set(event, end);
        }
        self.reschedule_siblings(lead.plane as usize, ftl);
    }

    /// The planes that share a plane's array look again at what they may begin, itself too. All have said what they
    /// want before any of them gets it.
    fn reschedule_siblings(&mut self, plane: usize, ftl: &Ftl) {
        let Place { die, array, channel, .. } = self.planes.place(plane);
        for other in self.planes.of_die(die) {
            if self.planes.place(other).array == array && self.planes.registers(other).may_begin() {
                self.post(other, ftl);
            }
        }
        self.scheduler.ask_bus_if_due(channel);
    }
}

#[cfg(test)]
mod tests;
