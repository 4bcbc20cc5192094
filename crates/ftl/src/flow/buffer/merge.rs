//! The merge buffer: partial pages wait in RAM until they fill a page together. A filling page is a list of unplaced
//! programs, each in the staging index like any other, so that reads are served from it; when sealed, they are
//! chained to one program, which the scheme places.

use crate::flow::next::Next;
use crate::ftl::Ftl;
use crate::plan::decision::{Origin, Parcel, Tag};
use crate::plan::layout::Join;
use crate::plan::span::Span;
use crate::state::merge::OpenPage;
use crate::state::op::{OpId, Owner};
use crate::state::request::{Effect, RequestId, Timer};
use smallvec::SmallVec;
use std::cmp::Reverse;
use wordline_device::Ack;
use wordline_units::{HostOp, HostRequest, Lpn, SectorMask, SimDuration};

impl Ftl {
    /// A partial page has all its data: it joins a filling page, together with what waits there of its logical page.
    pub(crate) fn merge(&mut self, id: OpId, key: u8) -> Next {
        let Some(join) = self.layout.merges else {
            self.illegal("place into a merge buffer".into(), "the layout has no merge buffer".into());
            return Next::Nothing;
        };
        let version = self.state.ops[id].version;
        // Had it not waited for missing sectors, the flush would have sealed it; what waits now is newer.
        let is_late = self.requests.is_flushed_since(version);
        let hurries = is_late || self.is_forced(id);
        if !is_late {
            self.supersede(id, Some(key));
        }
        let (lpn, mask) = (self.state.ops[id].lpn, self.state.ops[id].mask);
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        if mask == all {
            let spans = [Span { lpn, mask, offset: 0 }];
            let home = self.state.stripe.plane(lpn);
            let parcel = Parcel { origin: Origin::Host(Tag::default()), spans: &spans, home };
            let Some(place) = self.place_host(&parcel) else { return Next::Nothing };
            if place.route.buffer_key().is_none() {
                let plane = self.pick_plane(&place, home);
                let op = &mut self.state.ops[id];
                (op.route, op.pick, op.plane) = (place.route, place.plane, plane);
                self.load_page(id, self.state.ops[id].stage);
                return self.send_after(id, 0);
            }
        }
        let at = self.page_for(join, key, lpn, mask.count());
        let page = &mut self.merge_buffer.pages[at];
        page.parts.push(id);
        page.sectors += mask.count();
        if page.sectors == all.count() || hurries {
            self.seal_page(at);
        } else {
            self.answer_from_buffer(id);
        }
        Next::Nothing
    }

    /// Whether a write that waits for a partial page has FUA set.
    pub(crate) fn is_forced(&self, id: OpId) -> bool {
        let op = &self.state.ops[id];
        let fua = |request: RequestId| self.requests[request].request.attributes.is_fua();
        self.ack.answers_from_ram()
            && (op.owner.request().is_some_and(fua) || self.requests.waiting_for(id).any(fua))
    }

    /// If the buffer acknowledges writes, those that wait for a partial page complete.
    fn answer_from_buffer(&mut self, id: OpId) {
        if self.ack == Ack::Merge {
            self.notify(id, self.state.ops[id].owner.request());
            self.state.ops[id].owner = Owner::Answered;
        }
    }

