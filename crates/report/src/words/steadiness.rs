//! How many of the runs behind an answer are steady, and the command for a longer run.

use crate::schema::report::Report;
use crate::schema::steady::Reached;
use crate::words::command::{of_all, shell_line};
use crate::words::number;
use serde_json::Value;
use wordline_trace::ByteBound;
use wordline_units::{Count, SimDuration};

/// Minimum factor by which a run that is too short is extended.
const LONGER: f64 = 4.0;

/// The share of a scheme's replicas that must be steady for an answer: long runs reach it.
const ENOUGH: f64 = 0.8;

/// Drive writes needed by a run from an empty drive to fill it and reach GC everywhere.
const FROM_EMPTY: f64 = 3.0;

/// Drive writes for a run on a full drive.
const FROM_FULL: f64 = 1.0;

/// Maximum of `loops=`.
const PASSES_MAX: u64 = 1_000_000;

/// Number of runs behind an answer, counting replicas, and of steady ones among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Settled {
    pub steady: usize,
    pub runs: usize,
}

impl Settled {
    pub(crate) fn of(reports: &[Report]) -> Settled {
        let runs: Vec<&Report> = reports.iter().flat_map(each).collect();
        Settled { steady: runs.iter().filter(|r| is_steady(r)).count(), runs: runs.len() }
    }

    /// The same of the runs of one scheme: `The run is steady`, or `3 of 3 runs steady`.
    pub(crate) fn of_one(self) -> String {
        match (self.steady, self.runs) {
            (1, 1) => "The run is steady".to_string(),
            (0, 1) => "The run is not steady".to_string(),
            _ => self.words(),
        }
    }

    /// `48 of 300 runs steady`.
    pub(crate) fn words(self) -> String {
        let runs = if self.runs == 1 { "run" } else { "runs" };
        format!("{} of {} {runs} steady", number::count(self.steady as u64), number::count(self.runs as u64))
    }
}

/// Whether an answer can rest on these reports: enough runs of each are steady. A single run must be.
pub(crate) fn stands(reports: &[Report]) -> bool {
    let enough = |r: &Report| {
        let of = Settled::of(std::slice::from_ref(r));
        of.steady as f64 >= ENOUGH * of.runs as f64
    };
    !reports.is_empty() && reports.iter().all(enough)
}

/// A report's runs: its replicas, or itself.
fn each(report: &Report) -> Vec<&Report> {
    report.replicas.as_ref().map_or(vec![report], |r| r.runs.iter().collect())
}

/// A run without a verdict does not count as steady.
fn is_steady(run: &Report) -> bool {
    run.steady_state.as_ref().is_some_and(|s| s.reached == Reached::Yes)
}

/// Whether no longer run would be steady: all runs that are not are overloaded, so that their latency grows with
/// their length.
fn only_overload(reports: &[Report]) -> bool {
    reports.iter().flat_map(each).all(|run| is_steady(run) || run.overload().is_some())
}

/// Advice if not all runs are steady; empty if they are, or if a longer run would not be steady either.
pub(crate) fn advice(reports: &[Report]) -> String {
    if stands(reports) || !reports.is_empty() && only_overload(reports) {
        return String::new();
    }
    match longer(reports) {
        Some(command) => format!("Run longer: {}", shell_line(&command)),
        None => "Run longer: ".to_string() + &way(reports),
    }
}

/// The same if the command of the runs follows below; `None` where an answer may rest on them.
pub(crate) fn short_advice(reports: &[Report]) -> Option<String> {
    // Runs that write nothing have no steady state to come to.
    if stands(reports) || only_overload(reports) || reports.iter().all(|r| r.host.moved().write_bytes == 0) {
        return None;
    }
    let all = match reports {
        [_] => "",
        _ if reports.iter().any(|r| r.overload().is_some()) => "in the runs without overload, ",
        _ => "in all runs, ",
    };
    Some(match longer(reports).and(option(reports)) {
        Some((name, value)) => {
            // A first estimate: what a longer run needs only it can tell.
            format!("to reach a steady state {all}use the command below with {name} {value} or more.")
        }
        None => format!("to reach a steady state {all}{}.", way(reports)),
    })
}

