//! A twin of a trace: its moments and curves measured, a description solved from them. None of the
//! trace's requests, times or addresses is kept.
//!
//! Sizes are the trace's own histogram. Streams are found where a request begins at which one of the
//! last 64 of its kind ended. Gaps: the rate in 96 equal parts of the span is the envelope; within it a
//! two-phase hyper-exponential law takes the mean, the squared coefficient of variation and the
//! dispersion of counts in a second. The hot part is found by the hit rates of six LRU caches and the
//! distinct pages, first by what `locality` foretells, then corrected by what the twin measured.

use super::addresses::UNIT;
use super::description::{Arrivals, Description, EXTENT, Envelope, Rest, Side, Straddle, Targets};
use super::locality::foretell;
use super::statistics::{Depth, Statistics, Windows};
use super::{QueueDepth, read, requests_of};
use crate::error::{ErrorKind, Problem, WorkloadError, going_on};
use crate::fit::DriveShape;
use crate::numbers::grouped;
use crate::pace::Pacing;
use crate::workload::{Overrides, Workload};
use std::fmt;
use wordline_units::{Bytes, Fraction, LBA_BYTES, SimDuration};

/// Parts of the span that have a rate of their own.
const PARTS: usize = 96;
/// Sizes that a twin keeps apart.
const SIZES: usize = 48;
/// Bytes of a page by which writes are called large or partial.
pub(super) const PAGE: u64 = 16 << 10;
/// Logarithm of how much wider than what was written the footprint may be, so that random addresses touch
/// as many distinct pages.
const GROWN_MOST: f64 = 1.0;
const SEED: u64 = 1;
/// A drive that has room for every trace.
const ROOM: DriveShape = DriveShape { logical_bytes: 1 << 63, sector_bytes: 4096, unit_bytes: 4096 };

/// A trace and its twin.
pub struct Fitted {
    /// The twin, as its file says it.
    pub description: Description,
    /// The figures of the trace.
    pub trace: Statistics,
    /// Those of the twin.
    pub twin: Statistics,
    /// The caches of the hit curve, in bytes.
    pub caches: Vec<u64>,
    /// What could not be fitted.
    pub fallbacks: Vec<Fallback>,
}

/// What of a trace could not be fitted, and what the twin has instead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fallback {
    /// What of it.
    pub what: &'static str,
    /// Why, and what stands in its place.
    pub instead: String,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} not fitted: {}", self.what, self.instead)
    }
}

/// Makes a twin of a trace, of any that can be read. `title` is what the twin is called.
///
/// # Errors
/// What is wrong with the trace; one that neither reads nor writes; a workload that is no trace.
pub fn fit(text: &str, title: &str) -> Result<Fitted, WorkloadError> {
    let workload = Workload::parse(text, Overrides::default())?;
    let refuse = |what: &str, hint: &str| {
        WorkloadError::from(
            Problem::new(ErrorKind::Content, text, what).allowed("a trace of reads or writes").hint(hint),
        )
    };
    if workload.is_drawn() || workload.pacing() == Pacing::Jobs {
        return Err(refuse("this is no trace, but made of numbers already", "pass it on as it is"));
    }
    let mut trace = Statistics::new(PAGE, Depth::Full);
    for request in workload.open(ROOM, SEED)? {
        trace.add(&request?);
    }
    if trace.requests() == 0 {
        return Err(refuse("it neither reads nor writes", "trims and flushes alone have no twin"));
    }
    let mut fallbacks = vec![];
    let arrivals = arrivals(&workload, &trace, &mut fallbacks)?;
    let caches = trace.six_caches().unwrap_or_default();
    let [touched, read, written] = trace.footprints().unwrap_or_default();
    // A kind that there is none of needs an address all the same.
    let some = |own: u64, other: u64| if own > 0 { own } else { other };
    let writes = side(&trace.writes, some(written, read));
    let mut reads = side(&trace.reads, some(read, written));
    if read > 0 {
        // Reads and writes share what both touch: the end of the writes, the beginning of the reads.
        reads.begin = touched.saturating_sub(read);
    }
    let mut description = Description {
        title: title.to_string(),
        original: vec![],
        requests: trace.requests(),
        write: fraction(trace.write_share()),
        run: trace.run(),
        arrivals,
        reads,
        writes,
        targets: Targets::default(),
    };
    let twin = fit_hits(&mut description, &trace, &caches, written)?;
    let description = as_its_file_says(&description)?;
    missing(&trace, &mut fallbacks);
    Ok(Fitted { description, trace, twin, caches, fallbacks })
}

