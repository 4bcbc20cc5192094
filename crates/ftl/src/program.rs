//! From data with a home to a program under way, and from its completion to the map: grouping of
//! units into pages and pages into one-shot programs, binding of slots when the plane is ready, and
//! the commit.

use crate::counters::Cause;
use crate::ftl::{Effect, Ftl, Outcome, RequestId, Timer};
use crate::map::{Killed, fetch};
use crate::media::{Media, Oob};
use crate::op::{OpId, OpKind, Owner};
use crate::scheme::{Hooks, ReadSeen, RegionId, Target, View};
use crate::staging::NONE;
use crate::state::Phase;
use wordline_units::{BlockId, PlaneId, Ppn, SimDuration};

/// How long a host write may wait for company in a one-shot group whose region never pads.
const PAD_FOR_HOST: SimDuration = SimDuration(500_000);

/// What became of a program that a plane was ready to begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// It has its page.
    Bound,
    /// It has left the queue to be programmed together with others.
    Diverted,
    /// No slot of its route is free: it waits, or is given up.
    Blocked,
}

/// Positions in a plane's stagers.
const HOST: usize = 0;
const MOVED: usize = 1;

impl<M: Media> Ftl<M> {
    /// A program, with its chain, has all its data: send it off, or let it wait for company.
    pub(crate) fn launch(&mut self, lead: OpId) {
        let region = self.state.ops[lead].route.region();
        let Some(r) = self.state.regions.get(region.index()) else {
            self.illegal(format!("place in region {}", region.0), "there is no such region".into());
            return;
        };
        let (units, pages) = (r.units_per_page, r.pages_per_program);
        if !self.state.ops[lead].chain.is_none()
            && let Some(rest) = self.split(lead, units as u8)
        {
            self.launch(lead);
            self.launch(rest);
            return;
        }
        if units == 1 && pages == 1 {
            self.emit(lead);
            return;
        }
        let host = self.state.ops[lead].owned_by == Owner::Request;
        if host || units == 1 {
            self.add_page(region, lead);
        } else {
            self.add_unit(region, lead);
        }
    }

    fn plane_of(&self, ppn: Ppn) -> PlaneId {
        self.state.geometry.plane_of(self.state.geometry.block_of(ppn))
    }

    /// A parcel is cut for pages of the home region; those of another medium may hold fewer units.
    /// Returns what does not fit into the page, as a program of its own.
    fn split(&mut self, lead: OpId, units: u8) -> Option<OpId> {
        let first = self.state.ops[lead].slot;
        let mut last = lead;
        loop {
            let next = self.state.ops[last].chain;
            if next.is_none() {
                return None;
            }
            if self.state.ops[next].slot - first >= units {
                self.state.ops[last].chain = OpId::NONE;
                let from = self.state.ops[next].slot;
                let mut part = next;
                while !part.is_none() {
                    self.state.ops[part].slot -= from;
                    part = self.state.ops[part].chain;
                }
                return Some(next);
            }
            last = next;
        }
    }

    /// Relocated units share pages: one more unit for the page that is being packed.
    fn add_unit(&mut self, region: RegionId, lead: OpId) {
        let plane = self.state.ops[lead].plane;
        let units = self.state.regions[region.index()].units_per_page as u8;
        self.entered_stager(region, lead);
        let stager = &mut self.state.at_mut(region, plane).stagers[MOVED];
        let (first, slot) = (stager.page, stager.page_slots);
        stager.page_slots += 1;
        if first.is_none() {
            stager.page = lead;
        }
        let full = stager.page_slots == units;
        self.shift_slots(lead, slot); // a moved unit comes with slot 0
        if !first.is_none() {
            self.join(first, lead);
        }
        if full {
            self.close_page(region, plane);
        } else {
            self.arm_pad(region, plane, MOVED);
        }
    }

