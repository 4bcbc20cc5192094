//! Times and kinds of a twin's requests.
//!
//! The number of requests of each kind in a period is split between its halves, then between their halves,
//! down to the shortest window for which the twin has values. This is a multiplicative cascade (M. Wang et
//! al., "Data mining meets performance evaluation: fast algorithms for modeling bursty traffic", ICDE 2002,
//! the b-model) whose bias depends on level and kind. One half gets the share (1 + d) / 2, the other the
//! rest, in random order. The mean square of the rate in windows of a level's length is therefore the product
//! of 1 + d² over the levels down to it, which determines the biases. The probability that both kinds have
//! their larger share in the same half follows from their correlation. Within the shortest window, requests
//! arrive at random.

use super::description::{Arrivals, Envelope, Memory};
use wordline_trace::RandomStream;
use wordline_units::HostOp;

/// Maximum bias of a level: all but a thousandth goes to one half.
const BIAS_MOST: f64 = 0.998;
/// Maximum number of levels: from a year down to nanoseconds.
const LEVELS_MOST: usize = 56;
/// Windows are not aligned with a level. A window of length T behaves like an aligned window of this many
/// times T.
const ASTRIDE: f64 = 1.25;
/// Reads and writes, in this order.
const KINDS: usize = 2;

/// The share of a half in the requests of a period.
#[derive(Clone, Copy)]
struct Share {
    /// The smaller one of its share and the other half's.
    rare: f64,
    /// The smaller share, in units of 2⁻⁶⁴.
    below: u64,
    /// Number of requests between those in the smaller share, per natural logarithm of a draw.
    gap: f64,
    /// Whether this half has the larger share.
    many: bool,
}

impl Share {
    fn new(share: f64) -> Share {
        let (rare, many) = if share > 0.5 { (1.0 - share, true) } else { (share, false) };
        Share { rare, below: (rare * 2f64.powi(64)) as u64, gap: 1.0 / libm::log1p(-rare), many }
    }

    /// How many of `n` requests fall into the half.
    #[inline(always)]
    fn of(&self, n: u64, random: &mut RandomStream) -> u64 {
        let few = if n <= 16 {
            let mut few = 0;
            for _ in 0..n {
                few += u64::from(random.bits() < self.below);
            }
            few
        } else {
            self.of_many(n, random)
        };
        if self.many { n - few } else { few }
    }

    /// How many of `n` requests fall into the smaller half, without a draw for each.
    fn of_many(&self, n: u64, random: &mut RandomStream) -> u64 {
        let rare = self.rare;
        if rare == 0.0 {
            0
        } else if rare * (n as f64) < 24.0 {
            // From one such request to the next.
            let (mut at, mut found) = (0.0, 0);
            loop {
                at += libm::floor(libm::log(random.unit()) * self.gap) + 1.0;
                if at > n as f64 {
                    break;
                }
                found += 1;
            }
            found
        } else {
            let (mean, deviation) = (rare * n as f64, libm::sqrt(rare * (1.0 - rare) * n as f64));
            let normal = libm::sqrt(-2.0 * libm::log(random.unit()))
                * libm::cos(core::f64::consts::TAU * random.unit());
            libm::round(mean + deviation * normal).clamp(0.0, n as f64) as u64
        }
    }
}

/// How counts are split at one level.
#[derive(Clone, Copy)]
struct Level {
    /// The share of the first half, for each kind: if it is the smaller one, and if it is the larger one.
    shares: [[Share; 2]; KINDS],
    /// Threshold of 2⁵³ at which both kinds have their larger share in the same half.
    alike: u64,
}

impl Level {
    /// A level with this bias of each kind, from 0 to 1, and this probability that both have the larger share
    /// in the same half.
    fn new(bias: [f64; KINDS], alike: f64) -> Level {
        let shares = bias.map(|bias| [-1.0, 1.0].map(|sign| Share::new(0.5 * (1.0 + sign * bias))));
        Level { shares, alike: libm::ceil(alike * (1u64 << 53) as f64) as u64 }
    }

    /// How many requests of each kind fall into the first half.
    #[inline(always)]
    fn split(&self, [reads, writes]: [u64; KINDS], random: &mut RandomStream) -> [u64; KINDS] {
        let coin = random.bits();
        let of_writes = (coin & 1) ^ 1;
        let of_reads = of_writes ^ u64::from(coin >> 11 >= self.alike);
        let [for_reads, for_writes] = &self.shares;
        let reads = for_reads[of_reads as usize].of(reads, random);
        [reads, for_writes[of_writes as usize].of(writes, random)]
    }
}

