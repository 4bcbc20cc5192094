//! Summaries of the slowest requests of a kind in a watched run. Memory is bounded by the number of selected
//! requests, and by a fixed number of evenly sampled ones.

use crate::error::RunError;
use crate::study::why_causes::{Blame, Sources};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use wordline_ftl::LatencyPart;
use wordline_report::{PartShare, Report, Spent, Story, WayShare, WhySummary};
use wordline_schemes::Registry;
use wordline_sim::Completion;
use wordline_units::{Count, Fraction, HostOp, Opt};

/// Maximum number of summarized requests: about 400 bytes are kept for each.
const MOST: u64 = 100_000;

/// Maximum number of requests of a kind sampled for causes of waiting.
const LOOKED_AT: u64 = 2_000;

/// Selection of the slowest requests of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slowest {
    /// This many.
    Requests(u64),
    /// This share of them.
    Share(Fraction),
}

impl Default for Slowest {
    /// One in a thousand.
    fn default() -> Slowest {
        Slowest::Share(Fraction(1_000_000))
    }
}

impl Slowest {
    /// Default number of explanations.
    pub fn stories(self) -> usize {
        match self {
            Slowest::Requests(n @ ..=1000) => n as usize,
            _ => 3,
        }
    }
}

impl FromStr for Slowest {
    type Err = String;

    fn from_str(text: &str) -> Result<Slowest, String> {
        let found = if text.ends_with('%') {
            text.parse().map(Slowest::Share).map_err(|e| e.to_string())
        } else {
            text.parse().map(|Count(n)| Slowest::Requests(n)).map_err(|e| e.to_string())
        };
        match found? {
            Slowest::Requests(0) | Slowest::Share(Fraction::ZERO) => {
                Err("must be above 0: a number such as 10, or a share such as 0.1%".into())
            }
            Slowest::Share(share) if share > Fraction::ONE => Err(format!("{text} is more than 100%")),
            slowest => Ok(slowest),
        }
    }
}

impl fmt::Display for Slowest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slowest::Requests(n) => n.fmt(f),
            Slowest::Share(share) => share.fmt(f),
        }
    }
}

