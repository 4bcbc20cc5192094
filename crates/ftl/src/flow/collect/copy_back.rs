//! Copy-back: pages of a victim that their die copies internally, without the bus.

use crate::flow::collect::class::job_cause;
use crate::flow::emit::emit;
use crate::flow::place::decide::place_collected;
use crate::flow::records::spare_area::carry;
use crate::layer::Layer;
use crate::plan::decision::Place;
use crate::plan::region::RegionId;
use crate::plan::span::Spans;
use crate::state::counters::count_collected;
use crate::state::job::{GcReason, Job};
use crate::state::op::{Class, Op, OpId, Owner};
use smallvec::SmallVec;
use wordline_counters::OpKind;
use wordline_units::PlaneId;

/// Copy a page of a job's block within its plane, if the whole page is valid and the target cells have the
/// same mode. Returns whether it does.
pub(crate) fn copy_back(
    layer: &mut Layer,
    region: RegionId,
    plane: PlaneId,
    job: &Job,
    page: u32,
    class: Class,
) -> bool {
    let r = &layer.state.blocks.region(region);
    let (mode, units) = (r.region.mode, r.units_per_page);
    let cause = job_cause(&layer.state.blocks, &layer.seat, region);
    let mut spans = Spans::new();
    let mut parts: SmallVec<[Op; 1]> = SmallVec::new();
    for slot in page..page + units {
        let from = layer.state.geometry.ppn(job.block, slot);
        layer.state.map.live_in(from, &mut spans);
        let Some(span) = spans.first() else { break };
        layer.state.map.prefetch(span.lpn); // for the commit
        let Some(Place { route, .. }) = place_collected(layer, region, &spans, plane) else { break };
        let to = route.region();
        let suits = layer.state.blocks.regions().get(to.index()).is_some_and(|r| {
            r.region.mode == mode && r.pages_per_program == 1 && layer.state.blocks.reaches(to, plane)
        });
        if !suits || !route.is_single() || parts.first().is_some_and(|op: &Op| op.route != route) {
            break;
        }
        let mut op = Op::new(OpKind::Program, plane, cause, class);
        (op.lpn, op.mask, op.from, op.route) = (spans[0].lpn, spans[0].mask, from, route);
        (op.owner, op.idle) = (Owner::Job(region), job.idle);
        (op.slot, op.slots, op.copies) = ((slot - page) as u8, units as u8, true);
        op.privileged =
            layer.state.blocks.region(to).region.pool == layer.state.blocks.region(region).region.pool;
        parts.push(op);
    }
    let whole = parts.len() == units as usize;
    if whole {
        let mut next = OpId::NONE;
        while let Some(op) = parts.pop() {
            next = carry(&mut layer.state, &mut layer.store, &mut layer.out, Op { chain: next, ..op });
        }
        count_collected(&mut layer.state.counters, units as u64, job.why == GcReason::Due);
        emit(&mut layer.state, &mut layer.out, next);
    }
    whole
}
