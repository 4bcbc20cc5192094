//! A tree of minima: the least of many numbers, found and changed in steps that grow with their logarithm.

use serde::{Deserialize, Serialize};

const FAN: usize = 16;
pub(crate) const ABSENT: u32 = u32::MAX;

/// Minimum of n numbers, each of which can be absent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MinTree {
    /// Level 0 holds the numbers, each further level the minima of groups of [`FAN`].
    levels: Vec<Box<[u32]>>,
}

impl MinTree {
    pub fn new(n: usize) -> MinTree {
        let mut levels = vec![];
        let mut len = n.max(1);
        loop {
            let padded = len.div_ceil(FAN) * FAN;
            levels.push(vec![ABSENT; padded].into_boxed_slice());
            if padded == FAN {
                return MinTree { levels };
            }
            len = padded / FAN;
        }
    }

    fn group_min(level: &[u32], group: usize) -> u32 {
        level[group * FAN..][..FAN].iter().copied().fold(ABSENT, u32::min)
    }

    /// Set the number at a position, or [`ABSENT`].
    pub fn set(&mut self, at: usize, value: u32) {
        self.levels[0][at] = value;
        let mut at = at;
        for l in 1..self.levels.len() {
            at /= FAN;
            let least = Self::group_min(&self.levels[l - 1], at);
            if self.levels[l][at] == least {
                return;
            }
            self.levels[l][at] = least;
        }
    }

    pub fn remove(&mut self, at: usize) {
        self.set(at, ABSENT);
    }

    /// Lower a number that is present.
    #[inline]
    pub fn lower(&mut self, at: usize, value: u32) {
        self.levels[0][at] = value;
        let mut at = at;
        for level in &mut self.levels[1..] {
            at /= FAN;
            if level[at] <= value {
                return;
            }
            level[at] = value;
        }
    }

    /// The least number and the first position that holds it.
    pub fn min(&self) -> Option<(u32, usize)> {
        let mut group = 0;
        let mut least = ABSENT;
        for level in self.levels.iter().rev() {
            let slice = &level[group * FAN..][..FAN];
            least = slice.iter().copied().fold(ABSENT, u32::min);
            group = group * FAN + slice.iter().position(|v| *v == least)?;
        }
        (least != ABSENT).then_some((least, group))
    }

    /// The number at a position.
    pub fn get(&self, at: usize) -> Option<u32> {
        Some(self.levels[0][at]).filter(|value| *value != ABSENT)
    }

    /// Whether a position has a number.
    pub fn contains(&self, at: usize) -> bool {
        self.levels[0][at] != ABSENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_tree_finds_what_a_scan_finds(
            n in 1usize..600,
            steps in prop::collection::vec((any::<prop::sample::Index>(), 0u32..50, 0u8..3), 1..400),
        ) {
            let mut tree = MinTree::new(n);
            let mut plain = vec![ABSENT; n];
            for (at, value, what) in steps {
                let at = at.index(n);
                if what == 0 {
                    tree.remove(at);
                    plain[at] = ABSENT;
                } else if what == 1 || plain[at] == ABSENT {
                    tree.set(at, value);
                    plain[at] = value;
                } else {
                    let value = value.min(plain[at]);
                    tree.lower(at, value);
                    plain[at] = value;
                }
                let least = plain.iter().copied().min().filter(|v| *v != ABSENT);
                let expected = least.map(|v| (v, plain.iter().position(|x| *x == v).unwrap()));
                prop_assert_eq!(tree.min(), expected);
            }
        }
    }
}