/// The levels below a period, from its halves down.
fn levels(memory: &Memory, stretch_ns: f64, rates: [f64; KINDS], group: f64) -> Vec<Level> {
    let shortest = memory.windows.first().map_or(stretch_ns, |w| w.0 as f64);
    // Simultaneous requests form geometric groups, which have a dispersion of their own.
    let of_groups = 2.0 * group / (1.0 - group);
    let rate_of = |kind: usize, window: f64| {
        let [reads, writes] = memory.dispersion(window);
        let own = [reads, writes][kind] - 1.0 - of_groups;
        if rates[kind] > 0.0 { own.max(0.0) / (rates[kind] * window) } else { 0.0 }
    };
    let square = |window: f64| [0, 1].map(|kind| 1.0 + rate_of(kind, window));
    let product =
        |window: f64| 1.0 + memory.together(window) * libm::sqrt(rate_of(0, window) * rate_of(1, window));
    let (mut had, mut had_both) = (square(stretch_ns), product(stretch_ns));
    let mut width = stretch_ns / 2.0;
    let mut found = vec![];
    while width >= 0.7 * shortest && found.len() < LEVELS_MOST {
        let (wanted, wanted_both) = (square(width / ASTRIDE), product(width / ASTRIDE));
        // What exceeds the maximum of a level is left to the levels below.
        let bias = [0, 1].map(|k| libm::sqrt((wanted[k] / had[k] - 1.0).max(0.0)).min(BIAS_MOST));
        let both = bias[0] * bias[1];
        let ratio = wanted_both / had_both - 1.0;
        let alike = if both > 0.0 { (ratio / both).clamp(-1.0, 1.0) } else { 0.0 };
        found.push(Level::new(bias, 0.5 * (1.0 + alike)));
        had = [0, 1].map(|k| had[k] * (1.0 + bias[k] * bias[k]));
        had_both *= 1.0 + alike * both;
        width *= 0.5;
    }
    found
}

/// Requests in a period.
#[derive(Clone, Copy)]
struct Node {
    /// Number of levels above it.
    depth: usize,
    begin: f64,
    width: f64,
    counts: [u64; KINDS],
}

/// The parts of a run with fixed numbers of requests: those of an envelope, or the whole run.
#[derive(Clone)]
struct Parts {
    /// Length of a part in nanoseconds.
    length: f64,
    /// Cumulative number of requests of each kind at the end of each part of a period.
    upto: Vec<[f64; KINDS]>,
    /// Number of the next part.
    next: u64,
    given: [u64; KINDS],
}

impl Parts {
    /// `span` nanoseconds with this many requests of each kind.
    fn new(envelope: Option<&Envelope>, span: f64, counts: [f64; KINDS]) -> Parts {
        let Some(e) = envelope else {
            return Parts { length: span, upto: vec![counts], next: 0, given: [0; KINDS] };
        };
        let a_period = [0, 1].map(|k| counts[k] * e.period.0 as f64 / span);
        let mut sums = [0.0; KINDS];
        let totals = [&e.reads, &e.writes].map(|weights| weights.iter().sum::<f64>());
        let upto = e.reads.iter().zip(&e.writes).map(|(read, write)| {
            sums = [sums[0] + read / totals[0] * a_period[0], sums[1] + write / totals[1] * a_period[1]];
            sums
        });
        let upto: Vec<_> = upto.collect();
        Parts { length: e.period.0 as f64 / upto.len() as f64, upto, next: 0, given: [0; KINDS] }
    }

    /// The next part. Fractions of requests are carried over, and periods without requests are skipped.
    fn next(&mut self) -> Node {
        let n = self.upto.len() as u64;
        let whole = self.upto[self.upto.len() - 1];
        let of_next = [0, 1].map(|k| (self.given[k] as f64 + 0.5) / whole[k]);
        let first = of_next[0].min(of_next[1]) as u64;
        self.next = self.next.max(first.saturating_sub(1).saturating_mul(n));
        let (period, part) = (self.next / n, (self.next % n) as usize);
        let upto = [0, 1].map(|k| (period as f64 * whole[k] + self.upto[part][k] + 0.5) as u64);
        let counts = [0, 1].map(|k| upto[k].saturating_sub(self.given[k]));
        let begin = self.next as f64 * self.length;
        self.given = [0, 1].map(|k| self.given[k].max(upto[k]));
        self.next += 1;
        Node { depth: 0, begin, width: self.length, counts }
    }
}

