//! The host's side: the link that a request ends on, and what is measured when it does.

use crate::blocks::{Frame, map_rows};
use crate::completion::Completion;
use crate::device::Device;
use crate::metrics::{Free, Usage};
use crate::probe::Probe;
use crate::state::alarm::Alarm;
use crate::state::resources::Resources;
use wordline_device::Lanes;
use wordline_ftl::{LatencyPart, Pending, RequestId};
use wordline_units::{HostOp, SimDuration, SimTime};

impl<P: Probe> Device<P> {
    #[inline]
    pub(crate) fn queue_on_link(&mut self, id: RequestId) {
        if self.link_is_free {
            return self.complete(id);
        }
        let request = self.ftl.pending(id).request;
        let overhead = match request.op {
            HostOp::Read => self.link.read_overhead,
            HostOp::Write => self.link.write_overhead,
            // A flush takes no time there, but says that what came before is over: it must not overtake
            // the writes that still stand on the link. A trim says nothing of others.
            HostOp::Flush if !self.link_queue.is_empty() => SimDuration::ZERO,
            HostOp::Trim | HostOp::Flush => return self.complete(id),
        };
        let lane = if self.has_lanes() { request.volume as usize } else { 0 };
        let end = match request.op {
            HostOp::Flush => self.link_queue.back().map_or(self.now, |(end, _)| *end),
            _ => self.link_end(lane, overhead + self.link.rate.time_for(request.bytes())),
        };
        if self.link_queue.is_empty() || self.has_lanes() {
            self.clock.set(self.link_event(), end);
        }
        // Of one lane each comes behind the one before; between lanes what ends first goes first.
        let at = self.link_queue.partition_point(|(before, _)| *before <= end);
        self.link_queue.insert(at, (end, id));
    }

    /// Whether each queue has a lane of its own, and each request on them an event.
    fn has_lanes(&self) -> bool {
        self.link.link == Lanes::PerQueue
    }

    /// When a lane of the link has done with what takes so long, behind what it was given before.
    fn link_end(&mut self, lane: usize, takes: SimDuration) -> SimTime {
        if lane >= self.link_free_at.len() {
            self.link_free_at.resize(lane + 1, SimTime(0));
        }
        let free_at = &mut self.link_free_at[lane];
        *free_at = self.now.max(*free_at) + takes;
        *free_at
    }

    /// The clock's number for the host link; timers come after it.
    pub(crate) fn link_event(&self) -> u32 {
        (self.arrays.shared.len() + self.buses.shared.len()) as u32
    }

    pub(crate) fn link_done(&mut self) {
        if let Some((_, id)) = self.link_queue.pop_front() {
            self.complete(id);
        }
        if let Some((next, _)) = self.link_queue.front().filter(|_| !self.has_lanes()) {
            self.clock.set(self.link_event(), *next);
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
        self.ready.push_back(completion);
        if self.outstanding() == 0 && self.ftl.works_when_idle() {
            self.idle_epoch = self.submitted;
            self.alarm(self.now + self.idle_after, Alarm::Idle(self.idle_epoch));
        }
    }

    pub(crate) fn sample(&mut self) {
        let home = self.ftl.layout().home;
        let free = Free {
            share: self.ftl.free_share(home),
            pages: self.ftl.view().free_pages(home),
            usable_bytes: self.ftl.usable_bytes().0,
        };
        let used = |resources: &Resources| resources.shared.iter().map(|r| r.used(self.now)).sum();
        let usage = Usage { at: self.now, arrays: used(&self.arrays), buses: used(&self.buses) };
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
        let used = |resources: &Resources| resources.shared.iter().map(|r| r.used(self.now)).collect();
        self.metrics.used = [used(&self.arrays), used(&self.buses)];
        self.metrics.used_at = self.now;
    }
}
