//! A page of a victim has been read: the scheme places its valid sectors, which are programmed there.

use crate::ftl::Ftl;
use crate::plan::decision::Gather;
use crate::plan::region::RegionId;
use crate::plan::span::{SECTORS_MAX, Spans};
use crate::state::counters::count_collected;
use crate::state::job::GcReason;
use crate::state::op::{Op, OpId, Owner};
use crate::state::program_buffer::WriteStream;
use arrayvec::ArrayVec;
use wordline_counters::OpKind;
use wordline_units::Ppn;

/// The programs of a page of a victim, and whether the rest of their pages is read first.
pub(crate) type Relocated = ArrayVec<(OpId, bool), SECTORS_MAX>;

impl Ftl {
    /// A page of a victim has been read: its valid sectors are placed, by these programs. Returns whether the
    /// collection continues.
    pub(crate) fn relocate(&mut self, read: OpId, region: RegionId, relocated: &mut Relocated) -> bool {
        let op = &self.state.ops[read];
        let (first, plane, cause) = (op.ppn, op.plane, op.cause);
        self.state.ops.remove(read);
        let units = self.state.regions[region.index()].units_per_page;
        let end = first.0 / units * units + units;
        let Some(job) = self.state.at(region, plane).job else {
            self.internal(format!("a page of plane {plane} was read for a collection that has ended"));
            return false;
        };
        let class = self.job_class(region, plane, &job);
        let mut spans = Spans::new();
        let mut parts = 0;
        for from in first.0..end {
            let from = Ppn(from);
            self.state.map.live_in(from, &mut spans);
            if spans.is_empty() {
                continue;
            }
            let Some(place) = self.place_collected(region, &spans, plane) else { break };
            let to = place.route.region();
            let whole = place.gather == Gather::Whole;
            let pool = |region: RegionId| self.state.regions[region.index()].region.pool;
            let within = pool(to) == pool(region);
            let target = if self.state.reaches(to, plane) {
                let stream = if within { WriteStream::Collected } else { WriteStream::Moved };
                self.state.least_filled_plane(to, plane, stream)
            } else {
                self.moves_to(to, place.plane, plane)
            };
            let mut offset = 0;
            let mut last = OpId::NONE;
            for span in &spans {
                let whole = whole || (job.why == GcReason::Joining && self.lies_in_pieces(span.lpn));
                if whole && self.gathering.takes(span.lpn, from) {
                    continue;
                }
                self.state.map.prefetch(span.lpn); // for the commit
                let mut op = Op::new(OpKind::Program, target, cause, class);
                (op.lpn, op.mask, op.from, op.route) = (span.lpn, span.mask, from, place.route);
                op.owner = Owner::Job(region);
                (op.offset, op.privileged, op.idle) = (offset, within, job.idle);
                if self.state.map_kind().knows_sectors() {
                    offset += span.mask.count() as u8;
                }
                let id = self.carry(op);
                parts += 1;
                if whole {
                    self.state.ops[id].offset = 0;
                    relocated.push((id, true));
                    continue;
                }
                if last.is_none() {
                    relocated.push((id, false));
                } else {
                    self.state.ops[last].chain = id;
                }
                last = id;
            }
            count_collected(&mut self.state.counters, 1, job.why == GcReason::Due);
        }
        if self.out.fault().is_some() {
            return false;
        }
        // One page in flight has become as many programs as it had live slots, each of which ends
        // once for every part of its chain.
        if let Some(job) = &mut self.state.at_mut(region, plane).job {
            job.inflight = job.inflight + parts - 1;
            job.window = job.window + parts - 1;
        }
        true
    }
}
