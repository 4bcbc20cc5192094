//! Whether a run has settled: the checkpoints of the device as series, and the judgement on them as
//! the report says it.
//!
//! Judged are write amplification, the latencies of writes and reads, the throughput where the loop
//! is closed (an open one completes what comes, whatever the drive does), and the balance of blocks
//! that are erased over those that are filled: before collection has begun everything is as even as
//! can be, a WAF of 1 among it, and says nothing of what will be.

use crate::fill::outcome::Outcome;
use wordline_ftl::Media;
use wordline_report::{AfterWarmUp, Estimate, Reached, STEADY_CRITERION, SteadyFrom, SteadyState};
use wordline_sim::{Checkpoint, Pacing};
use wordline_stats::{NOISE_MAX, Role, Series, Steadiness, judge, known};

/// Fewer requests are not judged: fifty for each of the twenty batches of the second half.
const REQUESTS_MIN: u64 = 2000;

/// A kind of request that is rarer than this share of all is not judged.
const RARE: f64 = 0.05;

const READ: usize = 0;
const WRITE: usize = 1;

/// A measure in the words of the report, and how it comes from two totals: what is divided, and
/// what divides it.
struct Measure {
    what: &'static str,
    role: Role,
    of: fn(&Checkpoint, SimStart) -> (f64, f64),
}

/// When the first request arrived, in nanoseconds.
type SimStart = u64;

const WAF: Measure =
    Measure { what: "WAF", role: Role::Figure, of: |c, _| (c.programmed as f64, c.host_page_bytes as f64) };
const WRITE_LATENCY: Measure = Measure {
    what: "write latency",
    role: Role::Figure,
    of: |c, _| (c.latency_ns[WRITE] as f64 / 1e3, c.requests[WRITE] as f64),
};
const READ_LATENCY: Measure = Measure {
    what: "read latency",
    role: Role::Figure,
    of: |c, _| (c.latency_ns[READ] as f64 / 1e3, c.requests[READ] as f64),
};
const THROUGHPUT: Measure = Measure {
    what: "throughput",
    role: Role::Figure,
    of: |c, start| ((c.bytes[READ] + c.bytes[WRITE]) as f64 / 1e6, seconds(c, start)),
};
const READ_RATE: Measure = Measure {
    what: "read throughput",
    role: Role::Figure,
    of: |c, start| (c.bytes[READ] as f64 / 1e6, seconds(c, start)),
};
const WRITE_RATE: Measure = Measure {
    what: "write throughput",
    role: Role::Figure,
    of: |c, start| (c.bytes[WRITE] as f64 / 1e6, seconds(c, start)),
};

const BLOCKS: Measure = Measure {
    what: "the balance of blocks",
    role: Role::Balance,
    of: |c, _| (c.erased as f64, c.programmed as f64),
};

fn seconds(c: &Checkpoint, start: SimStart) -> f64 {
    c.at.0.saturating_sub(start) as f64 / 1e9
}

/// The steady state of a run that has ended.
pub(crate) fn steady_state<M: Media>(run: &Outcome<M>) -> SteadyState {
    let start = run.first_arrival.0;
    let points = run.device.metrics.checkpoints();
    let end =
        run.device.metrics.totals(run.summary.end, run.device.ftl.counters(), run.device.ftl.erased_bytes());
    let said = |reached, why: String| SteadyState {
        reached,
        criterion: STEADY_CRITERION.to_string(),
        from: None,
        why,
        after: None,
    };
    if end.ended < REQUESTS_MIN {
        return said(
            Reached::TooShort,
            format!("{} requests; at least {REQUESTS_MIN} are needed", end.ended),
        );
    }
    let mut measures = vec![];
    let common = |kind: usize| end.requests[kind] as f64 > RARE * end.ended as f64;
    if common(WRITE) {
        measures.extend([WAF, WRITE_LATENCY, BLOCKS]);
    }
    if common(READ) {
        measures.push(READ_LATENCY);
    }
    if matches!(run.setup.pacing(), Some(Pacing::Closed { .. })) {
        measures.push(THROUGHPUT);
    }
    let series = |m: &Measure| Series::of_sums(points.iter().map(|c| (m.of)(c, start)));
    let judged: Vec<(Role, Series)> = measures.iter().map(|m| (m.role, series(m))).collect();
    let names: Vec<&str> = measures.iter().filter(|m| m.role == Role::Figure).map(|m| m.what).collect();
    match judge(&judged) {
        Steadiness::From(at) => {
            let cut = at.checked_sub(1).and_then(|i| points.get(i)).copied();
            let cut = cut.unwrap_or(Checkpoint { at: run.first_arrival, ..Checkpoint::default() });
            SteadyState {
                from: Some(SteadyFrom {
                    time_s: seconds(&cut, start),
                    requests: cut.ended,
                    share: cut.ended as f64 / end.ended as f64,
                }),
                after: Some(after(&cut, &end, start, &|m| known(&series(m), at))),
                ..said(Reached::Yes, format!("no trend in {} from there on", list(&names)))
            }
        }
        Steadiness::Drifts { series, by } => {
            let (verb, size) = if by < 0.0 { ("falls", -by) } else { ("rises", by) };
            let what = measures[series].what;
            said(
                Reached::No,
                format!(
                    "{what} still {verb}, {} from the third to the last quarter of the run",
                    percent(size)
                ),
            )
        }
        Steadiness::Unbalanced { at, .. } => said(
            Reached::No,
            format!(
                "the drive still {}: {:.0} blocks are erased for every 100 that are filled in the second half \
                 of the run",
                if at < 1.0 { "fills up" } else { "drains" },
                at * 100.0
            ),
        ),
        Steadiness::Noisy { series, half_width } => said(
            Reached::TooShort,
            format!(
                "the mean {} of what follows the warm-up is known to ± {} only, and {} are asked for",
                measures[series].what,
                percent(half_width),
                percent(NOISE_MAX)
            ),
        ),
        Steadiness::Gaps { series } => said(
            Reached::TooShort,
            format!("there is no {} in parts of the second half of the run", measures[series].what),
        ),
        // Not with so many requests.
        Steadiness::TooShort => said(Reached::TooShort, "there is too little to judge".to_string()),
    }
}

/// What was measured between two totals, with the intervals of batch means.
fn after(
    cut: &Checkpoint,
    end: &Checkpoint,
    start: SimStart,
    spread: &dyn Fn(&Measure) -> Option<wordline_stats::Estimate>,
) -> AfterWarmUp {
    let figure = |m: &Measure| {
        let (a, b) = ((m.of)(cut, start), (m.of)(end, start));
        let (top, bottom) = (b.0 - a.0, b.1 - a.1);
        let e = spread(m);
        (bottom > 0.0 && top > 0.0).then(|| Estimate {
            mean: top / bottom,
            sd: e.map(|e| e.sd),
            half_width_95: e.map(|e| e.half_width),
        })
    };
    AfterWarmUp {
        requests: end.ended - cut.ended,
        simulated_s: seconds(end, start) - seconds(cut, start),
        read_latency_us: figure(&READ_LATENCY),
        write_latency_us: figure(&WRITE_LATENCY),
        read_mb_per_s: figure(&READ_RATE),
        write_mb_per_s: figure(&WRITE_RATE),
        waf: figure(&WAF),
    }
}

/// `a, b and c`.
fn list(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A fraction in per cent, to two digits.
fn percent(share: f64) -> String {
    let x = share * 100.0;
    if x < 10.0 { format!("{x:.1} %") } else { format!("{x:.0} %") }
}
