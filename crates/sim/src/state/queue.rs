//! The queue of a plane: a list for each rank of service, first come first served within one.

use serde::{Deserialize, Serialize};
use wordline_ftl::{Class, QueueEntry, fetch};

/// The number of no node.
const NONE: u32 = u32::MAX;

/// An operation that waits, and the node of the one behind it; of a node that is free, that of the next free one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Node {
    entry: QueueEntry,
    next: u32,
}

/// The operations that wait in a plane, by rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Queue {
    head: [u32; Class::COUNT],
    tail: [u32; Class::COUNT],
    /// The first node that is free.
    free: u32,
    /// A bit for each rank with an operation waiting.
    queued: u8,
    nodes: Vec<Node>,
}

impl Queue {
    /// One without operations.
    pub const EMPTY: Queue = Queue {
        head: [NONE; Class::COUNT],
        tail: [NONE; Class::COUNT],
        free: NONE,
        queued: 0,
        nodes: vec![],
    };

    /// Append an operation to its rank.
    #[inline(always)]
    pub fn push(&mut self, entry: QueueEntry) {
        let (rank, node) = (entry.rank(), self.node(entry, NONE));
        let last = std::mem::replace(&mut self.tail[rank], node);
        if last == NONE {
            self.head[rank] = node;
            self.queued |= 1 << rank;
        } else {
            self.nodes[last as usize].next = node;
        }
    }

    /// Insert an operation at the head of its rank.
    pub fn push_first(&mut self, entry: QueueEntry) {
        let rank = entry.rank();
        let node = self.node(entry, self.head[rank]);
        self.head[rank] = node;
        self.queued |= 1 << rank;
        if self.tail[rank] == NONE {
            self.tail[rank] = node;
        }
    }

    #[inline(always)]
    fn node(&mut self, entry: QueueEntry, next: u32) -> u32 {
        let node = self.free;
        match self.nodes.get_mut(node as usize) {
            Some(free) => {
                self.free = free.next;
                *free = Node { entry, next };
                node
            }
            None => self.further_node(entry, next),
        }
    }

    #[cold]
    fn further_node(&mut self, entry: QueueEntry, next: u32) -> u32 {
        self.nodes.push(Node { entry, next });
        self.nodes.len() as u32 - 1
    }

    /// Remove the first operation of a rank.
    #[inline(always)]
    pub fn pop(&mut self, rank: usize) {
        let node = self.head[rank];
        let next = std::mem::replace(&mut self.nodes[node as usize].next, self.free);
        self.free = node;
        self.head[rank] = next;
        if next == NONE {
            self.tail[rank] = NONE;
            self.queued &= !(1 << rank);
        }
    }

    /// The ranks with waiting operations, one bit each.
    #[inline(always)]
    pub fn queued(&self) -> u8 {
        self.queued
    }

    /// The first rank with a waiting operation.
    #[inline(always)]
    pub fn first(&self, rank: usize) -> QueueEntry {
        self.nodes[self.head[rank] as usize].entry
    }

    /// The first operation of the first rank, if any waits.
    #[inline(always)]
    pub fn head(&self) -> Option<&QueueEntry> {
        let rank = self.queued.trailing_zeros() as usize;
        self.head.get(rank).map(|head| &self.nodes[*head as usize].entry)
    }

    /// Ask for the memory of the first operation of the first rank.
    #[inline(always)]
    pub fn prefetch_head(&self) {
        if let Some(head) = self.head.get(self.queued.trailing_zeros() as usize) {
            fetch(&self.nodes, *head as usize);
        }
    }

    /// All waiting operations, rank by rank.
    pub fn iter(&self) -> impl Iterator<Item = &QueueEntry> {
        let heads = self.head.iter().map(|head| self.nodes.get(*head as usize));
        let behind = |node: &&Node| self.nodes.get(node.next as usize);
        heads.flat_map(move |head| std::iter::successors(head, behind)).map(|node| &node.entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_ftl::{Cause, OpId, OpKind};
    use wordline_units::PlaneId;

    fn entry(rank: u64, id: u32) -> QueueEntry {
        QueueEntry::new(OpId(id), PlaneId(0), rank << 56 | u64::from(id), OpKind::Read, Cause::Host)
    }

    /// Take all, by rank.
    fn drain(queue: &mut Queue) -> Vec<u32> {
        let mut all = vec![];
        while queue.queued() != 0 {
            let rank = queue.queued().trailing_zeros() as usize;
            all.push(queue.first(rank).op.0);
            queue.pop(rank);
        }
        all
    }

    #[test]
    fn first_of_the_first_rank_comes_out_first() {
        let mut queue = Queue::EMPTY;
        for (rank, id) in [(3, 0), (1, 1), (3, 2), (1, 3)] {
            queue.push(entry(rank, id));
        }
        assert_eq!(queue.queued(), 0b1010);
        assert_eq!(queue.iter().map(|entry| entry.op.0).collect::<Vec<_>>(), [1, 3, 0, 2]);
        assert_eq!(drain(&mut queue), [1, 3, 0, 2]);
        assert_eq!(queue.iter().count(), 0);
    }

    #[test]
    fn first_entry_leads_its_rank_and_alone_is_also_last() {
        let mut queue = Queue::EMPTY;
        queue.push_first(entry(2, 4));
        queue.push(entry(2, 5));
        queue.push_first(entry(2, 6));
        assert_eq!(drain(&mut queue), [6, 4, 5]);
    }

    #[test]
    fn places_are_used_again_by_all_ranks() {
        let mut queue = Queue::EMPTY;
        for round in 0..100 {
            (0..3).for_each(|i| queue.push(entry(u64::from((round + i) % 5), i)));
            assert_eq!(drain(&mut queue).len(), 3);
        }
        assert_eq!(queue.nodes.len(), 3);
    }
}
