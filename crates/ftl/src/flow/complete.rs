//! Completion: a part of a request, a host program, or what a host program waited for has ended, and those that wait
//! are notified.

use crate::ftl::Ftl;
use crate::state::op::{NONE, Op, OpId};
use crate::state::request::RequestId;
use wordline_units::{HostRequest, SimTime};

impl Ftl {
    /// One part of a request has ended.
    #[inline]
    pub(crate) fn part_done(&mut self, id: RequestId) {
        let request = &mut self.requests[id];
        request.remaining -= 1;
        if request.remaining == 0 {
            let now = self.state.now;
            let HostRequest { op, arrival, .. } = request.request;
            self.breakdown.split(&mut request.parts, op, arrival, request.admitted, now);
            if let Some(map) = &self.state.demand {
                map.split(&mut request.parts, request.admitted);
            }
            request.ended = now;
            self.out.complete(id);
        }
    }

    /// Notify all that wait for a host program: the request that owns it, and others.
    #[inline]
    pub(crate) fn notify(&mut self, id: OpId, owner: Option<RequestId>) {
        if let Some(request) = owner {
            self.part_done(request);
        }
        if self.requests.has_waiting() {
            self.notify_others(id);
        }
    }

    #[inline(never)]
    fn notify_others(&mut self, id: OpId) {
        for request in self.requests.take_waiting_for(id) {
            self.part_done(request);
        }
    }

    /// A host program is over, committed or not.
    pub(crate) fn settle(&mut self, part: OpId) {
        let Op { stage, version, owner, .. } = self.state.ops[part];
        if stage != NONE && self.state.staging.settle(stage) {
            if let Some(b) = &mut self.write_buffer {
                b.remove(stage);
            }
            self.store.unstage(stage);
        }
        self.begin_ending(part);
        self.notify(part, owner.request());
        self.set_ending(SimTime(0));
        if owner.is_host() {
            self.state.buffered -= u64::from(self.ack.is_buffer());
            if self.requests.settle() {
                self.end_flushes(version);
            }
        }
        self.state.ops.remove(part);
    }

    /// A program of a host write of this version has ended while flushes wait.
    #[inline(never)]
    fn end_flushes(&mut self, version: u64) {
        for request in self.requests.settle_flushes(version) {
            self.part_done(request);
        }
    }

    /// One of the reads and moves that a host program waits for has ended: after the last the program is ready.
    pub(crate) fn awaited(&mut self, lead: OpId) {
        let left = &mut self.state.ops[lead].awaits;
        *left -= 1;
        if *left == 0 {
            self.ready.push_back(lead);
        }
    }

    /// Begin to end an operation of a request: requests that end with it learn when its map page was loaded.
    #[inline(always)]
    pub(crate) fn begin_ending(&mut self, id: OpId) {
        if let Some(map) = &mut self.state.demand {
            map.begin_ending(id);
        }
    }

    /// Note when the map page came that what ends now has waited for; 0 for none.
    #[inline(always)]
    pub(crate) fn set_ending(&mut self, came: SimTime) {
        if let Some(map) = &mut self.state.demand {
            map.set_ending(came);
        }
    }
}
