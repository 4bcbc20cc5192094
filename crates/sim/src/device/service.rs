//! Arrays and buses: which operations they start, and what follows at their ends.

use crate::device::Device;
use crate::device::watch;
use crate::probe::Probe;
use crate::state::agenda::Ask;
use crate::state::array::Ended;
use crate::state::plane::{Place, Want};
use crate::state::queue_delay::{QueueDelays, Work};
use crate::state::registers::{Next, RegisterUse};
use crate::state::resources::User;
use wordline_ftl::drive;
use wordline_ftl::{ArrayTime, Binding, BusyTime, Ftl, OpId, QueueEntry};
use wordline_units::{SimDuration, SimTime};

/// An operation as what has a resource.
fn user(entry: &QueueEntry) -> User {
    User { op: entry.op, plane: entry.plane.0 }
}

/// Tell the layer what an operation of the host has been through that is over now, given how long its plane had been busy
/// when it began.
#[inline(always)]
fn break_down(
    ftl: &mut Ftl,
    delays: &mut QueueDelays,
    suspends: bool,
    held: &RegisterUse,
    busy: BusyTime,
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
        request.behind_idle = request.behind_idle.max(idle_delay);
    }
}

impl<P: Probe> Device<P> {
    /// Poll the resources that an event has touched, and those touched by that, until none is left.
    #[inline(always)]
    pub(crate) fn serve(&mut self) {
        if !self.agenda.is_done() {
            self.ask_all();
        }
    }

    fn ask_all(&mut self) {
        while let Some(ask) = self.agenda.next() {
            match ask {
                Ask::Plane(plane) if self.planes[plane as usize].registers.may_begin() => {
                    self.offer(plane as usize)
                }
                Ask::Array(array) if self.arrays.is_due(array as usize) => {
                    self.begin_at_array(array as usize)
                }
                Ask::Bus(channel) => self.begin_at_bus(channel as usize),
                Ask::Plane(_) | Ask::Array(_) => {}
            }
        }
    }

    /// A plane begins what it would do next, and all goes on that follows.
    #[inline(always)]
    pub(crate) fn serve_plane(&mut self, plane: usize) {
        self.offer(plane);
        self.serve();
    }

    /// Let an array serve the first of those that wait for it, and all goes on that follows.
    #[inline(always)]
    pub(crate) fn serve_array(&mut self, array: usize) {
        if self.arrays.is_due(array) {
            self.begin_at_array(array);
            self.serve();
        }
    }

    /// The same of a bus.
    #[inline(always)]
    pub(crate) fn serve_bus(&mut self, channel: usize) {
        if self.buses.is_due(channel) {
            self.begin_at_bus(channel);
            self.serve();
        }
    }

    fn begin_at_array(&mut self, array: usize) {
        if self.arrays.is_multiplane() && self.expects_sibling_plane(array) {
            return;
        }
        while let Some((plane, key)) = self.arrays.next(array, self.fair.as_deref()) {
            if self.planes[plane].wants == Want::Array {
                let Some(first) = self.take(plane, key) else { continue };
                return self.begin_at_once_on_array(array, first);
            }
            return self.begin_on_array(array, self.planes[plane].registers.current().held);
        }
    }

    fn begin_at_bus(&mut self, channel: usize) {
        while let Some((plane, key)) = self.buses.next(channel, self.fair.as_deref()) {
            let p = &self.planes[plane];
            if p.wants != Want::Bus {
                return self.begin_on_bus(p.place, p.registers.at_bus(), 0);
            }
            if let Some(first) = self.take(plane, key) {
                return self.begin_program(first);
            }
        }
    }

    /// An operation has the plane from now on.
    #[inline(always)]
    pub(crate) fn occupy(&mut self, entry: QueueEntry) -> Place {
        let p = &mut self.planes[entry.plane.index()];
        p.registers.give(entry, self.clock.now());
        if P::WATCHES {
            watch::begin(&mut self.probe, &self.ftl, entry.op, p.place, self.geometry.sector);
        }
        p.place
    }

    /// An operation has the plane from now on, and its array.
    #[inline(always)]
    pub(crate) fn begin_at_once_on_array(&mut self, array: usize, entry: QueueEntry) {
        let p = &mut self.planes[entry.plane.index()];
        p.registers.give(entry, self.clock.now());
        if P::WATCHES {
            watch::begin(&mut self.probe, &self.ftl, entry.op, p.place, self.geometry.sector);
        }
        let time = self.arrays.time_in(p.place.die, self.ftl.begin_on_array(entry.op));
        p.registers.note_again(time.again);
        self.have_array(array, entry, time);
    }

