//! A page of a victim has been read: what of it lives is placed anew by the scheme and programmed there.

use crate::ftl::Ftl;
use crate::media::Media;
use crate::plan::decision::{Gather, Origin, Parcel, Place};
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use crate::state::job::Job;
use crate::state::op::{Class, Op, OpId, OpKind, Owner};
use crate::state::program_buffer::WriteStream;
use crate::view::View;
use wordline_units::{Lpn, PlaneId, Ppn, SectorMask};

impl<M: Media> Ftl<M> {
    /// A page of a victim has been read: what of it still lives finds a new home.
    pub(crate) fn relocate(&mut self, read: OpId, region: RegionId) {
        let op = &self.state.ops[read];
        let (first, plane, cause) = (op.ppn, op.plane, op.cause);
        self.state.ops.remove(read);
        let units = self.state.regions[region.index()].units_per_page;
        let end = first.0 / units * units + units;
        let Some(job) = self.state.at(region, plane).job else {
            self.internal(format!("a page of plane {plane} was read for a collection that is over"));
            return;
        };
        let class = self.job_class(region, plane, &job);
        self.brought(first);
        let mut programs = 0;
        let mut spans = std::mem::take(&mut self.scratch.live);
        // The first operation of each program, and whether its page is gathered first.
        let mut leads = [(OpId::NONE, false); 32];
        for from in first.0..end {
            let from = Ppn(from);
            self.state.map.live_in(from, &mut spans);
            if spans.is_empty() {
                continue;
            }
            let Some(place) = self.place_collected(region, &spans, plane) else { break };
            let to = place.route.region();
            let whole = place.gather == Gather::Whole;
            let target = if to.index() < self.state.regions.len() && !self.state.reaches(to, plane) {
                self.moves_to(to, place.plane, plane)
            } else if to.index() < self.state.regions.len() {
                let within = self.state.regions[to.index()].region.pool
                    == self.state.regions[region.index()].region.pool;
                let stream = if within { WriteStream::Collected } else { WriteStream::Moved };
                self.state.least_filled_plane(to, plane, stream)
            } else {
                plane
            };
            let privileged = to.index() < self.state.regions.len()
                && self.state.regions[to.index()].region.pool
                    == self.state.regions[region.index()].region.pool;
            let mut offset = 0;
            let mut last = OpId::NONE;
            for span in &spans {
                if whole && self.gathering.takes(span.lpn, from) {
                    continue;
                }
                self.state.map.prefetch(span.lpn); // for the commit
                let mut op = Op::new(OpKind::Program, target, cause, class);
                (op.lpn, op.mask, op.from, op.route) = (span.lpn, span.mask, from, place.route);
                op.owner = Owner::Job(region);
                (op.offset, op.privileged, op.idle) = (offset, privileged, job.idle);
                if self.state.map_kind().knows_sectors() {
                    offset += span.mask.count() as u8;
                }
                let id = self.carry(op);
                if whole {
                    self.state.ops[id].offset = 0;
                    leads[programs] = (id, true);
                    programs += 1;
                    continue;
                }
                if last.is_none() {
                    leads[programs] = (id, false);
                } else {
                    self.state.ops[last].chain = id;
                }
                last = id;
            }
            self.state.counters.count_collected(1, job.refreshes);
            programs += usize::from(!whole);
        }
        self.scratch.live = spans;
        if self.out.fault.is_some() {
            return;
        }
        // One page in flight has become as many programs as it had live slots, each of which ends
        // once for every part of its chain.
        let parts: u32 = leads[..programs].iter().map(|(lead, _)| self.chain_len(*lead)).sum();
        if let Some(job) = &mut self.state.at_mut(region, plane).job {
            job.inflight = job.inflight + parts - 1;
            job.window = job.window + parts - 1;
        }
        if programs == 0 {
            self.go_on(region, plane);
        }
        for (lead, gathers) in &leads[..programs] {
            if *gathers {
                self.gather_whole(*lead);
            } else {
                self.launch(*lead);
            }
        }
        // With every page in a program buffer it is the job that must read on: the end of this read steps it
        // only if nobody else reads the block, and a move out of it may wait in the same program buffer.
        if self.state.at(region, plane).job.is_some_and(|j| j.window == 0 && !j.exhausted) {
            self.step_job(region, plane);
        }
    }

