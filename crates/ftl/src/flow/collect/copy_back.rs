//! Copy-back: pages of a victim that their die copies internally, without the bus.

use crate::ftl::Ftl;
use crate::plan::decision::Place;
use crate::plan::region::RegionId;
use crate::plan::span::Spans;
use crate::state::counters::count_collected;
use crate::state::job::{GcReason, Job};
use crate::state::op::{Class, Op, OpId, Owner};
use smallvec::SmallVec;
use wordline_counters::OpKind;
use wordline_units::PlaneId;

impl Ftl {
    /// Copy a page of a job's block within its plane, if the whole page is valid and the target cells have the
    /// same mode. Returns whether it does.
    pub(crate) fn copy_back(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        job: &Job,
        page: u32,
        class: Class,
    ) -> bool {
        let r = &self.state.regions[region.index()];
        let (mode, units) = (r.region.mode, r.units_per_page);
        let cause = self.job_cause(region);
        let mut spans = Spans::new();
        let mut parts: SmallVec<[Op; 1]> = SmallVec::new();
        for slot in page..page + units {
            let from = self.state.geometry.ppn(job.block, slot);
            self.state.map.live_in(from, &mut spans);
            let Some(span) = spans.first() else { break };
            self.state.map.prefetch(span.lpn); // for the commit
            let Some(Place { route, .. }) = self.place_collected(region, &spans, plane) else { break };
            let to = route.region();
            let suits = self.state.regions.get(to.index()).is_some_and(|r| {
                r.region.mode == mode && r.pages_per_program == 1 && self.state.reaches(to, plane)
            });
            if !suits || !route.is_single() || parts.first().is_some_and(|op: &Op| op.route != route) {
                break;
            }
            let mut op = Op::new(OpKind::Program, plane, cause, class);
            (op.lpn, op.mask, op.from, op.route) = (spans[0].lpn, spans[0].mask, from, route);
            (op.owner, op.idle) = (Owner::Job(region), job.idle);
            (op.slot, op.slots, op.copies) = ((slot - page) as u8, units as u8, true);
            op.privileged =
                self.state.regions[to.index()].region.pool == self.state.regions[region.index()].region.pool;
            parts.push(op);
        }
        let whole = parts.len() == units as usize;
        if whole {
            let mut next = OpId::NONE;
            while let Some(op) = parts.pop() {
                next = self.carry(Op { chain: next, ..op });
            }
            count_collected(&mut self.state.counters, units as u64, job.why == GcReason::Due);
            self.emit(next);
        }
        whole
    }
}