    /// Let a program absorb waiting partial pages that it overwrites: all of one with the same key, and of others
    /// the sectors that it contains. Who waits for those waits for it.
    pub(crate) fn supersede(&mut self, id: OpId, key: Option<u8>) {
        let (lpn, stage) = (self.state.ops[id].lpn, self.state.ops[id].stage);
        let mut at = 0;
        while at < self.merge_buffer.pages.len() {
            let page = &self.merge_buffer.pages[at];
            let same = key == Some(page.key);
            let found = page.parts.iter().position(|part| self.state.ops[*part].lpn == lpn);
            let Some(index) = found else {
                at += 1;
                continue;
            };
            let part = page.parts[index];
            let (old, new) = (self.state.ops[part].mask, self.state.ops[id].mask);
            if same || new.covers(old) {
                self.state.ops[id].mask = new.union(old);
                self.hand_over(part, id);
                let page = &mut self.merge_buffer.pages[at];
                page.parts.remove(index);
                page.sectors -= old.count();
                self.state.staging.get(stage).join_programs();
                self.requests.drop_unsettled();
                self.state.buffered -= u64::from(self.ack.is_buffer());
                self.state.ops.remove(part);
            } else if !old.and(new).is_empty() {
                self.share(part, id);
                self.state.ops[part].mask = old.minus(new);
                self.merge_buffer.pages[at].sectors -= old.and(new).count();
            }
            if self.merge_buffer.pages[at].parts.is_empty() {
                self.merge_buffer.pages.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// Transfer the waiters of a program to another.
    fn hand_over(&mut self, from: OpId, to: OpId) {
        let owner = std::mem::replace(&mut self.state.ops[from].owner, Owner::Answered);
        self.requests.hand_over(from, owner.request(), to);
    }

    /// Let the waiters of a program wait for another, too.
    fn share(&mut self, part: OpId, with: OpId) {
        let mut requests: Vec<RequestId> = self.requests.waiting_for(part).collect();
        requests.extend(self.state.ops[part].owner.request());
        for request in requests {
            self.requests.wait_for(with, request);
        }
    }

    /// The open page that a partial page joins; a new one if none has room.
    fn page_for(&mut self, join: Join, key: u8, lpn: Lpn, sectors: u32) -> usize {
        let most = self.state.geometry.sectors_per_unit - sectors;
        // A page holds one part of a logical page, or it could not be told which is newer.
        let holds = |page: &OpenPage| page.parts.iter().any(|part| self.state.ops[*part].lpn == lpn);
        let room = |page: &OpenPage| {
            page.sectors <= most && (join != Join::SameKey || page.key == key) && !holds(page)
        };
        let having_room = self.merge_buffer.pages.iter().enumerate().filter(|(_, page)| room(page));
        let found = match join {
            Join::First | Join::SameKey => having_room.map(|(at, _)| at).next(),
            Join::FewestChannels => having_room
                .min_by_key(|(_, page)| {
                    let with = page.parts.iter().map(|part| self.state.ops[*part].lpn).chain([lpn]);
                    (self.channels_of(with), Reverse(page.sectors))
                })
                .map(|(at, _)| at),
        };
        if let Some(at) = found {
            return at;
        }
        if self.merge_buffer.pages.len() >= self.merge_buffer.most as usize {
            let fullest = (0..self.merge_buffer.pages.len()).max_by_key(|at| {
                (self.merge_buffer.pages[*at].sectors, Reverse(self.merge_buffer.pages[*at].number))
            });
            self.seal_page(fullest.unwrap_or(0));
        }
        self.merge_buffer.opened += 1;
        let page = OpenPage { number: self.merge_buffer.opened, key, parts: vec![], sectors: 0 };
        self.merge_buffer.pages.push(page);
        if self.ack == Ack::Program {
            // Writes wait for their parts to come to flash, so none may wait long.
            let timer = Timer::Merge { page: self.merge_buffer.opened };
            self.out.ask(Effect::Timer(self.state.now + self.merge_buffer.after, timer));
        }
        self.merge_buffer.pages.len() - 1
    }

    /// Channels of these logical pages.
    fn channels_of(&self, lpns: impl Iterator<Item = Lpn>) -> u32 {
        let g = &self.state.geometry;
        let places = lpns.filter_map(|lpn| self.state.map.locate(lpn));
        let channels = places.map(|ppn| g.channel_of(g.die_of(g.plane_of(g.block_of(ppn)))).0);
        channels.fold(0u128, |set, channel| set | 1 << (channel % 128)).count_ones()
    }

    /// An open page goes to flash.
    fn seal_page(&mut self, at: usize) {
        let page = self.merge_buffer.pages.remove(at);
        let mut spans: SmallVec<[Span; 4]> = SmallVec::new();
        let mut offset = 0;
        for part in &page.parts {
            let op = &mut self.state.ops[*part];
            op.offset = offset;
            offset += op.mask.count() as u8;
            spans.push(op.span());
        }
        let Some(lead) = page.parts.first().copied() else { return };
        let home = self.state.stripe.plane(spans[0].lpn);
        let Some(place) = self.place_sealed(&spans, home) else { return };
        let plane = self.pick_plane(&place, home);
        let mut next = OpId::NONE;
        for part in page.parts.into_iter().rev() {
            let op = &mut self.state.ops[part];
            (op.route, op.plane, op.chain) = (place.route, plane, next);
            let stage = op.stage;
            self.load_page(part, stage);
            next = part;
        }
        self.launch(lead);
    }

    /// Seal all open pages.
    pub(crate) fn seal_merged(&mut self) {
        while !self.merge_buffer.pages.is_empty() {
            self.seal_page(0);
        }
    }

    /// Partial pages in a full write buffer must not block a write: pages are sealed, oldest first, until the buffer
    /// will have room once everything else is on flash.
    pub(crate) fn make_space_in_merged(&mut self, request: &HostRequest) {
        let Ack::Buffer(pages) = self.ack else { return };
        if self.merge_buffer.is_empty() || request.op != HostOp::Write {
            return;
        }
        let wanted = self.addressing.extent(request).pages().min(pages) as u64;
        while !self.merge_buffer.is_empty() && self.merge_buffer.parts() + wanted > pages as u64 {
            self.seal_page(0);
        }
    }

    /// A page has waited long enough.
    pub(crate) fn merge_timer(&mut self, page: u64) {
        if let Some(at) = self.merge_buffer.pages.iter().position(|p| p.number == page) {
            self.seal_page(at);
        }
    }

    /// Idle time of the drive after which partial pages, or the write buffer, are written to flash.
    fn idle_wait(&self) -> Option<SimDuration> {
        let buffered = || self.write_buffer.as_ref()?.idle();
        (!self.merge_buffer.is_empty()).then_some(self.merge_buffer.idle).or_else(buffered)
    }

    /// No request is outstanding: start the timer that ends waits for more data.
    pub(crate) fn watch_merged(&mut self) {
        if let Some(idle) = self.idle_wait()
            && !std::mem::replace(&mut self.merge_buffer.watched, true)
        {
            let at = self.state.now.max(self.merge_buffer.last_request + idle);
            self.out.ask(Effect::Timer(at, Timer::MergeIdle));
        }
    }

    /// Whether the drive has been idle long enough that waiting data are written to flash. (While a request is
    /// outstanding no timer runs: it would hide that the drive is stuck.)
    pub(crate) fn idle_timer(&mut self) -> bool {
        self.merge_buffer.watched = false;
        let Some(idle) = self.idle_wait().filter(|_| self.state.outstanding == 0) else { return false };
        let is_over = self.merge_buffer.last_request + idle <= self.state.now;
        if !is_over {
            self.watch_merged();
        }
        is_over
    }

    /// Sectors of a page have been trimmed: remove them from waiting partial pages. They are gone then, as if
    /// erased.
    pub(crate) fn trim_merged(&mut self, lpn: Lpn, mask: SectorMask) {
        let mut at = 0;
        while at < self.merge_buffer.pages.len() {
            let page = &mut self.merge_buffer.pages[at];
            let mut gone = vec![];
            for part in &page.parts {
                let op = &mut self.state.ops[*part];
                if op.lpn != lpn {
                    continue;
                }
                let lost = op.mask.and(mask);
                self.state.trims.hold(lpn, lost, op.version);
                page.sectors -= lost.count();
                op.mask = op.mask.minus(mask);
                gone.extend(op.mask.is_empty().then_some(*part));
            }
            page.parts.retain(|part| !gone.contains(part));
            if page.parts.is_empty() {
                self.merge_buffer.pages.remove(at);
            } else {
                at += 1;
            }
            for part in gone {
                debug_assert!(self.state.ops[part].owner.is_host());
                self.settle(part);
            }
        }
    }
}