    /// The page that was being packed is as full as it gets.
    fn close_page(&mut self, region: RegionId, plane: PlaneId) {
        let stager = &mut self.state.at_mut(region, plane).stagers[MOVED];
        let page = std::mem::replace(&mut stager.page, OpId::NONE);
        stager.page_slots = 0;
        if !page.is_none() {
            self.add_page(region, page);
        }
    }

    /// One more page for the group that is programmed in one shot.
    fn add_page(&mut self, region: RegionId, lead: OpId) {
        let plane = self.state.ops[lead].plane;
        let r = &self.state.regions[region.index()];
        let (units, pages) = (r.units_per_page as u8, r.pages_per_program as u8);
        if pages == 1 {
            self.state.ops[lead].slots = units;
            self.emit(lead);
            return;
        }
        let which = if self.state.ops[lead].owned_by == Owner::Request { HOST } else { MOVED };
        if units == 1 {
            self.entered_stager(region, lead);
        }
        let stager = &mut self.state.at_mut(region, plane).stagers[which];
        let (group, page) = (stager.group, stager.group_pages);
        stager.group_pages += 1;
        if group.is_none() {
            stager.group = lead;
        }
        let full = stager.group_pages == pages;
        self.shift_slots(lead, page * units);
        if !group.is_none() {
            self.join(group, lead);
        }
        if full {
            self.close_group(region, plane, which);
        } else {
            self.arm_pad(region, plane, which);
        }
    }

    /// Send a group off, whole or padded.
    fn close_group(&mut self, region: RegionId, plane: PlaneId, which: usize) {
        let r = &self.state.regions[region.index()];
        let slots = (r.units_per_page * r.pages_per_program) as u8;
        let stager = &mut self.state.at_mut(region, plane).stagers[which];
        let group = std::mem::replace(&mut stager.group, OpId::NONE);
        stager.group_pages = 0;
        stager.generation += 1;
        stager.timer_set = false;
        if !group.is_none() {
            self.state.ops[group].slots = slots;
            self.emit(group);
        }
    }

    /// A relocation that waits for company no longer holds back its job. If the stager is safe from
    /// a power cut the data leave their old place at once, so that it can be erased.
    fn entered_stager(&mut self, region: RegionId, lead: OpId) {
        if self.state.ops[lead].owned_by != Owner::Job {
            return;
        }
        let op = &self.state.ops[lead];
        let (from_region, plane) = (RegionId(op.owner as u8), self.plane_of(op.from)); // the job's, not the target's
        if !self.state.regions[region.index()].region.protected {
            if let Some(job) = &mut self.state.at_mut(from_region, plane).job {
                job.window -= 1;
            }
            self.state.ops[lead].stage = NONE - 1; // its place in the window is given up
            return;
        }
        let mut part = lead;
        let mut dead = std::mem::take(&mut self.scratch.dead);
        while !part.is_none() {
            let (span, from, next) = {
                let op = &self.state.ops[part];
                (op.span(), op.from, op.chain)
            };
            let keep = self.state.map.still_at(span, from);
            let stage = self.state.staging.enter(span.lpn);
            let entry = self.state.staging.get(stage);
            entry.pending += 1;
            entry.mask = entry.mask.union(keep);
            self.state.ops[part].version = entry.last(keep);
            self.state.ops[part].mask = keep;
            self.state.map.forget(span.lpn, keep, &mut dead);
            if M::BYTES && !keep.is_empty() {
                let page = self.pages[part.index()].clone();
                let sector = self.state.geometry.sector as usize;
                M::copy(self.staged_page(stage), &page, keep, sector);
            }
            self.state.ops[part].stage = stage;
            self.state.ops[part].from = Ppn::NONE;
            self.state.ops[part].owned_by = Owner::Nobody;
            part = next;
        }
        for killed in dead.drain(..) {
            self.bury(killed);
        }
        self.scratch.dead = dead;
        self.job_page_over(from_region, plane, true);
    }

