//! Host writes: a write is cut into the units of physical pages; each parcel is placed by the scheme, staged, and
//! issued when it has all its data. An overwrite of a write that still waits joins it.

use crate::flow::next::Next;
use crate::ftl::Ftl;
use crate::media::host_data::HostData;
use crate::media::page::PageData;
use crate::plan::decision::{Origin, Parcel, Place, Tag};
use crate::plan::layout::Hooks;
use crate::plan::map_kind::RegionSet;
use crate::plan::span::{Places, SECTORS_MAX, Span, Spans};
use crate::state::addressing::Extent;
use crate::state::demand_map::Waiting;
use crate::state::op::{Class, NONE, Op, OpId, Owner};
use crate::state::request::RequestId;
use crate::view::View;
use arrayvec::ArrayVec;
use std::ops::Range;
use wordline_counters::{Cause, OpKind};
use wordline_units::{HostRequest, Lpn, PlaneId, SectorMask};

/// A host write, as admitted.
pub(crate) struct HostWrite<'a> {
    id: RequestId,
    pub extent: Extent,
    tag: Tag,
    /// Its bytes, where media keep them.
    data: HostData<'a>,
}

/// The unplaced part of the current parcel, and where it is staged. It is separate from its write, since it is large
/// and is not moved.
pub(crate) struct Unplaced {
    spans: Spans,
    stages: ArrayVec<u32, SECTORS_MAX>,
}

impl Unplaced {
    /// Nothing.
    #[inline(always)]
    pub const fn new() -> Unplaced {
        Unplaced { spans: Spans::new_const(), stages: ArrayVec::new_const() }
    }

    /// Whether it exists.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// A span that is staged has no place.
    #[inline]
    fn push(&mut self, span: Span, stage: u32) {
        self.spans.push(span);
        self.stages.push(stage);
    }

    /// All is placed, or will not be placed.
    #[inline]
    fn clear(&mut self) {
        self.spans.clear();
        self.stages.clear();
    }
}

impl HostWrite<'_> {
    /// The data that it brings of a page; `sector` is the bytes of a sector.
    fn page(&self, lpn: Lpn, sector: usize) -> PageData {
        let before = self.extent.before(lpn, 0) as usize * sector;
        self.data.page((lpn.0 - self.extent.first) as usize, before, self.extent.covered(lpn.0), sector)
    }
}

