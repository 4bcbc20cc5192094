//! The states of all intervals in the order in which they are checked: class by class and interval by
//! interval, alternating with random states.
//!
//! The classes of a long log take too long to complete. Intervals of the same shape are likely to fail alike, so the first of each
//! shape is ahead of the second by two classes, and of the fourth by four. Of the random states, one half draws an interval more often,
//! the more sectors it can lose, because the number of its states is a power of two; the other half gives each shape its share,
//! however few intervals it has. So failures of what a program does rarely show up early, too.

use std::collections::BTreeMap;
use wordline_volatile::{Broken, CLASSES, Class, Interval, State, broken_states, shapes, spread, states};

/// Step from one draw to the next among all weights, as a fraction of 2^64. The golden ratio spreads the
/// draws most evenly.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// After this many equal states in a row, no new state is expected.
const MOST_EQUAL: u64 = 4000;
/// Number of states of a class and an interval before others have a turn.
const TURN: usize = 16;
/// By how many classes the first interval of a shape is ahead of the second, the second of the fourth, and so on.
const AHEAD: usize = 2;
/// The weight of a sector that can be lost, to be divided by the intervals of a shape.
const WEIGHT: u64 = 1 << 20;

type States<'a> = Box<dyn Iterator<Item = State> + Send + 'a>;

/// When it is the turn of a class of states of an interval: earlier turns first, then earlier classes, then earlier intervals of
/// their shape.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    round: usize,
    class: usize,
    rank: usize,
    interval: usize,
}

