//! The states of all intervals in the order in which they are checked: class by class and interval by
//! interval, alternating with random states.
//!
//! An interval is drawn more often, the more sectors it can lose, because the number of its states is a power
//! of two. The classes of a long log take too long to complete. Failures that need many lost writes or a torn
//! sector show up early in the random states.

use wordline_volatile::{Broken, CLASSES, Class, Interval, State, broken_states, states};

/// Step from one draw to the next among all weights, as a fraction of 2^64. The golden ratio spreads the
/// draws most evenly.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// After this many equal states in a row, no new state is expected.
const MOST_EQUAL: u64 = 4000;

type States<'a> = Box<dyn Iterator<Item = State> + Send + 'a>;

/// The states of all intervals in order.
pub(crate) struct Queue<'a> {
    intervals: &'a [Interval],
    seed: u64,
    /// The classes in order.
    classes: [Class; CLASSES.len()],
    /// The next state of the finite classes: class, interval, and the remaining states.
    at: (usize, usize),
    here: Option<States<'a>>,
    /// The endless classes, each with the cumulative sum of weights.
    endless: Vec<(u64, usize, States<'a>)>,
    drawn: u64,
    /// Number of complete classes of each interval.
    complete: Vec<usize>,
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
        let pending = intervals.iter().enumerate().filter(|(_, interval)| has_states(interval));
        let mut weights = 0;
        let endless = pending.map(|(at, interval)| -> (u64, usize, States<'a>) {
            let is_permitted = broken.is_empty() || interval.dropped().is_some();
            let sectors: usize = interval.cache().writes().map(|write| write.sectors().len()).sum();
            // A broken drive can fail in any interval.
            weights += if broken.is_empty() { sectors as u64 } else { 1 };
            if is_permitted {
                (weights, at, states(interval, Class::Drawn, seed))
            } else {
                (weights, at, Box::new(broken_states(interval, at_cut.clone(), seed)))
            }
        });
        let endless = endless.collect();
        let first = if broken.is_empty() { 0 } else { CLASSES.len() };
        Queue {
            intervals,
            seed,
            classes,
            at: (first, 0),
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

    /// Number of complete classes of each interval.
    pub(crate) fn complete(&self) -> &[usize] {
        &self.complete
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
            let (class, interval) = self.at;
            let kind = *self.classes.get(class).filter(|class| **class != Class::Drawn)?;
            let Some(of) = self.intervals.get(interval) else {
                self.at = (class + 1, 0);
                continue;
            };
            let seed = self.seed;
            let here = self.here.get_or_insert_with(|| states(of, kind, seed));
            if let Some(state) = here.next() {
                return Some((interval, state, Some(kind)));
            }
            self.here = None;
            self.complete[interval] = class + 1;
            self.at = (class, interval + 1);
        }
    }

    fn drawn(&mut self) -> Option<(usize, State, Option<Class>)> {
        if self.equal_in_a_row > MOST_EQUAL {
            return None;
        }
        let (weights, _, _) = self.endless.last()?;
        let (all, along) = (u128::from(*weights), u128::from(self.drawn.wrapping_mul(STEP)));
        self.drawn += 1;
        let place = ((all * along) >> 64) as u64;
        let next = self.endless.partition_point(|(up_to, _, _)| *up_to <= place);
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

    #[test]
    fn torn_write_of_a_long_log_is_drawn_before_all_classes_are_complete() {
        let log = log(200, 120, 20);
        let all = intervals(&log, Rules { sector: SECTOR, atomic: None }, None);
        let mut queue = Queue::new(&all, &[], 1, false);
        let first: Vec<Next> = std::iter::from_fn(|| queue.next()).take(100).collect();
        let plain = first[..CLASSES.len()].iter().all(|next| next.class == Some(Class::NothingLost));
        assert!(plain, "the plainest states come first");
        let torn = |next: &&Next| {
            let writes = all[next.interval].cache().writes();
            next.state.lost.values().zip(writes).any(|(lost, write)| lost != write.sectors())
        };
        let torn: Vec<&Next> = first.iter().filter(torn).collect();
        assert!(!torn.is_empty() && torn.iter().all(|next| next.interval == 120), "{}", torn.len());
        assert_eq!(
            queue.complete().iter().max(),
            Some(&1),
            "of all classes the first alone is complete anywhere"
        );
    }

    #[test]
    fn all_classes_are_complete_although_no_drawn_state_is_new() {
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
