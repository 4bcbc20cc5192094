//! Predicts the hit rate of an LRU cache of written pages from a description, by Che's approximation, and
//! shifts the hit rate of a description by a number of points.
//!
//! H. Che, Y. Tung and Z. Wang, "Hierarchical Web caching systems", IEEE JSAC 20(7), 2002: a page is in the
//! cache if it was accessed within the characteristic time, in which the cache fills. Streams return to a
//! page at regular intervals; a run of finite length finds every page absent at first.

use crate::generators::twin::addresses::UNIT;
use crate::generators::twin::description::{Description, HotLies, Side, extents};
use crate::generators::twin::sizes::SizeLaw;
use crate::generators::twin::statistics::{Depth, Statistics};
use crate::generators::twin::stream::requests_of;
use wordline_trace::{ErrorKind, Problem, WorkloadError};
use wordline_units::{Fraction, LBA_BYTES};

/// Size of the cache whose hit rate `locality` shifts, as a share of the distinct pages written.
pub const REFERENCE_SHARE: f64 = 0.125;
/// Number of requests with which a shift is measured.
const MEASURED: u64 = 500_000;
const SEED: u64 = 1;

/// Pages of one popularity.
struct Class {
    pages: f64,
    /// Probability of an access by a hot or uniform request, per page.
    each: f64,
    /// Whether streams return to them.
    passed: bool,
}

/// Predicted hit rates of LRU caches of this many 4 KiB pages, after this many requests of this side alone,
/// and the number of distinct pages accessed by then.
pub(crate) struct Foretold {
    pub hits: Vec<f64>,
    pub distinct: f64,
}

/// Classes of Zipf ranks: first single ranks, then steps of a twelfth.
fn ranks(n: u64, theta: f64) -> Vec<(f64, f64)> {
    let (mut out, mut rank, mut sum) = (Vec::new(), 1u64, 0.0);
    while rank <= n {
        let many = (rank / 12).max(1).min(n - rank + 1);
        let middle = rank as f64 + (many - 1) as f64 / 2.0;
        let weight = libm::pow(middle, -theta);
        out.push((many as f64, weight));
        sum += many as f64 * weight;
        rank += many;
    }
    for (_, weight) in &mut out {
        *weight /= sum;
    }
    out
}

/// Predict the hit rates of caches of this many pages.
pub(crate) fn foretell(side: &Side, requests: f64, caches: &[f64]) -> Foretold {
    let Ok(law) = SizeLaw::new(side) else {
        return Foretold { hits: vec![0.0; caches.len()], distinct: 0.0 };
    };
    let shares = law.shares();
    // A request of this many blocks at a random multiple of `align` touches this many pages on average.
    let slack = 1.0 - side.align.min(UNIT) as f64 / UNIT as f64;
    let touched: f64 = shares.iter().map(|(b, p)| ((*b as f64 / UNIT as f64) + slack).max(1.0) * p).sum();
    let moved: f64 = shares.iter().map(|(b, p)| *b as f64 / UNIT as f64 * p).sum();
    let accesses = requests * touched;
    let (all, hot) = extents(side, 1);
    let per_extent = (side.extent / LBA_BYTES / UNIT).max(1) as f64;
    let footprint = all as f64 * per_extent;
    let (p_seq, p_hot, p_any) = (side.sequential.as_f64(), side.hot.as_f64(), side.uniform.as_f64());
    let apart = side.hot_lies == HotLies::Apart;
    // Number of pages to which streams and uniform requests go.
    let open = if apart { (all - hot) as f64 * per_extent } else { footprint };
    let anywhere = p_any / open;
    let mut classes: Vec<Class> = ranks(hot, side.theta)
        .into_iter()
        .map(|(many, weight)| Class {
            pages: many * per_extent,
            each: p_hot * weight / per_extent + if apart { 0.0 } else { anywhere },
            passed: !apart,
        })
        .collect();
    classes.push(Class { pages: (all - hot) as f64 * per_extent, each: anywhere, passed: true });
    // Pages that streams touch for the first time, per access. They touch the other pages again immediately.
    let fresh_share = ((moved - side.rewrite.as_f64()) / touched).clamp(0.01, 1.0);
    let fresh = p_seq * fresh_share;
    let scattered = side.stretch.is_some();
    // Share of pages that streams passed within a time.
    let passed = |t: f64| {
        let turns = t * fresh / open;
        if scattered { 1.0 - libm::exp(-turns) } else { turns.min(1.0) }
    };
    let held = |t: f64| -> f64 {
        let not_passed = 1.0 - passed(t);
        let absent = |c: &Class| if c.passed { not_passed } else { 1.0 };
        classes.iter().map(|c| c.pages * (1.0 - libm::exp(-c.each * t) * absent(c))).sum()
    };
    let distinct = held(accesses);
    let hits = caches.iter().map(|cache| {
        let (mut low, mut high) = (0.0, accesses);
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            if held(middle) < *cache { low = middle } else { high = middle }
        }
        let t = 0.5 * (low + high);
        // An access may come before such a time has passed, so average over the run.
        let (early, whole) = (t / accesses, 1.0 - t / accesses);
        let passed_by_then = passed(t);
        let hit = |c: &Class| {
            let turns = c.each * t;
            let passed = if c.passed { passed_by_then } else { 0.0 };
            let absent = libm::exp(-turns) * (1.0 - passed);
            let early_absent = if turns > 1e-9 { -libm::expm1(-turns) / turns } else { 1.0 };
            whole * (1.0 - absent) + early * (1.0 - early_absent * (1.0 - 0.5 * passed))
        };
        let random: f64 = classes.iter().map(|c| c.pages * c.each * hit(c)).sum();
        let mut stream = p_seq - fresh;
        if fresh > 0.0 {
            let round = open / fresh;
            let again = if scattered {
                passed_by_then
            } else if t >= round {
                (1.0 - round / accesses).max(0.0)
            } else {
                0.0
            };
            let open_to = classes.iter().filter(|c| c.passed);
            let touched: f64 = open_to.map(|c| c.pages / open * (1.0 - libm::exp(-c.each * t))).sum();
            stream += fresh * (again + (1.0 - again) * touched);
        }
        random + stream
    });
    Foretold { hits: hits.collect(), distinct }
}

