//! Committed late: what a completed read, program or erase changes, and who learns of it.

use crate::ftl::Ftl;
use crate::media::{BlockHeader, Media, Oob};
use crate::plan::decision::ReadSeen;
use crate::plan::layout::Hooks;
use crate::plan::region::RegionId;
use crate::plan::span::{Invalidated, Span};
use crate::state::block::Phase;
use crate::state::cause::Cause;
use crate::state::latency::LatencyBreakdown;
use crate::state::op::{NONE, Op, OpId, OpKind, Owner};
use crate::state::request::{Effect, Outcome};
use crate::view::View;
use wordline_device::Recheck;
use wordline_flash::SlotClass;
use wordline_units::{BlockId, CellMode, PlaneId, Ppn, SectorMask};

impl<M: Media> Ftl<M> {
    /// A host program is over, committed or not.
    pub(crate) fn settle(&mut self, part: OpId) {
        let (stage, version, host) = {
            let op = &self.state.ops[part];
            (op.stage, op.version, op.owner.is_host())
        };
        if stage != NONE && self.state.staging.settle(stage) {
            if let Some(b) = &mut self.write_buffer {
                b.remove(stage);
            }
            if M::BYTES {
                *self.staged_page(stage) = M::Page::default();
            }
        }
        self.begin_ending(part);
        self.notify(part);
        self.end_ending();
        if host {
            self.requests.unsettled -= 1;
            self.state.buffered -= u64::from(self.ack.is_buffer());
            if !self.requests.flushes.is_empty() {
                for request in self.requests.settle(version) {
                    self.part_done(request);
                }
            }
        }
        self.state.ops.remove(part);
    }

    /// What the last change of the map left dead.
    #[inline]
    pub(crate) fn invalidate_dead(&mut self) {
        let mut dead = std::mem::take(&mut self.scratch.dead);
        self.invalidate(&dead);
        dead.clear();
        self.scratch.dead = dead;
    }

    /// Sectors have died at places. All are off the map already, so all are off their blocks before any
    /// collection begins that finds them gone.
    #[inline]
    pub(crate) fn invalidate(&mut self, dead: &[Invalidated]) {
        let mut programs_blocked = false;
        for invalidated in dead {
            programs_blocked |= self.take_off_block(*invalidated);
        }
        if programs_blocked {
            self.collect_for_blocked(dead);
        }
    }

    /// Sectors of a block live no more. Returns whether its plane waits for space that it may give now.
    #[inline]
    fn take_off_block(&mut self, invalidated: Invalidated) -> bool {
        let block = self.state.geometry.block_of(invalidated.ppn);
        self.state.take_live(block, invalidated.sectors);
        let info = &self.state.blocks[block.index()];
        if info.is_listed() {
            let region = RegionId(info.region);
            let plane = self.state.geometry.plane_of(block);
            if self.state.has_superblocks(region) {
                self.state.lower_superblock(region, plane, block, invalidated.sectors);
            } else {
                let (position, relocation_cost) =
                    (self.state.position(region, plane, block), self.state.relocation_cost(block));
                self.state.at_mut(region, plane).victims.lower(position, relocation_cost);
            }
            return self.state.programs_blocked[plane.index()];
        }
        false
    }

    /// An operation has ended, and has been through `breakdown` where a host request waits for it.
    #[inline]
    pub fn done(&mut self, id: OpId, breakdown: LatencyBreakdown) {
        self.breakdown = breakdown;
        self.end(id);
        self.breakdown.queued = LatencyBreakdown::NONE.queued;
    }

    #[inline(always)]
    fn end(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let kind = op.kind;
        self.state.backlog.take(op.plane, kind);
        if self.state.counters.energy.is_some() {
            self.count_energy(id);
        }
        match kind {
            OpKind::Read => self.read_done(id),
            OpKind::Program => self.program_done(id),
            OpKind::Erase => self.erase_done(id),
        }
    }