/// The description that is read where this one is written, so that what is measured is what is passed on.
fn as_its_file_says(d: &Description) -> Result<Description, WorkloadError> {
    read(&d.clone().legal().to_toml(&[], ""), "the twin as it would be written")
}

/// What a trace has too little of to be fitted, and what no twin has.
fn missing(trace: &Statistics, fallbacks: &mut Vec<Fallback>) {
    let mut say = |what, instead: String| fallbacks.push(Fallback { what, instead });
    for (what, side, other) in [("reads", &trace.reads, "writes"), ("writes", &trace.writes, "reads")] {
        if side.requests == 0 {
            say(what, format!("there are none; the twin has none, and {other} only"));
        }
        if side.sizes.len() > SIZES {
            let rest = side.sizes.len() - SIZES;
            let kept =
                format!("the {SIZES} most frequent sizes are kept, {rest} others stand by their means");
            say(if what == "reads" { "sizes of reads" } else { "sizes of writes" }, kept);
        }
    }
    if trace.others() > 0 {
        say("trims and flushes", format!("{} of them are left out", grouped(trace.others())));
    }
}

fn fraction(x: f64) -> Fraction {
    Fraction((x.clamp(0.0, 1.0) * 1e9).round() as u64)
}

/// Sizes, streams and alignment of a side; its hot part is found later.
fn side(s: &super::statistics::Side, footprint: u64) -> Side {
    let align = if s.aligned == s.requests { UNIT } else { 1 };
    let mut sizes: Vec<(u32, f64)> = s.sizes.iter().map(|(size, n)| (*size, *n as f64)).collect();
    sizes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    if sizes.len() > SIZES {
        let rest = sizes.split_off(SIZES);
        // The others by powers of two, each class at its mean.
        for class in 0..32 {
            let of = rest.iter().filter(|(size, _)| size.ilog2() == class);
            let (sum, n) = of.fold((0.0, 0.0), |(s, w), (size, n)| (s + *size as f64 * n, w + n));
            if n > 0.0 {
                let size = ((sum / n / align as f64).round() as u32).max(1).saturating_mul(align as u32);
                match sizes.iter_mut().find(|(known, _)| *known == size) {
                    Some(known) => known.1 += n,
                    None => sizes.push((size, n)),
                }
            }
        }
    }
    let mean = s.mean().unwrap_or(4096.0);
    let share = |n: u64| n as f64 / s.requests.max(1) as f64;
    let continued = share(s.continued);
    let longest = sizes.iter().map(|s| s.0 as u64).max().unwrap_or(UNIT) * LBA_BYTES;
    let footprint = footprint.max(2 * longest).max(64 << 10);
    // A stream's bytes from its first request on.
    let stretch = (s.continued + s.runs) as f64 * mean / s.runs.max(1) as f64;
    let scattered = stretch < footprint as f64 / 4.0;
    let streams = if scattered && footprint / 4 > 2 * longest + (64 << 10) { 4 } else { 1 };
    // A stream that begins elsewhere does not continue.
    let sequential = if scattered { continued * (1.0 + mean / stretch) } else { continued };
    let sequential = fraction(sequential.min(1.0));
    Side {
        sizes,
        mean: None,
        rest: Rest::None,
        modulation: None,
        align,
        page: align,
        page_aligned: Fraction::ZERO,
        straddle: Straddle::Free,
        begin: 0,
        footprint,
        sequential,
        hot: Fraction::ZERO,
        uniform: Fraction(Fraction::ONE.0 - sequential.0),
        streams,
        stretch: scattered.then_some((stretch as u64).max(LBA_BYTES)),
        rewrite: fraction(s.rewritten as f64 / s.continued.max(1) as f64),
        hot_space: Fraction::ONE,
        theta: 1.0,
        extent: EXTENT,
        overlap: Fraction::ZERO,
    }
    .legal()
}

/// Time as it passes at a rate that is even: the envelope taken out.
struct Even {
    part: f64,
    /// Rate in each part over the mean rate, and their sum up to it.
    rates: Vec<f64>,
    before: Vec<f64>,
}