/// A description with a shifted hit rate.
pub(crate) struct Shifted {
    pub description: Description,
    /// Shift of the hit rate that was measured, in points.
    pub reached_points: f64,
}

/// Shift weight between hot extents and uniform requests. When that is exhausted, change the exponent. `turn`
/// ranges from −1 (no hot part) through 0 (unchanged) to 1 (everything hot, and steeper).
fn turned(d: &Description, turn: f64) -> Description {
    let mut d = d.clone();
    let w = &mut d.writes;
    let both = w.hot.0 + w.uniform.0;
    let hot = if turn < 0.0 {
        w.hot.as_f64() * (1.0 + turn)
    } else {
        w.hot.as_f64() + w.uniform.as_f64() * (2.0 * turn).min(1.0)
    };
    w.hot = Fraction(((hot * 1e9) as u64).min(both));
    w.uniform = Fraction(both - w.hot.0);
    w.theta = (w.theta + 2.0 * (turn - 0.5).max(0.0)).min(5.0);
    d
}

/// The measured share of writes that a cache of this many bytes holds.
fn measured(d: &Description, cache: Option<u64>) -> Result<(f64, u64), WorkloadError> {
    let mut s = Statistics::new(UNIT * LBA_BYTES, Depth::Full);
    for request in requests_of(d, SEED, Some(MEASURED))? {
        s.add(&request);
    }
    let written = s.footprints().map_or(0, |f| f[2]);
    let cache = cache.unwrap_or((written as f64 * REFERENCE_SHARE) as u64);
    let hit = s.hits(&[cache]).and_then(|h| h.first().copied()).unwrap_or(0.0);
    Ok((hit, cache))
}

/// A description whose hit rate at the reference cache is shifted by this many points.
///
/// # Errors
/// If the description has no hot part, or cannot be shifted so far.
pub(crate) fn shifted(d: &Description, points: f64) -> Result<Shifted, WorkloadError> {
    let refuse = |what: String| {
        Problem::new(ErrorKind::Option, format!("locality={points}"), what)
            .allowed("a smaller shift, of a twin that writes hot extents")
    };
    if d.write == Fraction::ZERO || d.writes.hot == Fraction::ZERO {
        return Err(refuse("the twin has no hot extents, so its locality cannot be shifted".into()).into());
    }
    let (base, cache) = measured(d, None)?;
    let (mut low, mut high) = if points < 0.0 { (-1.0, 0.0) } else { (0.0, 1.0) };
    let mut best: Option<(f64, Description)> = None;
    for _ in 0..10 {
        let middle = 0.5 * (low + high);
        let candidate = turned(d, middle);
        let moved = (measured(&candidate, Some(cache))?.0 - base) * 100.0;
        if best.as_ref().is_none_or(|(before, _)| (moved - points).abs() < (before - points).abs()) {
            best = Some((moved, candidate));
        }
        if (moved - points).abs() < 0.05 {
            break;
        }
        if moved < points { low = middle } else { high = middle }
    }
    match best {
        Some((reached_points, description)) if (reached_points - points).abs() < 0.5 => {
            Ok(Shifted { description, reached_points })
        }
        Some((reached, _)) => Err(refuse(format!(
            "the hit rate is {:.1} % and can be shifted by at most {reached:+.1} points",
            base * 100.0
        ))
        .into()),
        None => Err(refuse("the hit rate cannot be measured".into()).into()),
    }
}
