//! The crash states of an interval, by class, in the order of classes.

use crate::broken::{Broken, Fault};
use crate::cache::{Lost, Write};
use crate::replay::Interval;
use crate::state::State;
use std::collections::BTreeSet;
use wordline_hash::SplitMix64;

/// A class of crash states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Nothing is lost.
    NothingLost,
    /// Everything that is not durable is lost.
    AllLost,
    /// Everything after a write is lost.
    Prefix,
    /// One write is lost.
    OneLost,
    /// Everything but one write is lost.
    OneKept,
    /// One sector of one write is lost.
    OneSector,
    /// Two writes are lost.
    TwoLost,
    /// Each sector or each write survives at random.
    Drawn,
}

/// All classes, in order.
pub const CLASSES: [Class; 8] = [
    Class::NothingLost,
    Class::AllLost,
    Class::Prefix,
    Class::OneLost,
    Class::OneKept,
    Class::OneSector,
    Class::TwoLost,
    Class::Drawn,
];

impl Class {
    /// Its name in reports.
    pub fn key(self) -> &'static str {
        match self {
            Class::NothingLost => "nothing lost",
            Class::AllLost => "all lost",
            Class::Prefix => "each prefix",
            Class::OneLost => "one write lost",
            Class::OneKept => "one write kept",
            Class::OneSector => "one sector lost",
            Class::TwoLost => "two writes lost",
            Class::Drawn => "drawn",
        }
    }
}

fn all_of<'a>(writes: impl Iterator<Item = &'a Write>) -> Lost {
    writes.map(|write| (write.request().id, write.sectors().clone())).collect()
}

/// The states of a class in an interval. Random states are endless.
pub fn states<'a>(
    interval: &'a Interval,
    class: Class,
    seed: u64,
) -> Box<dyn Iterator<Item = State> + Send + 'a> {
    let cache = interval.cache();
    let writes: Vec<&Write> = cache.writes().collect();
    let count = writes.len();
    let state = move |lost: Lost| State { at: interval.at(), dropped: interval.dropped(), lost, fault: None };
    let all: Box<dyn Iterator<Item = Lost> + Send + 'a> = match class {
        Class::NothingLost => Box::new(std::iter::once(Lost::new())),
        Class::AllLost => Box::new(std::iter::once(all_of(writes.into_iter()))),
        Class::Prefix => Box::new((1..count).map(move |kept| all_of(writes[kept..].iter().copied()))),
        Class::OneLost => Box::new((0..count).map(move |one| all_of([writes[one]].into_iter()))),
        Class::OneKept => Box::new((0..count).map(move |one| {
            all_of(writes.iter().enumerate().filter(move |(at, _)| *at != one).map(|(_, write)| *write))
        })),
        Class::OneSector => Box::new(writes.into_iter().flat_map(move |write| {
            let torn = !cache.rules().is_atomic(&write.request()) && write.sectors().len() > 1;
            let id = write.request().id;
            let sectors = write.sectors().iter().copied().filter(move |_| torn);
            sectors.map(move |sector| Lost::from([(id, BTreeSet::from([sector]))]))
        })),
        Class::TwoLost => Box::new((0..count).flat_map(move |one| {
            let writes = writes.clone();
            (one + 1..count).map(move |two| all_of([writes[one], writes[two]].into_iter()))
        })),
        Class::Drawn if count == 0 => Box::new(std::iter::empty()),
        Class::Drawn => Box::new((0u64..).map(move |number| drawn(interval, number, seed))),
    };
    Box::new(all.map(state))
}

/// A random state in which each sector, or each whole request, survives with a probability of 0.1, 0.5 or 0.9.
/// This applies to all requests of the interval, or to those before a point after which everything is lost.
fn drawn(interval: &Interval, number: u64, seed: u64) -> Lost {
    let mut random = SplitMix64(seed ^ (interval.at() as u64) << 32 ^ number);
    let survives = [u64::MAX / 10, u64::MAX / 2, u64::MAX / 10 * 9][(number % 3) as usize];
    let (is_whole, is_early) = (number / 3 % 2 == 1, number / 6 % 2 == 1);
    let cache = interval.cache();
    let count = cache.writes().count() as u64;
    let end = if is_early { random.bits() % count.max(1) + 1 } else { count };
    let mut lost = Lost::new();
    for (at, write) in cache.writes().enumerate() {
        let mut is_lost = || random.bits() > survives;
        let is_all = at as u64 >= end || is_whole && is_lost();
        let sectors = if is_all {
            write.sectors().clone()
        } else if is_whole {
            BTreeSet::new()
        } else {
            cache.tear(write, is_lost)
        };
        if !sectors.is_empty() {
            lost.insert(write.request().id, sectors);
        }
    }
    lost
}

/// States of a drive that is broken in one of these ways; endless.
pub fn broken_states(interval: &Interval, kinds: Vec<Broken>, seed: u64) -> impl Iterator<Item = State> + '_ {
    let at = interval.at();
    (0u64..).map(move |number| {
        let kind = kinds[(number % kinds.len().max(1) as u64) as usize];
        let seed = SplitMix64(seed ^ (at as u64) << 32 ^ number).bits() >> 40;
        State { at, fault: Some(Fault::new(kind, seed)), ..State::default() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Event, Log};
    use crate::replay::intervals;
    use crate::rules::Rules;

    #[test]
    fn sectors_or_whole_writes_are_drawn_in_an_interval_or_in_its_beginning() {
        let write = |id: u64| {
            let (offset, data) = (id * 4096, vec![id as u8; 4096]);
            [Event::Write { id, connection: 1, offset, fua: false, data }, Event::Done { id }]
        };
        let log = Log { size: 1 << 20, sector: 512, base: 0, events: (1..=12).flat_map(write).collect() };
        let all = intervals(&log, Rules { sector: 512, atomic: None }, None);
        let drawn: Vec<Lost> = states(&all[0], Class::Drawn, 1).take(120).map(|state| state.lost).collect();
        let is_whole = |lost: &&Lost| lost.values().all(|sectors| sectors.len() == 8);
        let whole: Vec<&Lost> = drawn.iter().filter(is_whole).collect();
        assert!(whole.len() >= 60, "{}", whole.len());
        assert!(whole.iter().any(|lost| lost.len() == 1), "one write of twelve, and all others are whole");
        // Everything after a point in the interval is lost, and little or nothing before it.
        let is_early = |lost: &&Lost| {
            let first = (1..=12u64).rev().take_while(|id| lost.get(id).is_some_and(|s| s.len() == 8)).count();
            (3..=9).contains(&first) && lost.len() <= first + 2
        };
        assert!(drawn.iter().filter(is_early).count() >= 5);
        assert!(drawn.iter().any(|lost| lost.values().any(|sectors| sectors.len() < 8)), "and torn ones");
    }
}