impl Even {
    fn new(counts: &[u64], span_ns: f64) -> Even {
        let sum: u64 = counts.iter().sum();
        let rates: Vec<f64> =
            counts.iter().map(|c| *c as f64 * counts.len() as f64 / sum.max(1) as f64).collect();
        let part = span_ns / counts.len() as f64;
        let before = rates.iter().scan(0.0, |sum, rate| {
            let now = *sum;
            *sum += rate * part;
            Some(now)
        });
        Even { part, before: before.collect(), rates }
    }

    fn at(&self, time: f64) -> f64 {
        let i = ((time / self.part) as usize).min(self.rates.len() - 1);
        self.before[i] + (time - i as f64 * self.part) * self.rates[i]
    }
}

fn arrivals(
    workload: &Workload,
    trace: &Statistics,
    fallbacks: &mut Vec<Fallback>,
) -> Result<Arrivals, WorkloadError> {
    let mut say = |instead: &str| fallbacks.push(Fallback { what: "arrivals", instead: instead.to_string() });
    if let Pacing::Closed { queue_depth, threads } = workload.pacing() {
        say("the trace is asked in a closed loop, without times; so is the twin");
        return Ok(Arrivals::at_once(Some(QueueDepth { queue_depth, threads })));
    }
    let span_ns = trace.span_s() * 1e9;
    if span_ns < 1.0 {
        say("all requests come at one instant; so do the twin's");
        return Ok(Arrivals::at_once(None));
    }
    let mut counts = vec![0u64; PARTS];
    let mut first = None;
    for request in workload.open(ROOM, SEED)? {
        let request = request?;
        let time = (request.arrival.0 - *first.get_or_insert(request.arrival.0)) as f64;
        counts[((time / span_ns * PARTS as f64) as usize).min(PARTS - 1)] += 1;
    }
    // With few requests a part's rate is chance.
    let enough = trace.requests() >= 50 * PARTS as u64 && span_ns >= PARTS as f64;
    if !enough {
        say("too few requests for a rate that changes with time; the twin's rate is the mean");
    }
    let even = if enough { counts } else { vec![1] };
    let even = Even::new(&even, span_ns);
    let (mut sum, mut squares, mut n, mut before) = (0.0, 0.0, 0.0, 0.0);
    let mut windows = [Windows::new(1_000_000_000), Windows::new(60_000_000_000)];
    let mut first = None;
    for request in workload.open(ROOM, SEED)? {
        let request = request?;
        let now = even.at((request.arrival.0 - *first.get_or_insert(request.arrival.0)) as f64);
        if now > before {
            let gap = (now - before) / 1e9;
            (sum, squares, n) = (sum + gap, squares + gap * gap, n + 1.0);
        }
        before = now;
        for w in &mut windows {
            w.add(now as u64);
        }
    }
    let mean = sum / f64::max(n, 1.0);
    let variation = squares / f64::max(n, 1.0) / (mean * mean) - 1.0;
    let group = trace.group_share();
    // Groups are geometric: their own dispersion is taken out of that of the counts.
    let batch = 1.0 / (1.0 - group);
    let renewal = |d: Option<f64>| d.map(|d| ((d - group * batch) / batch).max(1.0));
    let phases = Phases::solve(mean, variation, windows.map(|w| renewal(w.dispersion())));
    let rates = &even.rates;
    let span = SimDuration(span_ns as u64);
    let found = Arrivals {
        closed: None,
        span,
        burst_share: fraction(phases.share),
        burst_gap: SimDuration((phases.gap * 1e9).round() as u64),
        group: fraction(group),
        envelope: (rates.len() > 1).then(|| Envelope { period: span, weights: rates.clone() }),
    };
    if found.burst_share > Fraction::ZERO && found.slow_gap_ns(trace.requests()) <= 0.0 {
        say("bursts of less than a nanosecond between requests; the twin's gaps have one phase");
    }
    Ok(found)
}

/// The fast phase of a hyper-exponential law.
struct Phases {
    share: f64,
    /// In seconds.
    gap: f64,
}

