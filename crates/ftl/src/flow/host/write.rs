//! A write of the host: it is cut into the units of physical pages, each parcel is placed by the scheme, staged, and sent
//! off when it has all its data. What meets a write that still waits joins it.

use crate::ftl::Ftl;
use crate::media::Media;
use crate::plan::decision::{Origin, Parcel, Place, Tag};
use crate::plan::layout::Hooks;
use crate::plan::map_kind::RegionSet;
use crate::plan::span::Span;
use crate::state::cause::Cause;
use crate::state::demand_map::Waiting;
use crate::state::job::MoveReason;
use crate::state::op::{Class, NONE, Op, OpId, OpKind, Owner};
use crate::state::request::RequestId;
use crate::view::View;
use wordline_units::{HostRequest, Lpn, PlaneId, Ppn, SectorMask};

impl<M: Media> Ftl<M> {
    pub(super) fn submit_write(&mut self, id: RequestId, request: &HostRequest, data: &[u8]) {
        self.version += 1;
        let tag = if self.enabled_hooks.contains(Hooks::ADMIT) {
            self.scheme.admit(request, &View::of(&self.state))
        } else {
            Tag::default()
        };
        if self.has_failed("admit") {
            return;
        }
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
            if self.enabled_hooks.contains(Hooks::SPLIT_WRITE) && spans.len() == 1 {
                self.stage_split(id, spans[0], tag, corners, data);
            } else {
                let placed = match self.placed_later() {
                    Some(place) => Some((place, home)),
                    None => self.place_host(&parcel).map(|place| (place, self.pick_plane(&place, home))),
                };
                if let Some((place, plane)) = placed {
                    self.scratch.tag = tag;
                    self.stage_parcel(id, &spans, &place, plane, corners, data);
                }
            }
        }
        self.scratch.spans = spans;
    }

    /// Place the sectors of a span apart, as the scheme divides them.
    fn stage_split(
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
            let mask = self.scheme.split_write(&rest, &view).and(left);
            if self.has_failed("split_write") {
                return;
            }
            let mask = if mask.is_empty() { left } else { mask };
            left = left.minus(mask);
            let spans = [Span { mask, ..span }];
            let parcel = Parcel { origin: Origin::Host(tag), spans: &spans, home };
            let Some(place) = self.place_host(&parcel) else { return };
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

    /// Where host data go, if the scheme can tell; the moves that must come first are left in `scratch.moves`.
    pub(crate) fn place_host(&mut self, parcel: &Parcel) -> Option<Place> {
        let view = View::of(&self.state);
        if self.enabled_hooks.contains(Hooks::MAKE_ROOM) {
            self.scheme.make_room(parcel, &view, &mut self.scratch.moves);
            if self.has_failed("make_room") {
                self.scratch.moves.clear();
                return None;
            }
        }
        let place = self.scheme.place(parcel, &View::of(&self.state));
        if self.has_failed("place") {
            self.scratch.moves.clear();
            return None;
        }
        Some(place)
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
            self.enqueue_move(m, MoveReason::Program(lead));
        }
        self.scratch.moves = moves;
    }

    /// Whether a write is answered only when its data are on flash: always without a buffer that
    /// acknowledges, and with one where the host asks for it (FUA).
    #[inline]
    fn waits_for_flash(&self, write: RequestId) -> bool {
        !self.ack.is_buffer() || self.requests[write.0 as usize].request.attributes.is_fua()
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
}
