//! The dispatcher: the sequence of steps that a call of the device triggers, and the steps that follow from each.
//!
//! Only this file determines the order of steps. A write is issued parcel by parcel, so that the scheme sees the
//! effects of one when it is asked about the next; a program changes the map part by part, and the space freed by a
//! part is used before the part's completion is reported; a host program whose last wait has ended precedes what its
//! end triggers.

use crate::flow::host::write::Unplaced;
use crate::flow::moves::relocate::Relocated;
use crate::flow::next::Next;
use crate::flow::program::bind::Binding;
use crate::flow::program::blocked::Blocked;
use crate::flow::records::superseded::drop_replaced;
use crate::ftl::Ftl;
use crate::media::host_data::HostData;
use crate::plan::region::RegionId;
use crate::plan::span::Dead;
use crate::state::job::MoveReason;
use crate::state::latency::LatencyBreakdown;
use crate::state::op::{OpId, Owner};
use crate::state::request::{Outcome, RequestId, Timer};
use wordline_counters::{Cause, OpKind};
use wordline_units::{HostOp, HostRequest, Ppn};

/// Calls of the host.
impl Ftl {
    /// Admit a request that [`Self::validate`] has accepted and that arrived at `request.arrival`. `data` are the bytes
    /// of a write, if the media store data. A worn-out drive accepts no writes.
    pub fn submit(&mut self, request: HostRequest, number: u64, data: HostData<'_>) -> RequestId {
        if request.op == HostOp::Write && self.state.wear.over.is_some() {
            return self.refuse_worn_out(request, number);
        }
        self.scan_for_old();
        self.allow_map_pages();
        let id = self.enter(request, number, Outcome::Done);
        if let Some(below) = self.state.gc.pace_below
            && request.op == HostOp::Write
        {
            let pages = u64::from(self.addressing.extent(&request).pages());
            let waited = self.requests.pace_mut().admit(&self.state, below, &request, pages);
            *self.state.counters.host.writes_paced.get_or_insert(0) += u64::from(waited);
        }
        match request.op {
            HostOp::Read => self.submit_read(id, &request),
            HostOp::Write => self.write(id, &request, data),
            HostOp::Trim => self.trim(&request),
            HostOp::Flush => self.flush(id),
        }
        self.part_done(id);
        id
    }

    fn write(&mut self, id: RequestId, request: &HostRequest, data: HostData<'_>) {
        let Some(write) = self.submit_write(id, request, data) else { return };
        let mut first = write.extent.first;
        let mut unplaced = Unplaced::new();
        while first <= write.extent.last {
            let parcel = self.parcel_from(&write, first);
            first = parcel.end;
            for unit in parcel {
                let next = self.enter_unit(&write, unit, &mut unplaced);
                self.follow_up(next);
            }
            while !unplaced.is_empty() {
                let next = self.place_parcel(&write, &mut unplaced);
                self.follow_up(next);
            }
        }
        self.count_write_request();
    }

    fn trim(&mut self, request: &HostRequest) {
        for (lpn, mask) in self.submit_trim(request) {
            let next = self.evict_page(lpn);
            self.follow_up(next);
            let is_staged = self.trim_staged(lpn, mask);
            self.send_ready();
            self.trim_mapped(lpn, mask, is_staged);
        }
    }

    fn flush(&mut self, id: RequestId) {
        self.requests.next_version();
        self.empty_buffers();
        self.submit_flush(id);
    }

    /// Data that wait for other data in a full buffer must not block a write.
    pub(crate) fn make_space(&mut self, request: &HostRequest) {
        let next = self.make_space_in_buffer(request);
        self.follow_up(next);
        self.make_space_in_groups();
        self.make_space_in_merged(request);
    }

    /// End of the run: pad data that wait for other data, and let [`Self::idle`] flush its choice.
    pub(crate) fn drain(&mut self) {
        self.state.draining = true;
        self.empty_buffers();
        self.seal(true);
        self.send_ready();
    }

    /// Nothing is pending: host data stop waiting for other data, and so do moved pages whose buffer places others
    /// need. Returns whether any did.
    #[cold]
    pub(crate) fn complete_groups(&mut self) -> bool {
        if self.state.incomplete_units > 0 {
            self.seal(false);
            return true;
        }
        if self.moves.waiting.is_empty() {
            return false;
        }
        let before = self.out.asked();
        self.seal(true);
        self.begin_held_moves();
        self.out.asked() > before
    }

    /// Nothing is pending, and programs wait although no block can free a slot: fragments of pages are joined, if there
    /// are any. Returns whether there are.
    #[cold]
    pub(crate) fn join_pieces(&mut self) -> bool {
        let joins = self.begin_to_join();
        self.send_ready();
        joins
    }

