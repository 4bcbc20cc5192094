//! Host requests in the drive: their slab, waits, and data that are not on flash.

use crate::state::id::{OpId, RequestId};
use crate::state::request::{Outcome, Pending, PendingFlush};
use crate::state::write_pace::WritePace;
use serde::{Deserialize, Serialize};

/// Requests in flight, and who waits for which program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Requests {
    slab: Vec<Pending>,
    free: Vec<u32>,
    /// What reads return, by request, where media keep bytes.
    buffers: Vec<Vec<u8>>,
    /// The version of the newest write, trim or FLUSH: their number in order of arrival.
    version: u64,
    /// Programs of the host that have not ended.
    unsettled: u64,
    /// Requests that wait for a program beside the one that owns it.
    waiters: Vec<(OpId, RequestId)>,
    flushes: Vec<PendingFlush>,
    pace: WritePace,
}

impl Requests {
    /// Register a request; its number may have been used before.
    #[inline(always)]
    pub fn enter(&mut self, pending: Pending, keeps_bytes: bool) -> RequestId {
        let i = self.free.pop().unwrap_or_else(|| self.further(keeps_bytes));
        self.slab[i as usize] = pending;
        RequestId(i)
    }

    #[cold]
    fn further(&mut self, keeps_bytes: bool) -> u32 {
        self.slab.push(Pending::NONE);
        if keeps_bytes {
            self.buffers.push(vec![]);
        }
        self.slab.len() as u32 - 1
    }

    /// A request has left: its number can be reused.
    #[inline]
    pub fn leave(&mut self, id: RequestId) {
        self.free.push(id.0);
    }

    /// A read will return this many bytes.
    #[cold]
    pub fn expect_data(&mut self, id: RequestId, bytes: usize) {
        self.buffers[id.index()] = Vec::with_capacity(bytes);
    }

    /// Store some of these bytes, from an offset on. Those before it that come later are zeros until then.
    pub fn deliver(&mut self, id: RequestId, at: usize, data: &[u8]) {
        let (buffer, end) = (&mut self.buffers[id.index()], at + data.len());
        // Mostly in order: no byte is written twice.
        if buffer.len() < at {
            buffer.resize(at, 0);
        }
        if buffer.len() == at {
            return buffer.extend_from_slice(data);
        }
        buffer.resize(end.max(buffer.len()), 0);
        buffer[at..end].copy_from_slice(data);
    }

    /// The bytes returned by a read, which are as many as this; zeros stand for those that were not delivered.
    #[cold]
    pub fn take_data(&mut self, id: RequestId, bytes: usize) -> Vec<u8> {
        let mut data = self.buffers.get_mut(id.index()).map_or(Vec::new(), std::mem::take);
        data.resize(bytes, 0);
        data
    }

    /// When the next write is admitted.
    #[inline(always)]
    pub fn pace(&self) -> &WritePace {
        &self.pace
    }

    /// The same, to record writes and collections.
    #[inline(always)]
    pub fn pace_mut(&mut self) -> &mut WritePace {
        &mut self.pace
    }

    /// Capacity of the table of requests.
    pub fn capacity(&self) -> usize {
        self.slab.len()
    }

