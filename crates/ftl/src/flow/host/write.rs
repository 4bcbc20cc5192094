//! What a host request becomes: reads are resolved in RAM first, then by the map; writes are cut
//! into parcels, placed by the scheme and staged; trims and flushes act on both.

use crate::ftl::Ftl;
use crate::media::Media;
use crate::plan::decision::{Gather, Origin, Parcel, Place, PlanePick, Tag};
use crate::plan::layout::Hooks;
use crate::plan::map_kind::{MapKind, RegionSet};
use crate::plan::span::{Located, Span};
use crate::state::cause::Cause;
use crate::state::demand_map::Waiting;
use crate::state::job::For;
use crate::state::latency::LatencyParts;
use crate::state::op::{Class, NONE, Op, OpId, OpKind, Owner};
use crate::state::request::{Effect, Outcome, Pending, PendingFlush, RequestError, RequestId};
use crate::state::stager::Company;
use crate::view::View;
use wordline_units::{HostOp, HostRequest, Lpn, PlaneId, Ppn, SectorMask, SimDuration, SimTime};

impl<M: Media> Ftl<M> {
    /// Whether the drive can take a request at all.
    ///
    /// # Errors
    /// When the request reaches past the drive's end or covers nothing.
    pub fn validate(&self, request: &HostRequest, number: u64) -> Result<(), RequestError> {
        if request.op == HostOp::Flush {
            return Ok(());
        }
        if request.blocks == 0 {
            return Err(RequestError::Empty { number });
        }
        let end = self.logical_lbas();
        if request.lba.0.checked_add(request.blocks as u64).is_none_or(|last| last > end) {
            let from = request.lba.0.saturating_mul(512);
            let to = from.saturating_add(request.bytes());
            return Err(RequestError::BeyondDrive { number, from, to, end: end * 512 });
        }
        Ok(())
    }

    /// Admit a request that [`Self::validate`] has accepted and that arrived at `request.arrival`.
    /// `data` are the bytes of a write, from its first sector on, where media keep them. A drive that has worn
    /// out takes no writes.
    pub fn submit(&mut self, request: HostRequest, number: u64, data: &[u8]) -> RequestId {
        if request.op == HostOp::Write && self.worn_out().is_some() {
            let id = self.enter(request, number, Outcome::WornOut);
            self.part_done(id);
            return id;
        }
        self.look_for_old();
        self.allow_map_pages();
        let id = self.enter(request, number, Outcome::Done);
        match request.op {
            HostOp::Read => self.submit_read(id, &request),
            HostOp::Write => self.submit_write(id, &request, data),
            HostOp::Trim => self.submit_trim(&request),
            HostOp::Flush => self.submit_flush(id),
        }
        self.part_done(id);
        id
    }

    /// End a write that was never admitted: the buffer is full, and nothing in it finds a place.
    pub fn refuse(&mut self, write: HostRequest, number: u64) {
        let (first, last, ..) = self.units(&write);
        self.state.counters.host_bytes_page += (last + 1 - first) as u64 * self.state.geometry.unit;
        let outcome = self.no_place();
        let id = self.enter(write, number, outcome);
        self.part_done(id);
    }

    /// Note a request, as one that ends so as far as is known and has one part, until all are known.
    fn enter(&mut self, request: HostRequest, number: u64, outcome: Outcome) -> RequestId {
        let pending = Pending {
            request,
            admitted: self.state.now,
            ended: SimTime::NEVER,
            parts: LatencyParts::default(),
            number,
            outcome,
            slowest_bit: 0,
            behind_idle: SimDuration::ZERO,
            remaining: 1,
        };
        let id = match self.free_requests.pop() {
            Some(i) => {
                self.requests[i as usize] = pending;
                RequestId(i)
            }
            None => {
                self.requests.push(pending);
                if M::BYTES {
                    self.buffers.push(vec![]);
                }
                RequestId(self.requests.len() as u32 - 1)
            }
        };
        self.state.outstanding += 1;
        self.open.last_request = self.state.now;
        self.state.draining = false;
        self.state.counters.host_requests[request.op as usize] += 1;
        self.state.counters.host_bytes[request.op as usize] += request.bytes();
        id
    }

