//! Programs of the trim log: a FLUSH writes the ranges trimmed since the last one.

use crate::ftl::Ftl;
use crate::state::op::{Class, Op, OpId, Owner};
use crate::state::request::RequestId;
use smallvec::SmallVec;
use wordline_counters::{Cause, OpKind};
use wordline_units::{Lpn, SectorMask};

impl Ftl {
    /// Note a trim that has invalidated data that may be on flash.
    pub(crate) fn note_trim(&mut self, lpn: Lpn, mask: SectorMask) {
        self.state.trims.note(lpn);
        if self.store.keeps_metadata() {
            let version = self.requests.version();
            self.state.trims.remember(lpn, mask, version);
            let entries: SmallVec<[_; 4]> =
                self.state.trims.entries(lpn, mask).map(|e| (e, version)).collect();
            self.store.protect_trims(&entries);
        }
    }

    /// Program the ranges trimmed since the last program of the log. A FLUSH waits for them.
    pub(crate) fn log_trims(&mut self, flush: RequestId) {
        for range in self.state.trims.take_dirty() {
            let op = self.program_metadata(self.state.trims.page(range), Some(flush));
            if self.store.keeps_metadata() {
                self.state.trims.begin_program(op, range);
            }
            self.launch(op);
        }
    }

    /// Create the program of a page of the drive's own tables, which a request may wait for.
    pub(crate) fn program_metadata(&mut self, lpn: Lpn, waits: Option<RequestId>) -> OpId {
        let place = self.metadata_place();
        let plane = self.pick_plane(&place, self.state.stripe.plane(lpn));
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        let stage = self.state.staging.enter(lpn);
        let entry = self.state.staging.get(stage);
        entry.add_program();
        entry.take_in(all);
        let mut op = Op::new(OpKind::Program, plane, Cause::Metadata, Class::Write);
        (op.lpn, op.mask, op.stage, op.version) = (lpn, all, stage, self.requests.version());
        (op.owner, op.route) = (waits.map_or(Owner::Answered, Owner::Request), place.route);
        if let Some(request) = waits {
            self.requests.add_part(request);
        }
        self.requests.add_unsettled();
        self.state.buffered += u64::from(self.ack.is_buffer());
        self.add_op(op)
    }

    /// Handle the end of the program of a page of the drive's own tables.
    pub(crate) fn metadata_programmed(&mut self, lpn: Lpn, version: u64) {
        if self.state.trims.is_log(lpn) {
            self.state.trims.logged(lpn, version);
        } else if let Some(map) = &mut self.state.demand {
            map.set_on_flash(lpn);
        }
    }

    /// A page of the drive's own tables has no place.
    pub(crate) fn metadata_not_programmed(&mut self, op: OpId, lpn: Lpn) {
        if self.state.trims.is_log(lpn) {
            self.state.trims.not_logged(op, lpn);
        } else {
            self.map_page_not_written(lpn);
        }
    }
}
