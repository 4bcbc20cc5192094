//! A twin of a trace: its moments and curves measured, a description solved from them. None of the
//! trace's requests, times or addresses is kept.
//!
//! Sizes are the trace's own histogram. Streams are found where a request begins at which one of the
//! last 64 of its kind ended. Gaps: the rate in 96 equal parts of the span is the envelope; within it a
//! two-phase hyper-exponential law takes the mean, the squared coefficient of variation and the
//! dispersion of counts in a second. The hot part is found by the hit rates of six LRU caches and the
//! distinct pages, first by what `locality` foretells, then corrected by what the twin measured.

use super::addresses::UNIT;
use super::check::ROOM;
use super::description::{Arrivals, Description, Envelope, Rest, Side, Straddle, Targets};
use super::locality::foretell;
use super::requests_of;
use super::statistics::{Depth, Statistics, Windows};
use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::workload::{Overrides, Workload};
use wordline_units::{Bytes, Fraction, LBA_BYTES, SimDuration};

/// Parts of the span that have a rate of their own.
const PARTS: usize = 96;
/// Sizes that a twin keeps apart.
const SIZES: usize = 48;
/// Bytes of a page by which writes are called large or partial.
const PAGE: u64 = 16 << 10;
/// Logarithm of how much wider than what was written the footprint may be, so that random addresses touch
/// as many distinct pages.
const GROWN_MOST: f64 = 1.0;
const SEED: u64 = 1;

/// A trace and its twin.
pub struct Fitted {
    /// The twin.
    pub description: Description,
    /// The figures of the trace.
    pub trace: Statistics,
    /// Those of the twin.
    pub twin: Statistics,
    /// The caches of the hit curve, in bytes.
    pub caches: Vec<u64>,
}

/// Makes a twin of a trace. `title` is what the twin is called.
///
/// # Errors
/// What is wrong with the trace; a trace whose requests come all at one instant, or that neither
/// reads nor writes.
pub fn fit(text: &str, title: &str) -> Result<Fitted, WorkloadError> {
    let workload = Workload::parse(text, Overrides::default())?;
    let refuse = |what: &str, hint: &str| {
        WorkloadError::from(
            Problem::new(ErrorKind::Content, text, what)
                .allowed("a trace of reads and writes with their times")
                .hint(hint),
        )
    };
    let mut trace = Statistics::new(PAGE, Depth::Full);
    for request in workload.open(ROOM, SEED)? {
        trace.add(&request?);
    }
    if trace.requests() < 2 {
        return Err(refuse("there are fewer than two reads and writes in it", ""));
    }
    let span_s = trace.span_s();
    if span_s <= 0.0 {
        return Err(refuse("all requests come at one instant, so there is no rate", "leave closed= out"));
    }
    let arrivals = arrivals(&workload, &trace)?;
    let caches = trace.six_caches().unwrap_or_default();
    let [touched, read, written] = trace.footprints().unwrap_or_default();
    // A kind that there is none of needs an address all the same.
    let some = |own: u64, other: u64| if own > 0 { own } else { other };
    let writes = side(&trace.writes, some(written, read), 0);
    let mut reads = side(&trace.reads, some(read, written), 0);
    if read > 0 {
        // Reads and writes share what both touch: the end of the writes, the beginning of the reads.
        reads.begin = touched.saturating_sub(read) / PAGE * PAGE;
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
    Ok(Fitted { description, trace, twin, caches })
}

fn fraction(x: f64) -> Fraction {
    Fraction((x.clamp(0.0, 1.0) * 1e9).round() as u64)
}

/// Sizes, streams and alignment of a side; its hot part is found later.
fn side(s: &super::statistics::Side, footprint: u64, begin: u64) -> Side {
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
                let size = ((sum / n / align as f64).round() as u32).max(1) * align as u32;
                match sizes.iter_mut().find(|(known, _)| *known == size) {
                    Some(known) => known.1 += n,
                    None => sizes.push((size, n)),
                }
            }
        }
    }
    sizes.sort_by_key(|(size, _)| *size);
    if sizes.is_empty() {
        sizes.push((UNIT as u32, 1.0));
    }
    let mean = s.mean().unwrap_or(4096.0);
    let share = |n: u64| n as f64 / s.requests.max(1) as f64;
    let continued = share(s.continued);
    let longest = sizes.last().map_or(UNIT, |l| l.0 as u64) * LBA_BYTES;
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
        begin,
        footprint: footprint.next_multiple_of(64 << 10),
        sequential,
        hot: Fraction::ZERO,
        uniform: Fraction(Fraction::ONE.0 - sequential.0),
        streams,
        stretch: scattered.then_some((stretch as u64).max(LBA_BYTES)),
        rewrite: fraction(s.rewritten as f64 / s.continued.max(1) as f64),
        hot_space: Fraction::ONE,
        theta: 1.0,
        extent: 64 << 10,
        overlap: Fraction::ZERO,
    }
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

