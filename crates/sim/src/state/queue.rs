//! The queue of a plane: a list for each rank of service, first come first served within one.
//!
//! Whoever calls keeps the links in the operations, which stand in one queue at a time.

use serde::{Deserialize, Serialize};
use wordline_ftl::{Class, OpId};

/// The operations that wait in a plane, by rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    head: [OpId; Class::COUNT],
    tail: [OpId; Class::COUNT],
    /// A bit for each rank with an operation waiting.
    queued: u8,
}

impl Queue {
    /// One without operations.
    pub const EMPTY: Queue =
        Queue { head: [OpId::NONE; Class::COUNT], tail: [OpId::NONE; Class::COUNT], queued: 0 };

    /// An operation comes last of its rank. Returns the one before it, which has to link to it.
    #[inline(always)]
    pub fn push(&mut self, rank: usize, id: OpId) -> Option<OpId> {
        let last = std::mem::replace(&mut self.tail[rank], id);
        if last.is_none() {
            self.head[rank] = id;
            self.queued |= 1 << rank;
            return None;
        }
        Some(last)
    }

    /// An operation comes first of its rank. Returns the one behind it, to which it has to link.
    pub fn push_first(&mut self, rank: usize, id: OpId) -> OpId {
        let behind = std::mem::replace(&mut self.head[rank], id);
        self.queued |= 1 << rank;
        if behind.is_none() {
            self.tail[rank] = id;
        }
        behind
    }

    /// The first of a rank leaves; next is what it links to.
    #[inline(always)]
    pub fn pop(&mut self, rank: usize, id: OpId, next: OpId) {
        debug_assert!(self.head[rank] == id);
        self.head[rank] = next;
        if next.is_none() {
            self.tail[rank] = OpId::NONE;
            self.queued &= !(1 << rank);
        }
    }

    /// The ranks of which something waits, a bit each.
    #[inline(always)]
    pub fn queued(&self) -> u8 {
        self.queued
    }

    /// The first of a rank.
    #[inline(always)]
    pub fn head(&self, rank: usize) -> OpId {
        self.head[rank]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue with its links, by operation.
    struct Linked(Queue, [OpId; 8]);

    impl Linked {
        fn push(&mut self, rank: usize, id: u32) {
            self.1[id as usize] = OpId::NONE;
            if let Some(last) = self.0.push(rank, OpId(id)) {
                self.1[last.0 as usize] = OpId(id);
            }
        }

        fn push_first(&mut self, rank: usize, id: u32) {
            self.1[id as usize] = self.0.push_first(rank, OpId(id));
        }

        /// Take all, by rank.
        fn drain(&mut self) -> Vec<u32> {
            let mut all = vec![];
            while self.0.queued() != 0 {
                let rank = self.0.queued().trailing_zeros() as usize;
                let id = self.0.head(rank);
                all.push(id.0);
                self.0.pop(rank, id, self.1[id.0 as usize]);
            }
            all
        }
    }

    #[test]
    fn first_of_the_first_rank_comes_out_first() {
        let mut queue = Linked(Queue::EMPTY, [OpId::NONE; 8]);
        for (rank, id) in [(3, 0), (1, 1), (3, 2), (1, 3)] {
            queue.push(rank, id);
        }
        assert_eq!(queue.0.queued(), 0b1010);
        assert_eq!(queue.drain(), [1, 3, 0, 2]);
        assert_eq!(queue.0.head(1), OpId::NONE);
    }

    #[test]
    fn what_comes_first_stands_before_the_others_of_its_rank_and_alone_is_last_too() {
        let mut queue = Linked(Queue::EMPTY, [OpId::NONE; 8]);
        queue.push_first(2, 4);
        queue.push(2, 5);
        queue.push_first(2, 6);
        assert_eq!(queue.drain(), [6, 4, 5]);
    }
}
