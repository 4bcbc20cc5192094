//! When the write buffer is flushed: immediately, above a fill level, or also when the drive is idle. It is a queue of
//! programs that have all their data and are not issued yet. They are in the staging index like any other, so that
//! reads are served from it; an overwrite replaces a waiting page, whose old data are never programmed. The scheme
//! places a page when it leaves the buffer, not when it enters: its knowledge of free space is then current, and moves
//! that must come first are made for this page.
//!
//! Every host program passes here: if nothing is buffered, it is issued at once.

use crate::flow::next::Next;
use crate::ftl::Ftl;
use crate::plan::decision::{Gather, Origin, Parcel, Place, PlanePick, Route, Tag};
use crate::plan::span::Span;
use crate::state::op::{Op, OpId};
use crate::state::write_buffer::Part;
use wordline_device::Ack;
use wordline_units::{HostOp, HostRequest, Lpn};

impl Ftl {
    /// Placement of host data on arrival: none, if they may wait in the write buffer.
    pub(crate) fn placed_later(&self) -> Option<Place> {
        let place = Place { gather: Gather::Fill, plane: PlanePick::Home, route: Route::NOWHERE };
        self.write_buffer.as_ref().map(|_| place)
    }

    /// A host program, with its chain, has all its data, and what must come first is done: it waits in the write or
    /// merge buffer, or is issued.
    #[inline]
    pub(crate) fn send(&mut self, lead: OpId) -> Next {
        let route = self.state.ops[lead].route;
        if let Some(key) = route.buffer_key() {
            return self.merge(lead, key);
        }
        if self.write_buffer.is_none() || route != Route::NOWHERE {
            self.launch(lead);
            return Next::Nothing;
        }
        if !self.may_wait(lead) {
            return self.place_and_send(lead);
        }
        self.enqueue(lead);
        match &self.write_buffer {
            Some(b) if b.is_high() => Next::EmptyTo(b.low()),
            _ => Next::Nothing,
        }
    }

    /// Issue a program once the reads and the moves that it waits for have ended.
    #[inline]
    pub(crate) fn send_after(&mut self, lead: OpId, reads: u32) -> Next {
        let moves = self.moves_first.len() as u32;
        if reads + moves == 0 {
            return Next::Send(lead);
        }
        // What it waits for finds the program by its lead, which counts.
        self.state.ops[lead].awaits = reads + moves;
        if moves == 0 { Next::Nothing } else { Next::Moves(lead) }
    }

    /// Whether a FLUSH or a write with FUA waits for a page of the host to be on flash.
    pub(crate) fn is_waited_for(&self, part: OpId) -> bool {
        let version = self.state.ops[part].version;
        self.is_forced(part) || self.requests.is_flushed_since(version)
    }

    /// Whether nothing waits for a program to be on flash, and its page is still as written, so that a later write may
    /// join it.
    fn may_wait(&self, lead: OpId) -> bool {
        let waits = |id: OpId| {
            let op = &self.state.ops[id];
            op.owner.is_host()
                && op.version >= self.state.staging.committed(op.stage)
                && !self.is_waited_for(id)
        };
        !self.state.draining && self.state.ops.chain(lead).all(waits)
    }

    /// Add a program at the end of the buffer's queue.
    fn enqueue(&mut self, lead: OpId) {
        let part = |id: OpId| {
            let Op { stage, version, .. } = self.state.ops[id];
            Part { op: id, stage, version, committed: self.state.staging.committed(stage) }
        };
        let parts: Vec<Part> = self.state.ops.chain(lead).map(part).collect();
        if let Some(b) = &mut self.write_buffer {
            b.add(lead, &parts);
        }
    }

    /// A program waits no more.
    fn leave(&mut self, turn: u64) -> Option<OpId> {
        let b = self.write_buffer.as_mut()?;
        let lead = b.at(turn)?;
        let stages: Vec<u32> = self.state.ops.chain(lead).map(|part| self.state.ops[part].stage).collect();
        b.take(turn, &stages);
        Some(lead)
    }

    /// The program of a waiting page has been overwritten: it returns to the end of the queue, or is issued if the
    /// write requires it.
    pub(crate) fn written_anew(&mut self, stage: u32, tag: Tag, goes: bool) -> Next {
        let Some(b) = &mut self.write_buffer else { return Next::Nothing };
        let Some(turn) = b.turn_of(stage) else { return Next::Nothing };
        if let Some(lead) = b.at(turn) {
            b.note(lead, tag);
        }
        if goes {
            return self.send_off(turn);
        }
        if let Some(lead) = self.leave(turn) {
            self.enqueue(lead);
        }
        Next::Nothing
    }

    /// Issue a waiting page, if it waits.
    pub(crate) fn evict_page(&mut self, lpn: Lpn) -> Next {
        let stage = self.state.staging.find(lpn);
        let Some(b) = self.write_buffer.as_ref() else { return Next::Nothing };
        let turn = stage.and_then(|stage| b.turn_of(stage));
        turn.map_or(Next::Nothing, |turn| self.send_off(turn))
    }

    /// A program that waits goes to flash.
    fn send_off(&mut self, turn: u64) -> Next {
        self.leave(turn).map_or(Next::Nothing, |lead| self.place_and_send(lead))
    }

    /// Ask the scheme to place a program, and issue it once the moves that must come first are done.
    fn place_and_send(&mut self, lead: OpId) -> Next {
        let tag = self.write_buffer.as_mut().map_or(Tag::default(), |b| b.take_tag(lead));
        let parts: Vec<OpId> = self.state.ops.chain(lead).collect();
        let spans: Vec<Span> = parts.iter().map(|part| self.state.ops[*part].span()).collect();
        let home = self.state.stripe.plane(spans[0].lpn);
        let parcel = Parcel { origin: Origin::Host(tag), spans: &spans, home };
        let Some(place) = self.place_host(&parcel) else { return Next::Nothing };
        let plane = self.pick_plane(&place, home);
        for part in parts {
            let op = &mut self.state.ops[part];
            (op.route, op.pick, op.plane) = (place.route, place.plane, plane);
        }
        self.send_after(lead, 0)
    }

    /// Issue the least recently written pages above this number of waiting pages.
    pub(crate) fn send_least_recent(&mut self, pages: u64) -> Option<Next> {
        let turn = self.write_buffer.as_ref()?.beyond(pages)?;
        Some(self.send_off(turn))
    }

    /// A write that the full buffer blocks must not wait for data that nothing issues.
    pub(crate) fn make_space_in_buffer(&mut self, request: &HostRequest) -> Next {
        let (Ack::Buffer(size), Some(_), HostOp::Write) = (self.ack, &self.write_buffer, request.op) else {
            return Next::Nothing;
        };
        let pages = self.addressing.extent(request).pages();
        Next::EmptyTo(u64::from(size).saturating_sub(u64::from(pages)))
    }
}
