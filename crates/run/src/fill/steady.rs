//! The steady-state verdict: checkpoints of the device as series, and their evaluation for the report.
//!
//! The criteria are WAF, write and read latency, throughput in a closed loop (an open loop completes what
//! arrives), and the ratio of erased to filled blocks. Before GC has started, everything is constant,
//! including a WAF of 1, and nothing can be concluded.
//!
//! A flat series is not enough if the host writes. The stretch must be long enough for blocks to have been recycled
//! ([`DRIVE_WRITES_MIN`], [`COLLECTED_MIN`]), the number of free blocks must not change ([`FREE_BLOCKS_MAX`]), hardly any
//! writes may add data to those that the drive holds ([`GROWTH_MAX`]), and a drive that started in steady state must have
//! its WAF ([`LAW_MAX`]).

use crate::begin::BY_LAW;
use crate::fill::growth::{GROWTH_MAX, late_growth, pages_of};
use crate::fill::outcome::{Outcome, plane_erases};
use wordline_ftl::Settling;
use wordline_report::{
    AfterWarmUp, Estimate, Reached, STEADY_CRITERION, SteadyFrom, SteadyState, significant,
};
use wordline_sim::{Checkpoint, Pacing};
use wordline_stats::{NOISE_MAX, Role, Series, Steadiness, interval, judge};
use wordline_units::{HostOp, grouped};

/// Minimum number of requests: fifty for each of the twenty batches of the second half.
const REQUESTS_MIN: u64 = 2000;

/// The latency of a kind of request with a smaller share is not evaluated.
const RARE: f64 = 0.05;

/// With a larger share of writes blocks must have been recycled: GC that has not started yet will delay reads.
const WRITES_MAX: f64 = 0.001;

/// Minimum drive writes in the evaluated stretch if the host writes.
const DRIVE_WRITES_MIN: f64 = 0.1;

/// Minimum erases in each plane with GC.
const COLLECTED_MIN: u64 = 10;

/// Maximum change of free blocks per plane over the evaluated stretch.
const FREE_BLOCKS_MAX: f64 = 1.0;

/// Maximum deviation of the WAF from that of the steady start.
const LAW_MAX: f64 = 0.05;

const READ: usize = 0;
pub(crate) const WRITE: usize = 1;

/// A measure with its name in the report, and its dividend and divisor from two totals.
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
    what: "the block balance",
    role: Role::Balance,
    of: |c, _| (c.erased as f64, c.programmed as f64),
};

fn seconds(c: &Checkpoint, start: SimStart) -> f64 {
    c.at.0.saturating_sub(start) as f64 / 1e9
}

/// A violated condition of steady state.
struct Against {
    reached: Reached,
    why: String,
    /// Whether it is the only one, and is the half-width of a mean.
    only_noise: bool,
}

fn too_short(why: String) -> Against {
    Against { reached: Reached::TooShort, why, only_noise: false }
}

fn moves(why: String) -> Against {
    Against { reached: Reached::No, why, only_noise: false }
}

/// The steady state of a completed run.
pub(crate) fn steady_state(run: &Outcome) -> SteadyState {
    let (reached, stationary, why, found) = match judged(run) {
        Ok(Steady { from, after, why }) => (Reached::Yes, true, why, Some((from, after))),
        Err(Against { reached, why, only_noise }) => (reached, only_noise, why, None),
    };
    let (from, after) = found.unzip();
    SteadyState { reached, stationary, criterion: STEADY_CRITERION.to_string(), from, why, after }
}

/// A steady state that was reached.
struct Steady {
    from: SteadyFrom,
    after: AfterWarmUp,
    why: String,
}

fn judged(run: &Outcome) -> Result<Steady, Against> {
    let start = run.first_arrival.0;
    let points = run.device.metrics.checkpoints();
    let end = run.device.metrics.totals(run.summary.end, run.device.ftl);
    if end.ended < REQUESTS_MIN {
        return Err(too_short(format!(
            "{} requests; at least {} are needed",
            grouped(end.ended),
            grouped(REQUESTS_MIN)
        )));
    }
    let share = |kind: usize| end.requests[kind] as f64 / end.ended as f64;
    let common = |kind: usize| share(kind) > RARE;
    let mut measures = vec![];
    if common(WRITE) {
        measures.extend([WAF, WRITE_LATENCY]);
    }
    let recycles = share(WRITE) > WRITES_MAX;
    if recycles {
        measures.push(BLOCKS);
    }
    if common(READ) {
        measures.push(READ_LATENCY);
    }
    if matches!(run.setup.pacing(), Some(Pacing::Closed { .. })) {
        measures.push(THROUGHPUT);
    }
    let series = |m: &Measure| Series::of_sums(points.iter().map(|c| (m.of)(c, start)));
    let roles: Vec<(Role, Series)> = measures.iter().map(|m| (m.role, series(m))).collect();
    let (at, noise) = flat_from(&measures, judge(&roles))?;
    let cut = at.checked_sub(1).and_then(|i| points.get(i)).copied();
    let cut = cut.unwrap_or(Checkpoint {
        at: run.first_arrival,
        free_blocks: run.held.free_blocks,
        ..Checkpoint::default()
    });
    let after = after(&cut, &end, start, &|m| interval(&series(m), at));
    let of_writes = || {
        came_round(run, &cut, &end)?;
        keeps_free_blocks(run, &points[at.min(points.len())..])?;
        keeps_data(run, (cut.ended + end.ended) / 2, end.ended)?;
        follows_law(run, &after)
    };
    let others = if recycles { of_writes() } else { Ok(()) };
    match noise {
        Some(why) => return Err(Against { only_noise: others.is_ok(), ..too_short(why) }),
        None => others?,
    }
    let names: Vec<&str> = measures.iter().filter(|m| m.role == Role::Figure).map(|m| m.what).collect();
    let from = SteadyFrom {
        time_s: seconds(&cut, start),
        requests: cut.ended,
        share: cut.ended as f64 / end.ended as f64,
    };
    Ok(Steady { from, after, why: format!("no trend in {} from there on", list(&names)) })
}

