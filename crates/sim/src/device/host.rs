//! The host's side: the link that a request ends on, and what is measured when it does.

use crate::blocks::{Frame, map_rows};
use crate::completion::Completion;
use crate::device::Device;
use crate::host::link::Sent;
use crate::host::timers::Alarm;
use crate::metrics::{Free, Usage};
use crate::probe::Probe;
use wordline_ftl::{LatencyPart, Pending, RequestId};

impl<P: Probe> Device<P> {
    #[inline]
    pub(crate) fn queue_on_link(&mut self, id: RequestId) {
        if self.link.takes_no_time() {
            return self.complete(id);
        }
        match self.link.send(id, &self.ftl.pending(id).request, self.now) {
            Sent::Over => self.complete(id),
            Sent::Behind => {}
            Sent::Until(end) => self.clock.set(self.link_event(), end),
        }
    }

    /// The clock's number for the host link; timers come after it.
    pub(crate) fn link_event(&self) -> u32 {
        self.buses.events_end()
    }

    pub(crate) fn link_done(&mut self) {
        if let Some(id) = self.link.deliver() {
            self.complete(id);
        }
        if let Some(next) = self.link.next_event() {
            self.clock.set(self.link_event(), next);
        }
    }

    #[inline]
    pub(crate) fn complete(&mut self, id: RequestId) {
        let pending = self.ftl.pending_mut(id);
        pending.parts[LatencyPart::Link] = self.now.since(pending.ended).0;
        let Pending { request, admitted, number, outcome, ref parts, .. } = *pending;
        self.metrics.dominated_by(pending.slowest_bit);
        self.metrics.idle.delays.count(pending.behind_idle);
        debug_assert!(request.arrival > admitted || parts.total() == self.now.since(request.arrival).0);
        let span = (request.arrival, self.now);
        let fresh = self.metrics.complete(number, request.op, request.bytes(), span, outcome, parts);
        let parts = *parts;
        if fresh || number & 1023 == 0 {
            self.sample();
        }
        if self.metrics.checkpoint_is_due() {
            self.metrics.checkpoint(self.now, &self.ftl);
        }
        let data = self.ftl.release(id);
        let completion = Completion { number, request, at: self.now, outcome, parts, data };
        if P::WATCHES {
            self.probe.completion(&completion);
        }
        self.admission.end(completion);
        if self.outstanding() == 0 && self.ftl.works_when_idle() {
            let submitted = self.admission.submitted();
            let at = self.idle.wait(submitted, self.now);
            self.alarm(at, Alarm::Idle(submitted));
        }
    }

    pub(crate) fn sample(&mut self) {
        let home = self.ftl.layout().home;
        let free = Free {
            share: self.ftl.free_share(home),
            pages: self.ftl.view().free_pages(home),
            usable_bytes: self.ftl.usable_bytes().0,
        };
        let (arrays, buses) = (self.arrays.used(self.now).sum(), self.buses.used(self.now).sum());
        let usage = Usage { at: self.now, arrays, buses };
        self.metrics.sample(self.now, self.ftl.counters(), free, usage);
        if self.metrics.wants_frame() {
            self.sample_block_map();
        }
    }

    /// Note how the blocks are now that stand for all on a map.
    pub(crate) fn sample_block_map(&mut self) {
        let cells = map_rows(&self.geometry)
            .into_iter()
            .flat_map(|row| row.blocks())
            .map(|b| self.ftl.block_status(b));
        self.metrics.add_frame(Frame { at: self.now, cells: cells.collect() });
    }

    /// Note for how long each array and each bus has been busy by now.
    pub(crate) fn note_usage(&mut self) {
        self.metrics.used = [self.arrays.used(self.now).collect(), self.buses.used(self.now).collect()];
        self.metrics.used_at = self.now;
    }
}
