//! Writes of a job that have not been read back, in fio's order: that of writing if each address occurs once,
//! otherwise by address. In the latter case, a write removes earlier ones that it overlaps. Some of them may
//! be trimmed before they are read.

use std::collections::{BTreeMap, VecDeque};

/// Writes to be read back, as address and bytes.
pub(crate) struct History {
    order: Order,
    /// Addresses and numbers of writes to be trimmed, in the order of writing. Some may have been removed.
    trims: VecDeque<(u64, u64)>,
    /// Number of the next write.
    next: u64,
}

enum Order {
    /// Writes by number, starting with `first`; `None` if trimmed. `live` counts those that are left.
    Written { first: u64, list: VecDeque<Option<(u64, u64)>>, live: u64 },
    /// Bytes and number of each write, by address.
    Sorted(BTreeMap<u64, (u64, u64)>),
}

impl History {
    pub fn new(sorted: bool) -> History {
        let order = if sorted {
            Order::Sorted(BTreeMap::new())
        } else {
            Order::Written { first: 0, list: VecDeque::new(), live: 0 }
        };
        History { order, trims: VecDeque::new(), next: 0 }
    }

    pub fn len(&self) -> u64 {
        match &self.order {
            Order::Written { live, .. } => *live,
            Order::Sorted(tree) => tree.len() as u64,
        }
    }

    /// Add a write, and whether it is to be trimmed.
    pub fn push(&mut self, at: u64, bytes: u64, trims: bool) {
        match &mut self.order {
            Order::Written { list, live, .. } => {
                list.push_back(Some((at, bytes)));
                *live += 1;
            }
            Order::Sorted(tree) => {
                while let Some((&first, _)) =
                    tree.range(..at + bytes).next_back().filter(|(first, w)| *first + w.0 > at)
                {
                    tree.remove(&first);
                }
                tree.insert(at, (bytes, self.next));
            }
        }
        if trims {
            self.trims.push_back((at, self.next));
        }
        self.next += 1;
    }

    /// The next write to read back, unless it is still in flight.
    pub fn pop(&mut self, writing: &[u64]) -> Option<(u64, u64)> {
        match &mut self.order {
            Order::Written { first, list, live } => {
                while list.front().is_some_and(Option::is_none) {
                    list.pop_front();
                    *first += 1;
                }
                let next = list.front().copied().flatten().filter(|(at, _)| !writing.contains(at))?;
                list.pop_front();
                (*first, *live) = (*first + 1, *live - 1);
                Some(next)
            }
            Order::Sorted(tree) => {
                let (at, bytes) = tree.first_key_value().map(|(at, w)| (*at, w.0))?;
                if writing.contains(&at) {
                    return None;
                }
                tree.remove(&at);
                Some((at, bytes))
            }
        }
    }

    fn bytes(&self, at: u64, number: u64) -> Option<u64> {
        match &self.order {
            Order::Written { first, list, .. } => {
                list.get(number.checked_sub(*first)? as usize).copied().flatten().map(|w| w.1)
            }
            Order::Sorted(tree) => tree.get(&at).filter(|w| w.1 == number).map(|w| w.0),
        }
    }

    /// Whether any write is to be trimmed.
    pub fn has_trims(&mut self) -> bool {
        while let Some(&(at, number)) = self.trims.front() {
            if self.bytes(at, number).is_some() {
                return true;
            }
            self.trims.pop_front();
        }
        false
    }

    /// The next write to trim. It is not read back unless `keeps` is set.
    pub fn pop_trim(&mut self, keeps: bool) -> Option<(u64, u64)> {
        if !self.has_trims() {
            return None;
        }
        let (at, number) = self.trims.pop_front()?;
        let bytes = self.bytes(at, number)?;
        if !keeps {
            match &mut self.order {
                Order::Written { first, list, live } => {
                    list[(number - *first) as usize] = None;
                    *live -= 1;
                }
                Order::Sorted(tree) => drop(tree.remove(&at)),
            }
        }
        Some((at, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_write_takes_out_what_it_overlaps() {
        let mut history = History::new(true);
        for (at, bytes) in [(8, 4), (0, 4), (4, 4), (2, 4)] {
            history.push(at, bytes, false);
        }
        assert_eq!((history.len(), history.pop(&[2])), (2, None));
        assert_eq!(
            (history.pop(&[]), history.pop(&[]), history.pop(&[])),
            (Some((2, 4)), Some((8, 4)), None)
        );
        let mut history = History::new(false);
        history.push(8, 4, false);
        history.push(0, 4, false);
        assert_eq!((history.pop(&[]), history.pop(&[0])), (Some((8, 4)), None));
    }

    #[test]
    fn what_is_trimmed_is_not_read_back() {
        for sorted in [false, true] {
            let mut history = History::new(sorted);
            for at in [0, 4, 8, 12] {
                history.push(at, 4, at != 4);
            }
            assert_eq!((history.pop_trim(false), history.len()), (Some((0, 4)), 3));
            assert_eq!((history.pop_trim(true), history.len()), (Some((8, 4)), 3));
            assert_eq!((history.pop(&[]), history.pop(&[])), (Some((4, 4)), Some((8, 4))));
            assert_eq!((history.pop(&[]), history.has_trims()), (Some((12, 4)), false));
        }
        let mut history = History::new(true);
        history.push(0, 4, true);
        history.push(0, 4, false);
        assert_eq!((history.pop_trim(false), history.len()), (None, 1), "it was written anew");
    }
}
