//! FLUSH: it completes when all earlier writes are on flash, and all earlier trims are logged.

use crate::ftl::Ftl;
use crate::state::op::Owner;
use crate::state::request::{Outcome, RequestId};
use wordline_counters::OpKind;

impl Ftl {
    /// A FLUSH is admitted, and the buffers have been issued: it waits for all these programs.
    pub(crate) fn submit_flush(&mut self, id: RequestId) {
        let earlier = self.requests.unsettled();
        self.log_trims(id);
        self.seal(false);
        if earlier > 0 {
            self.requests.flush(id, earlier);
        }
    }

    /// Complete the outstanding flushes and FUA writes if nothing is pending and acknowledged earlier writes
    /// have no place: the data stay in the buffer. Returns whether there was one.
    pub(crate) fn fail_flushes(&mut self) -> bool {
        let mut ended: Vec<RequestId> = vec![];
        // Pages of the trim log wait like data, and are programmed when there is a place.
        for id in self.state.ops.alive() {
            let op = &mut self.state.ops[id];
            if let (OpKind::Program, Some(request)) = (op.kind, op.owner.request()) {
                op.owner = Owner::Answered;
                ended.push(request);
            }
        }
        ended.extend(self.requests.take_all_waiting());
        let outcome = if ended.is_empty() { Outcome::Done } else { self.no_place() };
        for request in &ended {
            self.requests[*request].outcome = outcome;
            self.part_done(*request);
        }
        !ended.is_empty()
    }
}
