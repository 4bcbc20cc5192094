//! Which closed block of a region and plane is collected next.
//!
//! Greedy needs the least of a set of live counts that only fall. A tree of minima of fan-out 16
//! answers in O(log n), and since a count falls far more often than a block is taken, the common
//! update is one store and one comparison that says "not below my group's least". The d-choices rule
//! draws from a list of the closed blocks in O(d).

use crate::permutation::{GOLDEN, mix};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_device::Victim;

const FAN: usize = 16;
const ABSENT: u32 = u32::MAX;

/// The least of n numbers, each of which may be absent.
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

    /// Put a number, or [`ABSENT`], at a position.
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

    /// Whether a position holds a number.
    pub fn contains(&self, at: usize) -> bool {
        self.levels[0][at] != ABSENT
    }
}

/// Closed blocks to draw from, and the stream that draws.
///
/// The stream is SplitMix64, whose state is a sum: a draw is a function of `state` and its number, so
/// that looking twice shows the same blocks. It moves on when a block comes or goes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lots {
    choices: u32,
    state: u64,
    /// The closed blocks, in no order.
    closed: Vec<u32>,
    /// Where each position stands in `closed`, or [`ABSENT`].
    place: Box<[u32]>,
    live: Box<[u32]>,
}

impl Lots {
    pub fn new(n: usize, choices: u32) -> Lots {
        Lots {
            choices,
            state: 0,
            closed: Vec::with_capacity(n),
            place: vec![ABSENT; n].into_boxed_slice(),
            live: vec![0; n].into_boxed_slice(),
        }
    }

    fn insert(&mut self, at: usize, live: u32) {
        self.live[at] = live;
        if self.place[at] == ABSENT {
            self.place[at] = self.closed.len() as u32;
            self.closed.push(at as u32);
            self.go_on();
        }
    }

    fn remove(&mut self, at: usize) {
        let place = std::mem::replace(&mut self.place[at], ABSENT);
        if place != ABSENT {
            self.closed.swap_remove(place as usize);
            if let Some(moved) = self.closed.get(place as usize) {
                self.place[*moved as usize] = place;
            }
            self.go_on();
        }
    }

    fn go_on(&mut self) {
        self.state = self.state.wrapping_add(GOLDEN.wrapping_mul(self.choices as u64));
    }

    /// The least live of the blocks drawn; the first of equals.
    fn draw(&self) -> Option<usize> {
        let n = self.closed.len() as u128;
        let drawn = (1..=self.choices as u64).filter_map(|k| {
            let bits = mix(self.state.wrapping_add(GOLDEN.wrapping_mul(k)));
            // Off from equal chances by less than n / 2^64.
            self.closed.get(((bits as u128 * n) >> 64) as usize)
        });
        drawn.map(|at| *at as usize).min_by_key(|at| self.live[*at])
    }

    /// The drawn block, then every other, for when the draw gives nothing back.
    fn in_order(&self) -> impl Iterator<Item = usize> + '_ {
        self.draw().into_iter().chain(self.closed.iter().map(|at| *at as usize))
    }
}

/// The index that a region's victim rule needs in one plane; positions count the pool's blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum VictimIndex {
    /// Fewest live sectors; ties go to the lowest number.
    Greedy(MinTree),
    /// Filled first.
    Fifo(VecDeque<u32>),
    /// Fewest live sectors of some drawn at random.
    DChoices(Lots),
}

impl VictimIndex {
    /// An index over so many blocks, all of them absent.
    pub fn new(rule: Victim, blocks: usize) -> VictimIndex {
        match rule {
            Victim::Greedy => VictimIndex::Greedy(MinTree::new(blocks)),
            Victim::Fifo => VictimIndex::Fifo(VecDeque::new()),
            Victim::DChoices(d) => VictimIndex::DChoices(Lots::new(blocks, d)),
        }
    }

    /// Begin the stream of random numbers, where the rule has one.
    pub fn seed(&mut self, seed: u64) {
        if let VictimIndex::DChoices(lots) = self {
            lots.state = seed;
        }
    }

    pub fn insert(&mut self, at: usize, live: u32) {
        match self {
            VictimIndex::Greedy(t) => t.set(at, live),
            VictimIndex::Fifo(q) => q.push_back(at as u32),
            VictimIndex::DChoices(lots) => lots.insert(at, live),
        }
    }