/// The same runs, each long enough for an answer; `None` if no option extends them, or if they have no common command.
pub(crate) fn longer(reports: &[Report]) -> Option<Vec<String>> {
    let (name, value) = option(reports)?;
    let mut words = of_all(reports).filter(|words| !words.is_empty())?;
    let key = value.split_once('=').map(|(key, _)| format!("{key}="));
    let given = (1..words.len()).find(|at| {
        words[at - 1] == name && key.as_ref().is_none_or(|key| words[*at].starts_with(key.as_str()))
    });
    match given {
        Some(at) => words[at] = value,
        None => words.extend([name.to_string(), value]),
    }
    Some(words)
}

/// The option that makes these runs long enough for an answer, with its value; `None` if they end by themselves, or in
/// different ways.
fn option(reports: &[Report]) -> Option<(&'static str, String)> {
    let end = end_of(reports.first()?);
    if reports.iter().any(|r| end_of(r) != end) {
        return None;
    }
    let most = |of: fn(&Report) -> f64| reports.iter().flat_map(each).map(of).fold(0.0, f64::max);
    match end {
        End::Requests => Some(("--requests", (two_digits(most(requests)) as u64).to_string())),
        End::Trace => {
            let passes = most(|run| passes(run) * times(run)).ceil() as u64;
            (passes <= PASSES_MAX).then(|| ("--set", format!("workload.loops={passes}")))
        }
        End::Jobs(_) | End::Bound => None,
    }
}

/// The number of requests with which each of these runs can have an answer, to two digits: as for `--requests`, per
/// pass of a trace. `None` if all have one, or are overloaded.
pub fn needed(reports: &[Report]) -> Option<u64> {
    let short = reports.iter().flat_map(each).filter(|run| !is_steady(run) && run.overload().is_none());
    short.map(requests).max_by(f64::total_cmp).map(|most| two_digits(most) as u64)
}

/// The number of requests with which a run can have an answer.
fn requests(run: &Report) -> f64 {
    run.host.requests.max(1) as f64 / passes(run) * times(run)
}

/// Factor by which a run must be longer for an answer.
fn times(run: &Report) -> f64 {
    let initial = run.config["initial"]["spelling"].as_str().unwrap_or_default();
    let target = drive_writes_for_verdict(initial, run.capacity.over_provisioning);
    let written = run.drive_writes().filter(|written| *written > 0.0);
    written.map_or(LONGER, |written| (target / written).max(LONGER))
}

/// Drive writes that a run takes for an answer about its steady state, by the spelling of the initial state: a drive
/// that begins empty is filled first, spare blocks too.
pub fn drive_writes_for_verdict(initial: &str, over_provisioning: f64) -> f64 {
    match initial {
        "fresh" | "preload" => FROM_EMPTY.max(2.0 + over_provisioning),
        _ => FROM_FULL,
    }
}

/// The least factor by which a run that is too short is extended.
pub fn at_least_longer(times: f64) -> f64 {
    times.max(LONGER)
}

/// Number of passes of a run over its trace.
fn passes(run: &Report) -> f64 {
    run.workload.details.get("loops").and_then(Value::as_u64).unwrap_or(1).max(1) as f64
}

/// A number of requests to propose: rounded up to two digits.
pub fn two_digits(x: f64) -> f64 {
    let size = 10f64.powf((x.log10().floor() - 1.0).max(0.0));
    (x / size).ceil() * size
}