    #[inline]
    fn read_done(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let (ppn, owner, cause, mask) = (op.ppn, op.owner, op.cause, op.mask);
        let block = self.state.geometry.block_of(ppn);
        let info = &self.state.blocks[block.index()];
        let (region, mode) = (RegionId(info.region), info.mode());
        // What the register still held was not read anew.
        self.state.counters.regions[region.index()].reads[cause as usize] += op.to_bring.is_none() as u64;
        let retries = op.retries;
        if self.state.aging.is_modelled() && op.to_bring.is_none() {
            self.count_errors(id, mode);
        }
        match owner {
            Owner::Request(request) => {
                if M::BYTES {
                    self.deliver_read(request, id);
                }
                let mut seen = std::mem::take(&mut self.scratch.seen);
                if self.enabled_hooks.contains(Hooks::READ) && !retries.failed {
                    let all = SectorMask::first(self.state.geometry.sectors_per_unit);
                    let mut part = id;
                    while !part.is_none() {
                        let Op { lpn, ppn, mask, chain, .. } = self.state.ops[part];
                        let retries = retries.count;
                        seen.push((ReadSeen { lpn, ppn, mode, retries }, mask.and(all)));
                        part = chain;
                    }
                }
                if self.read_cache.is_on() && !retries.failed {
                    self.cache_read(id);
                }
                self.drop_chain(id);
                self.begin_ending(id);
                self.part_done(request);
                self.end_ending();
                for (seen, brought) in seen.drain(..) {
                    let view = View::of(&self.state);
                    let m = self.scheme.read(&seen, &view);
                    if let (Some(m), false) = (m, self.has_failed("read")) {
                        self.move_on(m, seen.ppn, brought);
                    }
                }
                self.scratch.seen = seen;
            }
            Owner::Rmw(program) => {
                self.state.ops.remove(id);
                self.fill(program, mask, ppn);
            }
            Owner::Job(region) => self.relocate(id, region),
            Owner::Gather => self.gather_read_done(id),
            Owner::Move(waits) => self.finish_move_read(id, waits),
            Owner::Rewrite(unit) => self.rewrite_read_done(id, unit),
            Owner::Map => {
                let lpn = self.state.ops[id].lpn;
                self.state.ops.remove(id);
                self.map_page_read(lpn);
            }
            Owner::Nobody | Owner::Answered => self.state.ops.remove(id),
        }
        self.unpin(block);
        self.refresh(self.state.geometry.plane_of(block));
    }

    /// What its errors have cost a read, and the request that waits for it.
    #[inline(never)]
    fn count_errors(&mut self, id: OpId, mode: CellMode) {
        let mode = if self.array.has_windows { self.page_of(id).0 } else { mode };
        let op = &self.state.ops[id];
        if let Some(errors) = &mut self.state.counters.errors {
            errors.count(op.cause, mode, op.retries);
        }
        self.check_after_read(id);
        let op = &self.state.ops[id];
        if op.retries.failed
            && let Some(request) = op.owner.request()
        {
            self.requests[request].outcome = Outcome::Uncorrectable;
        }
    }

    /// A read of a block has ended, or a move out of it: the block may be erased if it was the last.
    #[inline]
    pub(crate) fn unpin(&mut self, block: BlockId) {
        let info = &mut self.state.blocks[block.index()];
        info.readers -= 1;
        if info.readers == 0 && info.phase == Phase::Collecting {
            let region = RegionId(info.region);
            self.step_job(region, self.state.geometry.plane_of(block));
        }
    }

    pub(crate) fn drop_chain(&mut self, lead: OpId) {
        let mut part = lead;
        while !part.is_none() {
            let next = self.state.ops[part].chain;
            self.state.ops.remove(part);
            part = next;
        }
    }

    #[inline]
    fn program_done(&mut self, lead: OpId) {
        let op = &self.state.ops[lead];
        let (first, plane, slots) = (op.ppn, op.plane, op.slots);
        let block = self.state.geometry.block_of(first);
        let region = RegionId(self.state.blocks[block.index()].region);
        self.count_program(lead, region, slots);
        if self.state.regions[region.index()].region.rule.tells_types() {
            self.note_bit(lead);
        }
        if M::METADATA {
            let slot = self.state.geometry.slot_of(first);
            let header = self.header(block);
            self.ask_media(|m| m.programmed(block, slot..slot + slots as u32, header));
        }
        let mut part = lead;
        while !part.is_none() {
            let next = self.state.ops[part].chain;
            let ppn = Ppn(first.0 + self.state.ops[part].slot as u32);
            self.commit(part, ppn);
            part = next;
        }
        if M::METADATA && self.out.fault.is_some() {
            return;
        }
        let info = &mut self.state.blocks[block.index()];
        info.writers -= 1;
        if info.is_listed() {
            self.state.list(region, plane, block);
            if self.state.programs_blocked[plane.index()] {
                self.collect_for(region, plane);
            } else {
                self.collect_if_short(region, plane);
            }
        }
    }

