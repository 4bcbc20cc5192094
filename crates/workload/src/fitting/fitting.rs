//! Fits a twin to a trace: measures moments and curves of the trace, and solves a description from them. No
//! request, time or address of the trace is kept.
//!
//! Sizes are the histogram of the trace. A stream continues where a request begins at the end of one of the
//! last 64 of its kind. Arrivals: the envelope has the rates of reads and writes in 96 equal parts of the
//! span; within it, counts vary in windows of 10 us to 100 s as in the trace. The hot part is fitted to the
//! hit rates of six LRU caches and to the number of distinct pages, first by the predictions of `locality`,
//! then corrected by measurements of the twin. The share of hot requests to the same place follows from
//! updates of the same blocks.

use crate::fitting::common::{Common, begin_of_reads, of_both};
use crate::fitting::files::file_law;
use crate::fitting::legal::{SIZES, fraction, legal, legal_side, most_frequent_first};
use crate::fitting::piece::{PAGE, Piece, SEED};
use crate::generators::twin::addresses::UNIT;
use crate::generators::twin::description::{
    Arrivals, Description, EXTENT, Envelope, HotLies, Memory, Rest, Side, Straddle, Targets, item_in,
};
use crate::generators::twin::files_found::Continued;
use crate::generators::twin::locality::foretell;
use crate::generators::twin::read::read;
use crate::generators::twin::statistics::{Depth, Statistics};
use crate::generators::twin::stream::requests_of;
use crate::generators::twin::write::to_toml;
use std::fmt;
use wordline_trace::{Pacing, QueueDepth, WorkloadError, going_on};
use wordline_units::grouped;
use wordline_units::{Bytes, Fraction, HostOp, LBA_BYTES, SimDuration};

/// Number of parts of the span with rates of their own.
const PARTS: usize = 96;
/// Number of twins tried for the hit curve and the share of stable updates.
const FITS: usize = 6;
/// Maximum logarithm of the ratio of footprint to written pages, so that random addresses touch as many distinct pages.
const GROWN_MOST: f64 = 1.0;

/// Maximum ratio of the footprint of the reads to the pages that they touch.
const READS_GROWN_MOST: f64 = 8.0;

/// One in this many parts of a footprint is between files.
const GAPS: u64 = 4;

/// A trace and its twin.
pub struct Fitted {
    /// The twin, as written to its file.
    pub description: Description,
    /// The figures of the trace.
    pub trace: Statistics,
    /// The figures of the twin.
    pub twin: Statistics,
    /// The caches of the hit curve, in bytes.
    pub caches: Vec<u64>,
    /// Properties that could not be fitted.
    pub fallbacks: Vec<Fallback>,
}

/// A property of a trace that could not be fitted, and its replacement in the twin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fallback {
    /// Which property.
    pub what: &'static str,
    /// The reason, and the replacement.
    pub instead: String,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} not fitted: {}", self.what, self.instead)
    }
}

/// Fits a twin to any trace that can be read. `title` is the name of the twin.
///
/// # Errors
/// An invalid trace; a trace without reads and writes; a workload that is not a trace.
pub fn fit(text: &str, title: &str) -> Result<Fitted, WorkloadError> {
    fit_piece(&Piece::whole(text)?, title)
}

/// Fits a twin to a trace or to part of its time.
pub(crate) fn fit_piece(piece: &Piece, title: &str) -> Result<Fitted, WorkloadError> {
    let trace = piece.statistics()?;
    let mut fallbacks = vec![];
    let arrivals = arrivals(piece, &trace, &mut fallbacks)?;
    let caches = trace.six_caches().unwrap_or_default();
    let [_, read, written] = trace.footprints().unwrap_or_default();
    // A kind without requests needs an address nevertheless.
    let some = |own: u64, other: u64| if own > 0 { own } else { other };
    let writes = side(&trace, HostOp::Write, some(written, read));
    let mut reads = side(&trace, HostOp::Read, some(read, written));
    reads.begin = begin_of_reads(&trace, &reads, &writes, 1.0);
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
    let twin = fit_hits(&mut description, &trace, &caches)?;
    let description = as_its_file_says(&description)?;
    missing(&trace, &mut fallbacks);
    Ok(Fitted { description, trace, twin, caches, fallbacks })
}

/// The description, written and read again, so that the measured twin is the published one.
fn as_its_file_says(d: &Description) -> Result<Description, WorkloadError> {
    read(&to_toml(&legal(d.clone()), &[], ""), "the twin as it would be written")
}