    fn submit_read(&mut self, id: RequestId, request: &HostRequest) {
        let corners = self.units(request);
        if M::BYTES {
            let (first, last, from, to) = corners;
            let per_unit = self.state.geometry.sectors_per_unit;
            let sectors = (last - first) * per_unit + to - from;
            self.buffers[id.0 as usize] = vec![0; sectors as usize * self.state.geometry.sector as usize];
        }
        let mut joined = OpId::NONE;
        self.scratch.reading.clear();
        for unit in corners.0..=corners.1 {
            let mask = self.covered(unit, corners);
            self.read_unit(id, Lpn(unit), mask, &mut joined);
        }
    }

    #[inline]
    fn read_unit(&mut self, id: RequestId, lpn: Lpn, wanted: SectorMask, joined: &mut OpId) {
        let mut wanted = wanted;
        if let Some(stage) = self.state.staging.find(lpn) {
            let in_ram = self.state.staging.get(stage).mask.and(wanted);
            if !in_ram.is_empty() {
                self.state.counters.reads_from_ram += 1;
                wanted = wanted.minus(in_ram);
                if M::BYTES {
                    let page = self.staged_page(stage).clone();
                    self.deliver(id, lpn, in_ram, &page);
                }
                if wanted.is_empty() {
                    return;
                }
            }
        }
        let mut located = std::mem::take(&mut self.scratch.located);
        if self.read_cache.is_on() {
            let held = self.find_cached(lpn, wanted);
            wanted = wanted.minus(held);
            if M::BYTES {
                self.state.map.resolve(lpn, held, &mut located);
                for at in &located {
                    let page = self.media.read(at.ppn, lpn);
                    self.deliver(id, lpn, at.mask, &page);
                }
            }
        }
        let finds = wanted.is_empty() || self.finds_entry(lpn);
        self.state.map.resolve(lpn, wanted, &mut located);
        if located.is_empty() && !wanted.is_empty() {
            self.state.counters.reads_unmapped += 1;
            if !finds && self.awaits_entry(lpn, Waiting::Request(id)) {
                self.requests[id.0 as usize].remaining += 1;
            }
        }
        for at in &located {
            self.read_place(id, lpn, *at, joined);
        }
        self.scratch.located = located;
    }

    /// Read the sectors of a page that lie at one place.
    #[inline]
    fn read_place(&mut self, id: RequestId, lpn: Lpn, at: Located, joined: &mut OpId) {
        if let Some((with, shift)) = self.joins(*joined, lpn, at) {
            // What shares a page is sensed once; each part stands in the chain for its delivery.
            *joined = with;
            let lead = &mut self.state.ops[with];
            lead.mask = lead.mask.union(SectorMask(at.mask.0 << shift));
            let mut part = Op::new(OpKind::Read, lead.plane, Cause::Host, Class::Read);
            (part.lpn, part.ppn, part.mask, part.chain) = (lpn, at.ppn, at.mask, lead.chain);
            let part = self.add_op(part);
            self.state.ops[*joined].chain = part;
            return;
        }
        let block = self.state.geometry.block_of(at.ppn);
        self.state.blocks[block.index()].readers += 1;
        let mut op = Op::new(OpKind::Read, self.state.geometry.plane_of(block), Cause::Host, Class::Read);
        (op.lpn, op.ppn, op.mask) = (lpn, at.ppn, at.mask);
        (op.owned_by, op.owner) = (Owner::Request, id.0);
        self.requests[id.0 as usize].remaining += 1;
        let op = self.add_op(op);
        *joined = op;
        if self.state.map_kind().shares_slots() {
            self.scratch.reading.push((at.ppn, op));
        }
        self.emit_mapped(op, lpn);
    }

