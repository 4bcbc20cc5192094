//! Program buffers, between placement and program: units wait until they fill a page, and pages until they fill the
//! group that is programmed in one shot, or until a time limit.

use crate::ftl::Ftl;
use crate::plan::map_kind::MapKind;
use crate::plan::region::{MovedIn, Region, RegionId};
use crate::plan::span::Dead;
use crate::state::op::{Op, OpId, Owner};
use crate::state::program_buffer::{PlaneProgramBuffer, WriteStream};
use crate::state::region::RegionState;
use crate::state::request::{Effect, Timer};
use wordline_device::Ack;
use wordline_units::{Lpn, PlaneId, Ppn, SimTime};

impl Ftl {
    /// A program, with its chain, has all its data: issue it, or let it wait for other data.
    pub(crate) fn launch(&mut self, lead: OpId) {
        let op = &self.state.ops[lead];
        let region = op.route.region();
        let r = &self.state.regions[region.index()];
        let (units, has_more) = (r.units_per_page, !op.chain.is_none());
        let is_full = self.is_full_program(op, r);
        if has_more && let Some(rest) = self.split(lead, units as u8) {
            self.launch(lead);
            self.launch(rest);
            return;
        }
        if is_full {
            self.state.ops[lead].slots = units as u8;
            self.emit(lead);
            return;
        }
        let host = self.state.ops[lead].owner.is_host();
        let packs = || self.state.regions[region.index()].packs_host;
        let leaves_room = || self.state.ops.chain(lead).nth(units as usize - 1).is_none();
        if !host && self.packs_sectors() {
            self.add_sectors(region, lead);
        } else if units == 1 || host && !(packs() && leaves_room()) {
            self.add_page(region, lead);
        } else {
            // Of the host, part of a page. A group that was taken apart comes in pages: its units share pages again.
            let mut unit = lead;
            while !unit.is_none() {
                let op = &mut self.state.ops[unit];
                op.slot = 0;
                let next = std::mem::replace(&mut op.chain, OpId::NONE);
                self.add_unit(region, unit);
                unit = next;
            }
        }
    }

    /// If entering a protected program buffer completes a move, the page leaves its old place. It is launched next,
    /// behind the host program that waited for it.
    pub(crate) fn enter_if_it_waits(&mut self, lead: OpId) {
        let op = &self.state.ops[lead];
        let region = op.route.region();
        if !self.is_full_program(op, &self.state.regions[region.index()]) {
            self.enter_program_buffer(region, lead);
        }
    }

    /// Whether a program fills the program unit of its region, or is moved to where it shares its page with nothing.
    #[inline]
    fn is_full_program(&self, op: &Op, r: &RegionState) -> bool {
        let is_moved_alone = || {
            matches!(r.region.moved_in, MovedIn::Alone | MovedIn::Rewritten)
                && WriteStream::of(op) == WriteStream::Moved
        };
        r.pages_per_program == 1 && (r.units_per_page == 1 && !self.packs_sectors() || is_moved_alone())
    }

    /// A parcel is cut for pages of the home region; pages of another medium may hold fewer units. Returns what does
    /// not fit into the page, as a separate program.
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

    /// Units share pages: add a unit to the page that is being packed.
    fn add_unit(&mut self, region: RegionId, lead: OpId) {
        let plane = self.state.ops[lead].plane;
        let units = self.state.regions[region.index()].units_per_page as u8;
        let stream = WriteStream::of(&self.state.ops[lead]);
        let waiting = self.program_buffer(region, plane, stream).page;
        let goes_along = |with: OpId| self.state.ops[with].route == self.state.ops[lead].route;
        if stream == WriteStream::Host && !waiting.is_none() && !goes_along(waiting) {
            self.close_page(region, plane, stream); // the scheme wants it elsewhere
        }
        self.enter_program_buffer(region, lead);
        self.state.incomplete_units += u64::from(self.state.regions[region.index()].waits_on(stream));
        let buffer = self.program_buffer(region, plane, stream);
        let (first, slot) = (buffer.page, buffer.page_slots);
        buffer.page_slots += 1;
        if first.is_none() {
            buffer.page = lead;
        }
        let full = buffer.page_slots == units;
        self.shift_slots(lead, slot); // a moved unit comes with slot 0
        if !first.is_none() {
            self.join(first, lead);
        }
        if full {
            self.close_page(region, plane, stream);
        } else {
            self.arm_pad(region, plane, stream);
        }
    }

    /// Whether parts of several logical pages share the pages to which they are moved.
    fn packs_sectors(&self) -> bool {
        self.state.map_kind() == MapKind::Extent
    }

