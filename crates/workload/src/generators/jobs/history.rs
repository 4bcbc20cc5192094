//! What a job wrote and has not read back, in fio's order: that of writing where each address comes
//! once, otherwise that of addresses, of which a later write takes out those it overlaps.

use std::collections::{BTreeMap, VecDeque};

/// Writes that are to be read back, as address and bytes.
pub(crate) enum History {
    Written(VecDeque<(u64, u64)>),
    Sorted(BTreeMap<u64, u64>),
}

impl History {
    pub fn new(sorted: bool) -> History {
        if sorted { History::Sorted(BTreeMap::new()) } else { History::Written(VecDeque::new()) }
    }

    pub fn len(&self) -> u64 {
        match self {
            History::Written(list) => list.len() as u64,
            History::Sorted(tree) => tree.len() as u64,
        }
    }

    pub fn push(&mut self, at: u64, bytes: u64) {
        match self {
            History::Written(list) => list.push_back((at, bytes)),
            History::Sorted(tree) => {
                while let Some((&first, _)) =
                    tree.range(..at + bytes).next_back().filter(|(first, length)| *first + **length > at)
                {
                    tree.remove(&first);
                }
                tree.insert(at, bytes);
            }
        }
    }

    /// The next, unless it is still being written.
    pub fn pop(&mut self, writing: &[u64]) -> Option<(u64, u64)> {
        let next = match self {
            History::Written(list) => list.front().copied(),
            History::Sorted(tree) => tree.first_key_value().map(|(at, bytes)| (*at, *bytes)),
        };
        let (at, bytes) = next.filter(|(at, _)| !writing.contains(at))?;
        match self {
            History::Written(list) => drop(list.pop_front()),
            History::Sorted(tree) => drop(tree.remove(&at)),
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
            history.push(at, bytes);
        }
        assert_eq!((history.len(), history.pop(&[2])), (2, None));
        assert_eq!(
            (history.pop(&[]), history.pop(&[]), history.pop(&[])),
            (Some((2, 4)), Some((8, 4)), None)
        );
        let mut history = History::new(false);
        history.push(8, 4);
        history.push(0, 4);
        assert_eq!((history.pop(&[]), history.pop(&[0])), (Some((8, 4)), None));
    }
}