    /// The operation of the same request that already reads the page of a place, and the bit of its mask from
    /// which on the sectors there count: `last` where units share a page, any where pages share a unit.
    #[inline]
    fn joins(&self, last: OpId, lpn: Lpn, at: Located) -> Option<(OpId, u32)> {
        if self.state.map_kind().shares_slots() {
            let (_, op) = self.scratch.reading.iter().find(|(ppn, _)| *ppn == at.ppn)?;
            let used = u32::BITS - self.state.ops[*op].mask.0.leading_zeros();
            let shift = used.max(self.state.geometry.sectors_per_unit);
            return (shift + self.state.geometry.sectors_per_unit <= u32::BITS).then_some((*op, shift));
        }
        if last.is_none() || self.state.map_kind() != MapKind::Page {
            return None;
        }
        let op = &self.state.ops[last];
        let units = self.state.geometry.units_per_page(self.state.geometry.medium_index(op.plane));
        let shares = units > 1
            && at.ppn.0 > op.ppn.0
            && op.ppn.0 / units == at.ppn.0 / units
            && self.state.geometry.block_of(op.ppn) == self.state.geometry.block_of(at.ppn)
            && self.state.demand.as_ref().is_none_or(|map| map.together(op.lpn, lpn));
        shares.then(|| (last, (at.ppn.0 - op.ppn.0) * self.state.geometry.sectors_per_unit))
    }

    /// Copy sectors of a page into what a read request returns.
    pub(crate) fn deliver(&mut self, id: RequestId, lpn: Lpn, mask: SectorMask, page: &M::Page) {
        let request = self.requests[id.0 as usize].request;
        let (first, _, from, _) = self.units(&request);
        let bytes = self.state.geometry.sector as usize;
        let base = (lpn.0 - first) * self.state.geometry.sectors_per_unit;
        let buffer = &mut self.buffers[id.0 as usize];
        for s in mask.iter() {
            let at = (base + s - from) as usize * bytes;
            buffer[at..at + bytes].copy_from_slice(M::sector(page, s, bytes));
        }
    }

    fn submit_write(&mut self, id: RequestId, request: &HostRequest, data: &[u8]) {
        self.version += 1;
        let tag = if self.asks.asks(Hooks::ADMIT) {
            self.scheme.admit(request, &View::of(&self.state))
        } else {
            Tag::default()
        };
        let corners = self.units(request);
        self.state.counters.multi_page_writes += (corners.1 > corners.0) as u64;
        let per_page = self.state.stripe.units_per_page();
        let mut unit = corners.0;
        while unit <= corners.1 {
            let end = (unit / per_page + 1).saturating_mul(per_page).min(corners.1 + 1);
            self.write_parcel(id, unit..end, corners, tag, data);
            unit = end;
        }
        self.count_write_request();
    }

    /// Write the units of one physical page's worth of a request.
    fn write_parcel(
        &mut self,
        id: RequestId,
        units: std::ops::Range<u32>,
        corners: (u32, u32, u32, u32),
        tag: Tag,
        data: &[u8],
    ) {
        let mut spans = std::mem::take(&mut self.scratch.spans);
        spans.clear();
        self.scratch.stages.clear();
        for unit in units {
            let mask = self.covered(unit, corners);
            self.state.counters.host_bytes_page += self.state.geometry.unit;
            let span = Span { lpn: Lpn(unit), mask, offset: 0 };
            self.read_cache.drop(span.lpn, mask);
            if self.counts_updates {
                self.count_update(span);
            }
            let stage = self.state.staging.enter(Lpn(unit));
            if !self.merge_into_waiting(id, stage, mask, tag, corners, data) {
                spans.push(span);
                self.scratch.stages.push(stage);
            }
        }
        if !spans.is_empty() {
            let home = self.state.stripe.plane(spans[0].lpn);
            let parcel = Parcel { origin: Origin::Host(tag), spans: &spans, home };
            if self.asks.asks(Hooks::DIVIDE) && spans.len() == 1 {
                self.stage_divided(id, spans[0], tag, corners, data);
            } else {
                let (place, plane) = match self.placed_later() {
                    Some(place) => (place, home),
                    None => {
                        let place = self.place_host(&parcel);
                        let plane = self.pick_plane(&place, home);
                        (place, plane)
                    }
                };
                self.scratch.tag = tag;
                self.stage_parcel(id, &spans, &place, plane, corners, data);
            }
        }
        self.scratch.spans = spans;
    }

