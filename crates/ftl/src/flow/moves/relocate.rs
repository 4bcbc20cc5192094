//! A page of a victim has been read: the scheme places its valid sectors, which are programmed there.

use crate::flow::buffer::program_buffer::fills_program;
use crate::flow::collect::class::job_class;
use crate::flow::collect::join::lies_in_pieces;
use crate::flow::emit::add_and_emit;
use crate::flow::fail::internal;
use crate::flow::place::decide::place_collected;
use crate::flow::place::plane::moves_to;
use crate::flow::records::spare_area::carry;
use crate::layer::Layer;
use crate::plan::decision::Gather;
use crate::plan::region::RegionId;
use crate::plan::span::{SECTORS_MAX, Span, Spans};
use crate::state::blocks::job_mut;
use crate::state::blocks::superblock_members::least_filled_plane;
use crate::state::counters::count_collected;
use crate::state::job::GcReason;
use crate::state::op::{Op, OpId, Owner};
use crate::state::region::WriteStream;
use arrayvec::ArrayVec;
use wordline_counters::OpKind;
use wordline_units::{PlaneId, Ppn};

/// The programs of a page of a victim, and whether the rest of their pages is read first.
pub(crate) type Relocated = ArrayVec<(OpId, bool), SECTORS_MAX>;

/// What has become of a page of a victim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Relocation {
    /// Nothing: the run is over.
    Failed,
    /// A program, which is on its way.
    Sent,
    /// The programs of a list, which are launched next.
    Listed,
}

/// A page of a victim has been read: its valid sectors are placed, by these programs.
pub(crate) fn relocate(
    layer: &mut Layer,
    read: OpId,
    (region, plane, first): (RegionId, PlaneId, Ppn),
    relocated: &mut Relocated,
) -> Relocation {
    let cause = layer.state.ops[read].cause;
    layer.state.ops.remove(read);
    let units = layer.state.blocks.region(region).units_per_page;
    let end = if units == 1 { first.0 + 1 } else { first.0 / units * units + units };
    let Some(job) = &layer.state.blocks.at(region, plane).job else {
        internal(
            layer.state.now,
            &mut layer.out,
            format!("a page of plane {plane} was read for a collection that has ended"),
        );
        return Relocation::Failed;
    };
    let class = job_class(&layer.state, &layer.held_dies, region, plane, job);
    let (why, idle) = (job.why, job.idle);
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
        let within = to == region || layer.state.blocks.share_pool(to, region);
        let target = if to == region || layer.state.blocks.reaches(to, plane) {
            let stream = if within { WriteStream::Collected } else { WriteStream::Moved };
            let state = &mut layer.state;
            match chosen {
                Some((region, target)) if region == to => target,
                _ => {
                    let target =
                        least_filled_plane(&mut state.blocks, &state.backlog, to, plane, (stream, 1));
                    chosen = Some((to, target));
                    target
                }
            }
        } else {
            moves_to(&mut layer.state, to, place.plane, plane)
        };
        let program_of = |span: &Span, offset| {
            let mut op = Op::new(OpKind::Program, target, cause, class);
            (op.lpn, op.mask, op.from, op.route) = (span.lpn, span.mask, from, place.route);
            (op.owner, op.offset, op.privileged, op.idle) = (Owner::Job(region), offset, within, idle);
            op
        };
        count_collected(&mut layer.state.counters, 1, why == GcReason::Due);
        if units == 1
            && let [span] = spans.as_slice()
            && !whole
            && why != GcReason::Joining
            && fills_program(&layer.state, layer.state.blocks.region(to))
            && !layer.store.keeps_metadata()
        {
            add_and_emit(&mut layer.state, &mut layer.store, &mut layer.out, program_of(span, 0));
            return Relocation::Sent;
        }
        let mut offset = 0;
        let mut last = OpId::NONE;
        for span in &spans {
            let whole = whole
                || (why == GcReason::Joining
                    && lies_in_pieces(&layer.state.geometry, &mut layer.state.map, span.lpn));
            if whole && layer.gathering.takes(span.lpn, from) {
                continue;
            }
            let op = program_of(span, offset);
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
    }
    if layer.out.fault().is_some() {
        return Relocation::Failed;
    }
    // One page in flight has become as many programs as it had live slots, each of which ends
    // once for every part of its chain.
    if parts != 1
        && let Some(job) = job_mut(&mut layer.state.blocks, region, plane)
    {
        job.inflight = job.inflight + parts - 1;
        job.window = job.window + parts - 1;
    }
    Relocation::Listed
}
