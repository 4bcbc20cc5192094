//! Timers that ring, and the work that a scheme has for a drive without requests.

use crate::device::Device;
use crate::host::timers::Alarm;
use crate::probe::Probe;
use crate::state::plane::{Place, Plane};
use crate::state::resources::NOTHING;
use wordline_ftl::{Class, OpId, OpKind};
use wordline_units::{DieId, SimTime};

impl<P: Probe> Device<P> {
    pub(crate) fn alarm(&mut self, at: SimTime, alarm: Alarm) {
        let slot = self.timers.set(alarm);
        self.clock.set(self.link_event() + 1 + slot, at);
    }

    pub(crate) fn ring(&mut self, slot: u32) {
        match self.timers.ring(slot) {
            Alarm::Layer(timer) => self.ftl.timer(timer),
            Alarm::Idle(submitted) => {
                if submitted == self.admission.submitted() && self.outstanding() == 0 {
                    self.idle.begin(self.now);
                    self.metrics.idle.periods += 1;
                    self.ask_all_idle();
                }
            }
        }
    }

    /// A request has come, or the run is over.
    #[inline(always)]
    pub(crate) fn idle_is_over(&mut self) {
        if let Some(time) = self.idle.end(self.now)
            && !self.ftl.view().draining()
        {
            self.metrics.idle.idle_s += time;
        }
    }

    pub(crate) fn ask_all_idle(&mut self) {
        for die in 0..self.geometry.dies {
            self.ftl.idle(DieId(die));
        }
        self.settle();
    }

    /// An operation of idle work is over: count it, and what it cost those of the host that waited.
    pub(crate) fn count_idle_work(&mut self, id: OpId, plane: usize) {
        if !self.ftl.view().draining() {
            let op = self.ftl.op(id);
            let idle = &mut self.metrics.idle;
            match op.kind {
                OpKind::Program => idle.program_bytes[op.cause() as usize] += self.ftl.data_bytes(id),
                OpKind::Erase => idle.erases += 1,
                OpKind::Read => {}
            }
        }
        self.charge_idle_work(id, plane);
    }

    /// An operation of idle work has had its plane until now: count how long, and what that cost those of the host
    /// that waited.
    pub(crate) fn charge_idle_work(&mut self, id: OpId, plane: usize) {
        let Place { die, array, .. } = self.planes[plane].place;
        let began = self.planes[plane].registers.register(id).began;
        let from = self.idle.count(die, began, self.now);
        if !self.ftl.view().draining() {
            self.metrics.idle.worked_s[self.ftl.op(id).cause() as usize] += self.now.since(began);
            if self.metrics.begins_bin(self.now) {
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
            let waits_for_array = !current.op.is_none() && self.arrays.wanted(other) != NOTHING;
            for (held, waits) in [(current, waits_for_array), (cached, cached.waits)] {
                if waits && self.ftl.serves_host(held.op) {
                    self.queue_delays.behind_idle(held.op, from, Some(held.turned), self.now);
                }
            }
            for rank in 0..Class::COUNT {
                let mut waiting = queue.head(rank);
                while !waiting.is_none() {
                    if self.ftl.serves_host(waiting) {
                        self.queue_delays.behind_idle(waiting, from, None, self.now);
                    }
                    waiting = self.ftl.op(waiting).next;
                }
            }
        }
    }
}