/// Properties with too little data for a fit, and properties that no twin has.
fn missing(trace: &Statistics, fallbacks: &mut Vec<Fallback>) {
    let mut say = |what, instead: String| fallbacks.push(Fallback { what, instead });
    for (what, op, other) in [("reads", HostOp::Read, "writes"), ("writes", HostOp::Write, "reads")] {
        let side = trace.side(op);
        if side.requests() == 0 {
            say(what, format!("the trace has none, so the twin has {other} only"));
        }
        if side.sizes().len() > SIZES {
            let rest = side.sizes().len() - SIZES;
            let kept = format!(
                "the {SIZES} most frequent sizes are kept; {rest} others are represented by their \
                         means"
            );
            say(if what == "reads" { "sizes of reads" } else { "sizes of writes" }, kept);
        }
    }
    if trace.others() > 0 {
        say("trims and flushes", format!("{} of them are dropped", grouped(trace.others())));
    }
}

/// Files of a side, and sizes, streams and alignment of its other requests. Its hot part is fitted later.
fn side(trace: &Statistics, op: HostOp, footprint: u64) -> Side {
    let s = trace.side(op);
    let files = file_law(trace, op);
    let of_files = files.as_ref().map(|_| s.files().totals());
    let in_files = |size: u32| of_files.as_ref().and_then(|t| t.sizes.get(&size)).copied().unwrap_or(0);
    let streams = s.streams().without(of_files.as_ref().map_or(Continued::default(), |t| t.streams));
    let requests = s.requests() - of_files.as_ref().map_or(0, |t| t.requests);
    let align = if s.is_aligned() { UNIT } else { 1 };
    let sizes = s.sizes().iter().map(|(size, n)| (*size, (*n - in_files(*size)) as f64));
    let mut sizes: Vec<(u32, f64)> = sizes.filter(|(_, n)| *n > 0.0).collect();
    let bytes: f64 = sizes.iter().map(|(size, n)| *size as f64 * n * LBA_BYTES as f64).sum();
    most_frequent_first(&mut sizes);
    if sizes.len() > SIZES {
        let rest = sizes.split_off(SIZES);
        // The remaining sizes by powers of two, with each class at its mean.
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
    let mean = if requests > 0 { bytes / requests as f64 } else { 4096.0 };
    let continued = streams.continued as f64 / requests.max(1) as f64;
    let longest = sizes.iter().map(|s| s.0 as u64).max().unwrap_or(UNIT) * LBA_BYTES;
    let gaps = if files.is_some() { footprint / GAPS } else { 0 };
    let footprint = (footprint + gaps).max(2 * longest).max(64 << 10);
    // Bytes of a stream, including its first request.
    let stretch = (streams.continued + streams.runs) as f64 * mean / streams.runs.max(1) as f64;
    let scattered = stretch < footprint as f64 / 4.0;
    let many = if scattered && footprint / 4 > 2 * longest + (64 << 10) { 4 } else { 1 };
    // A stream that starts elsewhere does not continue.
    let sequential = if scattered { continued * (1.0 + mean / stretch) } else { continued };
    let sequential = fraction(sequential.min(1.0));
    legal_side(Side {
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
        streams: many,
        stretch: scattered.then_some((stretch as u64).max(LBA_BYTES)),
        rewrite: fraction(streams.rewritten as f64 / streams.continued.max(1) as f64),
        hot_space: Fraction::ONE,
        hot_lies: HotLies::Apart,
        theta: 1.0,
        extent: EXTENT,
        item: item_in(EXTENT, align),
        stable: Fraction::ZERO,
        drift: 0.0,
        overlap: Fraction::ZERO,
        files,
    })
}

fn arrivals(
    piece: &Piece,
    trace: &Statistics,
    fallbacks: &mut Vec<Fallback>,
) -> Result<Arrivals, WorkloadError> {
    let mut say = |instead: &str| fallbacks.push(Fallback { what: "arrivals", instead: instead.to_string() });
    if let Pacing::Closed { queue_depth, threads } = piece.workload.pacing() {
        say("the trace has no times and is replayed as a closed loop; so is the twin");
        return Ok(Arrivals::instantaneous(Some(QueueDepth { queue_depth, threads })));
    }
    let span_ns = trace.span_s() * 1e9;
    if span_ns < 1.0 {
        say("all requests arrive at one instant, as in the twin");
        return Ok(Arrivals::instantaneous(None));
    }
    let span = SimDuration(span_ns as u64);
    // With few requests, the rate of a part is random.
    let envelope = if trace.requests() >= 50 * PARTS as u64 && span.0 >= PARTS as u64 {
        Some(envelope(piece, span)?)
    } else {
        say("too few requests to fit a rate over time; the twin uses the mean rate");
        None
    };
    Ok(Arrivals {
        closed: None,
        span,
        group: fraction(trace.group_share()),
        memory: memory(trace, envelope.as_ref()),
        envelope,
    })
}

/// Rates of reads and writes in equal parts of the span. A kind without requests has a constant rate.
fn envelope(piece: &Piece, span: SimDuration) -> Result<Envelope, WorkloadError> {
    let mut counts = [[0u64; PARTS]; 2];
    let mut first = None;
    for request in piece.requests()? {
        let request = request?;
        let time = request.arrival.0 - *first.get_or_insert(request.arrival.0);
        let part = ((time as f64 / span.0 as f64 * PARTS as f64) as usize).min(PARTS - 1);
        match request.op {
            HostOp::Read => counts[0][part] += 1,
            HostOp::Write => counts[1][part] += 1,
            _ => {}
        }
    }
    let [reads, writes] = counts.map(|counts| {
        let sum: u64 = counts.iter().sum();
        let rate = |n: u64| if sum == 0 { 1.0 } else { n as f64 * PARTS as f64 / sum as f64 };
        counts.map(rate).to_vec()
    });
    Ok(Envelope { period: span, reads, writes })
}

/// Dispersions of reads and writes by window, and their correlation, up to the length of an envelope's part,
/// whose own variation comes last.
fn memory(trace: &Statistics, envelope: Option<&Envelope>) -> Option<Memory> {
    let part = envelope.map_or(u64::MAX, |e| e.period.0 / PARTS as u64);
    let mut memory = Memory { windows: vec![], reads: vec![], writes: vec![], together: vec![] };
    let mut add = |window: u64, [read, write]: [Option<f64>; 2], together: Option<f64>| {
        memory.windows.push(SimDuration(window));
        memory.reads.push(read.unwrap_or(1.0));
        memory.writes.push(write.unwrap_or(1.0));
        memory.together.push(together.unwrap_or(0.0));
    };
    for (window, v) in trace.variations().filter(|(window, _)| *window < part) {
        add(window, [HostOp::Read, HostOp::Write].map(|op| v.dispersion_of(op)), v.together());
    }
    if let Some(e) = envelope {
        let requests =
            [HostOp::Read, HostOp::Write].map(|op| trace.side(op).requests() as f64 / PARTS as f64);
        let of = |rates: &[f64], mean: f64| {
            rates.iter().map(|r| (r - 1.0) * (r - 1.0)).sum::<f64>() * mean / PARTS as f64
        };
        let [read, write] = [of(&e.reads, requests[0]), of(&e.writes, requests[1])];
        let product =
            e.reads.iter().zip(&e.writes).map(|(r, w)| (r - 1.0) * (w - 1.0)).sum::<f64>() / PARTS as f64;
        // Excluding random variation, as in the windows.
        let own = [(read - 1.0) / requests[0], (write - 1.0) / requests[1]];
        let together =
            (own[0] > 0.0 && own[1] > 0.0).then(|| (product / libm::sqrt(own[0] * own[1])).clamp(-1.0, 1.0));
        add(part, [Some(read), Some(write)], together);
    }
    (!memory.windows.is_empty()).then_some(memory)
}

/// Fits the hot part of the writes and the footprint of the reads, and measures the twin.
fn fit_hits(d: &mut Description, trace: &Statistics, caches: &[u64]) -> Result<Statistics, WorkloadError> {
    let [_, read, written] = trace.footprints().unwrap_or_default();
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
    let of_writes = trace.side(HostOp::Write);
    // Predictions cover the requests outside files; files are assumed to write each page once.
    let of_files = d.writes.files.as_ref().map(|_| of_writes.files().totals());
    let requests = (of_writes.requests() - of_files.as_ref().map_or(0, |t| t.requests)) as f64;
    let written_pages = written as f64 / unit;
    let of_files = of_files.map(|t| t.blocks() as f64 / UNIT as f64);
    let (mut aim, mut aim_pages) = (goal.clone(), (written_pages - of_files.unwrap_or(0.0)).max(1.0));
    let same = |s: &Statistics| s.stable_shares().map(|[_, same]| same);
    let again = |s: &Statistics| s.read_written_share().filter(|_| s.side(HostOp::Read).requests() > 0);
    let mut start = d.writes.clone();
    let mut stable = same(trace).unwrap_or(0.0);
    let mut overlap = 0.0;
    let mut common = Common::default();
    let mut best: Option<(f64, [Side; 2], Statistics)> = None;
    for _ in 0..FITS {
        start.stable = fraction(stable);
        d.writes = found(&start, requests, &pages, &aim, aim_pages);
        d.reads.begin = begin_of_reads(trace, &d.reads, &d.writes, common.factor());
        d.reads.overlap = if d.writes.hot > Fraction::ZERO { fraction(overlap) } else { Fraction::ZERO };
        let twin = measure(d)?;
        let got = twin.hits(caches).unwrap_or_else(|| vec![0.0; caches.len()]);
        let [_, got_read, got_written] = twin.footprints().unwrap_or_default().map(|bytes| bytes as f64);
        let lacks = |of: &dyn Fn(&Statistics) -> Option<f64>| {
            of(trace).zip(of(&twin)).map_or(0.0, |(goal, got)| goal - got)
        };
        let (lacks_same, lacks_again) = (lacks(&same), lacks(&again));
        let (both, got_both) = (of_both(trace) / written as f64, of_both(&twin) / got_written.max(1.0));
        let off = got.iter().zip(&goal).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            + 0.1 * (got_written / written as f64 - 1.0).abs()
            + 0.2 * if read > 0 { (got_read / read as f64 - 1.0).abs() } else { 0.0 }
            + 0.3 * (got_both - both).abs()
            + 0.3 * lacks_same.abs()
            + 0.3 * lacks_again.abs();
        if best.as_ref().is_none_or(|(before, ..)| off < *before) {
            best = Some((off, [d.reads.clone(), d.writes.clone()], twin));
        }
        if off < 0.01 {
            break;
        }
        for ((aim, goal), got) in aim.iter_mut().zip(&goal).zip(&got) {
            *aim = (*aim + (goal - got)).clamp(0.0, 1.0);
        }
        aim_pages = match of_files {
            None => aim_pages * (written as f64 / got_written.max(1.0)).clamp(0.5, 2.0),
            Some(_) => (aim_pages + written_pages - got_written / unit).max(1.0),
        };
        stable = (stable + lacks_same).clamp(0.0, 1.0);
        common.came_to(got_both, both);
        if read > 0 {
            let grown = d.reads.footprint as f64 * (read as f64 / got_read.max(1.0)).clamp(0.5, 2.0);
            d.reads.footprint = grown.min(read as f64 * READS_GROWN_MOST) as u64;
            d.reads = legal_side(d.reads.clone());
        }
        overlap = (overlap + lacks_again).clamp(0.0, 1.0);
    }
    let Some((_, [reads, writes], twin)) = best else { return measure(d) };
    (d.reads, d.writes) = (reads, writes);
    Ok(twin)
}

/// The side with the closest predicted hit rates: hot share, hot space, exponent and footprint are found by
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
        legal_side(side)
    };
    let miss = |x: &[f64; 4]| -> f64 {
        let side = of(x);
        let f = foretell(&side, requests, caches);
        let hits: f64 = f.hits.iter().zip(aim).map(|(a, b)| (a - b) * (a - b)).sum();
        let pages = f.distinct / aim_pages - 1.0;
        // Values that are larger than necessary cost a little, so that none grows without limit.
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
    /// The twin's file, with the verdict in comments at its head, since a file may be passed on without the
    /// terminal's output.
    pub fn to_toml(&self, verdict: &str) -> String {
        let mut head = vec![
            "A twin made by `wordline twin fit`: figures of a trace, none of its requests.".to_string(),
            format!(
                "{} requests, {} read and {} written.",
                self.trace.requests(),
                Bytes(self.trace.volumes().0),
                Bytes(self.trace.volumes().1)
            ),
        ];
        head.push("Deviation from its trace:".to_string());
        head.extend(verdict.lines().map(str::to_string));
        to_toml(&self.description, &head, "fitted from the trace")
    }

    /// Size in bytes of a drive with room for trace and twin, with the trace's touched pages placed densely.
    pub fn room(&self) -> u64 {
        let ends = [&self.description.reads, &self.description.writes].map(|s| s.begin + s.footprint);
        ends.into_iter().max().unwrap_or(0).max(self.trace.touched_in_pages().unwrap_or(0))
    }
}