    /// Place the sectors of a span apart, as the scheme divides them.
    fn stage_divided(
        &mut self,
        id: RequestId,
        span: Span,
        tag: Tag,
        corners: (u32, u32, u32, u32),
        data: &[u8],
    ) {
        let home = self.state.stripe.plane(span.lpn);
        let mut left = span.mask;
        while !left.is_empty() {
            let rest = Span { mask: left, ..span };
            let view = View::of(&self.state);
            let mask = self.scheme.divide(&rest, &view).and(left);
            let mask = if mask.is_empty() { left } else { mask };
            left = left.minus(mask);
            let spans = [Span { mask, ..span }];
            let place = self.place_host(&Parcel { origin: Origin::Host(tag), spans: &spans, home });
            let plane = self.pick_plane(&place, home);
            // What was placed before may have taken older sectors along that this one writes anew.
            self.version += 1;
            // It may have ended the entry that was found, too.
            self.scratch.stages.clear();
            let stage = self.state.staging.enter(span.lpn);
            self.scratch.stages.push(stage);
            self.stage_parcel(id, &spans, &place, plane, corners, data);
        }
    }

    /// Where host data go; the moves that must come first are left in `scratch.moves`.
    pub(crate) fn place_host(&mut self, parcel: &Parcel) -> Place {
        let view = View::of(&self.state);
        if self.asks.asks(Hooks::MAKE_ROOM) {
            self.scheme.make_room(parcel, &view, &mut self.scratch.moves);
        }
        self.scheme.place(parcel, &view)
    }

    /// Make the programs of a parcel, and begin the reads that a read-modify-write needs and the moves that
    /// come first.
    fn stage_parcel(
        &mut self,
        id: RequestId,
        spans: &[Span],
        place: &Place,
        plane: PlaneId,
        corners: (u32, u32, u32, u32),
        data: &[u8],
    ) {
        let mut lead = OpId::NONE;
        let mut last = OpId::NONE;
        let mut awaited = 0;
        for (slot, span) in spans.iter().enumerate() {
            let stage = self.scratch.stages[slot];
            let mut op = Op::new(OpKind::Program, plane, Cause::Host, Class::Write);
            (op.lpn, op.mask, op.stage, op.version) = (span.lpn, span.mask, stage, self.version);
            (op.route, op.pick, op.slot) = (place.route, place.plane, slot as u8);
            op.owned_by = Owner::Request;
            self.state.buffered += u64::from(self.ack.is_buffer());
            if self.waits_for_flash(id) {
                op.owner = id.0;
                self.requests[id.0 as usize].remaining += 1;
            }
            self.unsettled += 1;
            let finds = self.finds_entry(span.lpn);
            let op = self.add_op(op);
            if lead.is_none() {
                lead = op;
            }
            awaited += u32::from(!finds && self.awaits_entry(span.lpn, Waiting::Program(lead)));
            let entry = self.state.staging.get(stage);
            entry.pending += 1;
            let in_ram = entry.mask;
            entry.mask = in_ram.union(span.mask);
            if M::BYTES {
                let sector = self.state.geometry.sector as usize;
                let page =
                    M::page(self.part(data, span.lpn, corners), self.covered(span.lpn.0, corners), sector);
                M::copy(self.staged_page(stage), &page, span.mask, sector);
            }
            if let Some(b) = &mut self.write_buffer {
                b.written(stage, self.version);
            }
            awaited += self.gather(op, stage, in_ram, place.gather) as u32;
            if !self.open.is_empty() && place.route.buffer_key().is_none() {
                self.supersede(op, None);
            }
            self.load_page(op, stage);
            if lead != op {
                self.state.ops[last].chain = op;
                self.state.ops[op].ppn = Ppn(lead.0); // until it is bound; see `filled`
            }
            last = op;
        }
        if let Some(b) = &mut self.write_buffer {
            b.note(lead, self.scratch.tag);
        }
        awaited += u32::from(self.awaits_journal(lead));
        self.launch_after(lead, awaited);
    }

