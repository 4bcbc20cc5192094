//! A page of a victim has been read: the scheme places its valid sectors, which are programmed there.

use crate::flow::collect::class::job_class;
use crate::flow::collect::join::lies_in_pieces;
use crate::flow::fail::internal;
use crate::flow::place::decide::place_collected;
use crate::flow::place::plane::moves_to;
use crate::flow::records::spare_area::carry;
use crate::layer::Layer;
use crate::plan::decision::Gather;
use crate::plan::region::RegionId;
use crate::plan::span::{SECTORS_MAX, Spans};
use crate::state::blocks::job_mut;
use crate::state::blocks::superblock_members::least_filled_plane;
use crate::state::counters::count_collected;
use crate::state::job::GcReason;
use crate::state::op::{Op, OpId, Owner};
use crate::state::program_buffer::WriteStream;
use arrayvec::ArrayVec;
use wordline_counters::OpKind;
use wordline_units::Ppn;

/// The programs of a page of a victim, and whether the rest of their pages is read first.
pub(crate) type Relocated = ArrayVec<(OpId, bool), SECTORS_MAX>;

/// A page of a victim has been read: its valid sectors are placed, by these programs. Returns whether the
/// collection continues.
pub(crate) fn relocate(layer: &mut Layer, read: OpId, region: RegionId, relocated: &mut Relocated) -> bool {
    let op = &layer.state.ops[read];
    let (first, plane, cause) = (op.ppn, op.plane, op.cause);
    layer.state.ops.remove(read);
    let units = layer.state.blocks.region(region).units_per_page;
    let end = first.0 / units * units + units;
    let Some(job) = layer.state.blocks.at(region, plane).job else {
        internal(
            layer.state.now,
            &mut layer.out,
            format!("a page of plane {plane} was read for a collection that has ended"),
        );
        return false;
    };
    let class = job_class(&layer.state, &layer.held_dies, region, plane, &job);
    let mut spans = Spans::new();
    let mut parts = 0;
    // Units of one page stay together, so that at most one program of a collection is padded.
    let mut chosen = None;
    for from in first.0..end {
        let from = Ppn(from);
        layer.state.map.live_in(from, &mut spans);
        if spans.is_empty() {
            continue;
        }
        let Some(place) = place_collected(layer, region, &spans, plane) else { break };
        let to = place.route.region();
        let whole = place.gather == Gather::Whole;
        let pool = |region: RegionId| layer.state.blocks.region(region).region.pool;
        let within = pool(to) == pool(region);
        let target = if layer.state.blocks.reaches(to, plane) {
            let stream = if within { WriteStream::Collected } else { WriteStream::Moved };
            let state = &mut layer.state;
            match chosen {
                Some((region, target)) if region == to => target,
                _ => {
                    let target = least_filled_plane(&mut state.blocks, &state.backlog, to, plane, stream);
                    chosen = Some((to, target));
                    target
                }
            }
        } else {
            moves_to(&mut layer.state, to, place.plane, plane)
        };
        let mut offset = 0;
        let mut last = OpId::NONE;
        for span in &spans {
            let whole = whole
                || (job.why == GcReason::Joining
                    && lies_in_pieces(&layer.state.geometry, &mut layer.state.map, span.lpn));
            if whole && layer.gathering.takes(span.lpn, from) {
                continue;
            }
            layer.state.map.prefetch(span.lpn); // for the commit
            let mut op = Op::new(OpKind::Program, target, cause, class);
            (op.lpn, op.mask, op.from, op.route) = (span.lpn, span.mask, from, place.route);
            op.owner = Owner::Job(region);
            (op.offset, op.privileged, op.idle) = (offset, within, job.idle);
            if layer.state.map_kind().knows_sectors() {
                offset += span.mask.count() as u8;
            }
            let id = carry(&mut layer.state, &mut layer.store, &mut layer.out, op);
            parts += 1;
            if whole {
                layer.state.ops[id].offset = 0;
                relocated.push((id, true));
                continue;
            }
            if last.is_none() {
                relocated.push((id, false));
            } else {
                layer.state.ops[last].chain = id;
            }
            last = id;
        }
        count_collected(&mut layer.state.counters, 1, job.why == GcReason::Due);
    }
    if layer.out.fault().is_some() {
        return false;
    }
    // One page in flight has become as many programs as it had live slots, each of which ends
    // once for every part of its chain.
    if let Some(job) = job_mut(&mut layer.state.blocks, region, plane) {
        job.inflight = job.inflight + parts - 1;
        job.window = job.window + parts - 1;
    }
    true
}
