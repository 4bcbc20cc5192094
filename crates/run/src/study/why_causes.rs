//! Root causes of slow requests: work of the planes by cause and region, with the emptied victims.

use std::collections::BTreeMap;
use wordline_report::{Busy, Emptied, RootCause, Spent, Story, Stretch, Work};

/// A cause with its region and mode.
pub(crate) type Source = (String, String, String);

/// Time of a request by one source, in one plane.
#[derive(Clone, Copy)]
pub(crate) struct Blame {
    source: usize,
    plane: u32,
    ns: u64,
    /// Time behind emptied blocks, and the same weighted by their valid share.
    emptied_ns: u64,
    valid_ns: f64,
    /// Time behind those with a known rate, and the same weighted by it.
    paced_ns: u64,
    pace_ns: f64,
    short_since_ns: u64,
}

/// All sources seen, by number.
#[derive(Default)]
pub(crate) struct Sources(Vec<Source>);

/// The cause of a piece of work, and its owner.
fn source(cause: &str, region: &str, mode: &str, empties: Option<&Emptied>) -> Source {
    let own = |word: &str| word.to_string();
    match empties {
        Some(e) if e.reason == "refresh" || e.reason == "levelling" => {
            (own(&e.reason), own(&e.region), own(&e.mode))
        }
        Some(e) => (own(cause), own(&e.region), own(&e.mode)),
        None => (own(cause), own(region), own(mode)),
    }
}

/// Rate at which data left a region before one of its blocks started to be emptied.
fn pace(e: &Emptied) -> Option<f64> {
    let lasted = e.since_ns.checked_sub(e.short_since_ns).filter(|ns| *ns > 0)?;
    (e.moved_bytes > 0).then(|| e.moved_bytes as f64 * 1e9 / lasted as f64)
}

impl Sources {
    fn number(&mut self, source: Source) -> usize {
        self.0.iter().position(|known| *known == source).unwrap_or_else(|| {
            self.0.push(source);
            self.0.len() - 1
        })
    }

    /// Root causes of the time of a request.
    pub fn blame(&mut self, story: &Story) -> Vec<Blame> {
        let mut blame: BTreeMap<(usize, u32), Blame> = BTreeMap::new();
        for stretch in &story.stretches {
            let mut left = stretch.ns();
            let mut add = |source: usize, plane: u32, ns: u64, empties: Option<&Emptied>| {
                let one = Blame {
                    source,
                    plane,
                    ns: 0,
                    emptied_ns: 0,
                    valid_ns: 0.0,
                    paced_ns: 0,
                    pace_ns: 0.0,
                    short_since_ns: 0,
                };
                let b = blame.entry((source, plane)).or_insert(one);
                b.ns += ns;
                let Some(e) = empties else { return };
                b.emptied_ns += ns;
                b.valid_ns += ns as f64 * f64::from(e.valid_percent) / 100.0;
                b.short_since_ns = e.short_since_ns;
                if let Some(pace) = pace(e) {
                    b.paced_ns += ns;
                    b.pace_ns += ns as f64 * pace;
                }
            };
            if waits(stretch) {
                let shared: u64 = stretch.behind.iter().map(|w| stretch.shared_with(w)).sum();
                for w in &stretch.behind {
                    let ns =
                        portion(stretch.ns(), stretch.shared_with(w), shared.max(stretch.ns())).min(left);
                    left -= ns;
                    add(self.number(of_work(w)), w.plane, ns, w.empties.as_ref());
                }
            }
            let busy: u64 = stretch.meanwhile.iter().map(|b| b.busy_ns).sum();
            for b in &stretch.meanwhile {
                let ns = portion(stretch.ns(), b.busy_ns, busy).min(left);
                left -= ns;
                let from = self.number(source(&b.cause, &b.region, &b.mode, b.empties.as_ref()));
                // The rest lies in planes that nobody names.
                let most = portion(ns, b.plane_ns, b.busy_ns);
                add(from, b.plane, most, b.empties.as_ref());
                add(from, u32::MAX, ns - most, b.empties.as_ref());
            }
            if left > 0 {
                let (cause, region, mode) = alone(stretch, story);
                add(self.number((cause.into(), region, mode)), u32::MAX, left, None);
            }
        }
        blame.into_values().collect()
    }

