//! A FLUSH: it ends when all that was written before it is on flash, and what was trimmed before it is logged.

use crate::ftl::Ftl;
use crate::media::Media;
use crate::state::op::{NONE, OpKind, Owner};
use crate::state::request::{Outcome, PendingFlush, RequestId};

impl<M: Media> Ftl<M> {
    pub(super) fn submit_flush(&mut self, id: RequestId) {
        self.version += 1;
        self.seal_merged();
        self.empty_to(0);
        let earlier = self.unsettled;
        self.log_trims(id);
        self.seal(false);
        if earlier > 0 {
            self.requests[id.0 as usize].remaining += 1;
            self.flushes.push(PendingFlush { version: self.version, request: id, remaining: earlier });
        }
    }

    pub(crate) fn settle_flushes(&mut self, version: u64) {
        let mut ended: Vec<RequestId> = vec![];
        self.flushes.retain_mut(|f| {
            f.remaining -= (version < f.version) as u64;
            if f.remaining == 0 {
                ended.push(f.request);
            }
            f.remaining > 0
        });
        for request in ended {
            self.part_done(request);
        }
    }

    /// End the flushes and the writes with FUA under way, where nothing is pending and writes that were
    /// acknowledged when they were taken have no place: the data stay in the buffer. Returns whether there
    /// was one.
    pub fn fail_flushes(&mut self) -> bool {
        let mut ended: Vec<RequestId> = vec![];
        // Pages of the trim log wait like data, and are programmed when there is a place.
        for id in self.state.ops.alive() {
            let op = &mut self.state.ops[id];
            if op.kind == OpKind::Program && op.owned_by == Owner::Request && op.owner != NONE {
                ended.push(RequestId(std::mem::replace(&mut op.owner, NONE)));
            }
        }
        ended.extend(self.waiters.drain(..).map(|(_, request)| request));
        // A flush ends after the writes that it waits for.
        ended.extend(self.flushes.drain(..).map(|f| f.request));
        let outcome = if ended.is_empty() { Outcome::Done } else { self.no_place() };
        for request in &ended {
            self.requests[request.0 as usize].outcome = outcome;
            self.part_done(*request);
        }
        !ended.is_empty()
    }
}