    /// More parts for a program, which becomes as urgent as the most urgent of them.
    fn join(&mut self, chain: OpId, more: OpId) {
        let class = self.state.ops[chain].class.min(self.state.ops[more].class);
        let privileged = self.state.ops[chain].privileged || self.state.ops[more].privileged;
        self.state.ops[chain].class = class;
        self.state.ops[chain].privileged = privileged;
        let mut last = chain;
        while !self.state.ops[last].chain.is_none() {
            last = self.state.ops[last].chain;
        }
        self.state.ops[last].chain = more;
    }

    fn shift_slots(&mut self, lead: OpId, by: u8) {
        let mut part = lead;
        while !part.is_none() {
            self.state.ops[part].slot += by;
            part = self.state.ops[part].chain;
        }
    }

    fn arm_pad(&mut self, region: RegionId, plane: PlaneId, which: usize) {
        let wait = self.state.regions[region.index()].region.pad_after;
        let Some(wait) = (if which == HOST { Some(wait.unwrap_or(PAD_FOR_HOST)) } else { wait }) else {
            return;
        };
        let at = self.state.now + wait;
        let stager = &mut self.state.at_mut(region, plane).stagers[which];
        if !stager.timer_set {
            stager.timer_set = true;
            let timer = Timer::Pad { region, plane, host: which == HOST, generation: stager.generation };
            self.effects.push(Effect::Timer(at, timer));
        }
    }

    /// A timer is due.
    pub fn timer(&mut self, timer: Timer) {
        let Timer::Pad { region, plane, host, generation } = timer;
        let which = if host { HOST } else { MOVED };
        let stager = &mut self.state.at_mut(region, plane).stagers[which];
        if stager.generation != generation {
            return;
        }
        stager.timer_set = false;
        // While a job still reads, its pages are the company to wait for: padding them one by one
        // could cost more than the job gives back.
        if which == MOVED && self.feeds(plane) && !self.state.jammed[plane.index()] {
            self.arm_pad(region, plane, which);
        } else {
            self.pad(region, plane, which);
        }
    }

    /// Whether a job of a plane has pages left to read.
    fn feeds(&self, plane: PlaneId) -> bool {
        (0..self.state.regions.len() as u8).map(RegionId).any(|region| {
            self.state.reaches(region, plane)
                && self.state.at(region, plane).job.is_some_and(|j| !j.exhausted || j.window > 0)
        })
    }

    fn pad(&mut self, region: RegionId, plane: PlaneId, which: usize) {
        if which == MOVED {
            self.close_page(region, plane);
        }
        self.close_group(region, plane, which);
    }

    /// Pad the host data that wait for company anywhere, and with `moved` what collection moves too.
    pub(crate) fn seal(&mut self, moved: bool) {
        for index in 0..self.state.regions.len() {
            let region = RegionId(index as u8);
            let r = &self.state.regions[index];
            if r.units_per_page * r.pages_per_program == 1 {
                continue;
            }
            let first = self.state.pool_of(region).first_plane;
            for local in 0..self.state.regions[index].planes.len() as u32 {
                self.pad(region, PlaneId(first + local), HOST);
                if moved {
                    self.pad(region, PlaneId(first + local), MOVED);
                }
            }
        }
    }

    /// A later write or a trim made the read of missing sectors pointless; the program goes without.
    pub(crate) fn cancel_fill(&mut self, stage: u32) {
        let entry = self.state.staging.get(stage);
        let (program, read) = (OpId(entry.filling), OpId(entry.fill_read));
        self.state.ops[read].owned_by = Owner::Nobody;
        self.filled(program);
    }

    /// A program's missing sectors are there, or not needed any more.
    fn filled(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let (stage, slot, ppn) = (op.stage, op.slot, op.ppn);
        let entry = self.state.staging.get(stage);
        if entry.filling == id.0 {
            entry.filling = NONE;
        }
        let lead = if slot == 0 { id } else { OpId(ppn.0) };
        let left = &mut self.state.ops[lead].ppn.0;
        *left -= 1;
        if *left == 0 {
            self.state.ops[lead].ppn = Ppn::NONE;
            self.launch(lead);
        }
    }