    /// The contents of a slot join the page that is being packed, if all of them fit: a move then never takes more
    /// slots than it frees.
    fn add_sectors(&mut self, region: RegionId, lead: OpId) {
        let plane = self.state.ops[lead].plane;
        let stream = WriteStream::of(&self.state.ops[lead]);
        let all = self.state.geometry.sectors_per_unit as u8;
        self.enter_program_buffer(region, lead);
        let parts: Vec<(Lpn, u32)> = self
            .state
            .ops
            .chain(lead)
            .map(|p| (self.state.ops[p].lpn, self.state.ops[p].mask.count()))
            .collect();
        let sectors = parts.iter().map(|(_, sectors)| sectors).sum::<u32>() as u8;
        let buffer = &self.state.at(region, plane).program_buffers[stream as usize];
        let (waiting, has_room) = (buffer.page, buffer.page_slots + sectors <= all);
        // A page holds one part of a logical page, or it could not be told which is newer.
        if !has_room || self.holds_any(waiting, &parts) {
            self.close_page(region, plane, stream);
        }
        let buffer = self.program_buffer(region, plane, stream);
        let (first, offset) = (buffer.page, buffer.page_slots);
        buffer.page_slots += sectors;
        let full = buffer.page_slots == all;
        if first.is_none() {
            buffer.page = lead;
        } else {
            let mut part = lead;
            while !part.is_none() {
                self.state.ops[part].offset += offset;
                part = self.state.ops[part].chain;
            }
            self.join(first, lead);
        }
        if full {
            self.close_page(region, plane, stream);
        } else {
            self.arm_pad(region, plane, stream);
        }
    }

    /// Whether a program contains a part of any of these logical pages.
    fn holds_any(&self, lead: OpId, lpns: &[(Lpn, u32)]) -> bool {
        let mut part = lead;
        while !part.is_none() {
            let op = &self.state.ops[part];
            if lpns.iter().any(|(lpn, _)| *lpn == op.lpn) {
                return true;
            }
            part = op.chain;
        }
        false
    }

    /// Close the page that was being packed.
    fn close_page(&mut self, region: RegionId, plane: PlaneId, stream: WriteStream) {
        let r = &self.state.regions[region.index()];
        let (alone, waits_on) = (r.pages_per_program == 1, r.waits_on(stream));
        let buffer = self.program_buffer(region, plane, stream);
        let page = std::mem::replace(&mut buffer.page, OpId::NONE);
        let slots = std::mem::take(&mut buffer.page_slots);
        if alone {
            // The page is the whole group: the next one waits for its own time, not for what is left of this one's.
            buffer.generation += 1;
            buffer.pad_at = SimTime::NEVER;
        }
        if waits_on {
            self.state.incomplete_units -= u64::from(slots); // a group counts them again
        }
        if !page.is_none() {
            self.add_page(region, page);
        }
    }

    /// Add a page to the group that is programmed in one shot.
    pub(crate) fn add_page(&mut self, region: RegionId, lead: OpId) {
        let plane = self.state.ops[lead].plane;
        let r = &self.state.regions[region.index()];
        let (units, pages) = (r.units_per_page as u8, r.pages_per_program as u8);
        if pages == 1 {
            self.state.ops[lead].slots = units;
            self.emit(lead);
            return;
        }
        let stream = WriteStream::of(&self.state.ops[lead]);
        if units == 1 {
            self.enter_program_buffer(region, lead);
        }
        let waits_on = self.state.regions[region.index()].waits_on(stream);
        let came = if waits_on { self.state.ops.chain(lead).count() as u16 } else { 0 };
        self.state.incomplete_units += u64::from(came);
        let buffer = self.program_buffer(region, plane, stream);
        let (group, page) = (buffer.group, buffer.group_pages);
        buffer.group_pages += 1;
        buffer.group_units += came;
        if group.is_none() {
            buffer.group = lead;
        }
        let full = buffer.group_pages == pages;
        self.shift_slots(lead, page * units);
        if !group.is_none() {
            self.join(group, lead);
        }
        if full {
            self.close_group(region, plane, stream);
        } else {
            self.arm_pad(region, plane, stream);
        }
    }

