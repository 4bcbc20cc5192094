//! Next victim of a region and plane.
//!
//! Greedy needs the least of a set of live counts that only fall. A tree of minima of fan-out 16
//! answers in O(log n), and since a count falls far more often than a block is taken, the common
//! update is one store and one comparison that says "not below my group's least". The d-choices rule
//! draws from a list of the closed blocks in O(d). Rules that weigh age look at the closed blocks in the
//! order of their closing: windowed greedy at the first w, cost-benefit at all, once a collection.

use crate::state::min_tree::{ABSENT, MinTree};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use wordline_device::Victim;
use wordline_hash::{GOLDEN, mix};

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
    /// Where each position is in `closed`, or [`ABSENT`].
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

    /// The fewest valid sectors among the drawn blocks; ties go to the first.
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

/// Closed blocks in the order of their closing, with what each holds and when it last lost something.
///
/// Time is counted in what happens to closed blocks (one closes, or loses something), so that a plane without a
/// clock has it too.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Aged {
    /// How many of the first closed are looked at; none for all, by cost and benefit.
    window: Option<u32>,
    /// What a block holds that is live throughout.
    full: u32,
    now: u64,
    closed: BTreeMap<u64, u32>,
    /// When each position was closed, and lost something last; 0 for positions that are absent.
    closed_at: Box<[u64]>,
    changed_at: Box<[u64]>,
    live: Box<[u32]>,
}

impl Aged {
    pub fn new(n: usize, full: u32, window: Option<u32>) -> Aged {
        Aged {
            window,
            full,
            now: 0,
            closed: BTreeMap::new(),
            closed_at: vec![0; n].into_boxed_slice(),
            changed_at: vec![0; n].into_boxed_slice(),
            live: vec![0; n].into_boxed_slice(),
        }
    }

    fn insert(&mut self, at: usize, live: u32) {
        self.remove(at);
        self.lower(at, live);
        self.closed_at[at] = self.now;
        self.closed.insert(self.now, at as u32);
    }

    fn lower(&mut self, at: usize, live: u32) {
        self.now += 1;
        (self.live[at], self.changed_at[at]) = (live, self.now);
    }

    fn remove(&mut self, at: usize) {
        self.closed.remove(&std::mem::take(&mut self.closed_at[at]));
    }

    /// Of the first closed the one with the least live; or the one with the most benefit for its cost: the age
    /// since it last lost something times what it gives back, over twice what must be read and written
    /// (A. Kawaguchi, S. Nishioka, H. Motoda, USENIX 1995, section 3.4). The first closed of equals.
    fn best(&self) -> Option<usize> {
        let closed = self.closed.values().map(|at| *at as usize);
        match self.window {
            Some(window) => closed.take(window as usize).min_by_key(|at| self.live[*at]),
            None => closed.reduce(|best, at| if self.gains_more(at, best) { at } else { best }),
        }
    }

    /// Compare (age * dead) / live of two without dividing.
    fn gains_more(&self, at: usize, than: usize) -> bool {
        let benefit = |at: usize| {
            let age = self.now + 1 - self.changed_at[at];
            age as u128 * self.full.saturating_sub(self.live[at]) as u128
        };
        benefit(at) * self.live[than] as u128 > benefit(than) * self.live[at] as u128
    }

    fn in_order(&self) -> impl Iterator<Item = usize> + '_ {
        self.best().into_iter().chain(self.closed.values().map(|at| *at as usize))
    }
}

/// The index that a region's victim rule needs in one plane; positions count the pool's blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct VictimIndex {
    by: By,
    /// The closed blocks that hold nothing live, where these come before what the rule says.
    dead: Option<BTreeSet<u32>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum By {
    /// Fewest live sectors; ties go to the lowest number.
    Greedy(MinTree),
    /// Filled first.
    Fifo(VecDeque<u32>),
    /// Fewest live sectors of some drawn at random.
    DChoices(Box<Lots>),
    /// By what they hold and their age.
    Aged(Box<Aged>),
}

