//! The crash states of an interval, by class, in the order of classes.

use crate::broken::{Broken, Fault};
use crate::cache::{Cache, Lost, Write};
use crate::replay::Interval;
use crate::shape::rare_first;
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

/// Up to this many writes or sectors, a class is short enough to come in the order of the log.
const FEW: usize = 16;

/// The states of a class in an interval. Random states are endless. Of many writes, those of rare kinds come first.
pub fn states<'a>(
    interval: &'a Interval,
    class: Class,
    seed: u64,
) -> Box<dyn Iterator<Item = State> + Send + 'a> {
    let writes: Vec<&Write> = interval.cache().writes().collect();
    let count = writes.len();
    let order = if count > FEW { rare_first(interval) } else { (0..count).collect() };
    let state = move |lost: Lost| State { at: interval.at(), dropped: interval.dropped(), lost, fault: None };
    let all: Box<dyn Iterator<Item = Lost> + Send + 'a> = match class {
        Class::NothingLost => Box::new(std::iter::once(Lost::new())),
        Class::AllLost => Box::new(std::iter::once(all_of(writes.into_iter()))),
        Class::Prefix => {
            let kept = order.into_iter().filter(|at| *at > 0);
            Box::new(kept.map(move |kept| all_of(writes[kept..].iter().copied())))
        }
        Class::OneLost => Box::new(order.into_iter().map(move |one| all_of([writes[one]].into_iter()))),
        Class::OneKept => Box::new(order.into_iter().map(move |one| {
            all_of(writes.iter().enumerate().filter(move |(at, _)| *at != one).map(|(_, write)| *write))
        })),
        Class::OneSector => {
            let torn = sectors_of_torn(interval, order.into_iter().map(move |at| writes[at]));
            Box::new(torn.into_iter().map(|(id, sector)| Lost::from([(id, BTreeSet::from([sector]))])))
        }
        Class::TwoLost => Box::new((0..count).flat_map(move |two| {
            let (writes, order) = (writes.clone(), order.clone());
            (0..two).map(move |one| all_of([writes[order[one]], writes[order[two]]].into_iter()))
        })),
        Class::Drawn if count == 0 => Box::new(std::iter::empty()),
        Class::Drawn => Box::new((0u64..).map(move |number| drawn(interval, number, seed))),
    };
    Box::new(all.map(state))
}

/// The sectors of all writes that can be torn. Of many, the first of each write comes before the last of each, since headers and
/// checksums are there, and the others follow, spread over the write.
fn sectors_of_torn<'a>(interval: &Interval, writes: impl Iterator<Item = &'a Write>) -> Vec<(u64, u64)> {
    let rules = interval.cache().rules();
    let mut torn: Vec<(u32, u64, u64)> = vec![];
    for write in writes.filter(|write| !rules.is_atomic(&write.request()) && write.sectors().len() > 1) {
        let last = write.sectors().len() - 1;
        torn.extend(write.sectors().iter().enumerate().map(|(at, sector)| {
            let turn = if at == 0 {
                0
            } else if at == last {
                1
            } else {
                (at as u32).reverse_bits().max(2)
            };
            (turn, write.request().id, *sector)
        }));
    }
    if torn.len() > FEW {
        torn.sort_by_key(|(turn, _, _)| *turn);
    }
    torn.into_iter().map(|(_, id, sector)| (id, sector)).collect()
}

/// The sectors of a write that is torn at one place: all before it are lost, or all from it on. Often it is next to the first or
/// the last sector.
fn torn_once(cache: &Cache, write: &Write, random: &mut SplitMix64) -> BTreeSet<u64> {
    let sectors = write.sectors();
    let count = sectors.len() as u64;
    if cache.rules().is_atomic(&write.request()) || count == 1 {
        return sectors.clone();
    }
    let place = match random.bits() >> 62 {
        0 => 1,
        1 => count - 1,
        _ => random.bits() % (count - 1) + 1,
    } as usize;
    let is_begin = random.bits() >> 63 == 0;
    sectors.iter().copied().enumerate().filter(|(at, _)| (*at < place) == is_begin).map(|(_, s)| s).collect()
}

/// How a random state loses requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Draw {
    /// Each sector by itself.
    Sectors,
    /// Whole requests.
    Requests,
    /// Requests are torn at one place.
    Torn,
    /// The last request before a point is torn at one place, and no other.
    TornLast,
}