    /// The causes of this many nanoseconds in total, largest first.
    pub fn causes<'a>(&self, all: impl Iterator<Item = &'a Vec<Blame>>, of: u64) -> Vec<RootCause> {
        let mut sums: BTreeMap<usize, Sum> = BTreeMap::new();
        for blame in all {
            for b in blame {
                sums.entry(b.source).or_default().add(b);
            }
        }
        let mut causes: Vec<RootCause> =
            sums.into_iter().map(|(source, sum)| sum.cause(&self.0[source], of)).collect();
        causes.sort_by(|a, b| b.share.total_cmp(&a.share));
        causes
    }
}

/// Whether other work was ahead in an interval.
fn waits(s: &Stretch) -> bool {
    let spent = [Spent::PlaneBusy, Spent::ArrayBusy, Spent::BusBusy, Spent::NoSpace, Spent::MapMiss];
    spent.contains(&s.spent)
}

fn of_work(w: &Work) -> Source {
    source(&w.cause, &w.region, &w.mode, w.empties.as_ref())
}

/// The cause of an interval without other work.
fn alone(s: &Stretch, story: &Story) -> (&'static str, String, String) {
    let last = story.last.as_ref();
    let place = || last.map_or_else(Default::default, |l| (l.work.region.clone(), l.work.mode.clone()));
    let cause = match s.spent {
        Spent::Array | Spent::Bus => "own",
        Spent::Link => "link",
        Spent::InRam if last.is_some() => "group",
        Spent::NoSpace => "gc",
        _ => "other",
    };
    match cause {
        "own" | "group" => (cause, place().0, place().1),
        "gc" => (cause, place().0, String::new()),
        _ => (cause, String::new(), String::new()),
    }
}

/// A share of a time.
fn portion(ns: u64, part: u64, of: u64) -> u64 {
    (ns as u128 * part as u128).checked_div(of as u128).unwrap_or(0) as u64
}

#[derive(Default)]
struct Sum {
    ns: u64,
    emptied_ns: u64,
    valid_ns: f64,
    paced_ns: u64,
    pace_ns: f64,
    /// Of the last request, which is the slowest.
    short_since_ns: u64,
    planes: BTreeMap<u32, u64>,
}

impl Sum {
    fn add(&mut self, b: &Blame) {
        self.ns += b.ns;
        self.emptied_ns += b.emptied_ns;
        self.valid_ns += b.valid_ns;
        self.paced_ns += b.paced_ns;
        self.pace_ns += b.pace_ns;
        if b.emptied_ns > 0 {
            self.short_since_ns = b.short_since_ns;
        }
        *self.planes.entry(b.plane).or_default() += b.ns;
    }

    fn cause(self, (cause, region, mode): &Source, of: u64) -> RootCause {
        let named = self.planes.into_iter().filter(|(plane, _)| *plane != u32::MAX);
        let most = named.max_by_key(|(_, ns)| *ns).filter(|(_, ns)| ns * 2 > self.ns);
        let emptied = self.emptied_ns > 0;
        RootCause {
            cause: cause.clone(),
            region: region.clone(),
            mode: mode.clone(),
            share: if of == 0 { 0.0 } else { self.ns as f64 / of as f64 },
            plane: most.map(|(plane, _)| plane),
            valid: emptied.then(|| self.valid_ns / self.emptied_ns as f64),
            short_since_ns: emptied.then_some(self.short_since_ns),
            bytes_per_s: (self.paced_ns > 0).then(|| self.pace_ns / self.paced_ns as f64),
        }
    }
}