    /// Bind a program to the first slot that its route offers now. A page that falls back on a region
    /// which programs whole wordlines joins the group that forms there.
    #[inline]
    pub fn bind(&mut self, id: OpId) -> Binding {
        let op = &self.state.ops[id];
        let (plane, privileged, route, slots) = (op.plane, op.privileged, op.route, op.slots as u32);
        for target in route.targets() {
            let region = target.region;
            if self.state.regions.len() <= region.index() || !self.state.reaches(region, plane) {
                let state = format!("plane {plane} has no blocks of region {}", region.0);
                self.illegal(format!("route to region {}", region.0), state);
                return Binding::Blocked;
            }
            let r = &self.state.regions[region.index()];
            let units = r.units_per_page;
            let whole = units * r.pages_per_program;
            if slots > whole {
                let state = format!("the group was formed for region {}", route.region().0);
                self.illegal(
                    format!("a group of {slots} pages falls back on region {}", r.region.name),
                    state,
                );
                return Binding::Blocked;
            }
            if slots < whole && r.pages_per_program > 1 {
                if self.has_room(target, plane, privileged) {
                    self.divert(id, target);
                    return Binding::Diverted;
                }
            } else if let Some((block, page)) = self.take_slot(target, plane, privileged) {
                let ppn = self.state.geometry.ppn(block, page * units);
                self.state.ops[id].ppn = ppn;
                if let Some(old) = self.state.map.prefetch_commit(self.state.ops[id].lpn, ppn) {
                    let block = self.state.geometry.block_of(old).index();
                    fetch(&self.state.blocks.info, block);
                    fetch(&self.state.blocks.live, block);
                }
                return Binding::Bound;
            }
        }
        self.state.counters.stalls += 1;
        Binding::Blocked
    }

    /// Whether a region could take a program in a plane now.
    fn has_room(&self, target: Target, plane: PlaneId, privileged: bool) -> bool {
        let Target { region, class } = target;
        let open = !self.state.at(region, plane).open[class as usize].is_empty();
        self.may_take(region, plane, privileged) && (open || self.may_open(region, plane, privileged))
    }

    /// Whether a program may have a slot of an open block: with the reserve broken into, the blocks
    /// that are open belong to the collection that opened them.
    #[inline]
    fn may_take(&self, region: RegionId, plane: PlaneId, privileged: bool) -> bool {
        let pool = self.state.pool_of(region);
        privileged || pool.free[self.state.local(region, plane)].len() as u32 >= pool.reserve
    }

    /// Whether a program may open an erased block. Collection frees more than it takes, so what it
    /// takes of the reserve comes back.
    fn may_open(&self, region: RegionId, plane: PlaneId, privileged: bool) -> bool {
        let pool = self.state.pool_of(region);
        let free = pool.free[self.state.local(region, plane)].len() as u32;
        let quota = self.state.regions[region.index()].region.quota;
        free > 0 && (privileged || (free > pool.reserve && self.state.at(region, plane).owned < quota))
    }

    /// A page leaves its plane's queue for the group of the region that it falls back on.
    fn divert(&mut self, id: OpId, target: Target) {
        let op = &mut self.state.ops[id];
        op.route = crate::scheme::Route::to(target.region, target.class);
        self.state.backlog[op.plane.index()] -= 1;
        self.add_page(target.region, id);
    }