    /// Count a part of a page where what it replaces lies, once for each region.
    fn count_update(&mut self, span: Span) {
        let mut located = std::mem::take(&mut self.scratch.located);
        self.state.map.resolve(span.lpn, span.mask, &mut located);
        let quarter = (span.mask.count() * 4).div_ceil(self.state.geometry.sectors_per_unit) - 1;
        let mut counted = RegionSet::default();
        for at in &located {
            let region = self.state.region_of(self.state.geometry.block_of(at.ppn));
            if !counted.contains(region) {
                counted = counted.and(region);
                self.state.counters.regions[region.index()].updates[quarter as usize] += 1;
            }
        }
        self.scratch.located = located;
    }

    /// Send a program off once its missing sectors have been read, the entries of the map that it needs, and the moves
    /// made that come first.
    pub(crate) fn launch_after(&mut self, lead: OpId, reads: u32) {
        let mut moves = std::mem::take(&mut self.scratch.moves);
        let awaited = reads + moves.len() as u32;
        if awaited == 0 {
            self.send(lead);
        } else {
            // What it waits for finds the program by its lead, which counts.
            self.state.ops[lead].ppn = Ppn(awaited);
        }
        for m in moves.drain(..) {
            self.enqueue_move(m, For::Program(lead));
        }
        self.scratch.moves = moves;
    }

    /// Whether a write is answered only when its data are on flash: always without a buffer that
    /// acknowledges, and with one where the host asks for it (FUA).
    #[inline]
    fn waits_for_flash(&self, write: RequestId) -> bool {
        !self.ack.is_buffer() || self.requests[write.0 as usize].request.attributes.is_fua()
    }

    /// Complete a program's page from RAM or by a read of the missing sectors. Returns whether a
    /// read is on its way.
    pub(crate) fn gather(&mut self, id: OpId, stage: u32, in_ram: SectorMask, gather: Gather) -> bool {
        let by_sector = self.state.map_kind().knows_sectors();
        if by_sector && gather != Gather::Fill {
            return false;
        }
        let op = &mut self.state.ops[id];
        op.mask = op.mask.union(in_ram);
        let (lpn, mask) = (op.lpn, op.mask);
        let fetches = self.fetch_missing(id, stage);
        if fetches && gather != Gather::Fill {
            let all = SectorMask::first(self.state.geometry.sectors_per_unit);
            self.illegal(
                format!("place logical page {lpn} as it is"),
                format!(
                    "sectors {:?} of it lie elsewhere, and a page map knows one place a page",
                    all.minus(mask)
                ),
            );
        }
        fetches
    }