    /// Send a group off, whole or padded.
    fn close_group(&mut self, region: RegionId, plane: PlaneId, stream: WriteStream) {
        let r = &self.state.regions[region.index()];
        let slots = (r.units_per_page * r.pages_per_program) as u8;
        let buffer = self.program_buffer(region, plane, stream);
        let group = std::mem::replace(&mut buffer.group, OpId::NONE);
        buffer.group_pages = 0;
        buffer.generation += 1;
        buffer.pad_at = SimTime::NEVER;
        let units = std::mem::take(&mut buffer.group_units);
        self.state.incomplete_units -= u64::from(units);
        if !group.is_none() {
            self.state.ops[group].slots = slots;
            self.emit(group);
        }
        if !self.program_buffer(region, plane, stream).page.is_none() {
            self.arm_pad(region, plane, stream); // a page that is still being packed waits on, for its own time
        }
    }

    /// A relocation that waits for other data no longer blocks its job. If the program buffer survives a power cut the
    /// data leave their old place at once, so that it can be erased; this completes a move.
    pub(crate) fn enter_program_buffer(&mut self, region: RegionId, lead: OpId) {
        let op = &self.state.ops[lead];
        let (owner, lpn, source, idle) = (op.owner, op.lpn, op.from, op.idle);
        if !matches!(owner, Owner::Job(_) | Owner::Move(_)) {
            return;
        }
        if self.store.keeps_bytes() && self.out.fault().is_some() {
            return; // its bytes may not have been read, so it must not leave its place
        }
        let plane = self.state.geometry.plane_at(source);
        if !self.state.regions[region.index()].region.protected {
            let Owner::Job(from_region) = owner else { return };
            let mut part = lead;
            while !part.is_none() {
                // It may have fallen back from another one.
                let in_window = std::mem::replace(&mut self.state.ops[part].in_window, false);
                if let Some(job) = &mut self.state.at_mut(from_region, plane).job {
                    job.window -= u32::from(in_window);
                }
                part = self.state.ops[part].chain;
            }
            return;
        }
        let (mut part, mut parts, mut in_window) = (lead, 0, 0);
        let mut dead = Dead::new();
        while !part.is_none() {
            let (span, from, next) = {
                let op = &self.state.ops[part];
                (op.span(), op.from, op.chain)
            };
            let keep = self.state.map.still_at(span, from);
            let stage = self.state.staging.enter(span.lpn);
            let entry = self.state.staging.get(stage);
            entry.add_program();
            // What RAM holds already is newer: a write that waits for its missing sectors, say.
            let older = entry.take_in(keep);
            entry.begin_relocation(part, keep);
            self.state.ops[part].mask = keep;
            self.protect_moved(part, keep);
            self.state.map.unmap(span.lpn, keep, &mut dead);
            if self.store.keeps_bytes() && !older.is_empty() {
                let page = self.store.page(part);
                self.store.stage(stage, &page, older);
            }
            self.state.ops[part].stage = stage;
            self.state.ops[part].from = Ppn::NONE;
            self.state.ops[part].owner = Owner::Nobody;
            in_window += u32::from(self.state.ops[part].in_window);
            (part, parts) = (next, parts + 1);
        }
        self.invalidate(&dead);
        match owner {
            // What has fallen back from a program buffer that is not safe does not count in the window any more.
            Owner::Job(from) => (0..parts).for_each(|i| self.job_page_over(from, plane, i < in_window)),
            Owner::Move(waits) => self.end_move(lpn, source, idle, waits),
            _ => {}
        }
    }

    /// Add parts to a program, which gets the priority of the most urgent of them.
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

    fn program_buffer(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        stream: WriteStream,
    ) -> &mut PlaneProgramBuffer {
        &mut self.state.at_mut(region, plane).program_buffers[stream as usize]
    }

    /// Whether a page that a scheme moves is among those that wait.
    fn holds_move(&self, region: RegionId, plane: PlaneId, stream: WriteStream) -> bool {
        let buffer = &self.state.at(region, plane).program_buffers[stream as usize];
        let is_move = |part| matches!(self.state.ops[part].owner, Owner::Move(_));
        let mut leads = [buffer.page, buffer.group].into_iter().filter(|lead| !lead.is_none());
        leads.any(|lead| self.state.ops.chain(lead).any(is_move))
    }

    /// Start the time limit of a group that waits for other data.
    fn arm_pad(&mut self, region: RegionId, plane: PlaneId, stream: WriteStream) {
        let buffer = &self.state.at(region, plane).program_buffers[stream as usize];
        let waited_for = self.state.draining
            || match stream {
                WriteStream::Host => self.is_any_waited_for([buffer.page, buffer.group]),
                _ => self.holds_move(region, plane, stream),
            };
        let Region { pad_after, pad_host_after, .. } = self.state.regions[region.index()].region;
        let Some(wait) = (if waited_for { Some(pad_host_after) } else { pad_after }) else { return };
        let at = self.state.now + wait;
        let buffer = self.program_buffer(region, plane, stream);
        if at < buffer.pad_at {
            buffer.pad_at = at;
            let timer = Timer::Pad { region, plane, stream, generation: buffer.generation };
            self.out.ask(Effect::Timer(at, timer));
        }
    }