    #[inline]
    fn take_slot(&mut self, target: Target, plane: PlaneId, privileged: bool) -> Option<(BlockId, u32)> {
        let Target { region, class } = target;
        if !self.may_take(region, plane, privileged) {
            return None;
        }
        let local = self.state.local(region, plane);
        let r = &mut self.state.regions[region.index()];
        let (rule, shape) = (r.region.rule, r.shape);
        let at = &mut r.planes[local];
        let mut opened = false;
        let head = match at.open[class as usize].front() {
            Some(b) => BlockId(*b),
            None => {
                opened = true;
                self.open_block(region, plane, privileged, class)?
            }
        };
        let block = &mut self.state.blocks.info[head.index()];
        let page = rule.next(shape, &block.state, class)?;
        if let Err(e) = rule.apply(shape, &mut block.state, class, page) {
            self.internal(e.to_string());
            return None;
        }
        block.writers += 1;
        let state = block.state;
        let pages = rule.pages_per_program();
        let r = &mut self.state.regions[region.index()];
        let at = &mut r.planes[local];
        at.open_slots -= (pages * r.units_per_page) as u64;
        if !rule.has_left(shape, &state, class) {
            at.open[class as usize].pop_front();
            if rule.programmed(&state) == shape.pages() {
                self.state.blocks.info[head.index()].phase = Phase::Full;
            }
        }
        if opened || matches!(r.region.trigger, wordline_device::Trigger::FreeSlots(_)) {
            self.collect_after_taking(region, plane);
        }
        Some((head, page))
    }

    /// Open an erased block for a region: now it takes its mode.
    fn open_block(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        privileged: bool,
        class: wordline_flash::SlotClass,
    ) -> Option<BlockId> {
        let r = &self.state.regions[region.index()];
        if !r.region.rule.classes().contains(&class) {
            let rule = r.region.rule;
            self.illegal(format!("route to {class:?} slots"), format!("a block under {rule:?} has none"));
            return None;
        }
        if !self.may_open(region, plane, privileged) {
            return None;
        }
        let local = self.state.local(region, plane);
        let pool = self.state.regions[region.index()].region.pool.0 as usize;
        let free = &mut self.state.pools[pool].free[local];
        let block = BlockId(free.pop_front()?);
        let r = &mut self.state.regions[region.index()];
        let slots = r.slots_per_block;
        let at = &mut r.planes[local];
        at.owned += 1;
        at.open_slots += slots as u64;
        for class in r.region.rule.classes() {
            at.open[*class as usize].push_back(block.0);
        }
        let info = &mut self.state.blocks.info[block.index()];
        info.phase = Phase::Open;
        info.region = region.0;
        info.mode = r.region.mode;
        info.state = Default::default();
        self.state.map.open(block, slots);
        Some(block)
    }

    /// A program found no slot in its plane. Begin a collection that may help; if none can yet, each
    /// page that dies in the plane is a new chance, and the device gives up only when nothing is
    /// pending anywhere. Returns whether the program waits: a mere move is dropped instead, since it
    /// pins the block that it leaves.
    pub fn blocked(&mut self, id: OpId) -> bool {
        let mut parts =
            std::iter::successors(Some(id), |p| Some(self.state.ops[*p].chain).filter(|c| !c.is_none()));
        if parts.all(|p| self.state.ops[p].owned_by == Owner::Move) {
            self.drop_moves(id);
            return false;
        }
        let (plane, route) = (self.state.ops[id].plane, self.state.ops[id].route);
        self.state.starved[plane.index()] = true;
        self.state.jammed[plane.index()] |= self.state.ops[id].owned_by != Owner::Request;
        for target in route.targets() {
            if self.state.regions.len() > target.region.index() && self.state.reaches(target.region, plane) {
                self.collect_for(target.region, plane);
            }
        }
        true
    }

    fn drop_moves(&mut self, lead: OpId) {
        self.state.backlog[self.state.ops[lead].plane.index()] -= 1;
        let mut part = lead;
        while !part.is_none() {
            let op = &self.state.ops[part];
            let (from, idle, next) = (op.from, op.owner == 1, op.chain);
            let die = self.state.geometry.die_of(op.plane);
            self.state.ops.remove(part);
            self.state.counters.moves_dropped += 1;
            self.end_move(from, die, idle);
            part = next;
        }
    }

