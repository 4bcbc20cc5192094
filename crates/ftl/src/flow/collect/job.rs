//! A collection from its start to its erase: valid pages of the victim are read, placed by the scheme,
//! programmed, and committed only if no newer data have been written; then the block is erased. A job is a
//! cursor and two counts, and takes its next page from the bitmap of valid pages only when it is ready for it,
//! so that pages invalidated meanwhile are never read.

use crate::ftl::Ftl;
use crate::plan::decision::Grain;
use crate::plan::layout::IdleHold;
use crate::plan::map_kind::MapKind;
use crate::plan::region::RegionId;
use crate::state::block::Phase;
use crate::state::job::{GcReason, Job};
use crate::state::op::{Class, Op, Owner};
use crate::state::without_effect::WithoutEffect;
use wordline_counters::{Cause, OpKind};
use wordline_device::GcClass;
use wordline_units::{BlockId, PlaneId};

impl Ftl {
    /// Begin to empty a block. Returns whether there was one.
    pub(crate) fn begin_job(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        block: Option<BlockId>,
        why: GcReason,
    ) -> bool {
        self.try_job(region, plane, block, why).is_ok()
    }

    /// Like it, for a block that a scheme has requested.
    pub(crate) fn begin_asked_job(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        block: Option<BlockId>,
        why: GcReason,
    ) -> bool {
        let began = self.try_job(region, plane, block, why);
        if let Err(Some(why_not)) = began {
            self.state.counters.without_effect.count(why_not);
        }
        began.is_ok()
    }

    /// Start to empty a block, or return why not: the request is invalid, or the drive is worn out.
    fn try_job(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        block: Option<BlockId>,
        why: GcReason,
    ) -> Result<(), Option<WithoutEffect>> {
        let idle = matches!(why, GcReason::Idleness(_));
        if region.index() >= self.state.regions.len() || !self.state.reaches(region, plane) {
            let what = format!("collect region {} in plane {plane}", region.0);
            self.illegal(what, "the region has no blocks in that plane".into());
            return Err(None);
        }
        let mut together = self.state.superblock_planes(region, plane).map(PlaneId);
        if together.any(|p| self.state.at(region, p).job.is_some()) {
            return Err(Some(WithoutEffect::CollectAlreadyUnderWay));
        }
        if self.state.wear.over.is_some() {
            return Err(None);
        }
        let Some(victim) = block.or_else(|| self.state.best_victim(region, plane)) else {
            return Err(Some(WithoutEffect::CollectNoVictim));
        };
        let info = self.state.blocks[victim.index()];
        let eligible = || {
            let closes = why != GcReason::Shortage && info.phase == Phase::Open;
            closes || self.state.is_victim(region, plane, victim)
        };
        if block.is_some()
            && (self.state.geometry.plane_of(victim) != plane || info.region != region.0 || !eligible())
        {
            let state = format!("block {victim} is {:?} in region {}", info.phase, info.region);
            self.illegal(format!("collect block {victim} from region {}", region.0), state);
            return Err(None);
        }
        if info.writers > 0 {
            // A frontier, whose last program is still under way.
            return Err(Some(WithoutEffect::CollectStillWritten));
        }
        if self.state.has_superblocks(region) && !self.state.is_victim(region, plane, victim) {
            // Other blocks of it are still being written.
            return Err(Some(WithoutEffect::CollectStillWritten));
        }
        // Moving a block that is live nearly throughout gains nothing where its pages come back to the
        // same pool; a cache passes them on.
        let wanted = matches!(why, GcReason::Levelling | GcReason::Due | GcReason::Joining);
        if !wanted && !self.state.gains(region, victim) && !self.evicts(region, plane, victim) {
            return Err(Some(WithoutEffect::CollectGainsNothing));
        }
        let die = self.state.geometry.die_of(plane);
        let held = match why {
            GcReason::Idleness(grain) => grain == Grain::Block,
            GcReason::Shortage => self.state.gc.class == GcClass::Foreground,
            GcReason::Levelling | GcReason::Due | GcReason::Joining => false,
        };
        if idle && held && self.has_job(die) {
            // It might need what the holder would lock out.
            return Err(Some(WithoutEffect::CollectDieBusy));
        }
        if idle {
            self.begin_idle_work(die);
        }
        if info.is_open() {
            self.close(region, plane, victim);
        }
        self.state.unlist(region, plane, victim);
        let members = self.state.members(region, plane, victim);
        for (plane, block) in members.clone() {
            if held {
                self.hold(plane);
            }
            self.state.at_mut(region, plane).job = Some(Job {
                block,
                cursor: 0,
                inflight: 0,
                window: 0,
                exhausted: false,
                erasing: false,
                idle,
                granted: true,
                held,
                given_up: false,
                why,
                paces: self.requests.pace_mut().begin(&self.state, region, block, why),
            });
            self.state.blocks[block.index()].phase = Phase::Collecting;
            self.state.counters.collections += u64::from(why != GcReason::Due);
        }
        members.for_each(|(plane, _)| self.step_job(region, plane));
        Ok(())
    }

