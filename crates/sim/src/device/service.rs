//! Arrays and buses at work: what they begin, and what follows when they are through with it.

use crate::device::Device;
use crate::probe::{Event, Probe};
use crate::state::plane::Want;
use crate::state::queue_delay::Work;
use wordline_ftl::{Binding, OpId, OpKind};
use wordline_units::{PlaneId, SimDuration};

impl<P: Probe> Device<P> {
    /// Let an array serve the first of those that wait for it.
    #[inline(always)]
    pub(crate) fn try_array(&mut self, array: usize) {
        if self.arrays.is_due(array) {
            self.serve_array(array);
        }
    }

    fn serve_array(&mut self, array: usize) {
        if self.pairs && self.expects_sibling_plane(array) {
            return;
        }
        while let Some((plane, key)) = self.next_at_array(array) {
            if self.planes[plane].wants == Want::Array {
                let Some(first) = self.take(plane, key) else { continue };
                self.occupy(plane, first);
            }
            self.begin_on_array(array, plane, self.planes[plane].current.op);
            return;
        }
    }

    /// An operation has the plane from now on.
    #[inline(always)]
    pub(crate) fn occupy(&mut self, plane: usize, id: OpId) {
        let p = &mut self.planes[plane];
        if p.cache.is_off() {
            (p.current.op, p.current.began) = (id, self.now);
        } else {
            self.take_register(plane, id);
        }
        self.watch_begin(id, plane);
    }

    #[inline(always)]
    pub(crate) fn begin_on_array(&mut self, array: usize, plane: usize, id: OpId) {
        self.arrays.shared[array].busy = Some(id);
        let mut time = self.ftl.begin_on_array(id);
        if !self.slow.is_empty() {
            time = self.slowed(id, time);
        }
        self.planes[plane].current.again = time.again;
        let end = if self.pairs { self.join(array, id, self.now + time.all) } else { self.now + time.all };
        self.arrays.shared[array].take_until(self.now, end);
        self.clock.set(array as u32, end);
        if self.suspension.is_some() {
            return self.begin_interruptible(array);
        }
        if P::WATCHES {
            let mut at = Some(id);
            while let Some(id) = at {
                self.watch_array(id, self.ftl.op(id).plane.index(), self.now, end);
                at = self.goes_with(id);
            }
        }
        if self.fair.is_some() {
            self.charge(array, id, time.all);
        }
    }

    /// Let a bus serve the first of those that wait for it.
    #[inline(always)]
    pub(crate) fn try_bus(&mut self, channel: usize) {
        if self.buses.is_due(channel) {
            self.serve_bus(channel);
        }
    }

    /// With multi-plane commands a bus serves whoever waits before the array looks at what it has moved.
    #[inline(always)]
    fn serve_bus_first(&mut self, channel: usize) {
        if self.pairs && self.buses.is_due(channel) {
            self.serve_bus(channel);
        }
    }

    fn serve_bus(&mut self, channel: usize) {
        while let Some((plane, key)) = self.next_at_bus(channel) {
            let p = &self.planes[plane];
            if p.wants != Want::Bus {
                return self.begin_on_bus(channel, plane, p.at_bus(), 0);
            }
            if let Some(first) = self.take(plane, key)
                && self.begin_program(plane, first)
            {
                return;
            }
        }
    }

    /// Bind a program that its plane and bus are free for, and begin its transfer. What cannot be bound
    /// waits, and the plane posts what comes next. Returns whether it began: if not, whoever asked
    /// serves the bus on. (To do so from here would nest as deep as there are programs without a place.)
    #[inline]
    pub(crate) fn begin_program(&mut self, plane: usize, id: OpId) -> bool {
        let binding = self.ftl.bind(id);
        let p = &mut self.planes[plane];
        let (array, channel) = (p.array as usize, p.channel as usize);
        if binding == Binding::Bound {
            let command = self.command_of_program(plane, id);
            self.occupy(plane, id);
            self.begin_on_bus(channel, plane, id, command);
            return true;
        }
        if binding == Binding::Blocked {
            self.block(plane, id);
        }
        self.post(plane);
        // While the plane has another program to try, it has not yet said what it wants of its array.
        let next = self.first(plane);
        if !next.is_none() && self.ftl.op(next).kind != OpKind::Program {
            self.try_array(array);
        }
        false
    }

    #[inline(always)]
    fn begin_on_bus(&mut self, channel: usize, plane: usize, id: OpId, command: u64) {
        self.buses.shared[channel].busy = Some(id);
        let sectors = self.ftl.transfer_sectors(id);
        let time = command + self.transfer[self.planes[plane].medium as usize][sectors as usize];
        let end = self.now + SimDuration(time);
        self.buses.shared[channel].take_until(self.now, end);
        self.clock.set((self.arrays.shared.len() + channel) as u32, end);
        if P::WATCHES {
            let channel = wordline_units::ChannelId(channel as u32);
            let bytes = sectors as u64 * self.geometry.sector;
            let (op, plane) = (self.ftl.op(id).number(), PlaneId(plane as u32));
            let event = Event::Bus { op, channel, plane, bytes, start: self.now, end };
            self.probe.event(event);
        }
    }