    #[inline(always)]
    pub(crate) fn begin_on_array(&mut self, array: usize, entry: QueueEntry) {
        let p = &mut self.planes[entry.plane.index()];
        let time = self.arrays.time_in(p.place.die, self.ftl.begin_on_array(entry.op));
        p.registers.note_again(time.again);
        self.have_array(array, entry, time);
    }

    #[inline(always)]
    fn have_array(&mut self, array: usize, entry: QueueEntry, time: ArrayTime) {
        let mut end = self.clock.now() + time.all;
        if self.arrays.is_multiplane() {
            end = self.join(array, entry, end);
        }
        let event = self.arrays.begin(array, user(&entry), self.clock.now(), end);
        self.clock.set(event, end);
        if self.arrays.suspends() {
            return; // The probe learns of it when it is over, and there are no shares.
        }
        if P::WATCHES {
            self.watch_command(user(&entry), (self.clock.now(), end));
        }
        if self.fair.is_some() {
            self.charge(array, entry.key, time.all);
        }
    }

    /// An array has begun an operation: that puts its kind off, and planes may offer another.
    #[cold]
    fn charge(&mut self, array: usize, key: u64, time: SimDuration) {
        let Some(fair) = &mut self.fair else { return };
        fair.charge(array, key, time);
        fair.planes_of_array(array).iter().rev().for_each(|plane| self.agenda.ask(Ask::Plane(*plane)));
    }

    /// Bind a program that its plane and bus are free for, and begin its transfer. A program that cannot be bound
    /// waits, the plane requests the bus for its next operation, and the bus serves others.
    #[inline]
    pub(crate) fn begin_program(&mut self, entry: QueueEntry) {
        let plane = entry.plane.index();
        let binding = drive::bind(self, entry.op);
        if binding == Binding::Bound {
            let command = self.command_of_program(entry);
            let place = self.occupy(entry);
            return self.begin_on_bus(place, entry, command);
        }
        let Place { array, channel, .. } = self.planes[plane].place;
        self.post(plane);
        self.agenda.ask(Ask::Bus(channel));
        // While the plane has another program to try, it has not yet said what it wants of its array.
        if self.first(plane).is_some_and(|next| !next.is_program()) {
            self.agenda.ask_if(self.arrays.is_due(array as usize), Ask::Array(array));
        }
    }

    #[inline(always)]
    fn begin_on_bus(&mut self, place: Place, entry: QueueEntry, command: u64) {
        let channel = place.channel as usize;
        let sectors = self.ftl.transfer_sectors(entry.op);
        let takes = self.buses.time(place.medium as usize, sectors as usize, command);
        let end = self.clock.now() + takes;
        let event = self.buses.begin(channel, user(&entry), self.clock.now(), end);
        self.clock.set(event, end);
        if P::WATCHES {
            let bytes = sectors as u64 * self.geometry.sector;
            watch::bus(&mut self.probe, &self.ftl, entry.op, place, bytes, (self.clock.now(), end));
        }
    }

    #[inline]
    pub(crate) fn array_done(&mut self, array: usize) {
        if P::WATCHES && self.arrays.suspends() {
            self.watch_interruptible(array);
        }
        match self.arrays.end(array, self.clock.now()) {
            Ended::Void | Ended::Through(None) => return,
            Ended::Stopped(lead) => self.suspend(lead),
            Ended::Through(Some(lead)) if self.arrays.is_multiplane() => self.end_together(array, lead),
            Ended::Through(Some(user)) => self.array_is_through(user),
        }
        self.serve_array(array);
        if self.arrays.suspends() {
            self.go_on_with_rest(array);
            self.serve();
        }
    }

    /// An array is through with an operation: a read goes on to its bus, any other is over. All goes on that follows.
    #[inline(always)]
    pub(crate) fn array_is_through(&mut self, User { op, plane }: User) {
        let p = &mut self.planes[plane as usize];
        let entry = p.registers.current().held;
        if !entry.is_read() {
            return self.end(op, plane as usize);
        }
        p.registers.note_sensed(self.ftl.op(op).repeated() == 0, self.clock.now());
        if p.registers.brings_out() {
            self.bring_out(plane as usize);
            return self.serve();
        }
        let (place, channel) = (p.place, p.place.channel as usize);
        if self.buses.is_idle(channel) {
            self.begin_on_bus(place, entry, 0);
        } else {
            self.buses.want(channel, plane as usize, entry.key);
            self.serve_bus(channel);
        }
    }

