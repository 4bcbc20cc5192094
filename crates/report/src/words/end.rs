//! What ends a run: its requests, its trace, its jobs, its last burst, or a limit; and how it gets longer.

use crate::schema::report::Report;
use crate::words::number;
use serde_json::Value;
use wordline_trace::ByteBound;
use wordline_units::{Count, SimDuration};

/// What ends a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// A number of requests, which a user can increase.
    Requests,
    /// A trace has no more.
    Trace,
    /// The jobs of a job file are complete.
    Jobs(JobEnd),
    /// The last burst of a workload, before its limit of requests.
    Bursts,
    /// A limit of the workload in time or bytes.
    Bound,
}

/// What ends the jobs of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JobEnd {
    /// Only their time: they continue until it is over, whatever their size.
    Time,
    /// All of their data, as none has a time limit.
    Size,
    /// Either.
    Either,
}

impl JobEnd {
    /// What ends jobs, as listed in a report's workload.
    pub fn of(jobs: &Value) -> JobEnd {
        let none = vec![];
        let jobs = jobs.as_array().unwrap_or(&none);
        let has = |job: &Value, key: &str| job["options"].get(key).is_some_and(|v| v != "0");
        let runtime = |job: &Value| has(job, "runtime");
        if !jobs.is_empty() && jobs.iter().all(|job| runtime(job) && has(job, "time_based")) {
            JobEnd::Time
        } else if !jobs.is_empty() && !jobs.iter().any(runtime) {
            JobEnd::Size
        } else {
            JobEnd::Either
        }
    }

    /// The keys that lengthen any such job: more `size=` may not fit the drive, or be cut by `io_size=` or `number_ios=`.
    const fn keys(self) -> &'static str {
        match self {
            JobEnd::Time => "runtime=",
            JobEnd::Size => "loops=",
            JobEnd::Either => "runtime= and loops=",
        }
    }
}

/// The number of requests after which `--requests` or `requests=` stops a job file.
fn most_of_jobs(run: &Report) -> Option<u64> {
    let option = || run.command.windows(2).find(|w| w[0] == "--requests").map(|w| w[1].as_str());
    let text = run.workload.details.get("text").and_then(Value::as_str).unwrap_or_default();
    let own = || text.rsplit(':').next()?.split(',').find_map(|o| o.strip_prefix("requests="));
    option().or_else(own)?.parse::<Count>().ok().map(|n| n.0)
}

pub(crate) fn end_of(run: &Report) -> End {
    let details = &run.workload.details;
    let text = |key: &str| details.get(key).and_then(Value::as_str).unwrap_or_default();
    let bounded = |of: &Value| !of["duration"].is_null() || !of["bytes"].is_null();
    let bounds = details.get("parameters").map_or(Value::Null, |p| match &p["bounds"] {
        Value::Null => p.clone(),
        bounds => bounds.clone(),
    });
    let cut = details.get("requests").and_then(Value::as_u64);
    let has = |key: &str| details.get(key).is_some_and(|value| !value.is_null());
    // In an open loop a duration ends each pass of a trace by its own times.
    let is_closed = details.get("pacing").is_some_and(|pacing| pacing.is_object());
    match text("kind") {
        "jobs" if most_of_jobs(run).is_some_and(|most| most <= run.host.requests) => End::Requests,
        "jobs" => End::Jobs(JobEnd::of(details.get("jobs").unwrap_or(&Value::Null))),
        "trace" if ended_by_bound(run, is_closed) => End::Bound,
        "trace" if cut.is_some_and(|most| most <= run.host.requests) => End::Requests,
        "trace" => End::Trace,
        _ if bounded(&bounds) || has("duration") => End::Bound,
        _ if parameters(run).is_some_and(|of| ended_by_bursts(of, run.host.requests)) => End::Bursts,
        _ => End::Requests,
    }
}

/// Whether `bytes=`, or in a closed loop `duration=`, ended a run of a trace, and not the trace itself before.
fn ended_by_bound(run: &Report, is_closed: bool) -> bool {
    let text = |key: &str| run.workload.details.get(key).and_then(Value::as_str);
    let moved = run.host.moved();
    let bytes = if moved.write_bytes > 0 { moved.write_bytes } else { moved.read_bytes };
    // Requests under way at the end may be missing.
    let reached = |of: f64, bound: f64| of >= 0.99 * bound;
    let by_bytes = text("bytes").is_some_and(|bound| {
        let bound = bound.parse::<ByteBound>().map_or(0, |b| b.of(run.capacity.logical_bytes));
        reached(bytes as f64, bound as f64)
    });
    let by_time = is_closed
        && text("duration").is_some_and(|bound| {
            let bound = bound.parse::<SimDuration>().map_or(0.0, |d| d.as_secs());
            reached(run.simulated_s, bound)
        });
    by_bytes || by_time
}

