//! Collection: a victim's live pages are read, given a new home by the scheme, programmed,
//! and committed only where nothing newer has come; then the block is erased. A job is a cursor and
//! two counts, and takes its next page from the live bitmap when it is ready for it, so that pages
//! that die meanwhile are never read.

use crate::ftl::Ftl;
use crate::media::Media;
use crate::plan::decision::{Collect, Gather, Grain, Need, Origin, Parcel, Place};
use crate::plan::layout::Hooks;
use crate::plan::map_kind::MapKind;
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use crate::state::block::Phase;
use crate::state::cause::Cause;
use crate::state::job::{Job, Occasion};
use crate::state::op::{Class, Op, OpId, OpKind, Owner};
use crate::state::request::Effect;
use crate::state::stager::Company;
use crate::view::View;
use wordline_device::GcClass;
use wordline_units::{BlockId, DieId, Lpn, PlaneId, Ppn, SectorMask};

impl<M: Media> Ftl<M> {
    /// Begin a collection where a region's trigger asks for one.
    #[inline]
    pub(crate) fn collect_if_short(&mut self, region: RegionId, plane: PlaneId) {
        if self.state.at(region, plane).job.is_none_or(|job| job.idle) && self.state.is_short(region, plane) {
            self.collect_now(region, plane);
        }
    }

    /// Begin a collection, or go on with one that idle time has begun.
    fn collect_now(&mut self, region: RegionId, plane: PlaneId) {
        match self.state.at(region, plane).job {
            None => self.collect(region, plane),
            Some(job) if job.idle && !job.held => self.take_over(region, plane),
            Some(_) => {}
        }
    }

    /// A job takes the die of a plane for itself.
    pub(crate) fn hold(&mut self, plane: PlaneId) {
        let die = self.state.geometry.die_of(plane);
        self.held[die.index()] += 1;
        self.holders += 1;
        self.effects.push(Effect::Hold(die));
    }

    /// A job lets go of the die that it held.
    fn let_go(&mut self, plane: PlaneId) {
        let die = self.state.geometry.die_of(plane);
        self.held[die.index()] -= 1;
        self.holders -= 1;
        self.effects.push(Effect::Hold(die));
    }

    /// Nothing is pending, and collections that hold their dies wait for space: let the host's operations pass,
    /// which may give some back, or need none. Returns whether a die was held.
    pub fn let_go_of_dies(&mut self) -> bool {
        if !self.holds_a_die() {
            return false;
        }
        let mut any = false;
        for index in 0..self.state.regions.len() {
            let region = RegionId(index as u8);
            let first = self.state.pool_of(region).first_plane;
            for plane in (0..self.state.regions[index].planes.len() as u32).map(|i| PlaneId(first + i)) {
                let job = &mut self.state.at_mut(region, plane).job;
                if job.as_mut().is_some_and(|job| std::mem::take(&mut job.held)) {
                    self.let_go(plane);
                    any = true;
                }
            }
        }
        any
    }

    /// A slot, or a block, of a region has been taken: whoever shares its pool may be short now.
    pub(crate) fn collect_after_taking(&mut self, region: RegionId, plane: PlaneId) {
        let pool = self.state.regions[region.index()].region.pool;
        for other in 0..self.state.regions.len() {
            if self.state.regions[other].region.pool == pool {
                self.collect_if_short(RegionId(other as u8), plane);
            }
        }
    }

    /// A program waits for a slot of a region: any region that shares the pool may give a block back.
    pub(crate) fn collect_for(&mut self, region: RegionId, plane: PlaneId) {
        let pool = self.state.regions[region.index()].region.pool;
        for other in 0..self.state.regions.len() {
            let other = RegionId(other as u8);
            if self.state.regions[other.index()].region.pool == pool {
                self.collect_now(other, plane);
            }
        }
    }