/// A cause of waiting or processing: the cause, and the kind and cause of an operation.
type Way = (&'static str, String, String);

/// Time of requests by part and by way.
#[derive(Clone, Default)]
struct Times {
    ns: u64,
    parts: [u64; LatencyPart::COUNT],
    ways: Vec<u64>,
    blame: Vec<Blame>,
}

impl Times {
    fn add(&mut self, other: &Times) {
        self.ns += other.ns;
        self.parts.iter_mut().zip(other.parts).for_each(|(sum, ns)| *sum += ns);
        self.ways.resize(self.ways.len().max(other.ways.len()), 0);
        self.ways.iter_mut().zip(&other.ways).for_each(|(sum, ns)| *sum += ns);
    }
}

/// A latency in nanoseconds that at least this many requests of a kind reach, by the distribution in the
/// run's report.
pub(crate) fn floor(report: &Report, op: HostOp, most: u64) -> u64 {
    let (points, requests) = match op {
        HostOp::Read => (&report.latency_cdf.read, report.host.asked().read_requests),
        HostOp::Write => (&report.latency_cdf.write, report.host.asked().write_requests),
        HostOp::Trim | HostOp::Flush => return 0,
    };
    // The distribution is of requests that were done.
    if requests == 0 || !report.host.failed.is_empty() {
        return 0;
    }
    let below = 1.0 - most as f64 / requests as f64;
    let reached = points.iter().take_while(|[_, share]| *share <= below).last();
    // Its latencies are those of bins, which are within some percent.
    reached.map_or(0, |[us, _]| (us * 1e3 * 0.9) as u64)
}

/// The sums of one kind of request.
pub(crate) struct Sums {
    op: HostOp,
    asked: Slowest,
    most: usize,
    /// None of the slowest is below this, so that no explanation is wasted.
    floor: u64,
    /// Every so-manieth is looked at.
    every: u64,
    of: u64,
    ways: Vec<Way>,
    sources: Sources,
    /// By latency and number.
    slowest: BTreeMap<(u64, Reverse<u64>), Times>,
    looked_at: u64,
    sample: Times,
    all_ns: u64,
    all_parts: [u64; LatencyPart::COUNT],
}

impl Sums {
    /// For the kinds of requests in a run, or the selected one.
    ///
    /// # Errors
    /// When too many are asked for.
    pub fn of(asked: Slowest, op: Option<HostOp>, report: &Report) -> Result<Vec<Sums>, RunError> {
        let host = &report.host;
        let all = [
            (HostOp::Read, host.asked().read_requests),
            (HostOp::Write, host.asked().write_requests),
            (HostOp::Trim, host.asked().trim_requests),
            (HostOp::Flush, host.asked().flush_requests),
        ];
        let is_asked =
            |kind: HostOp| op.map_or(matches!(kind, HostOp::Read | HostOp::Write), |op| op == kind);
        let wanted = all.into_iter().filter(|(kind, n)| *n > 0 && is_asked(*kind));
        let sums = |(kind, requests)| {
            let sums = Sums::new(asked, kind, requests)?;
            let floor = floor(report, kind, sums.most as u64);
            Ok(Sums { floor, ..sums })
        };
        wanted.map(sums).collect()
    }

    fn new(asked: Slowest, op: HostOp, requests: u64) -> Result<Sums, RunError> {
        let most = match asked {
            Slowest::Requests(n) => n.min(requests),
            Slowest::Share(share) => share.of_ceil(requests),
        };
        if most > MOST {
            let what = format!(": that is {most} {}s\n  allowed: at most {MOST} requests", op.key());
            return Err((Opt::Slowest.of(asked) + what).into());
        }
        Ok(Sums {
            op,
            asked,
            most: most as usize,
            floor: 0,
            every: requests.div_ceil(LOOKED_AT).max(1),
            of: 0,
            ways: vec![],
            sources: Sources::default(),
            slowest: BTreeMap::new(),
            looked_at: 0,
            sample: Times::default(),
            all_ns: 0,
            all_parts: [0; LatencyPart::COUNT],
        })
    }

    /// A request has completed and can be explained.
    pub fn see(&mut self, c: &Completion, story: impl FnOnce() -> Story) {
        if c.request.op != self.op {
            return;
        }
        let ns = c.at.since(c.request.arrival).0;
        let parts = *c.parts.nanoseconds();
        self.all_ns += ns;
        self.all_parts.iter_mut().zip(parts).for_each(|(sum, ns)| *sum += ns);
        let is_looked_at = self.of.is_multiple_of(self.every);
        self.of += 1;
        let key = (ns, Reverse(c.number));
        let is_among = self.slowest.len() < self.most
            || self.slowest.first_key_value().is_some_and(|(least, _)| *least < key);
        let ranks = ns >= self.floor && is_among;
        if !is_looked_at && !ranks {
            return;
        }
        let story = story();
        let blame = if ranks { self.sources.blame(&story) } else { vec![] };
        let times = Times { ns, parts, ways: self.ways_of(&story), blame };
        if is_looked_at {
            self.looked_at += 1;
            self.sample.add(&times);
        }
        if ranks {
            self.slowest.insert(key, times);
            if self.slowest.len() > self.most {
                self.slowest.pop_first();
            }
        }
    }

    /// The time of a request by cause, in the order of [`Sums::ways`].
    fn ways_of(&mut self, story: &Story) -> Vec<u64> {
        let mut times = vec![0; self.ways.len()];
        let mut add = |ways: &mut Vec<Way>, way: Way, ns: u64| {
            let at = ways.iter().position(|known| *known == way).unwrap_or_else(|| {
                ways.push(way);
                ways.len() - 1
            });
            times.resize(times.len().max(at + 1), 0);
            times[at] += ns;
        };
        for stretch in &story.stretches {
            let (waits, alone) = match stretch.spent {
                Spent::PlaneBusy | Spent::ArrayBusy | Spent::BusBusy => (true, "other"),
                Spent::NoSpace => (true, "no_space"),
                Spent::QueueFull => (false, "queue_full"),
                Spent::BufferFull => (false, "buffer_full"),
                Spent::MapMiss => (false, "map_miss"),
                Spent::InRam => (false, "in_ram"),
                Spent::Array => (false, "array"),
                Spent::Bus => (false, "bus"),
                Spent::Link => (false, "link"),
            };
            let mut left = stretch.ns();
            if waits {
                let shared: u64 = stretch.behind.iter().map(|work| stretch.shared_with(work)).sum();
                for work in &stretch.behind {
                    // What works at once, in two registers or planes, shares the time.
                    let own = stretch.shared_with(work) as u128 * stretch.ns() as u128;
                    let own = (own / shared.max(stretch.ns()).max(1) as u128) as u64;
                    left -= own.min(left);
                    add(&mut self.ways, ("behind", work.kind.clone(), work.cause.clone()), own);
                }
            }
            if left > 0 {
                add(&mut self.ways, (alone, String::new(), String::new()), left);
            }
        }
        times
    }

    /// Whether no such request has completed.
    pub fn is_empty(&self) -> bool {
        self.of == 0
    }

    /// The shares.
    pub fn summary(&self) -> WhySummary {
        let mut slow = Times::default();
        self.slowest.values().for_each(|times| slow.add(times));
        let share = |ns: u64, of: u64| if of == 0 { 0.0 } else { ns as f64 / of as f64 };
        let of_part = |part: LatencyPart| PartShare {
            part: part.key().to_string(),
            slowest: share(slow.parts[part as usize], slow.ns),
            all: share(self.all_parts[part as usize], self.all_ns),
        };
        let at = |times: &Times, i: usize| share(times.ways.get(i).copied().unwrap_or_default(), times.ns);
        let named = |text: &String| (!text.is_empty()).then(|| text.clone());
        let of_way = |(i, (way, kind, cause)): (usize, &Way)| WayShare {
            way: (*way).to_string(),
            kind: named(kind),
            cause: named(cause),
            slowest: at(&slow, i),
            all: at(&self.sample, i),
        };
        let mut ways: Vec<WayShare> = self.ways.iter().enumerate().map(of_way).collect();
        ways.sort_by(|a, b| b.slowest.total_cmp(&a.slowest).then(b.all.total_cmp(&a.all)));
        WhySummary {
            op: self.op.key().to_string(),
            asked: self.asked.to_string(),
            slowest: self.slowest.len() as u64,
            of: self.of,
            over_ns: self.slowest.first_key_value().map_or(0, |(key, _)| key.0),
            slowest_ns: slow.ns,
            all_ns: self.all_ns,
            looked_at: self.looked_at,
            causes: self.sources.causes(self.slowest.values().map(|times| &times.blame), slow.ns),
            parts: LatencyPart::ALL.into_iter().map(of_part).collect(),
            ways,
        }
    }
}

/// Which requests to explain.
#[derive(Clone, Debug, Default)]
pub struct WhyAsked {
    /// These, by their numbers.
    pub numbers: Vec<u64>,
    /// Or this many of the slowest.
    pub slowest: usize,
    /// This many of the slowest of each kind to summarize, if none is named.
    pub summed: Option<Slowest>,
    /// Among the slowest, only requests of this kind.
    pub op: Option<HostOp>,
    /// A timeline file around the first of them.
    pub timeline: Option<PathBuf>,
    /// The schemes that there are.
    pub registry: Registry,
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_counters::RequestCounts;
    use wordline_report::{Host, Stretch, Work};

    fn of_reads(requests: u64) -> Report {
        let counts = RequestCounts { ended: [requests, 0, 0, 0], ..RequestCounts::default() }.figures();
        Report { host: Host { counts, ..Host::default() }, ..Report::default() }
    }

    #[test]
    fn so_many_of_the_slowest_are_a_number_or_a_share() {
        for (text, spelled, stories) in [("10", "10", 10), ("2k", "2000", 3), ("0.1%", "0.1%", 3)] {
            let slowest: Result<Slowest, String> = text.parse();
            assert_eq!(slowest.map(|s| (s.to_string(), s.stories())), Ok((spelled.to_string(), stories)));
        }
        assert_eq!(Slowest::default().to_string(), "0.1%");
        for text in ["0", "0%", "101%", "few", "-1", ""] {
            assert!(text.parse::<Slowest>().is_err(), "{text}");
        }
    }

    #[test]
    fn more_than_can_be_kept_is_refused() {
        let e = Sums::of(Slowest::default(), None, &of_reads(150_000_000))
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default();
        assert!(e.contains("--slowest 0.1%: that is 150000 reads") && e.contains("at most 100000"), "{e}");
    }

    #[test]
    fn concurrent_work_shares_time_and_the_rest_is_left() {
        let mut sums =
            Sums::of(Slowest::Requests(1), None, &of_reads(10)).map(|mut all| all.remove(0)).expect("sums");
        let work = |kind: &str, start_ns, end_ns| Work {
            kind: kind.into(),
            cause: "gc".into(),
            start_ns,
            end_ns,
            ..Work::default()
        };
        let stretch = |spent, from_ns, to_ns, behind| Stretch {
            spent,
            op: None,
            from_ns,
            to_ns,
            behind,
            meanwhile: vec![],
        };
        let both = vec![work("read", 0, 100), work("erase", 50, 150)];
        let story = Story {
            stretches: vec![
                stretch(Spent::PlaneBusy, 0, 100, both),
                stretch(Spent::NoSpace, 100, 140, vec![work("erase", 130, 200)]),
                stretch(Spent::Array, 140, 200, vec![]),
            ],
            ..Story::default()
        };
        let times = sums.ways_of(&story);
        let of = |way: &str, kind: &str| {
            sums.ways.iter().position(|w| w.0 == way && w.1 == kind).map(|i| times[i])
        };
        // 100 and 50 of work in 100 of time, and 10 of 40.
        assert_eq!((of("behind", "read"), of("behind", "erase")), (Some(66), Some(33 + 10)));
        assert_eq!((of("other", ""), of("no_space", ""), of("array", "")), (Some(1), Some(30), Some(60)));
        assert_eq!(times.iter().sum::<u64>(), 200);
    }
}
