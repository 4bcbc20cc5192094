//! The states of all intervals in order: class by class, interval by interval, and then random ones in turn.

use std::collections::VecDeque;
use wordline_volatile::{Broken, CLASSES, Class, Interval, State, broken_states, states};

/// Equal states in a row after which no new one is expected.
const MOST_EQUAL: u64 = 4000;

type States<'a> = Box<dyn Iterator<Item = State> + Send + 'a>;

/// The states of all intervals in their order.
pub(crate) struct Queue<'a> {
    intervals: &'a [Interval],
    seed: u64,
    /// Classes in their order.
    classes: [Class; CLASSES.len()],
    /// The next state of the finite classes: the class, the interval, its states.
    at: (usize, usize),
    here: Option<States<'a>>,
    /// Those that have no end, in turn.
    endless: VecDeque<(usize, States<'a>)>,
    /// For each interval, how many classes are complete.
    complete: Vec<usize>,
    returned: u64,
    equal_in_a_row: u64,
}

/// A state, with the number of its interval and its own.
pub(crate) struct Next {
    pub number: u64,
    pub interval: usize,
    pub state: State,
    pub class: Option<Class>,
}

impl<'a> Queue<'a> {
    /// All states by what is permitted; with `broken` those of drives that are broken so, and no others. Of a drive that had
    /// faults at work, the states that lose all come first.
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
        // A drive that ignores a FLUSH has intervals of its own.
        let at_cut: Vec<Broken> =
            broken.iter().copied().filter(|kind| *kind != Broken::DroppedFlush).collect();
        let has_states = |interval: &Interval| {
            let draws = broken.is_empty() || interval.dropped().is_some();
            if draws { interval.cache().writes().next().is_some() } else { !at_cut.is_empty() }
        };
        let pending = intervals.iter().enumerate().filter(|(_, interval)| has_states(interval));
        let endless = pending.map(|(at, interval)| -> (usize, States<'a>) {
            if broken.is_empty() || interval.dropped().is_some() {
                (at, states(interval, Class::Drawn, seed))
            } else {
                (at, Box::new(broken_states(interval, at_cut.clone(), seed)))
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
            complete: vec![0; intervals.len()],
            returned: 0,
            equal_in_a_row: 0,
        }
    }

    /// A state was new, or equal to one before.
    pub(crate) fn was_equal(&mut self, equal: bool) {
        self.equal_in_a_row = if equal { self.equal_in_a_row + 1 } else { 0 };
    }

    /// For each interval, how many classes are complete.
    pub(crate) fn complete(&self) -> &[usize] {
        &self.complete
    }

    pub(crate) fn next(&mut self) -> Option<Next> {
        let (interval, state, class) = self.finite().or_else(|| self.drawn())?;
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
        let (interval, mut states) = self.endless.pop_front()?;
        let state = states.next()?;
        self.endless.push_back((interval, states));
        let class = state.fault.is_none().then_some(Class::Drawn);
        Some((interval, state, class))
    }
}
