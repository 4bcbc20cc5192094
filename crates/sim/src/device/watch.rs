//! What a probe is told of operations.

use crate::device::Device;
use crate::probe::{Begin, Event, Moment, Probe};
use wordline_ftl::OpId;
use wordline_units::{PlaneId, SimTime};

impl<P: Probe> Device<P> {
    /// The probe sees an operation begin.
    #[inline(always)]
    pub(crate) fn watch_begin(&mut self, id: OpId, plane: usize) {
        if !P::WATCHES {
            return;
        }
        let (mode, page) = self.ftl.page_of(id);
        let op = self.ftl.op(id);
        let begin = Begin {
            op: op.number(),
            kind: op.kind,
            cause: op.cause(),
            region: self.ftl.region_of(id),
            channel: wordline_units::ChannelId(self.planes[plane].channel),
            die: self.planes[plane].die,
            plane: PlaneId(plane as u32),
            ppn: op.ppn,
            slots: self.ftl.slots_of(id),
            mode,
            page,
            bytes: self.ftl.transfer_sectors(id) as u64 * self.geometry.sector,
            from: self.ftl.source_of(id),
            empties: self.ftl.collecting_of(id),
        };
        self.probe.begin(&begin, self.ftl.parts_of(id));
    }

    pub(crate) fn watch_queued(&mut self, id: OpId) {
        let op = self.ftl.op(id);
        let (op, class, plane) = (op.number(), op.class(), op.plane);
        let empties = self.ftl.collecting_of(id);
        self.probe.moment(Moment::Queued { op, class, plane, empties, at: self.now });
    }

    pub(crate) fn watch_array(&mut self, id: OpId, plane: usize, start: SimTime, end: SimTime) {
        let (mode, page) = self.ftl.page_of(id);
        let op = self.ftl.op(id);
        let event = Event::Array {
            op: op.number(),
            kind: op.kind,
            cause: op.cause(),
            die: self.planes[plane].die,
            plane: PlaneId(plane as u32),
            ppn: op.ppn,
            mode,
            page,
            retries: op.retries().count,
            start,
            end,
        };
        self.probe.event(event);
    }

    /// An operation is over, and the probe sees which requests that ends.
    pub(crate) fn watch_done(&mut self, id: OpId) {
        let (op, before) = (self.ftl.op(id).number(), self.ftl.completed().len());
        self.ftl.done(id);
        for i in before..self.ftl.completed().len() {
            let ended = self.ftl.completed()[i];
            let request = self.ftl.pending(ended).number;
            self.probe.moment(Moment::Decided { request, op, at: self.now });
        }
    }
}