/// The states of all intervals in order.
pub(crate) struct Queue<'a> {
    intervals: &'a [Interval],
    /// Number of their shapes.
    shapes: usize,
    seed: u64,
    /// The classes in order.
    classes: [Class; CLASSES.len()],
    /// The finite classes that are not complete, each with its remaining states if it has begun.
    turns: BTreeMap<Turn, Option<States<'a>>>,
    /// The turn that is under way, with the number of states until it ends.
    here: Option<(Turn, States<'a>, usize)>,
    /// The endless classes, each with the cumulative sum of weights: by sectors, and by shapes.
    endless: Vec<([u64; 2], usize, States<'a>)>,
    drawn: u64,
    /// The complete classes of each interval, a bit each.
    complete: Vec<u32>,
    returned: u64,
    equal_in_a_row: u64,
}

/// A state, with the number of its interval and its own number.
pub(crate) struct Next {
    pub number: u64,
    pub interval: usize,
    pub state: State,
    pub class: Option<Class>,
}

/// The place of each interval among those of its shape, spread over the log, and their number; and the number of shapes.
fn ranks(intervals: &[Interval]) -> (Vec<(usize, usize)>, usize) {
    let mut alike: Vec<Vec<usize>> = vec![];
    for (interval, shape) in shapes(intervals).into_iter().enumerate() {
        alike.resize_with(alike.len().max(shape + 1), Vec::new);
        alike[shape].push(interval);
    }
    let mut ranks = vec![(0, 1); intervals.len()];
    for of_shape in &alike {
        for (rank, interval) in spread(of_shape) {
            ranks[interval] = (rank, of_shape.len());
        }
    }
    (ranks, alike.len())
}

impl<'a> Queue<'a> {
    /// All permitted states; with `broken`, only the states of drives that are broken in these ways. If the
    /// drive had session faults, the states that lose everything come first.
    pub(crate) fn new(
        intervals: &'a [Interval],
        broken: &[Broken],
        seed: u64,
        had_faults: bool,
    ) -> Queue<'a> {
        let mut classes = CLASSES;
        if had_faults {
            classes.swap(0, 1);
        }
        // A drive that ignores a FLUSH has other intervals.
        let at_cut: Vec<Broken> =
            broken.iter().copied().filter(|kind| *kind != Broken::DroppedFlush).collect();
        let has_states = |interval: &Interval| {
            let draws = broken.is_empty() || interval.dropped().is_some();
            if draws { interval.cache().writes().next().is_some() } else { !at_cut.is_empty() }
        };
        let (ranks, shapes) = ranks(intervals);
        let pending = intervals.iter().enumerate().filter(|(_, interval)| has_states(interval));
        let mut weights = [0, 0];
        let endless = pending.map(|(at, interval)| -> ([u64; 2], usize, States<'a>) {
            let is_permitted = broken.is_empty() || interval.dropped().is_some();
            let sectors: usize = interval.cache().writes().map(|write| write.sectors().len()).sum();
            // A broken drive can fail in any interval.
            let weight = if broken.is_empty() { sectors as u64 } else { 1 };
            let share = weight.saturating_mul(WEIGHT) / ranks[at].1 as u64;
            weights = [weights[0] + weight, weights[1] + share.max(1)];
            if is_permitted {
                (weights, at, states(interval, Class::Drawn, seed))
            } else {
                (weights, at, Box::new(broken_states(interval, at_cut.clone(), seed)))
            }
        });
        let endless = endless.collect();
        let first = |(interval, (rank, _)): (usize, &(usize, usize))| {
            let round = AHEAD * (rank + 1).ilog2() as usize;
            (Turn { round, class: 0, rank: *rank, interval }, None)
        };
        let turns =
            if broken.is_empty() { ranks.iter().enumerate().map(first).collect() } else { BTreeMap::new() };
        Queue {
            intervals,
            shapes,
            seed,
            classes,
            turns,
            here: None,
            endless,
            drawn: 0,
            complete: vec![0; intervals.len()],
            returned: 0,
            equal_in_a_row: 0,
        }
    }

    /// Note whether a state was equal to an earlier one.
    pub(crate) fn was_equal(&mut self, equal: bool) {
        self.equal_in_a_row = if equal { self.equal_in_a_row + 1 } else { 0 };
    }

    /// Number of shapes of intervals.
    pub(crate) fn shapes(&self) -> usize {
        self.shapes
    }

    /// Number of complete classes of each interval, up to the first that is not complete.
    pub(crate) fn complete(&self) -> Vec<usize> {
        self.complete.iter().map(|classes| classes.trailing_ones() as usize).collect()
    }

    pub(crate) fn next(&mut self) -> Option<Next> {
        // Begin with the simplest states.
        let is_drawn = self.returned >= CLASSES.len() as u64 && self.returned % 2 == 1;
        let first = if is_drawn { self.drawn() } else { None };
        let (interval, state, class) = first.or_else(|| self.finite()).or_else(|| self.drawn())?;
        self.returned += 1;
        Some(Next { number: self.returned, interval, state, class })
    }

    fn finite(&mut self) -> Option<(usize, State, Option<Class>)> {
        loop {
            let (turn, mut states, left) = match self.here.take() {
                Some(here) => here,
                None => self.begin()?,
            };
            if left == 0 {
                self.turns.insert(Turn { round: turn.round + 1, ..turn }, Some(states));
                continue;
            }
            let Some(state) = states.next() else {
                self.complete[turn.interval] |= 1 << turn.class;
                continue;
            };
            self.here = Some((turn, states, left - 1));
            return Some((turn.interval, state, Some(self.classes[turn.class])));
        }
    }

    /// Begin the next turn, or go on with one that was interrupted.
    fn begin(&mut self) -> Option<(Turn, States<'a>, usize)> {
        let (turn, states) = self.turns.pop_first()?;
        let states = states.unwrap_or_else(|| {
            let next = Turn { round: turn.round + 1, class: turn.class + 1, ..turn };
            if self.classes[next.class] != Class::Drawn {
                self.turns.insert(next, None);
            }
            self::states(&self.intervals[turn.interval], self.classes[turn.class], self.seed)
        });
        Some((turn, states, TURN))
    }

    fn drawn(&mut self) -> Option<(usize, State, Option<Class>)> {
        if self.equal_in_a_row > MOST_EQUAL {
            return None;
        }
        let (weights, _, _) = self.endless.last()?;
        let by = (self.drawn % 2) as usize;
        let (all, along) = (u128::from(weights[by]), u128::from((self.drawn / 2).wrapping_mul(STEP)));
        self.drawn += 1;
        let place = ((all * along) >> 64) as u64;
        let next = self.endless.partition_point(|(up_to, _, _)| up_to[by] <= place);
        let (_, interval, states) = self.endless.get_mut(next)?;
        let (interval, state) = (*interval, states.next()?);
        let class = state.fault.is_none().then_some(Class::Drawn);
        Some((interval, state, class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_volatile::{Event, Log, Rules, intervals};

    const SECTOR: u64 = 512;

    /// `count` intervals with one write each: of `sectors` sectors in interval `large`, of one sector in the
    /// others.
    fn log(count: u64, large: u64, sectors: u64) -> Log {
        let one = |at: u64| {
            let data = vec![at as u8 + 1; (if at == large { sectors } else { 1 } * SECTOR) as usize];
            let (id, flush) = (at * 2 + 1, at * 2 + 2);
            [
                Event::Write { id, connection: 1, offset: at * 64 * SECTOR, fua: false, data },
                Event::Done { id },
                Event::Flush { id: flush, connection: 1 },
                Event::Done { id: flush },
            ]
        };
        Log { size: 8 << 20, sector: SECTOR, base: 0, events: (0..count).flat_map(one).collect() }
    }

    // Before all classes are complete.
    #[test]
    fn torn_write_of_a_long_log_is_drawn_early() {
        let log = log(200, 120, 20);
        let all = intervals(&log, Rules { sector: SECTOR, atomic: None }, None);
        let mut queue = Queue::new(&all, &[], 1, false);
        let first: Vec<Next> = std::iter::from_fn(|| queue.next()).take(140).collect();
        let first_two: Vec<(usize, Option<Class>)> =
            first.iter().take(2).map(|next| (next.interval, next.class)).collect();
        let plain = Some(Class::NothingLost);
        assert_eq!(first_two, [(0, plain), (120, plain)], "the plainest state of each shape comes first");
        let torn = |next: &&Next| {
            let writes = all[next.interval].cache().writes();
            next.state.lost.values().zip(writes).any(|(lost, write)| lost != write.sectors())
        };
        let torn: Vec<&Next> = first.iter().filter(torn).collect();
        assert!(!torn.is_empty() && torn.iter().all(|next| next.interval == 120), "{}", torn.len());
        let (complete, end) = (queue.complete(), CLASSES.len() - 1);
        assert_eq!((complete[0], complete[120]), (end, end), "all classes of the first of each shape");
        assert!(complete.iter().filter(|classes| **classes == 0).count() > 100, "and of most others none");
    }

    /// An interval of two writes of one sector, among many of one write of `sectors` sectors.
    fn rare(count: u64, at: u64, sectors: u64) -> Log {
        let mut log = log(count, count, 1);
        let mut number = 0;
        for event in &mut log.events {
            if let Event::Write { data, .. } = event {
                *data = vec![number as u8 + 1; (sectors * SECTOR) as usize];
                number += 1;
            }
        }
        let two = (0..2u64).flat_map(|one| {
            let (id, data) = (10_000 + one, vec![9; SECTOR as usize]);
            [
                Event::Write { id, connection: 1, offset: (8 << 20) - (one + 1) * 8192, fua: false, data },
                Event::Done { id },
            ]
        });
        let two: Vec<Event> =
            two.chain([Event::Flush { id: 10_002, connection: 1 }, Event::Done { id: 10_002 }]).collect();
        log.events.splice(at as usize * 4..at as usize * 4, two);
        log
    }

    // One lost write in it is enough.
    #[test]
    fn rare_small_interval_is_drawn_early() {
        let all = intervals(&rare(150, 70, 60), Rules { sector: SECTOR, atomic: None }, None);
        let mut queue = Queue::new(&all, &[], 1, false);
        let first = std::iter::from_fn(|| queue.next()).take(60);
        let lost: Vec<u64> = first
            .filter(|next| next.interval == 70 && next.state.lost.len() == 1)
            .flat_map(|next| next.state.lost.into_keys().collect::<Vec<u64>>())
            .collect();
        assert!(lost.contains(&10_000) && lost.contains(&10_001), "{lost:?}");
    }

    #[test]
    fn long_class_does_not_delay_the_others() {
        // 120 writes in one interval have 7,140 pairs.
        let write = |id: u64| {
            let (offset, data) = (id * SECTOR, vec![id as u8; SECTOR as usize]);
            [Event::Write { id, connection: 1, offset, fua: false, data }, Event::Done { id }]
        };
        let flush = |id: u64| [Event::Flush { id, connection: 1 }, Event::Done { id }];
        let many = (1..=120).flat_map(write).chain(flush(121));
        let three = (122..=124).flat_map(write).chain(flush(125));
        let log = Log { size: 1 << 20, sector: SECTOR, base: 0, events: many.chain(three).collect() };
        let all = intervals(&log, Rules { sector: SECTOR, atomic: None }, None);
        let mut queue = Queue::new(&all, &[], 1, false);
        let first: Vec<Next> = std::iter::from_fn(|| queue.finite())
            .take(600)
            .map(|(interval, state, class)| Next { number: 0, interval, state, class })
            .collect();
        let pairs =
            |at: usize| first.iter().filter(|n| n.interval == at && n.class == Some(Class::TwoLost)).count();
        assert_eq!(pairs(1), 3, "all pairs of the second interval");
        assert!(pairs(0) > 0 && queue.complete()[0] == CLASSES.len() - 2, "{}", pairs(0));
    }

    #[test]
    fn classes_complete_when_no_drawn_state_is_new() {
        let all = intervals(&log(5, 2, 2), Rules { sector: SECTOR, atomic: None }, None);
        let mut queue = Queue::new(&all, &[], 1, false);
        let mut seen = std::collections::HashSet::new();
        let mut count = 0u64;
        while let Some(next) = queue.next() {
            count += 1;
            let is_new = seen.insert(next.state.image(&all[next.interval]).hash());
            queue.was_equal(!is_new);
        }
        assert!(count > MOST_EQUAL && count < MOST_EQUAL + 100, "{count}");
        let end = CLASSES.len() - 1;
        assert!(queue.complete().iter().all(|complete| *complete == end), "{:?}", queue.complete());
        assert_eq!(seen.len(), 8, "none, one more after each write, and two torn ones");
    }
}