/// A random state. Each sector, or each request, survives with a probability of 0.1, 0.5 or 0.9; what does not survive is lost
/// or torn. This applies to all requests of the interval, or to those before a point after which everything is lost. In one state
/// of four, a single request is torn, and all or nothing behind it survives.
fn drawn(interval: &Interval, number: u64, seed: u64) -> Lost {
    let mut random = SplitMix64::new(seed ^ (interval.at() as u64) << 32 ^ number);
    let survives = [u64::MAX / 10, u64::MAX / 2, u64::MAX / 10 * 9][(number % 3) as usize];
    let (is_whole, is_early) = (number / 3 % 2 == 1, number / 6 % 2 == 1);
    let draw = match (number / 12 % 4, is_whole) {
        (0 | 1, false) => Draw::Sectors,
        (0 | 1, true) => Draw::Requests,
        (2, _) => Draw::Torn,
        _ => Draw::TornLast,
    };
    let cache = interval.cache();
    let count = cache.writes().count();
    let has_end = is_early || draw == Draw::TornLast;
    let end = if has_end { (random.bits() % count.max(1) as u64) as usize + 1 } else { count };
    let mut lost = Lost::new();
    for (at, write) in cache.writes().enumerate() {
        let mut is_lost = || random.bits() > survives;
        let sectors = match draw {
            Draw::TornLast if at >= end && is_whole => BTreeSet::new(),
            _ if at >= end => write.sectors().clone(),
            Draw::Sectors => cache.tear(write, is_lost),
            Draw::Requests if is_lost() => write.sectors().clone(),
            Draw::Torn if is_lost() => torn_once(cache, write, &mut random),
            Draw::TornLast if at + 1 == end => torn_once(cache, write, &mut random),
            Draw::Requests | Draw::Torn | Draw::TornLast => BTreeSet::new(),
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
        let seed = SplitMix64::new(seed ^ (at as u64) << 32 ^ number).bits() >> 40;
        State { at, fault: Some(Fault::new(kind, seed)), ..State::default() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Event, Log};
    use crate::replay::intervals;
    use crate::rules::Rules;

    /// An interval of writes with these numbers of sectors.
    fn interval(counts: impl Iterator<Item = u64>) -> Vec<Interval> {
        let write = |(id, count): (u64, u64)| {
            let (offset, data) = (id * 8192, vec![id as u8 + 1; (count * 512) as usize]);
            [Event::Write { id, connection: 1, offset, fua: false, data }, Event::Done { id }]
        };
        let events = (0..).zip(counts).flat_map(write).collect();
        let log = Log { size: 8 << 20, sector: 512, base: 0, events };
        intervals(&log, Rules { sector: 512, atomic: None }, None)
    }

    #[test]
    fn headers_of_many_torn_writes_come_first() {
        let all = interval((0..40).map(|_| 16));
        let torn: Vec<Lost> = states(&all[0], Class::OneSector, 1).map(|state| state.lost).collect();
        assert_eq!(torn.len(), 40 * 16);
        let is = |lost: &Lost, at: u64| lost.iter().all(|(id, s)| s.iter().all(|s| *s == id * 16 + at));
        assert!(torn[..40].iter().all(|lost| is(lost, 0)), "the first sector of each");
        assert!(torn[40..80].iter().all(|lost| is(lost, 15)), "the last sector of each");
        let distinct: BTreeSet<(u64, u64)> =
            torn.iter().flatten().flat_map(|(id, s)| s.iter().map(|s| (*id, *s))).collect();
        assert_eq!(distinct.len(), 40 * 16, "each sector once");
        let pairs: Vec<Lost> = states(&all[0], Class::TwoLost, 1).map(|state| state.lost).collect();
        assert_eq!((pairs.len(), pairs.iter().filter(|lost| lost.len() == 2).count()), (780, 780));
    }

    #[test]
    fn one_torn_write_is_drawn_behind_all_that_survived() {
        let all = interval((0..60).map(|_| 8));
        let drawn: Vec<Lost> = states(&all[0], Class::Drawn, 1).take(360).map(|state| state.lost).collect();
        let is_torn = |lost: &BTreeSet<u64>| lost.len() < 8;
        let alone = |lost: &&Lost| lost.len() == 1 && lost.values().all(is_torn);
        let headers = |lost: &&Lost| lost.values().all(|sectors| sectors.len() == 1);
        assert!(drawn.iter().filter(alone).filter(headers).count() > 5, "a single sector at an edge");
        let tail = |lost: &&Lost| {
            let first = lost.keys().next().copied().unwrap_or(0);
            first > 5 && lost.len() as u64 == 60 - first && lost.get(&first).is_some_and(is_torn)
        };
        assert!(drawn.iter().filter(tail).count() > 20, "a torn one, and nothing behind it");
    }

    // Or in its beginning.
    #[test]
    fn sectors_or_whole_writes_are_drawn_in_an_interval() {
        let write = |id: u64| {
            let (offset, data) = (id * 4096, vec![id as u8; 4096]);
            [Event::Write { id, connection: 1, offset, fua: false, data }, Event::Done { id }]
        };
        let log = Log { size: 1 << 20, sector: 512, base: 0, events: (1..=12).flat_map(write).collect() };
        let all = intervals(&log, Rules { sector: 512, atomic: None }, None);
        let drawn: Vec<Lost> = states(&all[0], Class::Drawn, 1).take(240).map(|state| state.lost).collect();
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