/// Uses of planes within an interval, by cause and region.
#[derive(Default)]
pub(crate) struct Meanwhile(BTreeMap<Source, (Busy, BTreeMap<u32, u64>, u64)>);

impl Meanwhile {
    /// A piece of work took this much of the interval.
    pub fn add(&mut self, w: Work, ns: u64) {
        let key = of_work(&w);
        let (busy, planes, most) = self.0.entry(key).or_default();
        busy.busy_ns += ns;
        *planes.entry(w.plane).or_default() += ns;
        if ns > *most {
            *most = ns;
            busy.empties = w.empties;
        }
    }

    /// The busiest first.
    pub fn busiest(self) -> Vec<Busy> {
        let each = self.0.into_iter().map(|((cause, region, mode), (busy, planes, _))| {
            let (plane, plane_ns) =
                planes.iter().max_by_key(|(_, ns)| **ns).map_or((0, 0), |(p, ns)| (*p, *ns));
            Busy { cause, region, mode, planes: planes.len() as u32, plane, plane_ns, ..busy }
        });
        let mut all: Vec<Busy> = each.collect();
        all.sort_by_key(|b| std::cmp::Reverse(b.busy_ns));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_report::LastPiece;

    fn emptied(valid_percent: u8) -> Emptied {
        let moved =
            Emptied { region: "S".into(), reason: "shortage".into(), valid_percent, ..Emptied::default() };
        Emptied { since_ns: 2_000, short_since_ns: 1_000, moved_bytes: 500, ..moved }
    }

    fn stretch(spent: Spent, from_ns: u64, to_ns: u64) -> Stretch {
        Stretch { spent, op: None, from_ns, to_ns, behind: vec![], meanwhile: vec![] }
    }

    #[test]
    fn buffer_wait_is_split_by_what_planes_did_meanwhile() {
        let busy = |cause: &str, busy_ns, empties| Busy {
            cause: cause.into(),
            region: "D".into(),
            busy_ns,
            plane: 3,
            plane_ns: busy_ns,
            empties,
            ..Busy::default()
        };
        let story = Story {
            stretches: vec![
                Stretch {
                    meanwhile: vec![busy("migrate", 300, Some(emptied(94))), busy("host", 100, None)],
                    ..stretch(Spent::BufferFull, 0, 200)
                },
                stretch(Spent::Array, 200, 250),
            ],
            last: Some(LastPiece::default()),
            ..Story::default()
        };
        let mut sources = Sources::default();
        let blame = sources.blame(&story);
        let causes = sources.causes([&blame].into_iter(), 250);
        let told: Vec<(&str, &str, f64)> =
            causes.iter().map(|c| (c.cause.as_str(), c.region.as_str(), c.share)).collect();
        assert_eq!(told, [("migrate", "S", 0.6), ("host", "D", 0.2), ("own", "", 0.2)]);
        assert_eq!((causes[0].plane, causes[0].valid), (Some(3), Some(0.94)));
        // 500 bytes in 1 us.
        assert_eq!((causes[0].short_since_ns, causes[0].bytes_per_s), (Some(1_000), Some(5e8)));
    }

    #[test]
    fn causes_come_to_the_whole_time() {
        let work =
            |start_ns, end_ns, plane| Work { cause: "gc".into(), start_ns, end_ns, plane, ..Work::default() };
        let story = Story {
            stretches: vec![
                Stretch { behind: vec![work(0, 60, 1), work(30, 90, 2)], ..stretch(Spent::PlaneBusy, 0, 80) },
                stretch(Spent::NoSpace, 80, 100),
                stretch(Spent::Link, 100, 110),
            ],
            ..Story::default()
        };
        let mut sources = Sources::default();
        let blame = sources.blame(&story);
        let causes = sources.causes([&blame].into_iter(), 110);
        assert!((causes.iter().map(|c| c.share).sum::<f64>() - 1.0).abs() < 0.03, "{causes:?}");
        assert_eq!(causes[0].cause, "gc");
    }
}