    /// A timer is due.
    pub fn timer(&mut self, timer: Timer) {
        match timer {
            Timer::Pad { region, plane, stream, generation } => {
                self.pad_timer(region, plane, stream, generation);
            }
            Timer::Merge { page } => self.merge_timer(page),
            Timer::MergeIdle => {
                if self.idle_timer() {
                    self.empty_buffers();
                }
            }
            Timer::IdlePace => self.idle_jobs.ring(), // whoever drives asks for work
            Timer::WritePace => self.requests.pace_mut().ring(), // and admits what waits
        }
        self.send_ready();
    }

    /// Merge buffer and write buffer are sent off.
    fn empty_buffers(&mut self) {
        self.seal_merged();
        self.follow_up(Next::EmptyTo(0));
    }
}

/// Ends of operations.
impl Ftl {
    /// Bind a program to the first free slot of its route. A page that falls back on a region with whole-wordline
    /// programs joins the group that forms there.
    #[inline]
    pub(crate) fn bind(&mut self, id: OpId) -> Binding {
        let binding = self.bind_now(id);
        self.begin_held_moves();
        binding
    }

    /// A program found no slot in its plane. Start a collection that may help; if none can start yet, each page
    /// invalidated in the plane is a new chance, and the device gives up only when nothing is pending anywhere. A move
    /// within its pool that nothing waits for is dropped, since it pins its source block; a program of a superblock
    /// goes to another plane with a free slot.
    pub(crate) fn blocked(&mut self, id: OpId) -> Blocked {
        let becomes = self.find_space(id);
        self.begin_held_moves();
        becomes
    }

    /// Abandon a program that can never be bound: the drive is full or worn out.
    pub(crate) fn fail(&mut self, lead: OpId) {
        self.give_up(lead);
        self.begin_held_moves();
    }

    /// Abandon what waits for room in a buffer that nothing leaves any more. Returns whether there was any.
    pub(crate) fn fail_held_moves(&mut self) -> bool {
        let any = self.drop_held_moves();
        self.send_ready();
        any
    }

    /// No pending program can be bound: units that wait for page-mates although nothing waits for them give up their
    /// places, which ends their moves. Returns whether there were any.
    pub(crate) fn end_joined_moves(&mut self) -> bool {
        let any = self.leave_joined_moves();
        self.send_ready();
        any
    }

    /// Handle the end of an operation, as far as a host request may wait for it. Returns the next operation of its
    /// plane, if one starts at once.
    #[inline]
    pub(crate) fn done(&mut self, id: OpId) -> Option<OpId> {
        let op = &self.state.ops[id];
        let kind = op.kind;
        self.state.backlog.take(op.plane, kind);
        if self.state.counters.energy.is_some() {
            self.count_energy(id);
        }
        match kind {
            OpKind::Read => self.read_over(id),
            OpKind::Program => self.program_over(id),
            OpKind::Erase => self.erase_done(id),
        }
        self.breakdown.queued = LatencyBreakdown::NONE.queued;
        self.out.take_continuation()
    }

    #[inline]
    fn read_over(&mut self, id: OpId) {
        self.read_done(id);
        let op = &self.state.ops[id];
        let (ppn, plane, lpn, mask) = (op.ppn, op.plane, op.lpn, op.mask);
        match op.owner {
            Owner::Request(request) => self.host_read_over(id, request),
            Owner::Rmw(program) => {
                self.state.ops.remove(id);
                self.fill(program, mask, ppn);
            }
            Owner::Job(region) => self.collected_read_over(id, region, ppn),
            Owner::Gather => {
                self.state.ops.remove(id);
                self.on_page_read(ppn);
            }
            Owner::Move(waits) => {
                let next = self.finish_move_read(id, waits);
                self.follow_up(next);
            }
            Owner::Rewrite(unit) => {
                let next = self.rewrite_read_done(id, unit);
                self.follow_up(next);
            }
            Owner::Map => {
                self.state.ops.remove(id);
                let waiting = self.state.demand.as_mut().map_or(vec![], |map| map.end_read(lpn));
                for waiting in waiting {
                    self.on_map_entry_loaded(waiting);
                    self.send_ready();
                }
                self.keep_read_map_page(lpn);
            }
            Owner::Nobody | Owner::Answered | Owner::Parity => self.state.ops.remove(id),
        }
        self.send_ready();
        self.unpin(self.state.geometry.block_of(ppn));
        self.refresh(plane);
    }