impl Phases {
    /// From the mean gap, its squared coefficient of variation, and the dispersion of counts in 1 s
    /// and 60 s. A renewal process has no more dispersion than variation; where the trace has,
    /// dispersion goes first, since queues come from it.
    fn solve(mean: f64, variation: f64, dispersion: [Option<f64>; 2]) -> Phases {
        let even = Phases { share: 0.0, gap: 0.0 };
        let mut variation = variation;
        if let Some(second) = dispersion[0] {
            let minute = dispersion[1].unwrap_or(second);
            if second > variation {
                variation = minute.max(1.2 * second);
            }
        }
        if variation.is_nan() || variation <= 1.05 {
            return even;
        }
        // D. R. Cox, Renewal Theory, 1962: counts of an equilibrium process whose law has two phases
        // relax at one rate r, and the dispersion in t is 1 + (c² − 1)(1 − (1 − e^−rt) / rt).
        let relaxed = |r: f64| 1.0 - (1.0 - libm::exp(-r)) / r;
        let rate = 1.0 / mean;
        let wanted = dispersion[0].map_or(0.5, |d| (d - 1.0) / (variation - 1.0)).clamp(1e-6, 0.999);
        let (mut low, mut high) = (-14.0, 14.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if relaxed(libm::exp(middle)) < wanted { low = middle } else { high = middle }
        }
        let r = libm::exp(0.5 * (low + high));
        // Rates a > b of the phases with share p of a: ab = rate·r, pb + (1 − p)a = r.
        let density = rate + r * (variation - 1.0) / 2.0;
        let sum = density + r;
        let root = libm::sqrt((sum * sum - 4.0 * rate * r).max(0.0));
        let (a, b) = (0.5 * (sum + root), 2.0 * rate * r / (sum + root));
        let share = if a > b { (density - b) / (a - b) } else { 0.0 };
        // A share that rounds to all leaves no slow phase.
        if (1e-6..=0.999_999).contains(&share) { Phases { share, gap: 1.0 / a } } else { even }
    }
}

/// Finds the hot part of the writes, and measures the twin.
fn fit_hits(
    d: &mut Description,
    trace: &Statistics,
    caches: &[u64],
    written: u64,
) -> Result<Statistics, WorkloadError> {
    let measure = |d: &Description| -> Result<Statistics, WorkloadError> {
        let mut s = Statistics::new(PAGE, Depth::Full);
        for (number, request) in (0..).zip(requests_of(&as_its_file_says(d)?, SEED, None)?) {
            going_on(number)?;
            s.add(&request);
        }
        Ok(s)
    };
    let Some(goal) = trace.hits(caches) else { return measure(d) };
    let unit = (UNIT * LBA_BYTES) as f64;
    let pages: Vec<f64> = caches.iter().map(|c| *c as f64 / unit).collect();
    let requests = trace.writes.requests as f64;
    let (mut aim, mut aim_pages) = (goal.clone(), written as f64 / unit);
    let start = d.writes.clone();
    let mut best: Option<(f64, Side, Statistics)> = None;
    for _ in 0..4 {
        d.writes = found(&start, requests, &pages, &aim, aim_pages);
        let twin = measure(d)?;
        let got = twin.hits(caches).unwrap_or_else(|| vec![0.0; caches.len()]);
        let got_written = twin.footprints().map_or(0, |f| f[2]) as f64;
        let off = got.iter().zip(&goal).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            + 0.1 * (got_written / written as f64 - 1.0).abs();
        for ((aim, goal), got) in aim.iter_mut().zip(&goal).zip(&got) {
            *aim = (*aim + (goal - got)).clamp(0.0, 1.0);
        }
        aim_pages *= (written as f64 / got_written.max(1.0)).clamp(0.5, 2.0);
        if best.as_ref().is_none_or(|(before, ..)| off < *before) {
            best = Some((off, d.writes.clone(), twin));
        }
        if off < 0.01 {
            break;
        }
    }
    let Some((_, side, twin)) = best else { return measure(d) };
    d.writes = side;
    Ok(twin)
}