    /// The numbers of the requests in flight among all of the run, in order.
    pub fn in_flight(&self) -> Vec<u64> {
        let here = (0..self.slab.len() as u32).filter(|i| !self.free.contains(i));
        let mut numbers: Vec<u64> = here.map(|i| self.slab[i as usize].number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Forget requests that have left.
    pub fn forget_history(&mut self) {
        let alive = |i: &u32| !self.free.contains(i);
        let end = (0..self.slab.len() as u32).rev().find(alive).map_or(0, |last| last + 1);
        self.free = (0..end).rev().filter(|i| self.free.contains(i)).collect();
        self.slab.truncate(end as usize);
        self.buffers.truncate(end as usize);
        for i in &self.free {
            self.slab[*i as usize] = Pending::NONE;
        }
    }

    /// The version of the newest write, trim or FLUSH.
    #[inline(always)]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Return the version of a data change.
    #[inline(always)]
    pub fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// Data of this version were found.
    pub fn found_version(&mut self, version: u64) {
        self.version = self.version.max(version);
    }

    /// All versions, to be renumbered.
    pub fn each_version(&mut self, note: &mut dyn FnMut(&mut u64)) {
        note(&mut self.version);
        self.flushes.iter_mut().for_each(|flush| note(&mut flush.version));
    }

    /// A host program starts.
    #[inline(always)]
    pub fn add_unsettled(&mut self) {
        self.unsettled += 1;
    }

    /// A host program has been merged into another.
    pub fn drop_unsettled(&mut self) {
        self.unsettled -= 1;
    }

    /// Host programs in progress.
    pub fn unsettled(&self) -> u64 {
        self.unsettled
    }

    /// A FLUSH of the newest version waits for this many programs.
    pub fn flush(&mut self, request: RequestId, remaining: u64) {
        self.add_part(request);
        self.flushes.push(PendingFlush { version: self.version, request, remaining });
    }

    /// A request waits for another part.
    #[inline(always)]
    pub fn add_part(&mut self, id: RequestId) {
        self[id].remaining += 1;
    }

    /// A request waits for a program of another request.
    pub fn wait_for(&mut self, program: OpId, id: RequestId) {
        self.add_part(id);
        self.waiters.push((program, id));
    }

    /// The requests that wait for a program of another request.
    pub fn waiting_for(&self, program: OpId) -> impl Iterator<Item = RequestId> + '_ {
        self.waiters.iter().filter(move |(op, _)| *op == program).map(|(_, request)| *request)
    }

    /// Whether any request waits for a program of another one.
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        !self.waiters.is_empty()
    }

    /// Release the requests that wait for a program.
    pub fn take_waiting_for(&mut self, program: OpId) -> Vec<RequestId> {
        let gone = self.waiting_for(program).collect();
        self.waiters.retain(|(op, _)| *op != program);
        gone
    }

    /// Whether a FLUSH came after a write of this version.
    #[inline]
    pub fn is_flushed_since(&self, version: u64) -> bool {
        self.flushes.iter().any(|flush| flush.version > version)
    }

    /// A host program has ended. Returns whether flushes wait, which [`Self::settle_flushes`] is to tell.
    #[inline(always)]
    pub fn settle(&mut self) -> bool {
        self.unsettled -= 1;
        !self.flushes.is_empty()
    }

    /// A program of a write of this version has ended; returns the flushes that waited for it alone.
    pub fn settle_flushes(&mut self, version: u64) -> Vec<RequestId> {
        let mut ended: Vec<RequestId> = vec![];
        self.flushes.retain_mut(|f| {
            f.remaining -= (version < f.version) as u64;
            if f.remaining == 0 {
                ended.push(f.request);
            }
            f.remaining > 0
        });
        ended
    }

    /// All requests that wait for a program, or for what a FLUSH waits for, if nothing can end these any more; a FLUSH
    /// ends after its writes.
    pub fn take_all_waiting(&mut self) -> Vec<RequestId> {
        let mut ended: Vec<RequestId> = self.waiters.drain(..).map(|(_, request)| request).collect();
        ended.extend(self.flushes.drain(..).map(|flush| flush.request));
        ended
    }

    /// Set the outcome of all requests that wait for a program, its owner and others.
    pub fn will_end(&mut self, program: OpId, owner: Option<RequestId>, outcome: Outcome) {
        self.each_waiting(program, owner, |request| request.outcome = outcome);
    }

    /// A program has this page type, counted from 1: requests record the slowest.
    pub fn note_bit(&mut self, program: OpId, owner: Option<RequestId>, bit: u8) {
        self.each_waiting(program, owner, |request| request.slowest_bit = request.slowest_bit.max(bit));
    }

    /// Tell all who wait for a program.
    fn each_waiting(&mut self, program: OpId, owner: Option<RequestId>, mut tell: impl FnMut(&mut Pending)) {
        if let Some(owner) = owner {
            tell(&mut self.slab[owner.index()]);
        }
        for (_, request) in self.waiters.iter().filter(|(op, _)| *op == program) {
            tell(&mut self.slab[request.index()]);
        }
    }