    fn collected_read_over(&mut self, id: OpId, region: RegionId, ppn: Ppn) {
        let plane = self.state.ops[id].plane;
        self.on_page_read(ppn);
        let mut relocated = Relocated::new();
        if !self.relocate(id, region, &mut relocated) {
            return;
        }
        if relocated.is_empty() {
            self.go_on(region, plane);
        }
        for &(lead, gathers) in &relocated {
            if gathers {
                self.gather_whole(lead);
            } else {
                self.launch(lead);
            }
        }
        self.read_on_in_buffer(region, plane);
    }

    #[inline]
    fn program_over(&mut self, lead: OpId) {
        let first = self.state.ops[lead].ppn;
        self.program_done(lead);
        let mut dead = Dead::new();
        let mut part = lead;
        if self.state.ops[lead].owner == Owner::Parity {
            self.state.ops.remove(lead);
            part = OpId::NONE;
        }
        while !part.is_none() {
            let op = &self.state.ops[part];
            let (ppn, following) = (Ppn(first.0 + u32::from(op.slot)), op.chain);
            if let Some(committed) = self.commit(part, ppn, &mut dead) {
                self.invalidate(&dead);
                if self.store.keeps_bytes() {
                    drop_replaced(self, &dead, ppn, (!committed.is_newest).then_some(committed.lpn));
                }
                if committed.is_newest {
                    self.note_map_change(committed.lpn);
                }
                self.follow_up(committed.next);
            }
            part = following;
        }
        if !self.store.keeps_metadata() || self.out.fault().is_none() {
            self.leave_block(self.state.geometry.block_of(first));
        }
    }
}

/// What follows.
impl Ftl {
    /// Carry out the steps that follow from a step, recursively. The usual steps after writes and programs are carried
    /// out directly.
    #[inline(always)]
    pub(crate) fn follow_up(&mut self, next: Next) {
        match next {
            Next::Nothing => {}
            Next::Send(lead) => {
                let next = self.send(lead);
                if next != Next::Nothing {
                    self.carry_out(next);
                }
            }
            Next::Settled(part) => self.settled(part),
            next => self.carry_out(next),
        }
        self.send_ready();
    }

    #[inline(never)]
    fn carry_out(&mut self, next: Next) {
        match next {
            Next::Nothing => {}
            Next::Send(lead) => {
                let next = self.send(lead);
                self.carry_out(next);
            }
            Next::Launch(lead) => {
                self.enter_if_it_waits(lead);
                self.send_ready();
                self.launch(lead);
            }
            Next::Moves(lead) => self.begin_moves(lead),
            Next::EmptyTo(pages) => {
                while let Some(next) = self.send_least_recent(pages) {
                    self.carry_out(next);
                    self.send_ready();
                }
            }
            Next::PageOver { region, plane, in_window } => self.job_page_over(region, plane, in_window),
            Next::MoveOver { lpn, from, idle, waits } => {
                self.leave_move(lpn, from, idle, waits);
                self.send_ready();
                self.unpin(self.state.geometry.block_of(from));
            }
            Next::MoveDropped { lpn, from, idle, waits } => {
                self.begin_held_moves();
                self.leave_move(lpn, from, idle, waits);
            }
            Next::Settled(part) => self.settled(part),
        }
    }

    /// Issue host programs that no longer wait.
    #[inline(always)]
    fn send_ready(&mut self) {
        if !self.ready.is_empty() {
            self.send_all_ready();
        }
    }

    #[inline(never)]
    fn send_all_ready(&mut self) {
        while let Some(lead) = self.ready.pop_front() {
            self.pick_again(lead);
            self.carry_out(Next::Send(lead));
        }
    }

    /// Start moves for which their buffer now has room.
    #[inline(always)]
    fn begin_held_moves(&mut self) {
        self.send_ready();
        while self.begin_held_move() {
            self.send_ready();
        }
    }

    /// Start the moves that the scheme requires before a host program.
    fn begin_moves(&mut self, lead: OpId) {
        let mut moves = std::mem::take(&mut self.moves_first);
        for m in moves.drain(..) {
            self.enqueue_move(m, MoveReason::Program(lead));
            self.send_ready();
        }
        self.moves_first = moves;
    }

    /// Handle the end of a program of data from RAM.
    #[inline]
    fn settled(&mut self, part: OpId) {
        let op = &self.state.ops[part];
        let (lpn, cause, version) = (op.lpn, op.cause, op.version);
        if cause == Cause::Metadata {
            self.metadata_programmed(lpn, version);
        }
        self.settle(part);
        // One that collection moved by way of RAM, too.
        if cause != Cause::Host && self.state.is_metadata(lpn) {
            self.metadata_over(lpn);
        }
    }
}
