//! Arrays and buses at work: what they begin, and what follows when they are through with it.

use crate::device::Device;
use crate::device::queues::passing;
use crate::device::watch;
use crate::probe::Probe;
use crate::state::agenda::Ask;
use crate::state::array::Ended;
use crate::state::plane::{Place, Want};
use crate::state::queue_delay::Work;
use crate::state::registers::Next;
use wordline_ftl::{Binding, OpId, OpKind};
use wordline_units::SimDuration;

impl<P: Probe> Device<P> {
    /// Ask those whom an event has touched what may begin, and those whom that has touched, until nobody is left.
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
                self.occupy(plane, first);
            }
            self.begin_on_array(array, plane, self.planes[plane].registers.current().op);
            return;
        }
    }

    fn begin_at_bus(&mut self, channel: usize) {
        while let Some((plane, key)) = self.buses.next(channel, self.fair.as_deref()) {
            let p = &self.planes[plane];
            if p.wants != Want::Bus {
                return self.begin_on_bus(channel, plane, p.registers.at_bus(), 0);
            }
            if let Some(first) = self.take(plane, key) {
                return self.begin_program(plane, first);
            }
        }
    }

    /// An operation has the plane from now on.
    #[inline(always)]
    pub(crate) fn occupy(&mut self, plane: usize, id: OpId) {
        let Device { planes, ftl, clock, .. } = self;
        let registers = &mut planes[plane].registers;
        if registers.is_one() {
            registers.occupy(id, clock.now());
        } else {
            registers.take_register(id, ftl.op(id).goes_on(), clock.now(), |id| passing(ftl, id));
        }
        if P::WATCHES {
            let place = self.planes[plane].place;
            watch::begin(&mut self.probe, &self.ftl, id, place, self.geometry.sector);
        }
    }

    #[inline(always)]
    pub(crate) fn begin_on_array(&mut self, array: usize, plane: usize, id: OpId) {
        let time = self.ftl.begin_on_array(id);
        let p = &mut self.planes[plane];
        let time = self.arrays.time_in(p.place.die, time);
        p.registers.note_again(time.again);
        let mut end = self.clock.now() + time.all;
        if self.arrays.is_multiplane() {
            end = self.join(array, id, end);
        }
        let event = self.arrays.begin(array, id, self.clock.now(), end);
        self.clock.set(event, end);
        if self.arrays.suspends() {
            return; // The probe learns of it when it is over, and there are no shares.
        }
        if P::WATCHES {
            self.watch_command(id, (self.clock.now(), end));
        }
        if self.fair.is_some() {
            self.charge(array, id, time.all);
        }
    }

    /// An array has begun an operation: that puts its kind off, and planes may offer another.
    #[cold]
    fn charge(&mut self, array: usize, id: OpId, time: SimDuration) {
        let Some(fair) = &mut self.fair else { return };
        fair.charge(array, self.ftl.op(id).key, time);
        fair.planes_of_array(array).iter().rev().for_each(|plane| self.agenda.ask(Ask::Plane(*plane)));
    }

    /// Bind a program that its plane and bus are free for, and begin its transfer. What cannot be bound
    /// waits, the plane posts what comes next, and the bus serves on.
    #[inline]
    pub(crate) fn begin_program(&mut self, plane: usize, id: OpId) {
        let binding = self.ftl.bind(id);
        let Place { array, channel, .. } = self.planes[plane].place;
        if binding == Binding::Bound {
            let command = self.command_of_program(plane, id);
            self.occupy(plane, id);
            return self.begin_on_bus(channel as usize, plane, id, command);
        }
        if binding == Binding::Blocked {
            self.block(plane, id);
        }
        self.post(plane);
        self.agenda.ask(Ask::Bus(channel));
        // While the plane has another program to try, it has not yet said what it wants of its array.
        let next = self.first(plane);
        if !next.is_none() && self.ftl.op(next).kind != OpKind::Program {
            self.agenda.ask_if(self.arrays.is_due(array as usize), Ask::Array(array));
        }
    }

    #[inline(always)]
    fn begin_on_bus(&mut self, channel: usize, plane: usize, id: OpId, command: u64) {
        let (place, sectors) = (self.planes[plane].place, self.ftl.transfer_sectors(id));
        let takes = self.buses.time(place.medium as usize, sectors as usize, command);
        let end = self.clock.now() + takes;
        let event = self.buses.begin(channel, id, self.clock.now(), end);
        self.clock.set(event, end);
        if P::WATCHES {
            let bytes = sectors as u64 * self.geometry.sector;
            watch::bus(&mut self.probe, &self.ftl, id, place, bytes, (self.clock.now(), end));
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
            Ended::Through(Some(id)) => self.array_is_through(id),
        }
        self.serve_array(array);
        if self.arrays.suspends() {
            self.go_on_with_rest(array);
            self.serve();
        }
    }

    /// An array is through with an operation: a read goes on to its bus, any other is over. All goes on that follows.
    #[inline(always)]
    pub(crate) fn array_is_through(&mut self, id: OpId) {
        let op = self.ftl.op(id);
        let plane = op.plane.index();
        if op.kind != OpKind::Read {
            return self.end(id, plane);
        }
        let (key, p) = (op.key, &mut self.planes[plane]);
        p.registers.note_sensed(op.repeated() == 0, self.clock.now());
        if p.registers.brings_out() {
            self.bring_out(plane);
            return self.serve();
        }
        let channel = p.place.channel as usize;
        if self.buses.is_idle(channel) {
            self.begin_on_bus(channel, plane, id, 0);
        } else {
            self.buses.want(channel, plane, key);
            self.serve_bus(channel);
        }
    }

    #[inline]
    pub(crate) fn bus_done(&mut self, channel: usize) {
        let Some(id) = self.buses.end(channel) else { return };
        let op = self.ftl.op(id);
        let plane = op.plane.index();
        let is_read = op.kind == OpKind::Read;
        if is_read && !self.ftl.repeat(id) {
            self.end(id, plane);
        } else if self.planes[plane].registers.has_cached(id) {
            self.planes[plane].registers.note_cached(self.clock.now());
            if self.arrays.is_multiplane() {
                self.serve_bus(channel); // Before the array looks at what has been moved.
            }
            self.bring_in(plane);
            self.serve();
        } else {
            let (key, p) = (self.ftl.op(id).key, &mut self.planes[plane]);
            let array = p.place.array as usize;
            if !is_read {
                p.registers.note_brought(self.clock.now());
            }
            if self.arrays.is_idle(array) && !self.arrays.is_multiplane() && !self.arrays.suspends() {
                self.begin_on_array(array, plane, id);
                self.serve();
            } else {
                self.arrays.want(array, plane, key);
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
        let op = self.ftl.op(id);
        let (cause, is_program) = (op.cause(), op.kind == OpKind::Program);
        if self.ftl.serves_host(id) {
            self.tell_breakdown(id, plane, is_program);
        } else if self.ftl.op(id).is_idle_work() {
            self.count_idle_work(id, plane);
        }
        let Device { planes, ftl, clock, .. } = self;
        let registers = &mut planes[plane].registers;
        if registers.is_one() {
            registers.leave(cause, clock.now());
        } else {
            registers.leave_register(id, clock.now(), |id| passing(ftl, id));
        }
        if P::WATCHES {
            watch::done(&mut self.probe, &mut self.ftl, id, self.clock.now());
        } else {
            self.ftl.done(id);
        }
        if self.idle.is_idle() {
            let die = self.planes[plane].place.die;
            if self.ftl.idle_jobs(die) == 0 {
                self.ftl.idle(die);
            }
        }
        match self.ftl.take_continuation() {
            Some(next) => self.continue_with(plane, next),
            None if self.planes[plane].registers.is_one() => self.offer(plane),
            None => self.go_on_in(plane),
        }
        self.serve();
        if self.arrays.suspends() {
            self.go_on_with_rest(self.planes[plane].place.array as usize);
            self.serve();
        }
    }

    /// Tell what an operation of the host has been through that is over now.
    #[inline(always)]
    fn tell_breakdown(&mut self, id: OpId, plane: usize, is_program: bool) {
        let idle_delay = self.queue_delays.idle(id);
        if idle_delay > SimDuration::ZERO
            && let Some(request) = self.ftl.request_of(id)
        {
            request.behind_idle = request.behind_idle.max(idle_delay);
        }
        let work = if is_program { Work::Program } else { Work::Read };
        let registers = &self.planes[plane].registers;
        let (held, busy) = (registers.register(id), registers.busy_before(id));
        let breakdown = if self.arrays.suspends() {
            self.queue_delays.breakdown_of_all(id, held, busy, self.clock.now(), work)
        } else {
            self.queue_delays.breakdown(id, held, busy, self.clock.now(), work)
        };
        self.ftl.been_through(breakdown);
    }

    /// A page has been sensed. It goes over to the cache register if that is free, and the next can be
    /// sensed; one that must be sensed again after its transfer stays.
    fn bring_out(&mut self, plane: usize) {
        let Device { planes, ftl, clock, .. } = self;
        let p = &mut planes[plane];
        if !p.registers.may_bring_out() {
            return;
        }
        let (id, channel) = (p.registers.current().op, p.place.channel as usize);
        let leaves = !ftl.will_repeat(id);
        if leaves {
            p.registers.bring_out(clock.now(), |id| passing(ftl, id));
        }
        self.buses.want(channel, plane, self.ftl.op(id).key);
        if leaves {
            self.agenda.ask(Ask::Plane(plane as u32));
        }
        self.agenda.ask_if(self.buses.is_due(channel), Ask::Bus(channel as u32));
    }

    /// A page is in the cache register. It goes over to the page register if that is free, and the next can
    /// be brought in.
    fn bring_in(&mut self, plane: usize) {
        let Device { planes, ftl, clock, .. } = self;
        let p = &mut planes[plane];
        let Some(id) = p.registers.bring_in(clock.now(), |id| passing(ftl, id)) else { return };
        let array = p.place.array as usize;
        self.arrays.want(array, plane, self.ftl.op(id).key);
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
