//! Admission of a request: whether it is valid, which pages it covers, and its other effects: its entry in the slab,
//! prefetches, the scheme's controller loop.

use crate::ftl::Ftl;
use crate::plan::decision::Command;
use crate::plan::region::RegionId;
use crate::state::job::MoveReason;
use crate::state::latency::LatencyParts;
use crate::state::request::{Effect, Outcome, Pending, Prefetch, RequestError, RequestId};
use crate::view::View;
use wordline_device::Ack;
use wordline_units::{HostOp, HostRequest, Lpn, SimDuration, SimTime};

impl Ftl {
    /// Whether the drive can accept a request at all.
    ///
    /// # Errors
    /// If the request exceeds the drive's capacity or is empty.
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

    /// Complete a write that was never admitted: the buffer is full, and its data have no place.
    #[cold]
    pub fn refuse(&mut self, write: HostRequest, number: u64) {
        let pages = self.addressing.extent(&write).pages();
        self.state.counters.host.write_page_bytes += pages as u64 * self.state.geometry.unit;
        let outcome = self.no_place();
        let id = self.enter(write, number, outcome);
        self.part_done(id);
    }

    /// Complete a write to a worn-out drive.
    #[cold]
    pub(crate) fn refuse_worn_out(&mut self, write: HostRequest, number: u64) -> RequestId {
        let id = self.enter(write, number, Outcome::WornOut);
        self.part_done(id);
        id
    }

    /// Enter a request as one of a single part that succeeds, until its parts are known.
    #[inline]
    pub(crate) fn enter(&mut self, request: HostRequest, number: u64, outcome: Outcome) -> RequestId {
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
        let id = self.requests.enter(pending, self.store.keeps_bytes());
        self.state.outstanding += 1;
        self.merge_buffer.last_request = self.state.now;
        self.state.draining = false;
        self.state.counters.host_requests[request.op as usize] += 1;
        self.state.counters.host_bytes[request.op as usize] += request.bytes();
        id
    }

    /// Whether the write buffer, if it answers writes, has room for a request.
    pub fn admits(&self, request: &HostRequest) -> bool {
        match self.ack {
            Ack::Buffer(pages) if request.op == HostOp::Write => {
                let more = self.addressing.extent(request).pages();
                self.state.buffered == 0 || self.state.buffered + more as u64 <= pages as u64
            }
            _ => true,
        }
    }

    /// First and last page of a request.
    #[inline(always)]
    pub fn pages_of(&self, request: &HostRequest) -> (Lpn, Lpn) {
        let last = request.lba.0.saturating_add(u64::from(request.blocks.saturating_sub(1)));
        (Lpn(self.addressing.page_of(request.lba.0)), Lpn(self.addressing.page_of(last)))
    }

    /// Prefetch into the CPU cache what an upcoming request will need, one step at a time: each step uses what the
    /// one before has fetched.
    #[inline]
    pub fn prefetch(&self, (first, last): (Lpn, Lpn), step: Prefetch) {
        match step {
            Prefetch::Leaf => self.state.map.prefetch_leaf(first),
            Prefetch::Place => self.state.map.prefetch(first), // pages beside it lie beside it in the map
            Prefetch::Block => {
                for lpn in first.0..=last.0.min(first.0.saturating_add(7)) {
                    if let Some(ppn) = self.state.map.peek(Lpn(lpn)) {
                        let block = self.state.geometry.block_of(ppn);
                        crate::file::table::fetch(&self.state.blocks, block.index());
                        self.state.aging.prefetch(block);
                    }
                }
            }
        }
    }

    /// A write request has been admitted: the controller loop may be due.
    pub(crate) fn count_write_request(&mut self) {
        if self.layout.tick_every_writes == 0 {
            return;
        }
        self.writes_until_tick -= 1;
        if self.writes_until_tick > 0 {
            return;
        }
        self.writes_until_tick = self.layout.tick_every_writes;
        let mut commands = vec![];
        self.scheme.tick(&View::of(&self.state), &mut commands);
        if self.has_failed("tick") {
            commands.clear();
        }
        for command in commands {
            match command {
                Command::SetQuota(region, quota) => {
                    let Some(r) = self.state.regions.get_mut(region.index()) else {
                        self.illegal(format!("{command:?}"), "unknown region".into());
                        continue;
                    };
                    r.quota = quota;
                    self.state.count_openable(region);
                    self.look_at_all(region);
                }
                Command::SetSlotQuota(region, quota) => {
                    let Some(r) = self.state.regions.get_mut(region.index()) else {
                        self.illegal(format!("{command:?}"), "unknown region".into());
                        continue;
                    };
                    r.slot_quota = quota;
                    self.look_at_all(region);
                }
                Command::Enqueue(m) => self.enqueue_move(m, MoveReason::Scheme),
            }
        }
    }

    /// The limits of a region may have changed: each of its planes is checked.
    fn look_at_all(&mut self, region: RegionId) {
        for plane in self.state.pool_of(region).planes() {
            self.out.ask(Effect::Wake(plane));
            self.collect_if_short(region, plane);
        }
    }

    /// Remove a completed request; its number may be reused. Returns what it read, where media keep bytes.
    #[inline]
    pub fn release(&mut self, id: RequestId) -> Vec<u8> {
        self.requests.leave(id);
        self.state.outstanding -= 1;
        if self.state.outstanding == 0 {
            self.watch_merged();
        }
        self.requests.take_data(id)
    }
}