/// The observation from which on no measure changes, and what is too noisy from there on.
fn flat_from(measures: &[Measure], judgement: Steadiness) -> Result<(usize, Option<String>), Against> {
    match judgement {
        Steadiness::From(at) => Ok((at, None)),
        Steadiness::Drifts { series, by } => {
            let (verb, size) = if by < 0.0 { ("falls", -by) } else { ("rises", by) };
            let what = measures[series].what;
            let size = percent(size);
            Err(moves(format!("{what} still {verb}, {size} from the third to the last quarter of the run")))
        }
        Steadiness::Unbalanced { at, .. } => Err(moves(format!(
            "the drive still {}: the second half of the run erases {:.0} blocks for every 100 that it fills",
            if at < 1.0 { "fills up" } else { "drains" },
            at * 100.0
        ))),
        Steadiness::Noisy { series, half_width, from } => {
            let why = format!(
                "the mean {} after the warm-up has a half-width of ± {}; at most ± {} is allowed",
                measures[series].what,
                percent(half_width),
                percent(NOISE_MAX)
            );
            Ok((from, Some(why)))
        }
        Steadiness::Gaps { series } => {
            Err(too_short(format!("parts of the second half of the run have no {}", measures[series].what)))
        }
        // Not with fewer requests than this.
        Steadiness::TooShort => Err(too_short("too few samples".to_string())),
    }
}

/// Whether enough was written and erased for blocks to have been recycled.
fn came_round(run: &Outcome, cut: &Checkpoint, end: &Checkpoint) -> Result<(), Against> {
    let written = (end.bytes[WRITE] - cut.bytes[WRITE]) as f64 / run.setup.device.logical_bytes() as f64;
    if written < DRIVE_WRITES_MIN {
        return Err(too_short(format!(
            "the host wrote {} drive writes after the warm-up; at least {DRIVE_WRITES_MIN} are needed",
            significant(written)
        )));
    }
    let each = run.setup.device.wear.acceleration.max(1) as u64;
    let erased = plane_erases(run.device.ftl).into_iter().zip(&run.plane_erases);
    let erased: Vec<u64> = erased.map(|(now, before)| (now - before) / each).collect();
    // A plane of a medium that the scheme hardly uses need not collect.
    let collecting = || erased.iter().copied().filter(|n| *n > 0);
    match collecting().min() {
        Some(least) if least >= COLLECTED_MIN => Ok(()),
        least => Err(too_short(format!(
            "some planes erased only {} blocks; at least {COLLECTED_MIN} are needed in each",
            least.unwrap_or(0)
        ))),
    }
}

/// Whether the number of free blocks is stable; otherwise the figures would change with it.
fn keeps_free_blocks(run: &Outcome, points: &[Checkpoint]) -> Result<(), Against> {
    let planes = run.setup.geometry.planes as f64;
    let tenth = (points.len() / 10).max(1).min(points.len());
    let mean =
        |of: &[Checkpoint]| of.iter().map(|c| c.free_blocks as f64).sum::<f64>() / of.len().max(1) as f64;
    let change = (mean(&points[points.len() - tenth..]) - mean(&points[..tenth])) / planes;
    if change.abs() <= FREE_BLOCKS_MAX {
        return Ok(());
    }
    let verb = if change < 0.0 { "fall" } else { "rise" };
    Err(moves(format!("free blocks still {verb}, by {} in each plane", significant(change.abs()))))
}

/// Whether the data that the drive holds no longer grow, from this request to that.
fn keeps_data(run: &Outcome, from: u64, until: u64) -> Result<(), Against> {
    let before = &run.setup.state.mapped;
    // What a saved state or a drive of earlier runs holds is not known here.
    let is_known = run.live_bytes == u64::from(before.count()) * run.setup.device.unit.0;
    if !is_known || run.device.ftl.inspect().live_bytes() <= run.live_bytes {
        return Ok(());
    }
    match late_growth(run, pages_of(before), (from, until), |op| op == HostOp::Write) {
        Some(rate) if rate > GROWTH_MAX => Err(moves(format!(
            "writes still reach pages that held no data, which takes {} of the spare flash per drive write",
            percent(rate)
        ))),
        _ => Ok(()),
    }
}

/// Whether the WAF equals that of the steady start: of its end in simulated time, or else of the untimed writes. Under
/// a stream, only the untimed writes count: the run starts like the drive in simulated time, and may be equally off.
fn follows_law(run: &Outcome, after: &AfterWarmUp) -> Result<(), Against> {
    let begun = run.start.filter(|start| start.begun.settling == Settling::Settled);
    let (Some(start), Some(waf)) = (begun, after.waf) else { return Ok(()) };
    let off = |expected: f64| (waf.mean / expected - 1.0).abs() > LAW_MAX;
    let timed = start.timed_waf.filter(|_| start.by == BY_LAW);
    if !off(start.begun.waf) || !timed.is_none_or(off) {
        return Ok(());
    }
    Err(moves(format!(
        "the WAF is {}, but the initial steady state has {}",
        significant(waf.mean),
        significant(timed.unwrap_or(start.begun.waf))
    )))
}

/// Figures between two totals, with the intervals of batch means.
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

/// A fraction in percent, to two digits.
fn percent(share: f64) -> String {
    let x = share * 100.0;
    if x < 10.0 { format!("{x:.1} %") } else { format!("{x:.0} %") }
}