    /// Where a collected page goes: the scheme says, if it can, except for pages that are not the host's.
    #[inline]
    pub(crate) fn place_collected(
        &mut self,
        region: RegionId,
        spans: &[Span],
        home: PlaneId,
    ) -> Option<Place> {
        if spans.first().is_some_and(|s| self.state.is_metadata(s.lpn)) {
            return Some(self.metadata_place());
        }
        let parcel = Parcel { origin: Origin::Collected(region), spans, home };
        let place = self.scheme.place(&parcel, &View::of(&self.state));
        (!self.has_failed("place")).then_some(place)
    }

    /// A program that takes what its source holds elsewhere.
    fn carry(&mut self, mut op: Op) -> OpId {
        let (from, lpn) = (op.from, op.lpn);
        let versions = self.stored_versions(from, lpn, op.mask);
        op.version = versions.iter().map(|(_, version)| *version).max().unwrap_or(0);
        let id = self.add_op(op);
        if versions.len() > 1 {
            self.mixed.insert(id.0, versions);
        }
        if M::BYTES {
            self.pages[id.index()] = self.ask_media(|m| m.read(from, lpn)).unwrap_or_default();
        }
        if M::METADATA {
            self.load_record(id.0, lpn, from);
        }
        id
    }

    /// The versions of sectors of a page that lie at a place; empty where media keep none.
    pub(crate) fn stored_versions(&self, ppn: Ppn, lpn: Lpn, mask: SectorMask) -> Vec<(SectorMask, u64)> {
        if !M::METADATA {
            return vec![];
        }
        if !self.state.map_kind().knows_sectors() {
            return vec![(mask, self.media.version(ppn, lpn))];
        }
        let stored = self.media.stored(ppn).into_iter().filter(|(span, _)| span.lpn == lpn);
        let mut versions: Vec<_> = stored.map(|(span, version)| (span.mask.and(mask), version)).collect();
        let before = versions.iter().fold(mask, |left, (sectors, _)| left.minus(*sectors));
        versions.push((before, 0)); // there before time 0
        versions.retain(|(sectors, _)| !sectors.is_empty());
        versions
    }

    /// The sectors of a program by their versions.
    pub(crate) fn versions_of(&self, id: OpId, mask: SectorMask, version: u64) -> Vec<(SectorMask, u64)> {
        let Some(versions) = self.mixed.get(&id.0) else { return vec![(mask, version)] };
        versions.iter().map(|(m, version)| (m.and(mask), *version)).filter(|(m, _)| !m.is_empty()).collect()
    }

    /// Copy a page of a job's block within its plane, if all of the page lives and it goes to cells of the same
    /// mode. Returns whether it does.
    pub(super) fn copy_back(
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
        let mut spans = std::mem::take(&mut self.scratch.live);
        let mut parts = std::mem::take(&mut self.scratch.parts);
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
        self.scratch.live = spans;
        let whole = parts.len() == units as usize;
        if whole {
            let mut next = OpId::NONE;
            while let Some(op) = parts.pop() {
                next = self.carry(Op { chain: next, ..op });
            }
            self.state.counters.count_collected(units as u64, job.refreshes);
            self.emit(next);
        }
        parts.clear();
        self.scratch.parts = parts;
        whole
    }

    fn chain_len(&self, lead: OpId) -> u32 {
        let mut n = 0;
        let mut part = lead;
        while !part.is_none() {
            n += 1;
            part = self.state.ops[part].chain;
        }
        n
    }
}
