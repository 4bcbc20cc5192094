//! The host's side: the link, measurements of completed requests, timers, and idle work of the scheme.

use crate::blocks::{Frame, map_rows};
use crate::completion::Completion;
use crate::device::Device;
use crate::host::idle::Ring;
use crate::host::link::Sent;
use crate::host::timers::Alarm;
use crate::metrics::{Free, Usage};
use crate::probe::Probe;
use crate::state::plane::{Place, Plane};
use crate::state::resources::NOTHING;
use wordline_ftl::drive;
use wordline_ftl::{LatencyPart, OpId, OpKind, Pending, RequestId};
use wordline_units::SimTime;

impl<P: Probe> Device<P> {
    #[inline]
    pub(crate) fn queue_on_link(&mut self, id: RequestId) {
        if self.link.takes_no_time() {
            return self.complete(id);
        }
        match self.link.send(id, &self.ftl.pending(id).request, self.clock.now()) {
            Sent::Over => self.complete(id),
            Sent::Behind => {}
            Sent::Until(end) => self.clock.set(self.buses.events_end(), end),
        }
    }

    pub(crate) fn link_done(&mut self) {
        if let Some(id) = self.link.deliver() {
            self.complete(id);
        }
        if let Some(next) = self.link.next_event() {
            self.clock.set(self.buses.events_end(), next);
        }
    }

    #[inline]
    pub(crate) fn complete(&mut self, id: RequestId) {
        let pending = self.ftl.pending_mut(id);
        pending.parts[LatencyPart::Link] = self.clock.now().since(pending.ended).0;
        let Pending { request, admitted, number, outcome, ref parts, .. } = *pending;
        self.metrics.dominated_by(pending.slowest_bit);
        self.metrics.count_idle_delay(pending.behind_idle);
        debug_assert!(
            request.arrival > admitted || parts.total() == self.clock.now().since(request.arrival).0
        );
        let span = (request.arrival, self.clock.now());
        let fresh = self.metrics.complete(number, request.op, request.bytes(), span, outcome, parts);
        if fresh || number & 1023 == 0 {
            self.sample();
        }
        if self.metrics.checkpoint_is_due() {
            self.metrics.checkpoint(self.clock.now(), &self.ftl);
        }
        let data = self.ftl.release(id);
        if !P::WATCHES && self.admission.keeps_times_alone() {
            self.admission.end_at(self.clock.now());
        } else {
            let parts = self.ftl.pending(id).parts;
            let completion = Completion { number, request, at: self.clock.now(), outcome, parts, data };
            if P::WATCHES {
                self.probe.completion(&completion);
            }
            self.admission.end(completion);
        }
        if self.ftl.works_when_idle()
            && self.outstanding() == 0
            && let Some(at) = self.idle.wait(self.clock.now())
        {
            self.alarm(at, Alarm::Idle);
        }
    }

    pub(crate) fn sample(&mut self) {
        let home = self.ftl.layout().home;
        let free = Free {
            share: self.ftl.inspect().free_share(home),
            pages: self.ftl.view().free_pages(home),
            usable_bytes: self.ftl.inspect().usable_bytes().0,
        };
        let (arrays, buses) =
            (self.arrays.used(self.clock.now()).sum(), self.buses.used(self.clock.now()).sum());
        let usage = Usage { at: self.clock.now(), arrays, buses };
        self.metrics.sample(self.clock.now(), self.ftl.counters(), free, usage);
        if self.metrics.wants_frame() {
            self.sample_block_map();
        }
    }

    /// Sample the representative blocks of the map.
    pub(crate) fn sample_block_map(&mut self) {
        let cells = map_rows(&self.geometry)
            .into_iter()
            .flat_map(|row| row.blocks())
            .map(|b| self.ftl.inspect().block_status(b));
        self.metrics.add_frame(Frame { at: self.clock.now(), cells: cells.collect() });
    }

    /// Note for how long each array and each bus has been busy by now.
    pub(crate) fn note_usage(&mut self) {
        let now = self.clock.now();
        self.metrics.note_usage(now, [self.arrays.used(now).collect(), self.buses.used(now).collect()]);
    }

    pub(crate) fn alarm(&mut self, at: SimTime, alarm: Alarm) {
        let slot = self.timers.set(alarm);
        self.clock.set(self.buses.events_end() + 1 + slot, at);
    }

    pub(crate) fn fire_timer(&mut self, slot: u32) {
        match self.timers.fire(slot) {
            Alarm::Layer(timer) => drive::ring(self, timer),
            Alarm::Idle => {
                let busy = self.outstanding() > 0;
                match self.idle.ring(busy, self.clock.now()) {
                    Ring::Begins => {
                        self.metrics.begin_idle();
                        drive::ask_all_idle(self);
                    }
                    Ring::Again(at) => self.alarm(at, Alarm::Idle),
                    Ring::Busy => {}
                }
            }
        }
    }

    /// A request has arrived, or the run is over.
    #[inline(always)]
    pub(crate) fn idle_is_over(&mut self) {
        if let Some(time) = self.idle.end(self.clock.now())
            && !self.ftl.view().draining()
        {
            self.metrics.end_idle(time);
        }
    }

    /// An operation of idle work is over: count it, and what it cost those of the host that waited.
    pub(crate) fn count_idle_work(&mut self, id: OpId, plane: usize) {
        if !self.ftl.view().draining() {
            let (kind, cause) = (self.ftl.op(id).kind, self.ftl.op(id).cause());
            let bytes = if kind == OpKind::Program { self.ftl.operation(id).data_bytes() } else { 0 };
            self.metrics.count_idle_operation(kind, cause, bytes);
        }
        self.charge_idle_work(id, plane);
    }

    /// An operation of idle work has had its plane until now: count how long, and what that cost those of the host
    /// that waited.
    pub(crate) fn charge_idle_work(&mut self, id: OpId, plane: usize) {
        let Place { die, array, .. } = self.planes[plane].place;
        let began = self.planes[plane].registers.register(id).began;
        let from = self.idle.count(die, began, self.clock.now());
        if !self.ftl.view().draining() {
            self.metrics.count_idle_work(self.ftl.op(id).cause(), self.clock.now().since(began));
            if self.metrics.begins_bin(self.clock.now()) {
                self.sample();
            }
        }
        let held = self.ftl.is_held(die);
        for other in self.geometry.planes_of_die(die).map(|p| p as usize) {
            if !held && self.planes[other].place.array != array {
                continue;
            }
            let Plane { registers, queue, .. } = &self.planes[other];
            let (current, cached) = (registers.current(), registers.cached());
            let waits_for_array = !current.held.is_none() && self.arrays.wanted(other) != NOTHING;
            for (held, waits) in [(current, waits_for_array), (cached, cached.waits)] {
                if waits && held.held.serves_host() {
                    self.queue_delays.behind_idle(held.held.op, from, Some(held.turned), self.clock.now());
                }
            }
            for waiting in queue.iter().filter(|waiting| waiting.serves_host()) {
                self.queue_delays.behind_idle(waiting.op, from, None, self.clock.now());
            }
        }
    }
}