    /// Requests are as slow as the slowest type of page that they get.
    fn note_bit(&mut self, lead: OpId) {
        let bit = self.page_of(lead).1 as u8 + 1;
        let mut part = lead;
        while !part.is_none() {
            let op = &self.state.ops[part];
            self.requests.note_bit(part, op.owner.request(), bit);
            part = self.state.ops[part].chain;
        }
    }

    /// Bytes and pages of a program, by cause; what it wrote nothing into is padding.
    fn count_program(&mut self, lead: OpId, region: RegionId, slots: u8) {
        let g = &self.state.geometry;
        let units_per_page = self.state.regions[region.index()].units_per_page as u8;
        let (sector, unit) = (g.sector, g.unit);
        let counters = &mut self.state.counters.regions[region.index()];
        let before = (counters.program_bytes, counters.program_pages);
        let (mut used, mut idle_gc) = (0, 0);
        let mut page = u8::MAX;
        let mut part = lead;
        while !part.is_none() {
            let op = &self.state.ops[part];
            let bytes = op.mask.count() as u64 * sector;
            idle_gc += if op.idle && op.cause == Cause::Gc { bytes } else { 0 };
            counters.program_bytes[op.cause as usize] += bytes;
            used += bytes;
            if op.slot / units_per_page != page {
                page = op.slot / units_per_page;
                counters.program_pages[op.cause as usize] += 1;
            }
            part = op.chain;
        }
        counters.program_ops += 1;
        counters.copy_backs += self.state.ops[lead].copies as u64;
        let pages = slots / units_per_page;
        counters.program_pages[Cause::Pad as usize] += (pages - 1 - page) as u64;
        counters.program_bytes[Cause::Pad as usize] += slots as u64 * unit - used;
        self.state.counters.idle_gc_bytes += idle_gc;
        let counters = &mut self.state.counters.regions[region.index()];
        let some = match self.state.ops[lead].bound_class {
            SlotClass::Slc => &mut counters.as_slc,
            SlotClass::Reprogram => &mut counters.reprogrammed,
            _ => return,
        };
        for cause in 0..Cause::COUNT {
            some.bytes[cause] += counters.program_bytes[cause] - before.0[cause];
            some.pages[cause] += counters.program_pages[cause] - before.1[cause];
        }
    }

    /// A unit has been programmed: it becomes the home of its sectors unless something newer has.
    #[inline]
    fn commit(&mut self, part: OpId, ppn: Ppn) {
        let op = &self.state.ops[part];
        let (span, from, stage, version) = (op.span(), op.from, op.stage, op.version);
        let has_moved = op.owner == Owner::Nobody;
        if M::METADATA && !self.store(part, span, version, ppn) {
            return; // the drive has stopped, with this program still on its way
        }
        let dead = &mut self.scratch.dead;
        let keep = if from.is_none() {
            let staged = self.state.staging.get(stage);
            let keep = if has_moved {
                staged.commit_relocation(part)
            } else {
                let keep = staged.current(span.mask, version);
                if !keep.is_empty() {
                    staged.commit(keep, version);
                }
                keep
            };
            if !keep.is_empty() {
                self.state.map.install(span, keep, ppn, dead);
                self.state.counters.premature_units += self.state.idle_gc_copies.premature(dead);
            }
            keep
        } else {
            let keep = self.state.map.relocate(span, from, ppn, dead);
            if !keep.is_empty() {
                let op = &self.state.ops[part];
                self.state.idle_gc_copies.copied(from, ppn, op.idle && op.cause == Cause::Gc);
            }
            keep
        };
        if keep.is_empty() {
            self.state.counters.born_invalid += 1;
        } else {
            self.state.add_live(self.state.geometry.block_of(ppn), self.state.map.weight(keep));
            self.invalidate_dead();
            self.note_map_change(span.lpn);
        }
        let op = &self.state.ops[part];
        match op.owner {
            Owner::Job(region) => {
                let in_window = op.in_window;
                let plane = self.plane_of(from);
                self.state.ops.remove(part);
                self.job_page_over(region, plane, in_window);
            }
            Owner::Move(waits) => {
                let idle = op.idle;
                self.state.ops.remove(part);
                self.end_move(span.lpn, from, idle, waits);
            }
            _ => {
                let cause = op.cause;
                if cause == Cause::Metadata {
                    self.metadata_programmed(span.lpn, version);
                }
                self.settle(part);
                // One that collection moved by way of RAM, too.
                if cause != Cause::Host && self.state.is_metadata(span.lpn) {
                    self.metadata_over(span.lpn);
                }
            }
        }
    }

