//! A request ends: with its last part, which whoever waits for an operation counts.

use crate::ftl::Ftl;
use crate::media::Media;
use crate::state::op::OpId;
use crate::state::request::RequestId;
use wordline_units::HostRequest;

impl<M: Media> Ftl<M> {
    /// One part of a request is over.
    #[inline]
    pub(crate) fn part_done(&mut self, id: RequestId) {
        let request = &mut self.requests[id];
        request.remaining -= 1;
        if request.remaining == 0 {
            let now = self.state.now;
            let HostRequest { op, arrival, .. } = request.request;
            request.parts = self.breakdown.parts_of(op, arrival, request.admitted, now);
            if let Some(map) = &self.state.demand {
                map.split(&mut request.parts, request.admitted);
            }
            request.ended = now;
            self.out.completed.push(id);
        }
    }

    /// Whoever waits for a host program learns that it is over.
    pub(crate) fn notify(&mut self, id: OpId) {
        if let Some(request) = self.state.ops[id].owner.request() {
            self.part_done(request);
        }
        for request in self.requests.take_waiting_for(id) {
            self.part_done(request);
        }
    }

    /// A completed request leaves; its number may be used again. Returns what it read, where media
    /// keep bytes.
    #[inline]
    pub fn release(&mut self, id: RequestId) -> Vec<u8> {
        self.requests.leave(id);
        self.state.outstanding -= 1;
        if self.state.outstanding == 0 {
            self.watch_merged();
        }
        if M::BYTES { std::mem::take(&mut self.requests.buffers[id.index()]) } else { Vec::new() }
    }
}