    /// Requests that wait for a program, its owner and the others, wait for another one instead.
    pub fn hand_over(&mut self, from: OpId, owner: Option<RequestId>, to: OpId) {
        for (op, _) in self.waiters.iter_mut().filter(|(op, _)| *op == from) {
            *op = to;
        }
        self.waiters.extend(owner.map(|request| (to, request)));
    }
}

impl std::ops::Index<RequestId> for Requests {
    type Output = Pending;
    #[inline(always)]
    fn index(&self, id: RequestId) -> &Pending {
        &self.slab[id.index()]
    }
}

impl std::ops::IndexMut<RequestId> for Requests {
    #[inline(always)]
    fn index_mut(&mut self, id: RequestId) -> &mut Pending {
        &mut self.slab[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(number: u64) -> Pending {
        Pending { number, remaining: 1, ..Pending::NONE }
    }

    #[test]
    fn numbers_are_reused_and_listed_in_arrival_order() {
        let mut requests = Requests::default();
        let ids = [5, 6, 7].map(|number| requests.enter(pending(number), true));
        requests.leave(ids[0]);
        assert_eq!(requests.in_flight(), [6, 7]);
        assert_eq!(requests.enter(pending(8), true), ids[0]);
        assert_eq!(requests.in_flight(), [6, 7, 8]);
        assert_eq!((requests.capacity(), requests.buffers.len()), (3, 3));
    }

    #[test]
    fn bytes_of_a_read_are_in_place_in_whatever_order_they_come() {
        let mut requests = Requests::default();
        let id = requests.enter(pending(1), true);
        for (parts, wanted) in [
            (&[(0, 2), (2, 3)][..], "aabbb00"),
            (&[(4, 3), (0, 2)], "bb00aaa"),
            (&[(3, 2), (0, 3)], "bbbaa00"),
            (&[(1, 3), (3, 2)], "0aabb00"),
            (&[], "0000000"),
        ] {
            requests.expect_data(id, 7);
            for ((at, length), letter) in parts.iter().zip(["a", "b"]) {
                requests.deliver(id, *at, letter.repeat(*length).as_bytes());
            }
            let found = requests
                .take_data(id, 7)
                .iter()
                .map(|b| if *b == 0 { '0' } else { *b as char })
                .collect::<String>();
            assert_eq!(found, wanted);
        }
        assert_eq!(Requests::default().take_data(id, 0), [0; 0]);
    }

    #[test]
    fn flush_waits_for_earlier_writes_only() {
        let mut requests = Requests::default();
        let flush = requests.enter(pending(1), false);
        (0..3).for_each(|_| requests.add_unsettled());
        requests.found_version(10);
        requests.flush(flush, 2);
        assert!(requests.is_flushed_since(9) && !requests.is_flushed_since(10));
        assert!(requests.settle() && requests.settle_flushes(9).is_empty());
        assert!(requests.settle() && requests.settle_flushes(11).is_empty(), "written after the flush");
        assert!(requests.settle());
        assert_eq!(requests.settle_flushes(3), [flush]);
        assert!(requests.flushes.is_empty() && requests.unsettled() == 0);
    }

    #[test]
    fn who_waits_for_a_program_is_told_once() {
        let mut requests = Requests::default();
        let ids = [1, 2, 3].map(|number| requests.enter(pending(number), false));
        requests.wait_for(OpId(7), ids[0]);
        requests.wait_for(OpId(8), ids[1]);
        requests.wait_for(OpId(7), ids[2]);
        requests.will_end(OpId(7), Some(ids[1]), Outcome::OutOfSpace);
        assert_eq!(ids.map(|id| requests[id].outcome), [Outcome::OutOfSpace; 3]);
        assert_eq!(requests.take_waiting_for(OpId(7)), [ids[0], ids[2]]);
        assert!(requests.take_waiting_for(OpId(7)).is_empty());
        assert_eq!(requests[ids[0]].remaining, 2);
        requests.flush(ids[0], 1);
        assert_eq!(requests.take_all_waiting(), [ids[1], ids[0]]);
    }
}
