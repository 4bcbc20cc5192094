//! Late commit: changes of state by a completed read, program or erase, and whom they notify.

use crate::flow::next::Next;
use crate::ftl::Ftl;
use crate::plan::region::RegionId;
use crate::plan::span::Dead;
use crate::state::block::Phase;
use crate::state::op::{Op, OpId, Owner};
use crate::state::request::{Effect, Fault, Outcome};
use crate::state::wordline::wordline_of;
use wordline_counters::Cause;
use wordline_device::Recheck;
use wordline_flash::SlotClass;
use wordline_units::{BlockId, CellMode, Lpn, PlaneId, Ppn};

/// Result for a unit that was programmed.
pub(crate) struct Committed {
    pub lpn: Lpn,
    /// Whether the map has changed.
    pub is_newest: bool,
    /// Who learns of it.
    pub next: Next,
}

impl Ftl {
    /// Handle the end of a read: count it, and its errors.
    #[inline]
    pub(crate) fn read_done(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let info = &self.state.blocks[self.state.geometry.block_of(op.ppn).index()];
        let (region, mode) = (RegionId(info.region), info.mode());
        if op.to_bring.is_some() {
            return; // what the register still held was not read anew
        }
        self.state.counters.regions[region.index()].reads[op.cause as usize] += 1;
        if self.state.aging.is_modelled() {
            self.count_errors(id, mode);
        }
    }

    /// Cost of its errors for a read, and for the request that waits for it.
    #[inline(never)]
    fn count_errors(&mut self, id: OpId, mode: CellMode) {
        let mode =
            if self.array.has_windows { wordline_of(&self.state, true, &self.state.ops[id]).0 } else { mode };
        let op = &self.state.ops[id];
        if let Some(errors) = &mut self.state.counters.errors {
            errors.count(op.cause, mode, op.retries.count.into(), op.retries.failed);
        }
        self.check_after_read(id);
        let op = &self.state.ops[id];
        if op.retries.failed
            && let Some(request) = op.owner.request()
        {
            self.requests[request].outcome = Outcome::Uncorrectable;
        }
    }

    /// Handle the end of a program: count it, and notify the media.
    #[inline]
    pub(crate) fn program_done(&mut self, lead: OpId) {
        let op = &self.state.ops[lead];
        let (first, slots) = (op.ppn, op.slots);
        let block = self.state.geometry.block_of(first);
        let region = RegionId(self.state.blocks[block.index()].region);
        self.count_program(lead, region, slots);
        if self.state.regions[region.index()].region.rule.tells_types() {
            self.note_bit(lead);
        }
        if self.store.keeps_metadata() {
            let slot = self.state.geometry.slot_of(first);
            let header = self.header(block);
            self.ask_media(|m| m.programmed(block, slot..slot + slots as u32, header));
        }
    }

    /// All parts of a program are on flash: its block may be full, and may be a victim.
    #[inline]
    pub(crate) fn leave_block(&mut self, block: BlockId) {
        let plane = self.state.geometry.plane_of(block);
        self.state.planes.changed(plane);
        let info = &mut self.state.blocks[block.index()];
        info.writers -= 1;
        if info.is_listed() {
            let region = RegionId(info.region);
            self.state.list(region, plane, block);
            self.collect_for_waiting(region, plane);
        }
    }

    /// A request is as slow as the slowest page type that it gets.
    fn note_bit(&mut self, lead: OpId) {
        let bit = wordline_of(&self.state, self.array.has_windows, &self.state.ops[lead]).1 as u8 + 1;
        let mut part = lead;
        while !part.is_none() {
            let op = &self.state.ops[part];
            self.requests.note_bit(part, op.owner.request(), bit);
            part = self.state.ops[part].chain;
        }
    }

    /// Bytes and pages of a program, by cause; unwritten parts are padding.
    fn count_program(&mut self, lead: OpId, region: RegionId, slots: u8) {
        let g = &self.state.geometry;
        let units_per_page = self.state.regions[region.index()].units_per_page as u8;
        let (sector, unit) = (g.sector, g.unit);
        let counters = &mut self.state.counters.regions[region.index()];
        let class = self.state.ops[lead].bound_class;
        let apart = matches!(class, SlotClass::Slc | SlotClass::Reprogram);
        let before = apart.then_some((counters.program_bytes, counters.program_pages));
        let (mut used, mut idle_gc) = (0, 0);
        let mut page = u8::MAX;
        let mut part = lead;
        if self.state.ops[lead].owner == Owner::Parity {
            let pages = slots / units_per_page;
            counters.program_pages[Cause::Parity as usize] += u64::from(pages);
            used = u64::from(slots) * unit;
            counters.program_bytes[Cause::Parity as usize] += used;
            (part, page) = (OpId::NONE, pages - 1);
        }
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
        counters.ops.program_operations += 1;
        counters.ops.copy_backs += self.state.ops[lead].copies as u64;
        let pages = slots / units_per_page;
        counters.program_pages[Cause::Pad as usize] += (pages - 1 - page) as u64;
        counters.program_bytes[Cause::Pad as usize] += slots as u64 * unit - used;
        self.state.counters.idle_gc_bytes += idle_gc;
        let Some(before) = before else { return };
        let counters = &mut self.state.counters.regions[region.index()];
        let some = if class == SlotClass::Slc { &mut counters.as_slc } else { &mut counters.reprogrammed };
        for cause in 0..Cause::COUNT {
            some.bytes[cause] += counters.program_bytes[cause] - before.0[cause];
            some.pages[cause] += counters.program_pages[cause] - before.1[cause];
        }
    }