    /// A unit is on flash, with what its spare area says. Returns whether the media have stored it.
    fn store(&mut self, part: OpId, span: Span, version: u64, ppn: Ppn) -> bool {
        self.sequence += 1;
        if self.state.trims.is_void(part.0, span, version) {
            return self.out.fault.is_none();
        }
        let page = if M::BYTES { self.pages[part.index()].clone() } else { M::Page::default() };
        for (mask, version) in self.versions_of(part, span.mask, version) {
            let oob = Oob { span: Span { mask, ..span }, version, sequence: self.sequence };
            if self.ask_media(|m| m.program(ppn, oob, page.clone())).is_none() {
                return false;
            }
        }
        if M::BYTES {
            self.pages[part.index()] = M::Page::default();
        }
        self.mixed.remove(&part.0);
        self.store_record(part.0, span.lpn, ppn)
    }

    fn erase_done(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let (ppn, plane) = (op.ppn, op.plane);
        let block = self.state.geometry.block_of(ppn);
        if M::METADATA {
            self.hold_trims_of(block);
        }
        let slot_shift = self.state.geometry.slot_shift;
        if self.ask_media(|m| m.erase(block, slot_shift)).is_none() {
            return;
        }
        self.state.ops.remove(id);
        let info = &self.state.blocks[block.index()];
        let (region, mode) = (RegionId(info.region), info.mode());
        let retires = self.state.wear_by_erase(block, mode);
        self.state.counters.erases[mode.index()] += 1;
        self.state.counters.regions[region.index()].erases += 1;
        self.state.map.erase(block);
        if M::METADATA && self.state.wear.spec.acceleration > 1 {
            let erases = self.state.blocks[block.index()].erases;
            self.ask_media(|m| m.wear(block, erases));
        }
        self.state.wear.retired += retires as u32;
        self.end_job(region, plane);
        self.state.refreshing.erased(block);
        let members = self.state.members(region, plane, block);
        if members.clone().any(|(p, b)| self.state.is_emptied(region, p, b)) {
            return; // the erases of others have not ended
        }
        if members.clone().all(|(_, b)| self.state.blocks[b.index()].phase == Phase::Erasing) {
            members.for_each(|(p, b)| self.give_back(region, p, b, retires));
        } else {
            self.open_again(region, members);
        }
    }

    /// A block goes back to its pool, or is lost.
    fn give_back(&mut self, region: RegionId, plane: PlaneId, block: BlockId, retires: bool) {
        self.state.blocks[block.index()].phase = if retires { Phase::Retired } else { Phase::Free };
        let local = self.state.local(region, plane);
        let pool = self.state.regions[region.index()].region.pool;
        self.state.change_pool(pool, plane, |state| {
            let (blocks, pool) = (&state.blocks, &mut state.pools[pool.0 as usize]);
            if retires {
                pool.free[local].lost += 1;
            } else {
                pool.free[local].put_back(block, pool.order, |b| blocks[b as usize].erases);
            }
            state.regions[region.index()].planes[local].owned -= 1;
        });
        self.state.gc_blocked[plane.index()] = false;
        self.state.programs_blocked[plane.index()] = false; // until one of those that wake now is blocked again
        self.out.effects.push(Effect::Wake(plane));
        for other in (0..self.state.regions.len() as u8).map(RegionId) {
            let again = self.state.gc.recheck == Recheck::Erase;
            if self.state.reaches(other, plane) && (again || self.state.is_at_hard_reserve(other, plane)) {
                self.collect_if_short(other, plane);
            }
        }
        self.level(pool, plane);
        self.refresh(plane);
    }

    /// What the first program of a block writes beside its data.
    pub(crate) fn header(&self, block: BlockId) -> BlockHeader {
        let info = &self.state.blocks[block.index()];
        BlockHeader {
            region: RegionId(info.region),
            mode: info.mode(),
            erases: info.erases,
            opened: self.sequence + 1,
        }
    }
}