    #[inline]
    pub fn lower(&mut self, at: usize, live: u32) {
        match self {
            VictimIndex::Greedy(t) => t.lower(at, live),
            VictimIndex::Fifo(_) => {}
            VictimIndex::DChoices(lots) => lots.live[at] = live,
        }
    }

    pub fn remove(&mut self, at: usize) {
        match self {
            VictimIndex::Greedy(t) => t.remove(at),
            VictimIndex::Fifo(q) => {
                if q.front() == Some(&(at as u32)) {
                    q.pop_front();
                } else {
                    q.retain(|x| *x != at as u32);
                }
            }
            VictimIndex::DChoices(lots) => lots.remove(at),
        }
    }

    /// The positions in the order of collection, where the rule keeps one; only the first for greedy,
    /// which has the most to give back.
    pub fn in_order(&self) -> impl Iterator<Item = usize> + '_ {
        let (first, queue, lots) = match self {
            VictimIndex::Greedy(_) => (self.best(), None, None),
            VictimIndex::Fifo(q) => (None, Some(q.iter().map(|at| *at as usize)), None),
            VictimIndex::DChoices(lots) => (None, None, Some(lots.in_order())),
        };
        first.into_iter().chain(queue.into_iter().flatten()).chain(lots.into_iter().flatten())
    }

    /// The position of the best victim.
    pub fn best(&self) -> Option<usize> {
        match self {
            VictimIndex::Greedy(t) => t.min().map(|(_, at)| at),
            VictimIndex::Fifo(q) => q.front().map(|at| *at as usize),
            VictimIndex::DChoices(lots) => lots.draw(),
        }
    }

    pub fn contains(&self, at: usize) -> bool {
        match self {
            VictimIndex::Greedy(t) => t.contains(at),
            VictimIndex::Fifo(q) => q.contains(&(at as u32)),
            VictimIndex::DChoices(lots) => lots.place[at] != ABSENT,
        }
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

    /// Blocks 0..n, where block i has i live sectors.
    fn staircase(n: usize, choices: u32) -> VictimIndex {
        let mut index = VictimIndex::new(Victim::DChoices(choices), n);
        index.seed(7);
        (0..n).for_each(|at| index.insert(at, at as u32));
        index
    }

    #[test]
    fn the_least_of_d_draws_is_as_low_as_chance_makes_it() {
        // The least of d uniform draws on 0..n exceeds x with chance ((n - 1 - x) / n)^d; its mean is
        // the sum of that over x.
        for (n, d) in [(50usize, 1u32), (50, 2), (50, 10)] {
            let mut index = staircase(n, d);
            let draws = 20_000;
            let mut sum = 0;
            for _ in 0..draws {
                let at = index.best().unwrap();
                sum += at;
                index.remove(at);
                index.insert(at, at as u32);
            }
            let mean = sum as f64 / draws as f64;
            let expected: f64 = (1..n).map(|x| ((n - x) as f64 / n as f64).powi(d as i32)).sum();
            // 15 is more than the deviation of one draw in every case: four standard errors.
            assert!((mean - expected).abs() < 4.0 * 15.0 / (draws as f64).sqrt(), "{d}: {mean} {expected}");
        }
    }

    #[test]
    fn looking_at_the_draw_does_not_change_it_and_the_seed_does() {
        let index = staircase(1000, 3);
        assert_eq!(index.best(), index.clone().best());
        let mut other = staircase(1000, 3);
        other.seed(8);
        assert_ne!(index.best(), other.best());
    }

    #[test]
    fn a_removed_block_is_never_drawn() {
        let mut index = staircase(20, 4);
        for at in (0..20).filter(|at| at % 3 != 0) {
            index.remove(at);
        }
        while let Some(at) = index.best() {
            assert!(at % 3 == 0 && index.contains(at));
            assert_eq!(index.in_order().collect::<std::collections::HashSet<_>>().len(), {
                (0..20).filter(|at| index.contains(*at)).count()
            });
            index.remove(at);
        }
        assert!((0..20).all(|at| !index.contains(at)));
    }
}