    /// Whether a request waits for the program of any of these host data: always, unless a buffer has acknowledged
    /// them.
    fn is_any_waited_for(&self, leads: [OpId; 2]) -> bool {
        let mut leads = leads.into_iter().filter(|lead| !lead.is_none());
        !matches!(self.ack, Ack::Buffer(_))
            || leads.any(|lead| self.state.ops.chain(lead).any(|part| self.is_waited_for(part)))
    }

    /// Groups without a time limit may take half of a full write buffer: beyond that the fullest groups are padded, so
    /// that room is left for programs.
    pub(crate) fn make_space_in_groups(&mut self) {
        let Ack::Buffer(pages) = self.ack else { return };
        while self.state.incomplete_units > u64::from(pages) / 2
            && let Some((region, plane)) = self.fullest_group()
        {
            self.pad(region, plane, WriteStream::Host);
        }
    }

    /// The group in which most logical pages of the host wait; of equals the first region and plane.
    fn fullest_group(&self) -> Option<(RegionId, PlaneId)> {
        let mut fullest = None;
        let mut most = 0;
        for (index, region) in self.state.regions.iter().enumerate() {
            let first = self.state.pool_of(RegionId(index as u8)).first_plane;
            for (local, plane) in region.planes.iter().enumerate() {
                let buffer = &plane.program_buffers[WriteStream::Host as usize];
                let packed = if region.waits_on(WriteStream::Host) { buffer.page_slots } else { 0 };
                let units = buffer.group_units + u16::from(packed);
                if units > most {
                    most = units;
                    fullest = Some((RegionId(index as u8), PlaneId(first + local as u32)));
                }
            }
        }
        fullest
    }

    /// Whether a job of a plane has pages left to read that may join a group.
    fn feeds(&self, region: RegionId, plane: PlaneId, stream: WriteStream) -> bool {
        let pool = self.state.regions[region.index()].region.pool;
        (0..self.state.regions.len() as u8).map(RegionId).any(|from| {
            let within = self.state.regions[from.index()].region.pool == pool;
            let comes = match stream {
                WriteStream::Host => false,
                WriteStream::Moved => !within,
                WriteStream::Collected => within,
            };
            comes
                && self.state.reaches(from, plane)
                && self.state.superblock_planes(from, plane).any(|p| {
                    let job = self.state.at(from, PlaneId(p)).job;
                    job.is_some_and(|j| !j.is_paused() && (!j.exhausted || j.window > 0))
                })
        })
    }

    fn pad(&mut self, region: RegionId, plane: PlaneId, stream: WriteStream) {
        if stream != WriteStream::Host || self.state.regions[region.index()].packs_host {
            self.close_page(region, plane, stream);
        }
        self.close_group(region, plane, stream);
    }

    /// Pad all waiting host data, and with `moved` also those that collection moves.
    pub(crate) fn seal(&mut self, moved: bool) {
        for index in 0..self.state.regions.len() {
            let region = RegionId(index as u8);
            let r = &self.state.regions[index];
            if r.units_per_page * r.pages_per_program == 1 && !self.packs_sectors() {
                continue;
            }
            let first = self.state.pool_of(region).first_plane;
            for local in 0..self.state.regions[index].planes.len() as u32 {
                self.pad(region, PlaneId(first + local), WriteStream::Host);
                for stream in WriteStream::WITHIN.into_iter().filter(|_| moved) {
                    self.pad(region, PlaneId(first + local), stream);
                }
            }
        }
    }

    /// A group has reached its time limit, unless it has been replaced by another.
    pub(crate) fn pad_timer(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        stream: WriteStream,
        generation: u32,
    ) {
        let buffer = self.program_buffer(region, plane, stream);
        if buffer.generation != generation {
            return;
        }
        buffer.pad_at = SimTime::NEVER;
        // While a job still reads, its pages are the data to wait for: padding them one by one
        // could cost more than the job gives back.
        if self.feeds(region, plane, stream) && !self.state.planes.is_gc_blocked(plane) {
            self.arm_pad(region, plane, stream);
        } else {
            self.pad(region, plane, stream);
        }
    }
}