    /// A move is over: its source need not stay any longer.
    fn end_move(&mut self, from: Ppn, die: wordline_units::DieId, idle: bool) {
        self.end_idle_move(die, idle);
        self.unpin(self.state.geometry.block_of(from));
    }

    /// A die that moved a page in its idle time may be asked again.
    pub(crate) fn end_idle_move(&mut self, die: wordline_units::DieId, idle: bool) {
        self.idle_jobs[die.index()] -= idle as u32;
        self.idle_busy -= idle as u32;
    }

    /// Give up a host program that can never be bound: the drive is full.
    pub fn fail(&mut self, lead: OpId) {
        self.state.backlog[self.state.ops[lead].plane.index()] -= 1;
        let mut part = lead;
        while !part.is_none() {
            let (owner, next) = (self.state.ops[part].owner, self.state.ops[part].chain);
            if self.state.ops[part].owned_by == Owner::Request {
                if owner != NONE {
                    self.requests[owner as usize].outcome = Outcome::OutOfSpace;
                }
                for (op, request) in &self.waiters {
                    if *op == part {
                        self.requests[request.0 as usize].outcome = Outcome::OutOfSpace;
                    }
                }
            }
            self.settle(part);
            part = next;
        }
    }

    /// Whether a host request waits for an operation, so that giving it up can be reported.
    pub fn can_fail(&self, id: OpId) -> bool {
        self.state.ops[id].owned_by == Owner::Request
    }

    /// A host program is over, committed or not.
    fn settle(&mut self, part: OpId) {
        let (stage, version, host) = {
            let op = &self.state.ops[part];
            (op.stage, op.version, op.owned_by == Owner::Request)
        };
        if stage < NONE - 1 && self.state.staging.settle(stage) && M::BYTES {
            *self.staged_page(stage) = M::Page::default();
        }
        self.notify(part);
        if host {
            self.unsettled -= 1;
            if matches!(self.ack, wordline_device::Ack::Buffer(_)) {
                self.buffered -= 1;
            }
            if !self.flushes.is_empty() {
                self.settle_flushes(version);
            }
        }
        self.state.ops.remove(part);
    }

    fn settle_flushes(&mut self, version: u64) {
        let mut ended: Vec<RequestId> = vec![];
        self.flushes.retain_mut(|f| {
            f.remaining -= (version < f.version) as u64;
            if f.remaining == 0 {
                ended.push(f.request);
            }
            f.remaining > 0
        });
        for request in ended {
            self.part_done(request);
        }
    }

    /// Sectors have died at a place.
    #[inline]
    pub(crate) fn bury(&mut self, killed: Killed) {
        let block = self.state.geometry.block_of(killed.ppn);
        let info = self.state.blocks.info[block.index()];
        let live = &mut self.state.blocks.live[block.index()];
        *live -= killed.sectors;
        let live = *live;
        if info.phase == Phase::Full && info.writers == 0 {
            let region = RegionId(info.region);
            let plane = self.state.geometry.plane_of(block);
            let position = self.state.position(region, plane, block);
            self.state.at_mut(region, plane).victims.lower(position, live);
            if self.state.starved[plane.index()] {
                self.collect_for(region, plane);
            }
        }
    }

    /// An operation has ended.
    #[inline]
    pub fn done(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let plane = op.plane;
        self.state.backlog[plane.index()] -= 1;
        match op.kind {
            OpKind::Read => self.read_done(id),
            OpKind::Program => self.program_done(id),
            OpKind::Erase => self.erase_done(id),
        }
    }