impl VictimIndex {
    /// An index of this many blocks with at most `full` valid sectors each, all of them absent. With `dead_first`, a
    /// block without valid data is always the first victim.
    pub fn new(rule: Victim, blocks: usize, full: u32, dead_first: bool) -> VictimIndex {
        let by = match rule {
            Victim::Greedy => By::Greedy(MinTree::new(blocks)),
            Victim::Fifo => By::Fifo(VecDeque::new()),
            Victim::DChoices(d) => By::DChoices(Box::new(Lots::new(blocks, d))),
            Victim::WindowedGreedy(window) => By::Aged(Box::new(Aged::new(blocks, full, Some(window)))),
            Victim::CostBenefit => By::Aged(Box::new(Aged::new(blocks, full, None))),
        };
        VictimIndex { by, dead: (dead_first && rule != Victim::Greedy).then(BTreeSet::new) }
    }

    /// The age of each position, oldest first; empty if the rule does not use age.
    pub fn ages(&self) -> Vec<u64> {
        match &self.by {
            By::Greedy(_) | By::DChoices(_) => vec![],
            By::Aged(aged) => aged.closed_at.to_vec(),
            By::Fifo(queue) => {
                let mut ages = vec![0; queue.iter().max().map_or(0, |last| *last as usize + 1)];
                (1..).zip(queue).for_each(|(age, at)| ages[*at as usize] = age);
                ages
            }
        }
    }

    /// Seed the random numbers of the rule, if it uses any.
    pub fn seed(&mut self, seed: u64) {
        if let By::DChoices(lots) = &mut self.by {
            lots.state = seed;
        }
    }

    pub fn insert(&mut self, at: usize, live: u32) {
        self.note_if_dead(at, live);
        match &mut self.by {
            By::Greedy(t) => t.set(at, live),
            By::Fifo(q) => q.push_back(at as u32),
            By::DChoices(lots) => lots.insert(at, live),
            By::Aged(aged) => aged.insert(at, live),
        }
    }

    #[inline(always)]
    pub fn lower(&mut self, at: usize, live: u32) {
        self.note_if_dead(at, live);
        match &mut self.by {
            By::Greedy(t) => t.lower(at, live),
            By::Fifo(_) => {}
            By::DChoices(lots) => lots.live[at] = live,
            By::Aged(aged) => aged.lower(at, live),
        }
    }

    #[inline(always)]
    fn note_if_dead(&mut self, at: usize, live: u32) {
        if live == 0 {
            self.note_dead(at);
        }
    }

    #[cold]
    fn note_dead(&mut self, at: usize) {
        if let Some(dead) = &mut self.dead {
            dead.insert(at as u32);
        }
    }

    pub fn remove(&mut self, at: usize) {
        if let Some(dead) = &mut self.dead {
            dead.remove(&(at as u32));
        }
        match &mut self.by {
            By::Greedy(t) => t.remove(at),
            By::Fifo(q) => {
                if q.front() == Some(&(at as u32)) {
                    q.pop_front();
                } else {
                    q.retain(|x| *x != at as u32);
                }
            }
            By::DChoices(lots) => lots.remove(at),
            By::Aged(aged) => aged.remove(at),
        }
    }

