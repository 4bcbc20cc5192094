//! Gathers pages that collection wants whole: a page that is partly in a victim is read from all its places,
//! moved to protected RAM, and programmed as one. A place that holds parts of several such pages is read once
//! for all of them.

use crate::ftl::Ftl;
use crate::media::page::PageData;
use crate::plan::span::{Dead, Places, Span, Spans};
use crate::state::op::{Op, OpId, Owner};
use smallvec::SmallVec;
use wordline_counters::OpKind;
use wordline_units::{Ppn, SectorMask};

impl Ftl {
    /// Gather a collected page: read its parts that are elsewhere. No place that it is read from is erased
    /// before it has left all of them.
    pub(crate) fn gather_whole(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let (lpn, from) = (op.lpn, op.from);
        let mut places = Places::new();
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        self.state.map.resolve(lpn, all, &mut places);
        let others: SmallVec<[Ppn; 4]> = places.iter().map(|at| at.ppn).filter(|ppn| *ppn != from).collect();
        self.state.ops[id].awaits = others.len() as u32;
        if let Some(more) = places.len().checked_sub(1) {
            self.state.counters.places.gathered[more.min(3)] += 1;
        }
        self.gathering.begin(id, lpn, places);
        for ppn in &others {
            self.state.blocks[self.state.geometry.block_of(*ppn).index()].readers += 1;
            if !self.gathering.wait(id, *ppn) {
                self.read_for(id, *ppn);
            }
        }
        if others.is_empty() {
            self.gathered(id);
        }
    }

    /// Read a place for a page that is gathered. A place in the victim itself is read for everything that
    /// moves from it.
    fn read_for(&mut self, id: OpId, ppn: Ppn) {
        self.gathering.read_for(id, ppn);
        let mut spans = Spans::new();
        self.state.map.live_in(ppn, &mut spans);
        let sectors = spans.iter().map(|span| span.mask.count()).sum();
        let op = &self.state.ops[id];
        let Owner::Job(region) = op.owner else { return };
        let (from, idle) = (op.from, op.idle);
        let block = self.state.geometry.block_of(ppn);
        let plane = self.state.geometry.plane_of(block);
        let mut read = Op::new(OpKind::Read, plane, op.cause, op.class);
        (read.lpn, read.ppn, read.mask) = (op.lpn, ppn, SectorMask::first(sectors));
        (read.owner, read.idle) = (Owner::Gather, idle);
        let one_a_page = self.state.regions[region.index()].units_per_page == 1;
        let at = self.state.geometry.plane_at(from);
        if let Some(job) = &mut self.state.at_mut(region, at).job
            && job.block == block
            && one_a_page
        {
            job.inflight += 1;
            job.window += 1;
            read.owner = Owner::Job(region);
            self.gathering.read_early(ppn);
        }
        self.state.blocks[block.index()].readers += 1;
        let read = self.add_op(read);
        self.emit(read);
    }

    /// Handle the end of the read of a place, for all pages that waited for it.
    #[inline]
    pub(crate) fn on_page_read(&mut self, ppn: Ppn) {
        if !self.gathering.is_waiting() {
            return;
        }
        for id in self.gathering.take_waiting(ppn) {
            let left = &mut self.state.ops[id].awaits;
            *left -= 1;
            if *left == 0 {
                self.gathered(id);
            }
        }
    }

    /// Handle the end of gathering: what is still where it was read moves to protected RAM, and is programmed
    /// as one page. Sectors overwritten or moved meanwhile are excluded.
    fn gathered(&mut self, id: OpId) {
        let (lpn, from, owner) = {
            let op = &self.state.ops[id];
            (op.lpn, op.from, op.owner)
        };
        let places = self.gathering.end(id, lpn);
        let plane = self.state.geometry.plane_at(from);
        let stage = self.state.staging.enter(lpn);
        self.state.staging.get(stage).add_program();
        let (mut whole, mut versions) = (SectorMask::EMPTY, vec![]);
        let mut dead = Dead::new();
        for at in &places {
            let there = self.state.map.still_at(Span { lpn, mask: at.mask, offset: 0 }, at.ppn);
            let mut page = PageData::default();
            if self.store.keeps_bytes() && !there.is_empty() {
                let Some(found) = self.ask_media(|m| m.read(at.ppn, lpn)) else { return };
                page = found;
            }
            self.state.map.unmap(lpn, there, &mut dead);
            let found = self.store.stored_versions(at.ppn, lpn, there);
            for (mask, version) in &found {
                self.store.protect(lpn, *mask, *version, &page);
            }
            versions.extend(found);
            let entry = self.state.staging.get(stage);
            let older = entry.take_in(there);
            entry.begin_relocation(id, there);
            if self.store.keeps_bytes() && !there.is_empty() {
                self.store.add(id, &page, there);
                self.store.stage(stage, &page, older);
            }
            whole = whole.union(there);
        }
        self.invalidate(&dead);
        let op = &mut self.state.ops[id];
        (op.mask, op.stage, op.from) = (whole, stage, Ppn::NONE);
        (op.owner, op.version) = (Owner::Nobody, versions.iter().map(|v| v.1).max().unwrap_or(0));
        self.store.set_versions(id, versions);
        if whole.is_empty() {
            self.settle(id);
        } else {
            self.launch(id);
        }
        if let Owner::Job(region) = owner {
            self.job_page_over(region, plane, true);
        }
        for at in places.iter().filter(|at| at.ppn != from) {
            self.unpin(self.state.geometry.block_of(at.ppn));
        }
    }
}