    #[inline]
    fn read_done(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let (ppn, lpn, owner, owned_by, cause, mask) =
            (op.ppn, op.lpn, op.owner, op.owned_by, op.cause, op.mask);
        let block = self.state.geometry.block_of(ppn);
        let info = &self.state.blocks.info[block.index()];
        let (region, mode) = (RegionId(info.region), info.mode);
        self.state.counters.regions[region.index()].reads[cause as usize] += 1;
        match owned_by {
            Owner::Request => {
                if M::BYTES {
                    self.deliver_read(id);
                }
                self.drop_chain(id);
                self.part_done(RequestId(owner));
                if self.asks.asks(Hooks::READ) {
                    let seen = ReadSeen { lpn, ppn, mode };
                    let view = View { state: &self.state, now: self.state.now };
                    if let Some(m) = self.scheme.read(&seen, &view) {
                        self.begin_move(m, false);
                    }
                }
            }
            Owner::Fill => {
                self.state.ops.remove(id);
                self.fill(OpId(owner), mask, ppn);
            }
            Owner::Job => self.relocate(id),
            Owner::Move => self.finish_move_read(id),
            Owner::Nobody => self.state.ops.remove(id),
        }
        self.unpin(block);
    }

    /// A read of a block has ended, or a move out of it: the block may be erased if it was the last.
    #[inline]
    pub(crate) fn unpin(&mut self, block: BlockId) {
        let info = &mut self.state.blocks.info[block.index()];
        info.readers -= 1;
        if info.readers == 0 && info.phase == Phase::Victim {
            let region = RegionId(info.region);
            self.step_job(region, self.state.geometry.plane_of(block));
        }
    }

    /// The missing sectors of a read-modify-write have been read.
    fn fill(&mut self, program: OpId, brought: wordline_units::SectorMask, ppn: Ppn) {
        let op = &self.state.ops[program];
        let (stage, lpn, version) = (op.stage, op.lpn, op.version);
        let entry = self.state.staging.get(stage);
        // After a trim, or with something newer on flash, what was read is old: the program will be
        // born invalid.
        if version >= entry.committed {
            let missing = brought.minus(entry.mask);
            entry.mask = entry.mask.union(brought);
            self.state.ops[program].mask = self.state.ops[program].mask.union(brought);
            if M::BYTES {
                let old = self.media.read(ppn, lpn);
                let sector = self.state.geometry.sector as usize;
                M::copy(self.staged_page(stage), &old, missing, sector);
                self.load_page(program, stage);
            }
        }
        self.filled(program);
    }