    /// The positions in the order of collection, if the rule keeps one; for greedy only the first, which frees the
    /// most.
    pub fn in_order(&self) -> impl Iterator<Item = usize> + '_ {
        let dead = self.dead.iter().flatten().map(|at| *at as usize);
        let by: Box<dyn Iterator<Item = usize> + '_> = match &self.by {
            By::Greedy(t) => Box::new(t.min().map(|(_, at)| at).into_iter()),
            By::Fifo(q) => Box::new(q.iter().map(|at| *at as usize)),
            By::DChoices(lots) => Box::new(lots.in_order()),
            By::Aged(aged) => Box::new(aged.in_order()),
        };
        dead.chain(by)
    }

    /// Whether no position frees more than the best victim.
    pub fn has_best_first(&self) -> bool {
        matches!(self.by, By::Greedy(_))
    }

    /// The position of the best victim.
    pub fn best(&self) -> Option<usize> {
        if let Some(dead) = self.dead.as_ref().and_then(BTreeSet::first) {
            return Some(*dead as usize);
        }
        match &self.by {
            By::Greedy(t) => t.min().map(|(_, at)| at),
            By::Fifo(q) => q.front().map(|at| *at as usize),
            By::DChoices(lots) => lots.draw(),
            By::Aged(aged) => aged.best(),
        }
    }

    pub fn contains(&self, at: usize) -> bool {
        match &self.by {
            By::Greedy(t) => t.contains(at),
            By::Fifo(q) => q.contains(&(at as u32)),
            By::DChoices(lots) => lots.place[at] != ABSENT,
            By::Aged(aged) => aged.closed_at[at] != 0,
        }
    }

    /// Cost of a victim, if the rule uses it.
    pub fn noted_cost(&self, at: usize) -> Option<u32> {
        match &self.by {
            By::Greedy(t) => t.get(at),
            By::Fifo(_) => None,
            By::DChoices(lots) => Some(lots.live[at]),
            By::Aged(aged) => Some(aged.live[at]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Blocks 0..n, where block i has i live sectors.
    fn staircase(n: usize, choices: u32) -> VictimIndex {
        let mut index = VictimIndex::new(Victim::DChoices(choices), n, n as u32, false);
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
    fn peeking_at_the_draw_keeps_it_and_the_seed_moves_it() {
        let index = staircase(1000, 3);
        assert_eq!(index.best(), index.clone().best());
        let mut other = staircase(1000, 3);
        other.seed(8);
        assert_ne!(index.best(), other.best());
    }

    /// What the rules by age choose, from all closed blocks in the order of their closing: position, live, how long
    /// ago it last lost something.
    fn by_age(rule: Victim, full: u32, closed: &[(usize, u32, u64)]) -> Option<usize> {
        let score = |(_, live, age): &(usize, u32, u64)| match rule {
            Victim::CostBenefit => (*age as f64) * (full - live) as f64 / (2.0 * *live as f64),
            _ => -(*live as f64),
        };
        let window = if let Victim::WindowedGreedy(w) = rule { w as usize } else { closed.len() };
        let first = closed.iter().take(window).map(score).fold(f64::NEG_INFINITY, f64::max);
        closed.iter().take(window).find(|block| score(block) == first).map(|(at, ..)| *at)
    }

    proptest! {
        #[test]
        fn rules_by_age_choose_what_a_plain_list_does(
            rule in prop::sample::select(vec![Victim::CostBenefit, Victim::WindowedGreedy(3)]),
            steps in prop::collection::vec((0usize..12, 1u32..16), 1..200),
        ) {
            const FULL: u32 = 16;
            let mut index = VictimIndex::new(rule, 12, FULL, false);
            let mut closed: Vec<(usize, u32, u64)> = vec![];
            let mut now = 0;
            for (at, live) in steps {
                match closed.iter().position(|(other, ..)| *other == at) {
                    None => {
                        now += 1;
                        index.insert(at, live);
                        closed.push((at, live, now));
                    }
                    Some(i) if live < closed[i].1 => {
                        now += 1;
                        index.lower(at, live);
                        (closed[i].1, closed[i].2) = (live, now);
                    }
                    Some(i) => {
                        index.remove(at);
                        closed.remove(i);
                    }
                }
                let aged: Vec<_> = closed.iter().map(|(at, live, t)| (*at, *live, now + 1 - t)).collect();
                prop_assert_eq!(index.best(), by_age(rule, FULL, &aged));
                prop_assert!((0..12).all(|at| index.contains(at) == closed.iter().any(|(c, ..)| *c == at)));
            }
        }
    }

    #[test]
    fn empty_block_comes_first_where_asked_for() {
        for rule in [Victim::Fifo, Victim::DChoices(1), Victim::WindowedGreedy(2), Victim::CostBenefit] {
            for dead_first in [false, true] {
                let mut index = VictimIndex::new(rule, 100, 100, dead_first);
                (0..100).for_each(|at| index.insert(at, 60));
                index.lower(70, 0);
                let first = dead_first || rule == Victim::CostBenefit;
                assert_eq!(index.best() == Some(70), first, "{rule} {dead_first}");
                index.remove(70);
                assert!(index.best().is_some_and(|at| at != 70) && !index.contains(70), "{rule}");
            }
        }
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