    /// Read what a program still lacks of its page, from the first place that has some of it. Returns whether
    /// there is one.
    pub(crate) fn fetch_missing(&mut self, id: OpId, stage: u32) -> bool {
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        let op = &self.state.ops[id];
        let (lpn, mask, version) = (op.lpn, op.mask, op.version);
        // Of what is newer than the program it has no use.
        let wanted = self.state.staging.get(stage).current(all.minus(mask), version);
        if wanted.is_empty() {
            return false;
        }
        let mut located = std::mem::take(&mut self.scratch.located);
        self.state.map.resolve(lpn, wanted, &mut located);
        let first = located.iter().find(|at| self.fills_from(at.ppn)).copied();
        self.scratch.located = located;
        let Some(Located { ppn, mask: missing }) = first else { return false };
        let block = self.state.geometry.block_of(ppn);
        let mut read = Op::new(OpKind::Read, self.state.geometry.plane_of(block), Cause::Rmw, Class::Write);
        (read.lpn, read.ppn, read.mask) = (lpn, ppn, missing);
        (read.owned_by, read.owner) = (Owner::Fill, id.0);
        self.state.blocks[block.index()].readers += 1;
        let read = self.add_op(read);
        let entry = self.state.staging.get(stage);
        (entry.filling, entry.fill_read) = (id.0, read.0);
        self.emit_mapped(read, lpn);
        true
    }

    /// Whether missing sectors are taken from a place: under an overlay a page is not taken apart for a run.
    fn fills_from(&self, ppn: Ppn) -> bool {
        match self.state.map_kind() {
            MapKind::Overlay(regions, _) => {
                regions.contains(self.state.region_of(self.state.geometry.block_of(ppn)))
            }
            _ => true,
        }
    }

    /// A write to a page whose program still waits for its missing sectors, or in the write buffer, joins that program.
    fn merge_into_waiting(
        &mut self,
        id: RequestId,
        stage: u32,
        mask: SectorMask,
        tag: Tag,
        corners: (u32, u32, u32, u32),
        data: &[u8],
    ) -> bool {
        let entry = self.state.staging.get(stage);
        let (lpn, filling) = (entry.lpn, entry.filling);
        let waiting = || self.write_buffer.as_ref()?.program(stage);
        let Some(op) = (filling != NONE).then_some(OpId(filling)).or_else(waiting) else { return false };
        // A flush in between separates the two: the earlier must settle on its own.
        if self.flushes.iter().any(|f| f.version > self.state.ops[op].version) {
            return false;
        }
        let entry = self.state.staging.get(stage);
        entry.mask = entry.mask.union(mask);
        self.state.ops[op].mask = self.state.ops[op].mask.union(mask);
        self.state.ops[op].version = self.version;
        if let Some(b) = &mut self.write_buffer {
            b.written(stage, self.version);
        }
        if M::BYTES {
            let sector = self.state.geometry.sector as usize;
            let page = M::page(self.part(data, lpn, corners), mask, sector);
            M::copy(self.staged_page(stage), &page, mask, sector);
            self.load_page(op, stage);
        }
        let forced = self.waits_for_flash(id);
        if forced {
            self.requests[id.0 as usize].remaining += 1;
            self.waiters.push((op, id));
        }
        if filling == NONE {
            self.written_anew(stage, tag, forced);
        } else if self.state.ops[op].mask == SectorMask::first(self.state.geometry.sectors_per_unit) {
            self.cancel_fill(stage); // nothing is missing any more
        }
        true
    }