/// Requests at random times in what is left of a window.
#[derive(Clone, Copy, Default)]
struct Window {
    end: f64,
    left: [u64; KINDS],
}

/// Times and kinds of a twin's requests.
#[derive(Clone)]
pub(crate) struct Clock {
    parts: Parts,
    levels: Vec<Level>,
    open: Vec<Node>,
    window: Window,
    /// Probability that a request has the same time as the previous one.
    group: f64,
    now: f64,
    last: u64,
    random: RandomStream,
}

impl Clock {
    /// The times of this many requests in `span` nanoseconds, of which the share `write` are writes. The
    /// pattern then repeats.
    pub fn new(a: &Arrivals, requests: u64, span: f64, write: f64, random: RandomStream) -> Clock {
        let writes = libm::round(requests as f64 * write);
        let counts = [requests as f64 - writes, writes];
        let parts = Parts::new(a.envelope.as_ref(), span, counts);
        let rates = counts.map(|n| n / span);
        let levels = a.memory.as_ref().map_or(vec![], |m| levels(m, parts.length, rates, a.group.as_f64()));
        Clock {
            parts,
            levels,
            open: Vec::with_capacity(LEVELS_MOST),
            window: Window::default(),
            group: a.group.as_f64(),
            now: 0.0,
            last: 0,
            random,
        }
    }

    /// The time of the next request in nanoseconds, and its kind. For a window with both kinds, `keeps` says whether
    /// the kind of the previous request continues.
    #[inline]
    pub fn next(&mut self, keeps: impl FnOnce(HostOp) -> bool, before: HostOp) -> (u64, HostOp) {
        while self.window.left == [0, 0] {
            self.descend();
        }
        let [reads, writes] = &mut self.window.left;
        let left = *reads + *writes;
        let op = match (*reads, *writes) {
            (0, _) => HostOp::Write,
            (_, 0) => HostOp::Read,
            _ if keeps(before) => before,
            _ if before == HostOp::Write => HostOp::Read,
            _ => HostOp::Write,
        };
        *(if op == HostOp::Read { reads } else { writes }) -= 1;
        if self.group == 0.0 || self.random.unit() > self.group {
            // The first of this many random times in what is left; the requests after it share its time.
            let unit = self.random.unit();
            let times = 1.0 + (left - 1) as f64 * (1.0 - self.group);
            let stays = if left == 1 { unit } else { libm::exp(libm::log(unit) / times) };
            self.now += (self.window.end - self.now).max(0.0) * (1.0 - stays);
            self.last = self.now as u64;
        }
        (self.last, op)
    }