    #[inline]
    pub(crate) fn array_done(&mut self, array: usize) {
        if self.suspension.is_some() && !self.is_through(array) {
            return;
        }
        let Some(id) = self.arrays.shared[array].busy.take() else { return };
        if self.pairs {
            self.end_together(array, id);
        } else {
            self.array_is_through(id);
        }
        self.try_array(array);
        if self.suspension.is_some() {
            self.go_on_with_rest(array);
        }
    }

    /// An array is through with an operation: a read goes on to its bus, any other is over.
    #[inline(always)]
    pub(crate) fn array_is_through(&mut self, id: OpId) {
        let op = self.ftl.op(id);
        let plane = op.plane.index();
        if op.kind == OpKind::Read {
            let (key, repeated, p) = (op.key, op.repeated(), &mut self.planes[plane]);
            if repeated == 0 {
                p.current.turned = self.now;
            }
            p.current.sensed = self.now;
            if p.cache.reads() {
                self.bring_out(plane);
            } else {
                let channel = p.channel as usize;
                if self.buses.is_idle(channel) {
                    self.begin_on_bus(channel, plane, id, 0);
                } else {
                    self.buses.want(channel, plane, key);
                    self.try_bus(channel);
                }
            }
        } else {
            self.end(id, plane);
        }
    }

    #[inline]
    pub(crate) fn bus_done(&mut self, channel: usize) {
        let Some(id) = self.buses.shared[channel].busy.take() else { return };
        let op = self.ftl.op(id);
        let plane = op.plane.index();
        let is_read = op.kind == OpKind::Read;
        if is_read && !self.ftl.repeat(id) {
            self.end(id, plane);
        } else if !self.planes[plane].cache.is_off() && self.planes[plane].cache_register.cached.op == id {
            self.planes[plane].cache_register.cached.turned = self.now;
            self.serve_bus_first(channel);
            self.bring_in(plane);
        } else {
            let (key, p) = (self.ftl.op(id).key, &mut self.planes[plane]);
            let array = p.array as usize;
            if !is_read {
                p.current.turned = self.now;
            }
            if self.arrays.is_idle(array) && !self.pairs && self.suspension.is_none() {
                self.begin_on_array(array, plane, id);
            } else {
                self.arrays.want(array, plane, key);
                self.serve_bus_first(channel);
                self.try_array(array);
            }
        }
        self.try_bus(channel);
    }

    /// An operation is over, and its plane free.
    #[inline]
    pub(crate) fn end(&mut self, id: OpId, plane: usize) {
        if P::WATCHES {
            let op = self.ftl.op(id).number();
            self.probe.event(Event::Ready { op, plane: PlaneId(plane as u32), at: self.now });
        }
        let (cause, is_program) = (self.ftl.op(id).cause(), self.ftl.op(id).kind == OpKind::Program);
        if self.ftl.serves_host(id) {
            let idle_delay = self.queue_delays.idle(id);
            if idle_delay > SimDuration::ZERO
                && let Some(request) = self.ftl.request_of(id)
            {
                request.behind_idle = request.behind_idle.max(idle_delay);
            }
            let work = if is_program { Work::Program } else { Work::Read };
            let p = &mut self.planes[plane];
            let busy = if p.cache.is_off() { p.busy } else { p.of(id).busy_before };
            let breakdown = if self.suspension.is_some() {
                self.queue_delays.breakdown_of_all(id, p.of(id), busy, self.now, work)
            } else {
                self.queue_delays.breakdown(id, p.of(id), busy, self.now, work)
            };
            self.ftl.been_through(breakdown);
        } else if self.ftl.op(id).is_idle_work() {
            self.count_idle_work(id, plane);
        }
        let p = &mut self.planes[plane];
        if p.cache.is_off() {
            p.busy.add(cause, self.now.since(p.current.began).0);
            p.current.op = OpId::NONE;
        } else {
            self.leave_register(plane, id);
        }
        if P::WATCHES {
            self.watch_done(id);
        } else {
            self.ftl.done(id);
        }
        if self.idle.is_idle() {
            let die = self.planes[plane].die;
            if self.ftl.idle_jobs(die) == 0 {
                self.ftl.idle(die);
            }
        }
        match self.ftl.take_continuation() {
            Some(next) => self.continue_with(plane, next),
            None if !self.planes[plane].cache.is_off() => self.go_on_in(plane),
            None => self.offer(plane),
        }
        if self.suspension.is_some() {
            self.go_on_with_rest(self.planes[plane].array as usize);
        }
    }
}