    fn deliver_read(&mut self, id: OpId) {
        let request = RequestId(self.state.ops[id].owner);
        let all = wordline_units::SectorMask::first(self.state.geometry.sectors_per_unit);
        let mut part = id;
        while !part.is_none() {
            let op = &self.state.ops[part];
            let (lpn, ppn, mask, next) = (op.lpn, op.ppn, op.mask.and(all), op.chain);
            let page = self.media.read(ppn, lpn);
            self.deliver(request, lpn, mask, &page);
            part = next;
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
        let info = self.state.blocks.info[block.index()];
        let region = RegionId(info.region);
        self.count_program(lead, region, slots);
        let mut part = lead;
        while !part.is_none() {
            let next = self.state.ops[part].chain;
            let ppn = Ppn(first.0 + self.state.ops[part].slot as u32);
            self.commit(part, ppn);
            part = next;
        }
        let info = &mut self.state.blocks.info[block.index()];
        info.writers -= 1;
        if info.phase == Phase::Full && info.writers == 0 {
            let position = self.state.position(region, plane, block);
            let live = self.state.blocks.live[block.index()];
            self.state.at_mut(region, plane).victims.insert(position, live);
            if self.state.starved[plane.index()] {
                self.collect_for(region, plane);
            } else {
                self.collect_if_short(region, plane);
            }
        }
    }

    /// Bytes and pages of a program, by cause; what it wrote nothing into is padding.
    fn count_program(&mut self, lead: OpId, region: RegionId, slots: u8) {
        let g = &self.state.geometry;
        let units_per_page = self.state.regions[region.index()].units_per_page as u8;
        let (sector, unit) = (g.sector, g.unit);
        let counters = &mut self.state.counters.regions[region.index()];
        let mut used = 0;
        let mut page = u8::MAX;
        let mut part = lead;
        while !part.is_none() {
            let op = &self.state.ops[part];
            let bytes = op.mask.count() as u64 * sector;
            counters.program_bytes[op.cause as usize] += bytes;
            used += bytes;
            if op.slot / units_per_page != page {
                page = op.slot / units_per_page;
                counters.program_pages[op.cause as usize] += 1;
            }
            part = op.chain;
        }
        counters.program_ops += 1;
        let pages = slots / units_per_page;
        counters.program_pages[Cause::Pad as usize] += (pages - 1 - page) as u64;
        counters.program_bytes[Cause::Pad as usize] += slots as u64 * unit - used;
    }

    /// A unit has been programmed: it becomes the home of its sectors unless something newer has.
    #[inline]
    fn commit(&mut self, part: OpId, ppn: Ppn) {
        let op = &self.state.ops[part];
        let (span, from, stage, version) = (op.span(), op.from, op.stage, op.version);
        let relocation = !from.is_none();
        let keep = if relocation {
            self.state.map.still_at(span, from)
        } else {
            self.state.staging.get(stage).current(span.mask, version)
        };
        if M::METADATA {
            let oob = Oob { span, version, sequence: self.state.ops[part].key };
            let page =
                if M::BYTES { std::mem::take(&mut self.pages[part.index()]) } else { M::Page::default() };
            self.media.program(ppn, oob, page);
        }
        if keep.is_empty() {
            self.state.counters.born_invalid += 1;
        } else {
            let mut dead = std::mem::take(&mut self.scratch.dead);
            self.state.map.install(span, keep, ppn, &mut dead);
            self.state.blocks.live[self.state.geometry.block_of(ppn).index()] += self.state.map.weight(keep);
            for killed in dead.drain(..) {
                self.bury(killed);
            }
            self.scratch.dead = dead;
            if !relocation {
                self.state.staging.get(stage).commit(keep, version);
            }
        }
        let op = &self.state.ops[part];
        match op.owned_by {
            Owner::Job => {
                let (region, released) = (RegionId(op.owner as u8), op.stage == NONE - 1);
                let plane = self.plane_of(from);
                self.state.ops.remove(part);
                self.job_page_over(region, plane, !released);
            }
            Owner::Move => {
                let (die, idle) = (self.state.geometry.die_of(op.plane), op.owner == 1);
                self.state.ops.remove(part);
                self.end_move(from, die, idle);
            }
            _ => self.settle(part),
        }
    }

    fn erase_done(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let (ppn, plane) = (op.ppn, op.plane);
        self.state.ops.remove(id);
        let block = self.state.geometry.block_of(ppn);
        let info = &mut self.state.blocks.info[block.index()];
        let (region, mode) = (RegionId(info.region), info.mode);
        info.erases += 1;
        info.phase = Phase::Free;
        self.state.counters.erases[mode.index()] += 1;
        self.state.counters.regions[region.index()].erases += 1;
        self.state.map.erase(block);
        self.media.erase(block, self.state.geometry.slot_shift);
        let local = self.state.local(region, plane);
        let pool = self.state.regions[region.index()].region.pool.0 as usize;
        self.state.pools[pool].free[local].push_back(block.0);
        self.state.at_mut(region, plane).owned -= 1;
        self.end_job(region, plane);
        self.state.jammed[plane.index()] = false;
        self.state.starved[plane.index()] = false; // until one of those that wake now is blocked again
        self.effects.push(Effect::Wake(plane));
        for other in 0..self.state.regions.len() as u8 {
            if self.state.reaches(RegionId(other), plane) {
                self.collect_if_short(RegionId(other), plane);
            }
        }
    }
}
