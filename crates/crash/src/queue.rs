//! The states of all intervals in their order: class by class, interval by interval, and then drawn ones in turn.

use std::collections::VecDeque;
use wordline_volatile::{Broken, CLASSES, Class, Interval, State, broken_states, states};

/// Drawn states after which there is no end of equal ones.
const MOST_EQUAL: u64 = 4000;

type States<'a> = Box<dyn Iterator<Item = State> + Send + 'a>;

/// The states of all intervals in their order.
pub(crate) struct Queue<'a> {
    intervals: &'a [Interval],
    seed: u64,
    /// Where the finite classes are: the class, the interval, its states.
    at: (usize, usize),
    here: Option<States<'a>>,
    /// Those that have no end, in turn.
    endless: VecDeque<(usize, States<'a>)>,
    /// For each interval, how many classes are complete.
    complete: Vec<usize>,
    given: u64,
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
    /// All states by what is permitted; with `broken` those of drives that are broken so, and no others.
    pub(crate) fn new(intervals: &'a [Interval], broken: &[Broken], seed: u64) -> Queue<'a> {
        let has_states =
            |interval: &Interval| !broken.is_empty() || interval.cache().writes().next().is_some();
        let pending = intervals.iter().enumerate().filter(|(_, interval)| has_states(interval));
        let endless = pending.map(|(at, interval)| -> (usize, States<'a>) {
            if broken.is_empty() {
                (at, states(interval, Class::Drawn, seed))
            } else {
                (at, Box::new(broken_states(interval, broken.to_vec(), seed)))
            }
        });
        let endless = endless.collect();
        let first = if broken.is_empty() { 0 } else { CLASSES.len() };
        Queue {
            intervals,
            seed,
            at: (first, 0),
            here: None,
            endless,
            complete: vec![0; intervals.len()],
            given: 0,
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
        self.given += 1;
        Some(Next { number: self.given, interval, state, class })
    }

    fn finite(&mut self) -> Option<(usize, State, Option<Class>)> {
        loop {
            let (class, interval) = self.at;
            let kind = *CLASSES.get(class).filter(|class| **class != Class::Drawn)?;
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