/// The side whose foretold hit rates come nearest: hot share, hot space, exponent and footprint by
/// the simplex method.
fn found(start: &Side, requests: f64, caches: &[f64], aim: &[f64], aim_pages: f64) -> Side {
    let free = Fraction::ONE.0 - start.sequential.0;
    let of = |x: &[f64; 4]| -> Side {
        let logistic = |x: f64| 1.0 / (1.0 + libm::exp(-x));
        let mut side = start.clone();
        side.hot = Fraction((free as f64 * logistic(x[0])) as u64);
        side.uniform = Fraction(free - side.hot.0);
        side.hot_space = Fraction(((logistic(x[1]) * 1e9) as u64).max(1));
        side.theta = 4.0 * logistic(x[2]);
        let grown = start.footprint as f64 * libm::exp(x[3].clamp(-0.1, GROWN_MOST));
        side.footprint = grown as u64;
        side.legal()
    };
    let miss = |x: &[f64; 4]| -> f64 {
        let side = of(x);
        let f = foretell(&side, requests, caches);
        let hits: f64 = f.hits.iter().zip(aim).map(|(a, b)| (a - b) * (a - b)).sum();
        let pages = f.distinct / aim_pages - 1.0;
        // What is wider than it need be costs a little, so that nothing runs away.
        hits + 0.25 * pages * pages + 1e-6 * x.iter().map(|x| x * x).sum::<f64>()
    };
    let starts =
        [[2.0, -1.5, -1.0, 0.0], [-2.0, -1.5, -1.0, 0.0], [0.0, 0.0, -2.0, 0.5], [2.0, -4.0, -0.5, 0.0]];
    let best = starts.iter().map(|s| simplex(s, &miss)).min_by(|a, b| a.1.total_cmp(&b.1));
    best.map_or_else(|| start.clone(), |(x, _)| of(&x))
}

/// J. A. Nelder and R. Mead, "A simplex method for function minimization", The Computer Journal 7(4),
/// 1965.
fn simplex(start: &[f64; 4], f: &impl Fn(&[f64; 4]) -> f64) -> ([f64; 4], f64) {
    let mut points: Vec<([f64; 4], f64)> = (0..5)
        .map(|i| {
            let mut x = *start;
            if i > 0 {
                x[i - 1] += 0.7;
            }
            (x, f(&x))
        })
        .collect();
    for _ in 0..160 {
        points.sort_by(|a, b| a.1.total_cmp(&b.1));
        let worst = points[4];
        let centre: [f64; 4] = std::array::from_fn(|k| points[..4].iter().map(|p| p.0[k]).sum::<f64>() / 4.0);
        let along = |t: f64| {
            let x = std::array::from_fn(|k| centre[k] + t * (worst.0[k] - centre[k]));
            (x, f(&x))
        };
        let reflected = along(-1.0);
        let next = if reflected.1 < points[0].1 {
            let further = along(-2.0);
            if further.1 < reflected.1 { further } else { reflected }
        } else if reflected.1 < points[3].1 {
            reflected
        } else {
            let nearer = along(0.5);
            if nearer.1 < worst.1 {
                nearer
            } else {
                let least = points[0].0;
                for p in &mut points[1..] {
                    p.0 = std::array::from_fn(|k| 0.5 * (p.0[k] + least[k]));
                    p.1 = f(&p.0);
                }
                continue;
            }
        };
        points[4] = next;
    }
    points.sort_by(|a, b| a.1.total_cmp(&b.1));
    points[0]
}

impl Fitted {
    /// The twin's file.
    pub fn to_toml(&self) -> String {
        let mut head = vec![
            "A twin made by `wordline twin fit`: figures of a trace, none of its requests.".to_string(),
            format!(
                "{} requests, {} read and {} written.",
                self.trace.requests(),
                Bytes(self.trace.volumes().0),
                Bytes(self.trace.volumes().1)
            ),
        ];
        head.extend(self.fallbacks.iter().map(Fallback::to_string));
        self.description.to_toml(&head, "fitted from the trace")
    }

    /// Bytes of a drive on which trace and twin have room, the trace with the pages that it touches side by side.
    pub fn room(&self) -> u64 {
        let ends = [&self.description.reads, &self.description.writes].map(|s| s.begin + s.footprint);
        ends.into_iter().max().unwrap_or(0).max(self.trace.touched_in_pages().unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_have_the_mean_and_the_variation_that_they_were_solved_for() {
        let (mean, variation, dispersion) = (0.02, 9.0, 5.0);
        let p = Phases::solve(mean, variation, [Some(dispersion), None]);
        let slow = (mean - p.share * p.gap) / (1.0 - p.share);
        let square = 2.0 * (p.share * p.gap * p.gap + (1.0 - p.share) * slow * slow);
        assert!((square / (mean * mean) - 1.0 - variation).abs() < 1e-6, "{} {}", p.share, p.gap);
        let r = p.share / slow + (1.0 - p.share) / p.gap;
        let got = 1.0 + (variation - 1.0) * (1.0 - (1.0 - (-r).exp()) / r);
        assert!((got - dispersion).abs() < 1e-3, "{got}");
    }

    #[test]
    fn even_arrivals_have_one_phase() {
        assert_eq!(Phases::solve(0.02, 0.3, [Some(1.0), None]).share, 0.0);
    }
}