fn arrivals(workload: &Workload, trace: &Statistics) -> Result<Arrivals, WorkloadError> {
    let span_ns = trace.span_s() * 1e9;
    let mut counts = vec![0u64; PARTS];
    let mut first = None;
    for request in workload.open(ROOM, SEED)? {
        let request = request?;
        let time = (request.arrival.0 - *first.get_or_insert(request.arrival.0)) as f64;
        counts[((time / span_ns * PARTS as f64) as usize).min(PARTS - 1)] += 1;
    }
    // With few requests a part's rate is chance.
    let even = if trace.requests() >= 50 * PARTS as u64 { counts } else { vec![1] };
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
    Ok(Arrivals {
        span: SimDuration(span_ns as u64),
        burst_share: fraction(phases.share),
        burst_gap: SimDuration((phases.gap * 1e9).round() as u64),
        group: fraction(group),
        envelope: (rates.len() > 1)
            .then(|| Envelope { period: SimDuration(span_ns as u64), weights: rates.clone() }),
    })
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
        for request in requests_of(d, SEED, None)? {
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
        side.footprint = (grown as u64).next_multiple_of(start.extent);
        side
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
        let head = [
            "A twin made by `wordline twin fit`: figures of a trace, none of its requests.".to_string(),
            format!(
                "{} requests, {} read and {} written.",
                self.trace.requests(),
                Bytes(self.trace.volumes().0),
                Bytes(self.trace.volumes().1)
            ),
        ];
        self.description.to_toml(&head, "fitted from the trace")
    }

    /// The figures of trace and twin side by side: what, trace, twin.
    pub fn rows(&self) -> Vec<[String; 3]> {
        let mut rows = Vec::new();
        let mut row = |what: &str, of: &dyn Fn(&Statistics) -> Option<String>| {
            if let (Some(a), Some(b)) = (of(&self.trace), of(&self.twin)) {
                rows.push([what.to_string(), a, b]);
            }
        };
        let percent = |x: f64| format!("{:.1} %", x * 100.0);
        let kib = |x: f64| format!("{:.2} KiB", x / 1024.0);
        let number = |x: f64| if x >= 100.0 { format!("{x:.0}") } else { format!("{x:.2}") };
        let size = |x: u64| crate::numbers::readable_bytes(x);
        row("requests", &|s| Some(crate::numbers::grouped(s.requests())));
        row("writes", &|s| Some(percent(s.write_share())));
        row("mean write", &|s| s.write_mean().map(kib));
        row("mean read", &|s| s.read_mean().map(kib));
        row("written", &|s| Some(size(s.volumes().1)));
        row("read", &|s| Some(size(s.volumes().0)));
        row("one kind in a row", &|s| Some(number(s.run())));
        row("writes to several pages of 16 KiB", &|s| Some(percent(s.large_share())));
        row("parts of a page not whole", &|s| Some(percent(s.partial_share())));
        row("distinct pages touched", &|s| s.footprints().map(|f| size(f[0])));
        row("distinct pages written", &|s| s.footprints().map(|f| size(f[2])));
        row("span", &|s| Some(format!("{:.1} s", s.span_s())));
        row("at the time of the one before", &|s| Some(percent(s.group_share())));
        row("variation of gaps", &|s| s.gap_variation().map(number));
        row("dispersion in 1 s", &|s| s.dispersion()[0].map(number));
        row("dispersion in 60 s", &|s| s.dispersion()[1].map(number));
        row("pages read that were written before", &|s| s.read_written_share().map(percent));
        row("writes that continue a stream", &|s| Some(percent(s.continued_share())));
        for cache in &self.caches {
            let what = format!("LRU write hits, {}", size(*cache));
            row(&what, &|s| s.hits(&[*cache]).map(|h| percent(h[0])));
        }
        rows
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