    /// Go to the next window with requests.
    fn descend(&mut self) {
        let mut node = self.open.pop().unwrap_or_else(|| self.parts.next());
        // Work on a copy, which stays in registers.
        let mut random = self.random.clone();
        let total = |n: [u64; KINDS]| n[0] + n[1];
        while node.depth < self.levels.len() && total(node.counts) > 1 {
            let early = self.levels[node.depth].split(node.counts, &mut random);
            let late = [node.counts[0] - early[0], node.counts[1] - early[1]];
            (node.depth, node.width) = (node.depth + 1, node.width * 0.5);
            let middle = node.begin + node.width;
            if total(early) == 0 {
                (node.begin, node.counts) = (middle, late);
                continue;
            }
            if total(late) > 0 {
                self.open.push(Node { begin: middle, counts: late, ..node });
            }
            node.counts = early;
        }
        self.random = random;
        self.window = Window { end: node.begin + node.width, left: node.counts };
        if total(node.counts) > 0 {
            self.now = self.now.max(node.begin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::windows::{Variation, Windows};
    use super::*;
    use wordline_units::{Fraction, SimDuration};

    const SECOND: u64 = 1_000_000_000;

    fn arrivals(memory: Option<Memory>, envelope: Option<Envelope>) -> Arrivals {
        Arrivals {
            closed: None,
            span: SimDuration(1000 * SECOND),
            group: Fraction::percent(10),
            memory,
            envelope,
        }
    }

    /// Times and kinds of a million requests in 1,000 s, two thirds of them writes.
    fn drawn(a: &Arrivals) -> Vec<(u64, HostOp)> {
        let mut clock = Clock::new(a, 1_000_000, 1e12, 2.0 / 3.0, RandomStream::new(1, "test"));
        let mut before = HostOp::Read;
        let one = |_| {
            let (time, op) = clock.next(|_| false, before);
            before = op;
            (time, op)
        };
        (0..1_000_000).map(one).collect()
    }

    fn variation(requests: &[(u64, HostOp)], window: u64) -> Variation {
        let mut windows = Windows::new(window);
        requests.iter().for_each(|(time, op)| windows.add(*time, *op));
        windows.variation().unwrap()
    }

    #[test]
    fn counts_are_exact_and_memoryless_without_memory() {
        let all = drawn(&arrivals(None, None));
        assert_eq!(all.iter().filter(|r| r.1 == HostOp::Write).count(), 666_667);
        assert!(all.windows(2).all(|w| w[0].0 <= w[1].0) && all[999_999].0 <= 1000 * SECOND);
        let same = all.windows(2).filter(|w| w[0].0 == w[1].0).count() as f64 / 1e6;
        assert!((same - 0.1).abs() < 0.002, "{same}");
        // Geometric groups alone: 1 + 2g / (1 - g).
        let d = variation(&all, SECOND / 10).dispersion().unwrap();
        assert!((d - 1.22).abs() < 0.06, "{d}");
    }

    #[test]
    fn counts_vary_and_correlate_as_asked_in_any_window() {
        let windows = [SECOND / 1000, SECOND / 100, SECOND / 10, SECOND, 10 * SECOND];
        let (reads, writes) = ([2.0, 5.0, 30.0, 200.0, 1200.0], [4.0, 8.0, 12.0, 20.0, 40.0]);
        for together in [0.0, 0.8, -0.2] {
            let memory = Memory {
                windows: windows.map(SimDuration).to_vec(),
                reads: reads.to_vec(),
                writes: writes.to_vec(),
                together: vec![together; 5],
            };
            let all = drawn(&arrivals(Some(memory), None));
            for (i, window) in windows.into_iter().enumerate() {
                let v = variation(&all, window);
                for (op, asked) in [(HostOp::Read, reads[i]), (HostOp::Write, writes[i])] {
                    let ratio = v.dispersion_of(op).unwrap() / asked;
                    assert!((0.67..1.5).contains(&ratio), "{op:?} in {window}: {ratio} of {asked}");
                }
                // Windows few levels below the whole have too few signs to agree in.
                if window <= SECOND {
                    let found = v.together().unwrap();
                    assert!((found - together).abs() < 0.25, "{window}: {found} for {together}");
                }
            }
        }
    }

    #[test]
    fn envelope_much_shorter_than_the_gaps_is_skipped() {
        let envelope = Envelope { period: SimDuration(3), reads: vec![1.0, 2.0, 0.0], writes: vec![1.0; 3] };
        let mut clock =
            Clock::new(&arrivals(None, Some(envelope)), 10, 1e18, 0.5, RandomStream::new(1, "test"));
        let times: Vec<u64> = (0..10).map(|_| clock.next(|_| true, HostOp::Read).0).collect();
        assert!(times.windows(2).all(|w| w[0] <= w[1]), "{times:?}");
        assert!((times[9] as f64 / 1e18 - 0.95).abs() < 0.1, "{times:?}");
    }

    #[test]
    fn an_envelope_gives_each_part_its_share_of_each_kind() {
        let envelope = Envelope {
            period: SimDuration(6 * SECOND),
            reads: vec![6.0, 1.0, 1.0, 1.0, 1.0, 0.0],
            writes: vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
        };
        let all = drawn(&arrivals(None, Some(envelope)));
        let part = |op: HostOp, k: u64| {
            let of = all.iter().filter(|r| r.1 == op);
            let there = of.clone().filter(|r| r.0 / SECOND % 6 == k).count() as f64;
            there / of.count() as f64
        };
        assert!((part(HostOp::Read, 0) - 0.6).abs() < 0.01 && part(HostOp::Read, 5) < 0.002);
        assert!((part(HostOp::Write, 0) - 1.0 / 6.0).abs() < 0.01);
    }
}