    /// A unit has been programmed: it becomes the current copy of its sectors unless newer ones exist; `dead` gets
    /// what that invalidated. Returns nothing if the drive has stopped, with this program still in flight.
    #[inline]
    pub(crate) fn commit(&mut self, part: OpId, ppn: Ppn, dead: &mut Dead) -> Option<Committed> {
        let op = &self.state.ops[part];
        let Op { from, stage, version, owner, idle, in_window, .. } = *op;
        let (span, is_idle_gc) = (op.span(), idle && op.cause == Cause::Gc);
        if self.store.keeps_metadata() && !self.store_unit(part, span, version, ppn) {
            return None;
        }
        dead.clear();
        let keep = if from.is_none() {
            let staged = self.state.staging.get(stage);
            let keep = if owner == Owner::Nobody {
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
                self.state.idle_gc_copies.copied(from, ppn, is_idle_gc);
            }
            keep
        };
        if keep.is_empty() {
            self.state.counters.born_invalid += 1;
        } else {
            self.state.add_live(self.state.geometry.block_of(ppn), self.state.map.weight(keep));
        }
        let next = match owner {
            Owner::Job(region) => {
                Next::PageOver { region, plane: self.state.geometry.plane_at(from), in_window }
            }
            Owner::Move(waits) => Next::MoveOver { lpn: span.lpn, from, idle, waits },
            _ => Next::Settled(part),
        };
        if !matches!(next, Next::Settled(_)) {
            self.state.ops.remove(part);
        }
        Some(Committed { lpn: span.lpn, is_newest: !keep.is_empty(), next })
    }

    /// A block has been erased: its job ends, and it returns to its pool with the others of its superblock.
    pub(crate) fn erase_done(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let (ppn, plane) = (op.ppn, op.plane);
        let block = self.state.geometry.block_of(ppn);
        if self.store.keeps_metadata() {
            self.hold_trims_of(block);
            let slot_shift = self.state.geometry.slot_shift;
            if self.ask_media(|store| store.erase(block, slot_shift)).is_none() {
                return;
            }
        }
        self.state.ops.remove(id);
        let info = &self.state.blocks[block.index()];
        let (region, mode) = (RegionId(info.region), info.mode());
        let retires = self.state.wear_by_erase(block, mode);
        self.state.counters.erases[mode.index()] += 1;
        self.watch_progress();
        self.state.counters.regions[region.index()].counts.erases += 1;
        self.state.map.erase(block);
        if self.store.keeps_metadata() && self.state.wear.spec.acceleration > 1 {
            let erases = self.state.blocks[block.index()].erases;
            self.ask_media(|m| m.wear(block, erases));
        }
        self.state.wear.lost.retired += retires as u32;
        self.end_job(region, plane);
        self.state.refreshing.forget(block);
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

    /// One more block has been erased: the run ends if that is too many for the progress of the host.
    fn watch_progress(&mut self) {
        let counters = &self.state.counters;
        let come = counters.program_bytes(Cause::Host) + counters.host_requests.iter().sum::<u64>();
        let Some(erases) = self.progress.erased(come) else { return };
        let (time, left) = (self.state.now, self.inspect().leftovers());
        self.out.fail(|| Fault::NoProgress { erases, time, left });
    }

    /// Return a block to its pool, or retire it.
    fn give_back(&mut self, region: RegionId, plane: PlaneId, block: BlockId, retires: bool) {
        self.state.blocks[block.index()].phase = if retires { Phase::Retired } else { Phase::Free };
        let local = self.state.local(region, plane);
        let pool = self.state.regions[region.index()].region.pool;
        self.state.change_pool(pool, plane, |state| {
            let (blocks, pool) = (&state.blocks, &mut state.pools[pool.0 as usize]);
            if retires {
                pool.free[local].lose_worn();
            } else {
                pool.free[local].put_back(block, pool.order, |b| blocks[b as usize].erases);
            }
            state.regions[region.index()].planes[local].owned -= 1;
        });
        self.state.planes.changed(plane);
        self.state.planes.wake_gc(plane);
        self.state.planes.wake_programs(plane);
        self.out.ask(Effect::Wake(plane));
        for other in (0..self.state.regions.len() as u8).map(RegionId) {
            let again = self.state.gc.recheck == Recheck::Erase;
            if self.state.reaches(other, plane) && (again || self.state.is_at_hard_reserve(other, plane)) {
                self.collect_if_short(other, plane);
            }
        }
        self.level(pool, plane);
        self.refresh(plane);
    }
}