impl End {
    /// How to extend a run by a factor if no option does.
    pub fn later(self, times: f64) -> String {
        let more = number::count(times.ceil() as u64);
        match self {
            End::Requests => format!("give each run {more} times its requests"),
            End::Trace => format!(
                "repeat the trace {more} times, because it ends before the drive is \
                                   steady"
            ),
            End::Jobs(end) => format!("raise {} of the jobs {more} times", end.keys()),
            End::Bursts => format!("raise bursts= or burst= of the workload {more} times"),
            End::Bound => format!("raise duration= or bytes= of the workload {more} times"),
        }
    }
}

/// A number of requests to propose: rounded up to two digits.
pub fn two_digits(x: f64) -> f64 {
    let size = 10f64.powf((x.log10().floor() - 1.0).max(0.0));
    (x / size).ceil() * size
}

/// The options of a synthetic workload.
pub(crate) fn parameters(run: &Report) -> Option<&Value> {
    run.workload.details.get("parameters")
}

/// Maximum of `bursts=`.
const MOST: f64 = 1_000_000.0;

/// The number of bursts that write so many times the drive, by the parameters of a workload in bursts; `None` for
/// any other, and for what no number of bursts writes.
pub fn bursts_for(parameters: &Value, logical_bytes: u64, drive_writes: f64) -> Option<u64> {
    let bursts = needed_bursts(parameters, logical_bytes, drive_writes)?.max(given_bursts(parameters)? + 1.0);
    (bursts <= MOST).then(|| two_digits(bursts) as u64)
}

/// The same if the workload has fewer; `None` too if it has enough of them.
pub fn further_bursts(parameters: &Value, logical_bytes: u64, drive_writes: f64) -> Option<u64> {
    let is_short = needed_bursts(parameters, logical_bytes, drive_writes)? > given_bursts(parameters)?;
    is_short.then(|| bursts_for(parameters, logical_bytes, drive_writes))?
}

fn given_bursts(parameters: &Value) -> Option<f64> {
    parameters["bursts"].as_u64().map(|bursts| bursts as f64)
}

fn needed_bursts(parameters: &Value, logical_bytes: u64, drive_writes: f64) -> Option<f64> {
    let size = |key: &str| bytes(parameters[key].as_str()?, logical_bytes);
    let burst = size("burst").filter(|bytes| *bytes > 0.0)?;
    let written = drive_writes * logical_bytes as f64 - size("long").unwrap_or(0.0);
    Some((written / burst).ceil())
}

/// Whether a run ended with the last burst of its workload, and not at its limit of requests.
pub(crate) fn ended_by_bursts(parameters: &Value, completed: u64) -> bool {
    let limit = parameters["bounds"]["requests"].as_u64().or_else(|| parameters["requests"].as_u64());
    parameters["bursts"].is_u64() && limit.is_none_or(|limit| completed < limit)
}

/// Bytes, or a share of the drive.
fn bytes(text: &str, logical_bytes: u64) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(percent) => Some(percent.parse::<f64>().ok()? / 100.0 * logical_bytes as f64),
        None => Some(text.parse::<ByteBound>().ok()?.of(logical_bytes) as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bursts_are_counted_by_what_one_writes() {
        let of = |burst: &str| json!({ "bursts": 6, "burst": burst, "long": "15%" });
        assert_eq!(bursts_for(&of("1%"), 1 << 30, 3.0), Some(290));
        assert_eq!(bursts_for(&of("64MiB"), 1 << 30, 3.0), Some(46));
        assert_eq!(bursts_for(&of("1%"), 1 << 30, 0.1), Some(7));
        assert_eq!(bursts_for(&of("1KiB"), 1 << 40, 3.0), None);
        assert_eq!(bursts_for(&json!({ "theta": 0.9 }), 1 << 30, 3.0), None);
        // Six bursts and the long one write .21 of the drive.
        assert_eq!(further_bursts(&of("1%"), 1 << 30, 3.0), Some(290));
        assert_eq!(further_bursts(&of("1%"), 1 << 30, 0.2), None);
    }

    #[test]
    fn limit_of_requests_ends_bursts_only_where_it_is_reached() {
        let of = json!({ "bursts": 6, "bounds": { "requests": 1000 } });
        assert!(ended_by_bursts(&of, 999) && !ended_by_bursts(&of, 1000));
        assert!(!ended_by_bursts(&json!({ "bounds": { "requests": 1000 } }), 999));
    }
}
