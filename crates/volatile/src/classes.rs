//! The crash states of an interval, by class, each class before the next.

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
    /// All that is not durable is lost.
    AllLost,
    /// All behind a write is lost.
    Prefix,
    /// One write is lost.
    OneLost,
    /// All but one write is lost.
    OneKept,
    /// One sector of one write is lost.
    OneSector,
    /// Two writes are lost.
    TwoLost,
    /// Each sector survives by a draw.
    Drawn,
}

/// All classes, in their order.
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

/// The states of a class in an interval; those that are drawn have no end.
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

/// A state in which each sector survives with a probability of .1, .5 or .9.
fn drawn(interval: &Interval, number: u64, seed: u64) -> Lost {
    let mut random = SplitMix64(seed ^ (interval.at() as u64) << 32 ^ number);
    let survives = [u64::MAX / 10, u64::MAX / 2, u64::MAX / 10 * 9][(number % 3) as usize];
    let mut lost = Lost::new();
    for write in interval.cache().writes() {
        let sectors = interval.cache().tear(write, || random.bits() > survives);
        if !sectors.is_empty() {
            lost.insert(write.request().id, sectors);
        }
    }
    lost
}

/// States of a drive that is broken in one of these ways, without end.
pub fn broken_states(interval: &Interval, kinds: Vec<Broken>, seed: u64) -> impl Iterator<Item = State> + '_ {
    let at = interval.at();
    (0u64..).map(move |number| {
        let kind = kinds[(number % kinds.len().max(1) as u64) as usize];
        let seed = SplitMix64(seed ^ (at as u64) << 32 ^ number).bits() >> 40;
        State { at, fault: Some(Fault::new(kind, seed)), ..State::default() }
    })
}