impl Ftl {
    /// A write is admitted, and the scheme asked for its note; nothing if it cannot decide yet.
    #[inline]
    pub(crate) fn submit_write<'a>(
        &mut self,
        id: RequestId,
        request: &HostRequest,
        data: HostData<'a>,
    ) -> Option<HostWrite<'a>> {
        self.requests.next_version();
        let tag = if self.enabled_hooks.contains(Hooks::ADMIT) {
            self.scheme.admit(request, &View::of(&self.state))
        } else {
            Tag::default()
        };
        if self.has_failed("admit") {
            return None;
        }
        let extent = self.addressing.extent(request);
        self.state.counters.host.multi_page_writes += u64::from(extent.last > extent.first);
        Some(HostWrite { id, extent, tag, data })
    }

    /// A parcel: the units of one physical page, from this one on, as far as the write extends.
    #[inline]
    pub(crate) fn parcel_from(&self, write: &HostWrite, first: u32) -> Range<u32> {
        let per_page = self.state.stripe.units_per_page();
        let end = if per_page == 1 { first + 1 } else { (first / per_page + 1).saturating_mul(per_page) };
        first..end.min(write.extent.last + 1)
    }

    /// A unit of a parcel arrives in RAM: it joins a program that waits for it, or the unplaced part of the parcel.
    #[inline]
    pub(crate) fn enter_unit(&mut self, write: &HostWrite, unit: u32, unplaced: &mut Unplaced) -> Next {
        let mask = write.extent.covered(unit);
        self.state.counters.host.write_page_bytes += self.state.geometry.unit;
        let span = Span { lpn: Lpn(unit), mask, offset: 0 };
        self.read_cache.drop(span.lpn, mask);
        if self.counts_updates {
            self.count_update(span);
        }
        let stage = self.state.staging.enter(Lpn(unit));
        self.merge_into_waiting(write, stage, mask).unwrap_or_else(|| {
            unplaced.push(span, stage);
            Next::Nothing
        })
    }

    /// Place the rest of a parcel: all of it, or of a partial page as much as the scheme wants in one place.
    #[inline]
    pub(crate) fn place_parcel(&mut self, write: &HostWrite, unplaced: &mut Unplaced) -> Next {
        if self.enabled_hooks.contains(Hooks::SPLIT_WRITE) && unplaced.spans.len() == 1 {
            return self.place_some(write, unplaced);
        }
        let next = self.place_whole(write, unplaced);
        unplaced.clear();
        next
    }

    #[inline]
    fn place_whole(&mut self, write: &HostWrite, unplaced: &Unplaced) -> Next {
        let home = self.state.stripe.plane(unplaced.spans[0].lpn);
        let parcel = Parcel { origin: Origin::Host(write.tag), spans: &unplaced.spans, home };
        let placed = match self.placed_later() {
            Some(place) => Some((place, home)),
            None => self.place_host(&parcel).map(|place| (place, self.pick_plane(&place, home))),
        };
        let Some((place, plane)) = placed else { return Next::Nothing };
        self.stage_parcel(write, unplaced, &place, plane)
    }

    /// Place as many sectors of the one span as the scheme wants together, and leave the others: none if it cannot
    /// decide.
    fn place_some(&mut self, write: &HostWrite, unplaced: &mut Unplaced) -> Next {
        let rest = unplaced.spans[0];
        unplaced.clear();
        let home = self.state.stripe.plane(rest.lpn);
        let together = self.scheme.split_write(&rest, &View::of(&self.state)).and(rest.mask);
        if self.has_failed("split_write") {
            return Next::Nothing;
        }
        let mask = if together.is_empty() { rest.mask } else { together };
        let spans = [Span { mask, ..rest }];
        let parcel = Parcel { origin: Origin::Host(write.tag), spans: &spans, home };
        let Some(place) = self.place_host(&parcel) else { return Next::Nothing };
        let plane = self.pick_plane(&place, home);
        // What was placed before may have taken older sectors along that this one rewrites.
        self.requests.next_version();
        // It may have ended the entry that was found, too.
        unplaced.push(spans[0], self.state.staging.enter(rest.lpn));
        let next = self.stage_parcel(write, unplaced, &place, plane);
        unplaced.clear();
        let left = rest.mask.minus(mask);
        if !left.is_empty() {
            unplaced.push(Span { mask: left, ..rest }, NONE);
        }
        next
    }

    /// Create the programs of a parcel, and start the reads that a read-modify-write needs and the moves that come
    /// first.
    fn stage_parcel(&mut self, write: &HostWrite, parcel: &Unplaced, place: &Place, plane: PlaneId) -> Next {
        let mut lead = OpId::NONE;
        let mut last = OpId::NONE;
        let mut awaited = 0;
        let version = self.requests.version();
        for (slot, (span, stage)) in parcel.spans.iter().zip(&parcel.stages).enumerate() {
            let stage = *stage;
            let mut op = Op::new(OpKind::Program, plane, Cause::Host, Class::Write);
            (op.lpn, op.mask, op.stage, op.version) = (span.lpn, span.mask, stage, version);
            (op.route, op.pick, op.slot) = (place.route, place.plane, slot as u8);
            op.owner = Owner::Answered;
            self.state.buffered += u64::from(self.ack.is_buffer());
            if self.waits_for_flash(write.id) {
                op.owner = Owner::Request(write.id);
                self.requests.add_part(write.id);
            }
            self.requests.add_unsettled();
            let finds = self.finds_entry(span.lpn);
            let op = self.add_op(op);
            if lead.is_none() {
                lead = op;
            }
            awaited += u32::from(!finds && self.awaits_entry(span.lpn, Waiting::Program(lead)));
            let entry = self.state.staging.get(stage);
            entry.add_program();
            let in_ram = entry.mask();
            entry.take_in(span.mask);
            if self.store.keeps_bytes() {
                self.stage_data(write, stage, *span);
            }
            if let Some(b) = &mut self.write_buffer {
                b.written(stage, version);
            }
            awaited += self.gather(op, stage, in_ram, place.gather) as u32;
            if !self.merge_buffer.is_empty() && place.route.buffer_key().is_none() {
                self.supersede(op, None);
            }
            self.load_page(op, stage);
            if lead != op {
                self.state.ops[last].chain = op;
                self.state.ops[op].lead = lead;
            }
            last = op;
        }
        if let Some(b) = &mut self.write_buffer {
            b.note(lead, write.tag);
        }
        awaited += u32::from(self.awaits_journal(lead));
        self.send_after(lead, awaited)
    }

    /// Count a partial page in the region of the data that it replaces, once for each region.
    fn count_update(&mut self, span: Span) {
        let mut located = Places::new();
        self.state.map.resolve(span.lpn, span.mask, &mut located);
        let quarter = (span.mask.count() * 4).div_ceil(self.state.geometry.sectors_per_unit) - 1;
        let mut counted = RegionSet::default();
        for at in &located {
            let region = self.state.region_of(self.state.geometry.block_of(at.ppn));
            if !counted.contains(region) {
                counted = counted.and(region);
                self.state.counters.regions[region.index()].counts.updates[quarter as usize] += 1;
            }
        }
    }

    /// Whether a write completes only when its data are on flash: always without a buffer that acknowledges writes, and
    /// with one if FUA is set.
    #[inline]
    fn waits_for_flash(&self, write: RequestId) -> bool {
        !self.ack.is_buffer() || self.requests[write].request.attributes.is_fua()
    }

    /// The data of a write arrive in RAM, and, if it may complete from there, in protected RAM.
    #[cold]
    fn stage_data(&mut self, write: &HostWrite, stage: u32, span: Span) {
        let sector = self.state.geometry.sector as usize;
        let page = write.page(span.lpn, sector);
        self.store.stage(stage, &page, span.mask);
        if self.ack.answers_from_ram() {
            self.store.protect(span.lpn, span.mask, self.requests.version(), &page);
        }
    }

    /// Let a write join the program of its page that still waits for missing sectors or in the write buffer. Returns
    /// the next step, or nothing if there is no such program.
    fn merge_into_waiting(&mut self, write: &HostWrite, stage: u32, mask: SectorMask) -> Option<Next> {
        let entry = self.state.staging.get(stage);
        let (lpn, fill) = (entry.lpn(), entry.fill());
        let waiting = || self.write_buffer.as_ref()?.program(stage);
        let op = fill.map(|fill| fill.program).or_else(waiting)?;
        // A flush in between separates the two: the earlier must settle on its own.
        if self.requests.is_flushed_since(self.state.ops[op].version) {
            return None;
        }
        self.state.staging.get(stage).take_in(mask);
        self.state.ops[op].mask = self.state.ops[op].mask.union(mask);
        self.state.ops[op].version = self.requests.version();
        if let Some(b) = &mut self.write_buffer {
            b.written(stage, self.requests.version());
        }
        if self.store.keeps_bytes() {
            self.stage_data(write, stage, Span { lpn, mask, offset: 0 });
            self.load_page(op, stage);
        }
        let forced = self.waits_for_flash(write.id);
        if forced {
            self.requests.wait_for(op, write.id);
        }
        let is_whole = self.state.ops[op].mask == SectorMask::first(self.state.geometry.sectors_per_unit);
        let Some(fill) = fill else { return Some(self.written_anew(stage, write.tag, forced)) };
        if is_whole {
            self.cancel_fill(fill); // nothing is missing any more
        }
        Some(Next::Nothing)
    }
}