    /// Begin the collection of a plane of a region, if there is a block worth it.
    fn collect(&mut self, region: RegionId, plane: PlaneId) {
        let mut chosen = None;
        if self.asks.asks(Hooks::COLLECT) {
            let view = View::of(&self.state);
            chosen = self.scheme.collect(Need { region, plane }, &view);
        }
        let Collect { region, block } = chosen.unwrap_or(Collect { region, block: None });
        self.begin_job(region, plane, block, Occasion::Shortage);
    }

    /// Begin to empty a block. Returns whether there was one.
    pub(crate) fn begin_job(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        block: Option<BlockId>,
        why: Occasion,
    ) -> bool {
        let idle = matches!(why, Occasion::Idleness(_));
        if region.index() >= self.state.regions.len() || !self.state.reaches(region, plane) {
            let what = format!("collect region {} in plane {plane}", region.0);
            self.illegal(what, "the region has no blocks there".into());
            return false;
        }
        let mut together = self.state.together(region, plane).map(PlaneId);
        if together.any(|p| self.state.at(region, p).job.is_some()) || self.worn_out().is_some() {
            return false;
        }
        let Some(victim) = block.or_else(|| self.state.best_victim(region, plane)) else { return false };
        let info = self.state.blocks[victim.index()];
        let eligible = || {
            let closes = why != Occasion::Shortage && info.phase == Phase::Open;
            closes || self.state.is_victim(region, plane, victim)
        };
        if block.is_some()
            && (self.state.geometry.plane_of(victim) != plane || info.region != region.0 || !eligible())
        {
            let state = format!("block {victim} is {:?} in region {}", info.phase, info.region);
            self.illegal(format!("collect block {victim} of region {}", region.0), state);
            return false;
        }
        if info.writers > 0 {
            return false; // a frontier, whose last program is still under way
        }
        if self.state.has_superblocks(region) && !self.state.is_victim(region, plane, victim) {
            return false; // other blocks of it are still being written
        }
        // Moving a block that is live nearly throughout gains nothing where its pages come back to the
        // same pool; a cache passes them on.
        let wanted = matches!(why, Occasion::Levelling | Occasion::Due);
        if !wanted && !self.state.gains(region, victim) && !self.passes_on(region, plane, victim) {
            return false;
        }
        let die = self.state.geometry.die_of(plane);
        let held = match why {
            Occasion::Idleness(grain) => grain == Grain::Block,
            Occasion::Shortage => self.state.gc.class == GcClass::Foreground,
            Occasion::Levelling | Occasion::Due => false,
        };
        if idle && held && self.has_job(die) {
            return false; // it might need what the holder would lock out
        }
        if idle {
            self.idle_jobs[die.index()] += 1;
            self.idle_busy += 1;
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
                levels: why == Occasion::Levelling,
                given_up: false,
                refreshes: why == Occasion::Due,
            });
            self.state.blocks[block.index()].phase = Phase::Victim;
            self.state.counters.collections += u64::from(why != Occasion::Due);
        }
        members.for_each(|(plane, _)| self.step_job(region, plane));
        true
    }

    /// A block with slots left takes no more programs; they are lost until it is erased.
    fn close(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        let (unused, state) = (self.state.unused_slots(block), self.state.blocks[block.index()].state);
        let at = self.state.at_mut(region, plane);
        at.open_slots -= unused as u64;
        at.open.iter_mut().for_each(|blocks| blocks.retain(|b| *b != block.0));
        let r = &mut self.state.regions[region.index()];
        if !r.region.rule.by_bit() {
            return;
        }
        let pages = r.region.rule.left(r.shape, &state);
        r.left.iter_mut().zip(pages).for_each(|(left, pages)| *left -= pages as u64);
    }

    fn has_job(&self, die: DieId) -> bool {
        let planes = self.state.geometry.planes_of_die(die).map(PlaneId);
        let regions = || (0..self.state.regions.len() as u8).map(RegionId);
        planes.into_iter().any(|plane| {
            regions().any(|r| self.state.reaches(r, plane) && self.state.at(r, plane).job.is_some())
        })
    }

    /// Whether a scheme sends the collected pages of a region to another pool.
    fn passes_on(&mut self, region: RegionId, plane: PlaneId, block: BlockId) -> bool {
        let slots = self.state.regions[region.index()].slots_per_block;
        let Some(slot) = self.state.map.next_live(block, 0, slots) else { return true };
        let mut spans = std::mem::take(&mut self.scratch.live);
        self.state.map.live_in(self.state.geometry.ppn(block, slot), &mut spans);
        let place = self.place_collected(region, &spans, plane);
        self.scratch.live = spans;
        let to = place.route.region();
        to.index() >= self.state.regions.len()
            || self.state.regions[to.index()].region.pool != self.state.regions[region.index()].region.pool
            || self.state.regions[to.index()].region.mode != self.state.regions[region.index()].region.mode
    }

    fn job_class(&self, region: RegionId, plane: PlaneId, job: &Job) -> Class {
        // Collection that begins while a die is held is what the holder waits for.
        if job.held || self.held[self.state.geometry.die_of(plane).index()] > 0 {
            Class::Held
        } else if (job.idle || job.refreshes) && !self.state.is_desperate(region, plane) {
            Class::Background
        } else {
            self.gc_class(region, plane)
        }
    }

    /// Read on, or finish, as far as a job can now.
    pub(crate) fn step_job(&mut self, region: RegionId, plane: PlaneId) {
        let Some(job) = self.state.at(region, plane).job else { return };
        if job.given_up {
            return self.give_up_job(region, plane, job);
        }
        if job.erasing || job.rests() {
            return;
        }
        let planes = self.state.geometry.medium_of(plane).topology.planes_per_die;
        let depth = if job.idle && !job.held { 1 } else { 2 * planes };
        if job.window < depth && !job.exhausted {
            self.read_on(region, plane, depth);
        }
        let Some(job) = self.state.at(region, plane).job else { return };
        if job.exhausted && job.inflight == 0 {
            self.finish_job(region, plane, job);
        }
    }

    /// Read the next live pages of a job's block, so that `depth` are under way.
    fn read_on(&mut self, region: RegionId, plane: PlaneId, depth: u32) {
        let Some(mut job) = self.state.at(region, plane).job else { return };
        let (class, cause) = (self.job_class(region, plane, &job), self.job_cause(region));
        let r = &self.state.regions[region.index()];
        let (slots, units) = (r.slots_per_block, r.units_per_page);
        let copies = self.state.geometry.medium_of(plane).mode(r.region.mode).and_then(|mode| mode.copy_back);
        let copies = copies.is_some() && self.state.map.kind() == MapKind::Page;
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
            if copies && self.copy_back(region, plane, &job, page, class) {
                job.inflight += units;
                job.window += units;
                continue;
            }
            job.inflight += 1;
            job.window += 1;
            let mut read = Op::new(OpKind::Read, plane, cause, class);
            read.ppn = first;
            read.mask = self.live_sectors(job.block, slot, page + units);
            (read.owned_by, read.owner) = (Owner::Job, region.0 as u32);
            read.idle = job.idle;
            self.state.blocks[job.block.index()].readers += 1;
            if self.may_gather() {
                self.gathering.note_read(read.ppn);
            }
            let read = self.add_op(read);
            self.emit(read);
        }
        self.state.at_mut(region, plane).job = Some(job);
    }

    /// The sectors of the live slots from one on to the end of its page, counted from that slot.
    #[inline]
    fn live_sectors(&mut self, block: BlockId, slot: u32, end: u32) -> SectorMask {
        let per_unit = self.state.geometry.sectors_per_unit;
        let unit = SectorMask::first(per_unit);
        let mut mask = unit;
        let mut at = slot + 1;
        while at < end
            && let Some(next) = self.state.map.next_live(block, at, end)
            && next < end
        {
            mask = mask.union(SectorMask(unit.0 << ((next - slot) * per_unit)));
            at = next + 1;
        }
        mask
    }

    /// A job has nothing left to read and nothing under way: erase its block when nobody reads it.
    fn finish_job(&mut self, region: RegionId, plane: PlaneId, mut job: Job) {
        let block = self.state.blocks[job.block.index()];
        if block.readers > 0 {
            if job.held {
                // Reads that came before the hold are locked out by it: let them go first.
                job.held = false;
                self.let_go(plane);
                self.state.at_mut(region, plane).job = Some(job);
            }
            return;
        }
        if self.ready_to_erase(region, plane) {
            for p in self.state.together(region, plane).map(PlaneId) {
                self.erase_victim(region, p);
            }
        }
    }

    /// Send off the erase with which a job ends.
    fn erase_victim(&mut self, region: RegionId, plane: PlaneId) {
        let Some(mut job) = self.state.at(region, plane).job.filter(|job| !job.erasing) else { return };
        let live = self.state.blocks[job.block.index()].live;
        if live > 0 {
            self.internal(format!("block {} is to be erased with {live} live sectors", job.block));
            return;
        }
        let mut erase =
            Op::new(OpKind::Erase, plane, self.job_cause(region), self.job_class(region, plane, &job));
        erase.ppn = self.state.geometry.ppn(job.block, 0);
        erase.idle = job.idle;
        job.erasing = true;
        self.state.blocks[job.block.index()].phase = Phase::Erasing;
        self.state.at_mut(region, plane).job = Some(job);
        let erase = self.add_op(erase);
        self.emit(erase);
    }

    /// Data that leave the region where they were at rest are migrated, others collected.
    fn job_cause(&self, region: RegionId) -> Cause {
        let rests = region == self.state.home || self.layout.outpost.is_some_and(|(r, _)| r == region);
        if rests { Cause::Gc } else { Cause::Migrate }
    }

    /// A page of a victim has been read: what of it still lives finds a new home.
    pub(crate) fn relocate(&mut self, read: OpId) {
        let op = &self.state.ops[read];
        let (first, region, plane, cause) = (op.ppn, RegionId(op.owner as u8), op.plane, op.cause);
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
        let mut leads = [OpId::NONE; 32];
        for from in first.0..end {
            let from = Ppn(from);
            self.state.map.live_in(from, &mut spans);
            if spans.is_empty() {
                continue;
            }
            let place = self.place_collected(region, &spans, plane);
            let to = place.route.region();
            let whole = place.gather == Gather::Whole;
            let target = if to.index() < self.state.regions.len() && !self.state.reaches(to, plane) {
                self.moves_to(to, place.plane, plane)
            } else if to.index() < self.state.regions.len() {
                let within = self.state.regions[to.index()].region.pool
                    == self.state.regions[region.index()].region.pool;
                let company = if within { Company::Collected } else { Company::Moved };
                self.state.behind(to, plane, company)
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
                (op.owned_by, op.owner) = (Owner::Job, region.0 as u32);
                (op.offset, op.privileged, op.idle) = (offset, privileged, job.idle);
                if self.state.map_kind().knows_sectors() {
                    offset += span.mask.count() as u8;
                }
                let id = self.carry(op);
                if whole {
                    (self.state.ops[id].offset, self.state.ops[id].ppn) = (0, Ppn(0));
                    leads[programs] = id;
                    programs += 1;
                    continue;
                }
                if last.is_none() {
                    leads[programs] = id;
                } else {
                    self.state.ops[last].chain = id;
                }
                last = id;
            }
            self.state.counters.count_collected(1, job.refreshes);
            programs += usize::from(!whole);
        }
        self.scratch.live = spans;
        // One page in flight has become as many programs as it had live slots, each of which ends
        // once for every part of its chain.
        let parts: u32 = leads[..programs].iter().map(|l| self.chain_len(*l)).sum();
        if let Some(job) = &mut self.state.at_mut(region, plane).job {
            job.inflight = job.inflight + parts - 1;
            job.window = job.window + parts - 1;
        }
        if programs == 0 {
            self.go_on(region, plane);
        }
        for lead in &leads[..programs] {
            // A page that is gathered counts the reads that it waits for.
            if self.state.ops[*lead].ppn.is_none() {
                self.launch(*lead);
            } else {
                self.gather_whole(*lead);
            }
        }
        // With every page in a stager it is the job that must read on: the end of this read steps it
        // only if nobody else reads the block, and a move out of it may wait in the same stager.
        if self.state.at(region, plane).job.is_some_and(|j| j.window == 0 && !j.exhausted) {
            self.step_job(region, plane);
        }
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
            self.pages[id.index()] = self.media.read(from, lpn);
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
    fn copy_back(&mut self, region: RegionId, plane: PlaneId, job: &Job, page: u32, class: Class) -> bool {
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
            let route = self.place_collected(region, &spans, plane).route;
            let to = route.region();
            let suits = self.state.regions.get(to.index()).is_some_and(|r| {
                r.region.mode == mode && r.pages_per_program == 1 && self.state.reaches(to, plane)
            });
            if !suits || !route.is_single() || parts.first().is_some_and(|op: &Op| op.route != route) {
                break;
            }
            let mut op = Op::new(OpKind::Program, plane, cause, class);
            (op.lpn, op.mask, op.from, op.route) = (spans[0].lpn, spans[0].mask, from, route);
            (op.owned_by, op.owner, op.idle) = (Owner::Job, region.0 as u32, job.idle);
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

    /// One page of a job is committed, or safe in a protected stager.
    pub(crate) fn job_page_over(&mut self, region: RegionId, plane: PlaneId, in_window: bool) {
        if let Some(job) = &mut self.state.at_mut(region, plane).job {
            job.inflight -= 1;
            job.window -= in_window as u32;
        }
        self.go_on(region, plane);
    }

    /// A job has one page less under way: it goes on, or rests where idle time has begun it.
    fn go_on(&mut self, region: RegionId, plane: PlaneId) {
        if let Some(job) = &mut self.state.at_mut(region, plane).job
            && (job.idle && !job.held && job.inflight == 0 && !job.given_up)
        {
            let granted = std::mem::replace(&mut job.granted, false);
            self.count_grant(plane, granted, -1);
        } else {
            self.step_job(region, plane);
        }
    }

    /// A page of a job finds no place, since blocks that collection counted on have worn out: it stays where it
    /// is, and the drive is over.
    pub(crate) fn give_up_page(&mut self, region: RegionId, plane: PlaneId, in_window: bool) {
        self.no_place();
        if let Some(job) = &mut self.state.at_mut(region, plane).job {
            job.given_up = true;
        }
        self.job_page_over(region, plane, in_window);
    }

    /// A job ends without its erase, as soon as nothing of it is under way: its block goes back on the list.
    fn give_up_job(&mut self, region: RegionId, plane: PlaneId, job: Job) {
        if job.inflight > 0 || job.erasing {
            return;
        }
        self.end_job(region, plane);
        self.state.blocks[job.block.index()].phase = Phase::Full;
        self.state.list(region, plane, job.block);
    }

    /// The victim is erased, or the job given up.
    pub(crate) fn end_job(&mut self, region: RegionId, plane: PlaneId) {
        if let Some(job) = self.state.at_mut(region, plane).job.take() {
            self.gathering.forget(&job, |ppn| self.state.geometry.block_of(ppn));
            self.count_grant(plane, job.idle && job.granted, -1);
            if job.held {
                self.let_go(plane);
            }
        }
    }

    /// Where a collected page goes: the scheme says, except for pages that are not the host's.
    #[inline]
    pub(crate) fn place_collected(&mut self, region: RegionId, spans: &[Span], home: PlaneId) -> Place {
        if spans.first().is_some_and(|s| self.state.is_metadata(s.lpn)) {
            return self.metadata_place();
        }
        let parcel = Parcel { origin: Origin::Collected(region), spans, home };
        self.scheme.place(&parcel, &View::of(&self.state))
    }
}