    #[inline]
    pub(crate) fn bus_done(&mut self, channel: usize) {
        let Some(User { op, plane }) = self.buses.release(channel) else { return };
        let plane = plane as usize;
        let registers = &mut self.planes[plane].registers;
        let entry = registers.register(op).held;
        let is_read = entry.is_read();
        if is_read && !self.ftl.repeat(op) {
            self.end(op, plane);
        } else if registers.has_cached(op) {
            registers.note_cached(self.clock.now());
            if self.arrays.is_multiplane() {
                self.serve_bus(channel); // Before the array looks at what has been moved.
            }
            self.bring_in(plane);
            self.serve();
        } else {
            if !is_read {
                registers.note_brought(self.clock.now());
            }
            let array = self.planes[plane].place.array as usize;
            if self.arrays.is_idle(array) && !self.arrays.is_multiplane() && !self.arrays.suspends() {
                self.begin_on_array(array, entry);
                self.serve();
            } else {
                self.arrays.want(array, plane, entry.key);
                if self.arrays.is_multiplane() {
                    self.serve_bus(channel);
                }
                self.serve_array(array);
            }
        }
        self.serve_bus(channel);
    }

    /// An operation is over, and its plane free. All goes on that follows.
    #[inline]
    pub(crate) fn end(&mut self, id: OpId, plane: usize) {
        if P::WATCHES {
            watch::ready(&mut self.probe, &self.ftl, id, self.clock.now());
        }
        let entry = self.planes[plane].registers.register(id).held;
        debug_assert!(entry.op == id && entry.serves_host() == self.ftl.serves_host(id));
        if entry.is_idle_work() && !entry.serves_host() {
            self.count_idle_work(id, plane);
        }
        let p = &mut self.planes[plane];
        if entry.serves_host() {
            let held = p.registers.register(id);
            let (busy, now) = (p.registers.busy_before(id), self.clock.now());
            break_down(&mut self.ftl, &mut self.queue_delays, self.arrays.suspends(), held, busy, now);
        }
        let (is_one, die) = (p.registers.is_one(), p.place.die);
        if is_one {
            p.registers.leave(self.clock.now());
        } else {
            p.registers.leave_register(id, self.clock.now());
        }
        let watched = P::WATCHES.then(|| (self.ftl.op(id).number(), self.ftl.completed().len()));
        let next = drive::end(self, id, die);
        if let Some((number, before)) = watched {
            watch::decided(&mut self.probe, &self.ftl, number, before, self.clock.now());
        }
        match next {
            Some(next) => self.continue_with(next),
            None if is_one => self.offer(plane),
            None => self.go_on_in(plane),
        }
        self.serve();
        if self.arrays.suspends() {
            self.go_on_with_rest(self.planes[plane].place.array as usize);
            self.serve();
        }
    }

    /// A page has been sensed. It goes over to the cache register if that is free, and the next can be
    /// sensed; one that must be sensed again after its transfer stays.
    fn bring_out(&mut self, plane: usize) {
        let p = &mut self.planes[plane];
        if !p.registers.may_bring_out() {
            return;
        }
        let (entry, channel) = (p.registers.current().held, p.place.channel as usize);
        let leaves = !self.ftl.will_repeat(entry.op);
        if leaves {
            p.registers.bring_out(self.clock.now());
        }
        self.buses.want(channel, plane, entry.key);
        if leaves {
            self.agenda.ask(Ask::Plane(plane as u32));
        }
        self.agenda.ask_if(self.buses.is_due(channel), Ask::Bus(channel as u32));
    }

    /// A page is in the cache register. It goes over to the page register if that is free, and the next can
    /// be brought in.
    fn bring_in(&mut self, plane: usize) {
        let p = &mut self.planes[plane];
        let Some(entry) = p.registers.bring_in(self.clock.now()) else { return };
        let array = p.place.array as usize;
        self.arrays.want(array, plane, entry.key);
        self.agenda.ask(Ask::Plane(plane as u32));
        self.agenda.ask_if(self.arrays.is_due(array), Ask::Array(array as u32));
    }

    /// An operation has left a plane of two registers: data that waited for its register go over to it, or the plane
    /// begins what comes next.
    fn go_on_in(&mut self, plane: usize) {
        match self.planes[plane].registers.next() {
            Next::BringOut => self.bring_out(plane),
            Next::BringIn => self.bring_in(plane),
            Next::Offer => self.offer(plane),
        }
    }
}
