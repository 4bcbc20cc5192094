//! Execution of the translation layer's effects by the device.

use crate::device::Device;
use crate::device::watch;
use crate::host::timers::Alarm;
use crate::probe::{Moment, Probe};
use wordline_ftl::drive::{Driver, Waiting};
use wordline_ftl::{Ftl, OpId, OpKind, QueueEntry, RequestId, Timer};
use wordline_units::{DieId, PlaneId, SimTime};

impl<P: Probe> Driver for Device<P> {
    #[inline(always)]
    fn layer(&self) -> &Ftl {
        &self.ftl
    }

    #[inline(always)]
    fn layer_mut(&mut self) -> &mut Ftl {
        self.ftl.at(self.clock.now())
    }

    #[inline(always)]
    fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    #[inline(always)]
    fn waiting_mut(&mut self) -> &mut Waiting {
        &mut self.waiting
    }

    #[inline]
    fn enqueue(&mut self, entry: QueueEntry) {
        if P::WATCHES {
            watch::queued(&mut self.probe, &self.ftl, entry.op, self.clock.now());
        }
        if entry.serves_host() {
            let busy = self.busy_until_now(entry.plane.index(), entry.kind());
            self.queue_delays.queue(entry.op, self.clock.now(), busy);
        }
        self.change_plane(entry);
    }

    #[inline(always)]
    fn change_plane(&mut self, entry: QueueEntry) {
        self.come(entry);
    }

    fn enqueue_first(&mut self, entry: QueueEntry) {
        self.planes[entry.plane.index()].queue.push_first(entry);
    }

    fn wake(&mut self, plane: PlaneId) {
        self.has_more(plane.index());
    }

    fn hold(&mut self, die: DieId) {
        for plane in self.geometry.planes_of_die(die).map(|p| p as usize) {
            if self.planes[plane].registers.may_begin() {
                self.serve_plane(plane);
            }
        }
    }

    fn set_timer(&mut self, at: SimTime, timer: Timer) {
        self.alarm(at, Alarm::Layer(timer));
    }

    #[inline(always)]
    fn end_round(&mut self) {
        if self.agenda.has_later() {
            self.begin_newly_queued();
        }
    }

    #[inline(always)]
    fn complete(&mut self, id: RequestId) {
        self.queue_on_link(id);
    }

    fn note_blocked(&mut self, id: OpId, plane: PlaneId) {
        if self.ftl.serves_host(id) {
            let busy = self.busy_until_now(plane.index(), OpKind::Program);
            self.queue_delays.block(id, self.clock.now(), busy);
        }
        if P::WATCHES {
            let op = self.ftl.op(id).number();
            self.probe.moment(Moment::Blocked { op, at: self.clock.now() });
        }
    }

    #[inline(always)]
    fn is_idle(&self) -> bool {
        self.idle.is_idle()
    }

    fn is_at_rest(&self) -> bool {
        self.arrays.are_at_rest() && self.buses.are_at_rest()
    }
}