/// What ends a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// A number of requests, which a user can increase.
    Requests,
    /// A trace has no more.
    Trace,
    /// The jobs of a job file are complete.
    Jobs(JobEnd),
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

    const fn keys(self) -> &'static str {
        match self {
            JobEnd::Time => "runtime=",
            JobEnd::Size => "loops= or size=",
            JobEnd::Either => "runtime=, loops= or size=",
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

fn end_of(run: &Report) -> End {
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

/// How to extend runs if no option does.
fn way(reports: &[Report]) -> String {
    let times = reports.iter().flat_map(each).map(times).fold(LONGER, f64::max);
    reports.first().map_or(End::Requests, end_of).later(times)
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
            End::Bound => format!("raise duration= or bytes= of the workload {more} times"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::report::{Host, Replicas};
    use crate::schema::steady::SteadyState;
    use serde_json::json;
    use wordline_counters::RequestCounts;

    fn run(reached: Reached, details: Value) -> Report {
        let counts = RequestCounts { bytes: [0, 500, 0, 0], ..RequestCounts::default() }.figures();
        let mut report = Report {
            command: "wordline run --device d --workload w --scheme a"
                .split(' ')
                .map(str::to_string)
                .collect(),
            host: Host { requests: 1234, counts, ..Host::default() },
            steady_state: Some(SteadyState { reached, ..SteadyState::default() }),
            config: json!({ "initial": { "spelling": "fill:90%" } }),
            ..Report::default()
        };
        report.capacity.logical_bytes = 10_000;
        report.workload.details = details.as_object().unwrap().clone().into_iter().collect();
        report
    }

    #[test]
    fn every_replica_counts_as_a_run() {
        let mut of_two = run(Reached::Yes, json!({}));
        let runs = vec![run(Reached::Yes, json!({})), run(Reached::No, json!({}))];
        of_two.replicas = Some(Replicas { runs, figures: Default::default() });
        let all = [of_two, run(Reached::TooShort, json!({})), Report::default()];
        let settled = Settled::of(&all);
        assert_eq!(settled.words(), "1 of 4 runs steady");
    }

    #[test]
    fn answer_needs_four_in_five_steady_runs_per_scheme() {
        let replicated = |steady: usize| {
            let reached = |i| if i < steady { Reached::Yes } else { Reached::No };
            let runs = (0..5).map(|i| run(reached(i), json!({}))).collect();
            Report {
                replicas: Some(Replicas { runs, figures: Default::default() }),
                ..run(Reached::Yes, json!({}))
            }
        };
        assert!(stands(&[replicated(5), replicated(4)]));
        assert!(!stands(&[replicated(5), replicated(3)]));
        assert!(stands(&[run(Reached::Yes, json!({}))]));
        assert!(!stands(&[run(Reached::Yes, json!({})), run(Reached::TooShort, json!({}))]));
        assert!(!stands(&[Report::default()]) && !stands(&[]));
    }

    #[test]
    fn longer_command_reaches_a_drive_write() {
        // A twentieth of a drive write: twenty times as long, to two digits.
        let words = longer(&[run(Reached::TooShort, json!({ "kind": "synthetic" }))]).unwrap();
        assert_eq!(words[words.len() - 2..], ["--requests", "25000"]);
        let mut bound = run(Reached::TooShort, json!({ "kind": "synthetic" }));
        bound.command.extend(["--requests", "1234", "--seed", "7"].map(str::to_string));
        bound.host.counts.bytes.write_bytes = 9_000;
        let words = longer(&[bound.clone()]).unwrap();
        assert_eq!(words[words.len() - 4..], ["--requests", "5000", "--seed", "7"]);
        bound.config = json!({ "initial": { "spelling": "fresh" } });
        bound.host.counts.bytes.write_bytes = 5_000;
        assert_eq!(longer(&[bound]).unwrap()[9], "7500");
    }

    #[test]
    fn workload_that_ends_by_itself_gets_a_factor() {
        let ends = [
            (json!({ "kind": "jobs" }), "raise runtime=, loops= or size= of the jobs 20 times"),
            (jobs(&[json!({ "size": "1g" })]), "raise loops= or size= of the jobs 20 times"),
            (jobs(&[json!({ "runtime": "3", "time_based": "1" })]), "raise runtime= of the jobs 20 times"),
            (jobs(&[json!({ "runtime": "3" })]), "raise runtime=, loops= or size= of"),
            (jobs(&[json!({ "runtime": "3", "time_based": "1" }), json!({})]), "raise runtime=, loops= or"),
            (json!({ "kind": "synthetic", "parameters": { "bounds": { "bytes": "1x" } } }), "bytes="),
            (json!({ "kind": "synthetic", "parameters": { "duration": "3s" } }), "of the workload 20 times"),
            (json!({ "kind": "trace", "bytes": "0.05x" }), "of the workload 20 times"),
            (json!({ "kind": "trace", "duration": "0s", "pacing": { "closed": {} } }), "duration="),
        ];
        for (details, says) in ends {
            let short = [run(Reached::TooShort, details)];
            assert_eq!(longer(&short), None);
            assert!(advice(&short).contains(says), "{}", advice(&short));
        }
        assert_eq!(advice(&[run(Reached::Yes, json!({}))]), "");
    }

    fn jobs(options: &[Value]) -> Value {
        let jobs: Vec<Value> = options.iter().map(|options| json!({ "options": options })).collect();
        json!({ "kind": "jobs", "jobs": jobs, "text": "j.fio:section=a" })
    }

    /// A trace that ends before its bound once had the advice to raise the bound.
    #[test]
    fn trace_that_ends_before_its_bound_is_repeated() {
        for details in [
            json!({ "kind": "trace", "bytes": "8x" }),
            json!({ "kind": "trace", "bytes": "1GiB" }),
            json!({ "kind": "trace", "duration": "3s", "pacing": { "closed": {} } }),
        ] {
            let words = longer(&[run(Reached::TooShort, details)]).unwrap();
            assert_eq!(words[words.len() - 2..], ["--set", "workload.loops=20"]);
        }
    }

    /// More requests only lengthen the queue of an overloaded drive.
    #[test]
    fn overloaded_run_is_not_made_longer() {
        let trace = json!({ "kind": "trace" });
        let mut full = run(Reached::No, trace.clone());
        full.config["pacing"] = json!({ "open": { "queue_depth": 8 } });
        full.simulated_s = 1.0;
        full.latency_us.write =
            Some(crate::schema::report::Latency { mean: 1e6, count: 9, ..Default::default() });
        assert!(full.overload().is_some());
        assert_eq!((short_advice(&[full.clone()]), advice(&[full.clone()])), (None, String::new()));
        assert_eq!(needed(&[full.clone()]), None);
        let mixed = [full, run(Reached::No, trace)];
        assert_eq!(
            short_advice(&mixed).unwrap(),
            "to reach a steady state in the runs without overload, use the command below with --set \
             workload.loops=20 or more."
        );
    }

    /// Jobs that `--requests` stops go on no longer, whatever their size.
    #[test]
    fn jobs_cut_by_requests_are_given_more_of_them() {
        let timed = json!({ "runtime": "3", "time_based": "1" });
        let mut cut = run(Reached::TooShort, jobs(&[timed]));
        cut.command.extend(["--requests", "1234"].map(str::to_string));
        let words = longer(&[cut.clone()]).unwrap();
        assert_eq!(words[words.len() - 2..], ["--requests", "25000"]);
        // Others have ended by themselves before.
        cut.host.requests = 1_000;
        assert_eq!(longer(&[cut.clone()]), None);
        assert!(advice(&[cut.clone()]).contains("raise runtime= of the jobs"));
        cut.command.truncate(cut.command.len() - 2);
        cut.workload.details.insert("text".into(), json!("j.fio:section=a,requests=1k"));
        assert!(longer(&[cut]).is_some_and(|words| words.contains(&"--requests".to_string())));
    }

    #[test]
    fn trace_is_repeated_as_often_as_a_drive_write_takes() {
        // A twentieth of a drive write in one pass, and a tenth in two.
        let trace = json!({ "kind": "trace", "pacing": "open", "duration": "3s" });
        let words = longer(&[run(Reached::TooShort, trace.clone())]).unwrap();
        assert_eq!(words[words.len() - 2..], ["--set", "workload.loops=20"]);
        let mut twice = run(Reached::TooShort, json!({ "kind": "trace", "loops": 2 }));
        twice.host.counts.bytes.write_bytes = 1_000;
        twice.command.extend(["--set", "gc.victim=fifo", "--set", "workload.loops=2"].map(str::to_string));
        let words = longer(&[twice.clone()]).unwrap();
        assert_eq!(words[words.len() - 4..], ["--set", "gc.victim=fifo", "--set", "workload.loops=20"]);
        assert_eq!(
            short_advice(&[twice]).unwrap(),
            "to reach a steady state use the command below with --set workload.loops=20 or more."
        );
        // Each pass of a trace that is cut has this many requests.
        let cut = run(Reached::No, json!({ "kind": "trace", "requests": 617, "loops": 2 }));
        let words = longer(&[cut]).unwrap();
        assert_eq!(words[words.len() - 2..], ["--requests", "13000"]);
    }
}