    #[inline]
    pub(crate) fn job_class(&self, region: RegionId, plane: PlaneId, job: &Job) -> Class {
        // Collection that begins while a die is held is what the holder waits for.
        if job.held || self.held_dies.is_held(self.state.geometry.die_of(plane)) {
            Class::Held
        } else if (job.idle || job.why == GcReason::Due) && !self.state.is_at_hard_reserve(region, plane) {
            Class::Background
        } else {
            self.gc_class(region, plane)
        }
    }

    /// Advance a job, or finish it, as far as is possible now.
    pub(crate) fn step_job(&mut self, region: RegionId, plane: PlaneId) {
        if let Some(job) = self.state.at(region, plane).job {
            self.advance_job(region, plane, job);
        }
    }

    /// Like it, for the job in its current state.
    fn advance_job(&mut self, region: RegionId, plane: PlaneId, mut job: Job) {
        if job.given_up {
            return self.give_up_job(region, plane, job);
        }
        if job.erasing || job.is_paused() {
            return;
        }
        let depth =
            if job.idle && !job.held { 1 } else { 2 * self.state.regions[region.index()].planes_per_die };
        if job.window < depth && !job.exhausted {
            self.read_on(region, plane, depth, &mut job);
        }
        if job.exhausted && job.inflight == 0 {
            self.finish_job(region, plane, job);
        }
    }

    /// Read the next valid pages of a job's block, so that `depth` are in flight.
    fn read_on(&mut self, region: RegionId, plane: PlaneId, depth: u32, job: &mut Job) {
        let (class, cause) = (self.job_class(region, plane, job), self.job_cause(region));
        let r = &self.state.regions[region.index()];
        let (slots, units, copies) = (r.slots_per_block, r.units_per_page, r.copies_back);
        let copies = copies && self.state.map.kind() == MapKind::Page;
        let before = job.inflight;
        while job.window < depth {
            let Some(slot) = self.state.map.next_live(job.block, job.cursor, slots) else {
                job.exhausted = true;
                break;
            };
            let page = if units == 1 { slot } else { slot / units * units };
            job.cursor = page + units;
            let first = self.state.geometry.ppn(job.block, slot);
            self.state.map.prefetch_behind(first);
            if self.gathering.was_read(first) {
                continue;
            }
            if copies && self.copy_back(region, plane, job, page, class) {
                job.inflight += units;
                job.window += units;
                continue;
            }
            job.inflight += 1;
            job.window += 1;
            let mut read = Op::new(OpKind::Read, plane, cause, class);
            read.ppn = first;
            read.mask = self.state.map.live_sectors(
                job.block,
                slot..page + units,
                self.state.geometry.sectors_per_unit,
            );
            read.owner = Owner::Job(region);
            read.idle = job.idle;
            self.state.blocks[job.block.index()].readers += 1;
            // Collection may want pages whole.
            if matches!(self.state.map_kind(), MapKind::Overlay(..)) {
                self.gathering.note_read(read.ppn);
            }
            self.add_and_emit(read);
        }
        self.state.at_mut(region, plane).job = Some(*job);
        if job.idle {
            let bytes = u64::from((job.inflight - before) * units) * self.state.geometry.unit;
            let (die, time) = (self.state.geometry.die_of(plane), self.layout.idle_rate.time_for(bytes));
            self.idle_jobs.pace(die, time);
        }
    }

    /// A job has nothing left to read and nothing in flight: erase its block when no operation reads it.
    fn finish_job(&mut self, region: RegionId, plane: PlaneId, mut job: Job) {
        let block = self.state.blocks[job.block.index()];
        if block.readers > 0 {
            // Reads that came before the hold are locked out by it: let them go first.
            if job.idle {
                self.let_go_in_idle_time(self.state.geometry.die_of(plane));
            }
            if job.held {
                job.held = false;
                self.let_go(plane);
                self.state.at_mut(region, plane).job = Some(job);
            }
            return;
        }
        if self.ready_to_erase(region, plane) {
            for p in self.state.superblock_planes(region, plane).map(PlaneId) {
                self.erase_victim(region, p);
            }
        }
    }