    /// The bytes of one unit of a write.
    fn part<'a>(&self, data: &'a [u8], lpn: Lpn, corners: (u32, u32, u32, u32)) -> &'a [u8] {
        let (first, _, from, _) = corners;
        let sectors = (lpn.0 - first) * self.state.geometry.sectors_per_unit;
        let at = sectors.saturating_sub(from) as usize * self.state.geometry.sector as usize;
        data.get(at..).unwrap_or(&[])
    }

    /// The plane that a decision means.
    pub(crate) fn pick_plane(&mut self, place: &Place, home: PlaneId) -> PlaneId {
        let region = place.route.region();
        if place.route.buffer_key().is_some() {
            return home;
        }
        if place.plane == PlanePick::Home && self.state.reaches(region, home) && !self.state.dynamic {
            return self.state.behind(region, home, Company::Host);
        }
        self.state.turn = self.state.turn.wrapping_add(1);
        let best = match place.plane {
            PlanePick::Roomiest => self.state.roomiest(region),
            PlanePick::Avoid(channels) => self.state.least_busy(region, Some(channels)),
            _ => self.state.least_busy(region, None),
        };
        self.state.behind(region, best.unwrap_or(home), Company::Host)
    }

    fn submit_trim(&mut self, request: &HostRequest) {
        self.version += 1;
        // Rounded inward: a sector is forgotten only when all of it is trimmed.
        let first = request.lba.0.div_ceil(self.lbas_per_sector);
        let end = (request.lba.0 + request.blocks as u64) / self.lbas_per_sector;
        let per_unit = self.state.geometry.sectors_per_unit as u64;
        let all = SectorMask::first(per_unit as u32);
        let mut sector = first;
        while sector < end {
            let unit = sector / per_unit;
            let stop = end.min((unit + 1) * per_unit);
            let mask = SectorMask::span((sector - unit * per_unit) as u32, (stop - unit * per_unit) as u32);
            sector = stop;
            if self.state.map_kind() == MapKind::Page && mask != all {
                continue;
            }
            self.trim_unit(Lpn(unit as u32), mask);
        }
    }

    fn trim_unit(&mut self, lpn: Lpn, mask: SectorMask) {
        self.read_cache.drop(lpn, mask);
        // A page that is neither mapped nor on its way was never written, or the trim that made it so
        // is known already.
        let mut stale = false;
        if let Some(stage) = self.state.staging.find(lpn) {
            stale = true;
            self.let_page_go(stage);
            let entry = self.state.staging.get(stage);
            entry.commit(mask, self.version);
            entry.mask = entry.mask.minus(mask);
            let filling = entry.filling;
            if filling != NONE && !self.state.map_kind().knows_sectors() {
                if M::METADATA {
                    self.state.trims.void.insert(filling);
                }
                self.cancel_fill(stage);
            }
        }
        let mut dead = std::mem::take(&mut self.scratch.dead);
        self.state.map.forget(lpn, mask, &mut dead);
        self.state.counters.premature_units += self.state.ahead.premature(&dead);
        self.bury(&dead);
        for killed in dead.drain(..) {
            let plane = self.state.geometry.plane_of(self.state.geometry.block_of(killed.ppn));
            self.effects.push(Effect::Wake(plane));
            stale = true;
            self.note_map_change(lpn);
        }
        self.scratch.dead = dead;
        if stale {
            self.note_trim(lpn, mask);
        }
        if self.state.map_kind().knows_sectors() {
            self.trim_waiting(lpn, mask);
        }
        if self.asks.asks(Hooks::FORGET) {
            self.scheme.forget(lpn);
        }
    }

    /// Sectors of a page have been trimmed that programs may hold or lack which are not on their way yet: they
    /// go without.
    fn trim_waiting(&mut self, lpn: Lpn, mask: SectorMask) {
        if !self.open.is_empty() {
            self.trim_merged(lpn, mask);
        }
        let Some(stage) = self.state.staging.find(lpn) else { return };
        let entry = self.state.staging.get(stage);
        if entry.filling == NONE {
            return;
        }
        let (program, read) = (OpId(entry.filling), OpId(entry.fill_read));
        let op = &mut self.state.ops[program];
        self.state.trims.hold(lpn, op.mask.and(mask), op.version);
        op.mask = op.mask.minus(mask);
        self.state.ops[read].mask = self.state.ops[read].mask.minus(mask);
    }

    fn submit_flush(&mut self, id: RequestId) {
        self.version += 1;
        self.seal_merged();
        self.empty_to(0);
        let earlier = self.unsettled;
        self.log_trims(id);
        self.seal(false);
        if earlier > 0 {
            self.requests[id.0 as usize].remaining += 1;
            self.flushes.push(PendingFlush { version: self.version, request: id, remaining: earlier });
        }
    }
}
