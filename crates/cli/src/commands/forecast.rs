//! Forecast before a run: requests, drive writes, approximate duration, and whether that can be enough for a
//! steady-state verdict.

use crate::commands::figures::duration;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use wordline_report::{
    End, JobEnd, at_least_longer, bursts_for, drive_writes_for_verdict, further_bursts, significant,
    two_digits,
};
use wordline_run::{Filled, RunLength, RunSpec, Setup, compare, run_length, verdict_bytes};
use wordline_trace::Pacing;
use wordline_units::grouped;

/// How long a trial continues, from the first requests that it has completed.
const TRIAL: Duration = Duration::from_millis(150);

/// Mapping units below which no trial is made: small or unsettled drives take about a second.
const TRIED: u64 = 100_000;

/// Larger drives take long to bring into steady state, so it is not done twice.
const STEADY_MAX: u64 = 16 << 30;

/// A line on a run of one scheme, this many times on this many threads.
pub(crate) fn forecast(setup: &Setup, scheme: &str, threads: usize) -> String {
    let runs = setup.spec.replicas as usize;
    let times = if runs > 1 { format!("{runs} runs of ") } else { String::new() };
    let Some(length) = run_length(setup) else {
        return format!("run: {times}number of requests, drive writes and time are not known before the run");
    };
    let about = if length.is_exact { "" } else { "about " };
    let writes = length.write_bytes as f64 / setup.shape.logical_bytes.max(1) as f64;
    let wall = match wall_time(setup, scheme, length) {
        Some(Wall::Second) => "at most about a second".to_string(),
        Some(Wall::Time(each)) => {
            format!("about {}", duration(each.mul_f64(runs.div_ceil(threads.clamp(1, runs)) as f64)))
        }
        None if settles(setup) => {
            "time unknown, because the drive is brought to its steady state before the first request"
                .to_string()
        }
        None => "time unknown".to_string(),
    };
    format!(
        "run: {times}{about}{} request{}, {about}{} drive writes, {wall}: {}",
        grouped(length.requests),
        if length.requests == 1 { "" } else { "s" },
        significant(writes),
        verdict(setup, length, writes)
    )
}

/// Whether this many drive writes can be enough for a verdict, and how many would be.
fn verdict(setup: &Setup, length: RunLength, writes: f64) -> String {
    if length.write_bytes == 0 {
        return "nothing is written, so no write amplification is measured".to_string();
    }
    let needed = verdict_bytes(setup);
    if length.write_bytes >= needed {
        return "may be long enough for a steady-state verdict".to_string();
    }
    // The same length as a report proposes after the run.
    let logical = setup.shape.logical_bytes.max(1) as f64;
    let spare = setup.device.data_bytes() as f64 / logical - 1.0;
    let usual = drive_writes_for_verdict(&setup.initial.to_string(), spare);
    let drives = usual.max(needed as f64 / logical);
    format!(
        "too short for a steady-state verdict, which takes about {} drive writes from this initial state \
         ({})",
        significant(drives),
        longer(setup, length, at_least_longer(drives / writes))
    )
}

/// Advice to extend a run by a factor.
fn longer(setup: &Setup, length: RunLength, times: f64) -> String {
    let limit = setup.limit();
    // In an open loop a duration ends each pass of a trace.
    let by_pass = setup.workload.passes().is_some() && setup.workload.pacing() == Pacing::Open;
    // A trace that ends before its bound is repeated.
    let by_bytes = limit.bytes.is_some_and(|bound| !length.is_exact || length.write_bytes >= bound);
    if by_bytes || limit.duration.is_some() && !by_pass {
        return End::Bound.later(times);
    }
    if matches!(setup.workload.pacing(), Pacing::Jobs) && limit.requests.is_none() {
        return End::Jobs(JobEnd::of(&setup.workload.resolved()["jobs"])).later(times);
    }
    let (logical, of) = (setup.shape.logical_bytes.max(1), &setup.workload.resolved()["parameters"]);
    let drives = length.write_bytes as f64 / logical as f64 * times;
    // What ends with its last burst gets more bursts, not requests.
    let by_bursts = limit.requests.is_none_or(|most| length.requests < most);
    if by_bursts && let Some(bursts) = bursts_for(of, logical, drives) {
        return format!("--set workload.bursts={bursts}");
    }
    let requests = (length.requests as f64 * times).ceil();
    let passes = setup.workload.passes().unwrap_or(1) as f64;
    if setup.workload.recorded_requests().is_some_and(|recorded| (recorded as f64) < requests) {
        return format!("--set workload.loops={}", (passes * times).ceil());
    }
    let each = requests / passes;
    let bursts = further_bursts(of, logical, drives);
    let bursts = bursts.map_or(String::new(), |bursts| format!(" --set workload.bursts={bursts}"));
    format!("--requests {}{bursts}", two_digits(each) as u64)
}

/// Whether uncounted requests come first, until the drive is steady.
fn settles(setup: &Setup) -> bool {
    matches!(setup.initial.filled, Filled::Steady(_))
}

enum Wall {
    /// It is not worth a trial.
    Second,
    Time(Duration),
}

/// The time that a run takes at the speed of its first requests; `None` where a trial would take too long.
fn wall_time(setup: &Setup, scheme: &str, length: RunLength) -> Option<Wall> {
    if settles(setup) && setup.device.physical_bytes() > STEADY_MAX {
        return None;
    }
    let units = length.bytes / setup.device.unit.0.max(1);
    if units.max(length.requests) < TRIED {
        return Some(Wall::Second);
    }
    let mut alone = setup.clone();
    alone.spec = RunSpec { replicas: 1, save_state: None, executor: None, ..setup.spec.clone() };
    let begin = Instant::now();
    let (mut first, mut last) = (None, None);
    let mut watch = |p: wordline_run::Progress| {
        let now = Instant::now();
        let (from, _) = *first.get_or_insert((now, p.completed));
        last = Some((now, p.completed));
        if now - from < TRIAL { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let ended = compare(&alone, &[scheme.to_string()], 1, &mut watch).is_ok();
    if ended {
        return Some(Wall::Time(begin.elapsed()));
    }
    let ((from, before), (until, after)) = (first?, last?);
    let (spent, done) = ((until - from).as_secs_f64(), after.checked_sub(before)?);
    let seconds = spent / done.max(1) as f64 * length.requests as f64 + (from - begin).as_secs_f64();
    (done > 0 && seconds.is_finite()).then(|| Wall::Time(Duration::from_secs_f64(seconds)))
}