    /// Issue the erase that ends a job.
    fn erase_victim(&mut self, region: RegionId, plane: PlaneId) {
        let Some(mut job) = self.state.at(region, plane).job.filter(|job| !job.erasing) else { return };
        let live = self.state.blocks[job.block.index()].live;
        if live > 0 {
            self.internal(format!("block {} is being erased with {live} valid sectors", job.block));
            return;
        }
        let mut erase =
            Op::new(OpKind::Erase, plane, self.job_cause(region), self.job_class(region, plane, &job));
        erase.ppn = self.state.geometry.ppn(job.block, 0);
        erase.idle = job.idle;
        job.erasing = true;
        self.state.blocks[job.block.index()].phase = Phase::Erasing;
        self.state.at_mut(region, plane).job = Some(job);
        self.add_and_emit(erase);
        if job.idle && self.layout.idle_hold == IdleHold::Channel {
            self.let_go_in_idle_time(self.state.geometry.die_of(plane));
        }
    }

    /// Data that leave their region are counted as migrated, others as collected.
    pub(crate) fn job_cause(&self, region: RegionId) -> Cause {
        let rests = region == self.state.home || self.layout.second_home.is_some_and(|(r, _)| r == region);
        if rests { Cause::Gc } else { Cause::Migrate }
    }

    /// One page of a job is committed, or is in a protected program buffer.
    pub(crate) fn job_page_over(&mut self, region: RegionId, plane: PlaneId, in_window: bool) {
        self.go_on_after(region, plane, |job| {
            job.inflight -= 1;
            job.window -= in_window as u32;
        });
    }

    /// A job has one page fewer in flight: it continues, or pauses if idle time started it.
    pub(crate) fn go_on(&mut self, region: RegionId, plane: PlaneId) {
        self.go_on_after(region, plane, |_| ());
    }

    #[inline(always)]
    fn go_on_after(&mut self, region: RegionId, plane: PlaneId, note: impl FnOnce(&mut Job)) {
        let Some(job) = &mut self.state.at_mut(region, plane).job else { return };
        note(job);
        if job.idle && !job.held && job.inflight == 0 && !job.given_up {
            let granted = std::mem::replace(&mut job.granted, false);
            self.end_grant(plane, granted);
        } else {
            let job = *job;
            self.advance_job(region, plane, job);
        }
    }

    /// If all pages are in a program buffer, the job itself must read on: the end of a read advances it only if
    /// no other operation reads the block, and a move out of it may wait in the same program buffer.
    pub(crate) fn read_on_in_buffer(&mut self, region: RegionId, plane: PlaneId) {
        if self.state.at(region, plane).job.is_some_and(|j| j.window == 0 && !j.exhausted) {
            self.step_job(region, plane);
        }
    }

    /// A page of a job has no place, since blocks that collection relied on have worn out: it stays in place,
    /// and the drive accepts no more writes.
    pub(crate) fn give_up_page(&mut self, region: RegionId, plane: PlaneId, in_window: bool) {
        self.no_place();
        if let Some(job) = &mut self.state.at_mut(region, plane).job {
            job.given_up = true;
        }
        self.job_page_over(region, plane, in_window);
    }

    /// A job ends without its erase, as soon as it has nothing in flight: its block returns to the list.
    fn give_up_job(&mut self, region: RegionId, plane: PlaneId, job: Job) {
        if job.inflight > 0 || job.erasing {
            return;
        }
        self.end_job(region, plane);
        self.state.blocks[job.block.index()].phase = Phase::Full;
        self.state.list(region, plane, job.block);
    }

    /// The victim is erased, or the job is abandoned.
    pub(crate) fn end_job(&mut self, region: RegionId, plane: PlaneId) {
        if let Some(job) = self.state.at_mut(region, plane).job.take() {
            self.gathering.job_over(&job, |ppn| self.state.geometry.block_of(ppn));
            self.requests.pace_mut().end(&self.state, &job);
            self.end_grant(plane, job.idle && job.granted);
            if job.held {
                self.let_go(plane);
            }
        }
    }

    #[inline]
    pub(crate) fn gc_class(&self, region: RegionId, plane: PlaneId) -> crate::state::op::Class {
        use crate::state::op::Class;
        match self.state.gc.class {
            GcClass::Urgent | GcClass::Foreground => Class::Urgent,
            _ if self.state.is_at_hard_reserve(region, plane) => Class::Urgent,
            GcClass::Background => Class::Background,
            GcClass::Host => Class::Write,
        }
    }
}
