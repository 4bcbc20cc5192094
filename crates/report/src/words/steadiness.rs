//! How many of the runs behind an answer are steady, and the command for a longer run.

use crate::schema::overload::overload;
use crate::schema::report::Report;
use crate::schema::steady::Reached;
use crate::words::command::{of_all, shell_line};
use crate::words::end::{End, bursts_for, end_of, further_bursts, parameters, two_digits};
use crate::words::number;
use serde_json::Value;
use std::borrow::Borrow;

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
    pub(crate) fn of(reports: &[impl Borrow<Report>]) -> Settled {
        let runs: Vec<&Report> = reports.iter().map(Borrow::borrow).flat_map(each).collect();
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
pub(crate) fn stands<R: Borrow<Report>>(reports: &[R]) -> bool {
    let enough = |r| {
        let of = Settled::of(std::slice::from_ref(r));
        of.steady as f64 >= ENOUGH * of.runs as f64
    };
    !reports.is_empty() && reports.iter().all(enough)
}

/// A report's runs: its replicas, or itself.
fn each(report: &Report) -> Vec<&Report> {
    report.replicas.as_ref().map_or(vec![report], |r| r.runs.iter().collect())
}

/// The same with the report that each belongs to, which alone has the configuration of its replicas.
fn with_reports(reports: &[Report]) -> impl Iterator<Item = (&Report, &Report)> {
    reports.iter().flat_map(|report| each(report).into_iter().map(move |run| (report, run)))
}

/// A run without a verdict does not count as steady.
fn is_steady(run: &Report) -> bool {
    run.steady_state.as_ref().is_some_and(|s| s.reached == Reached::Yes)
}

/// Whether no longer run would be steady: all runs that are not are overloaded, so that their latency grows with
/// their length.
fn only_overload(reports: &[Report]) -> bool {
    reports.iter().flat_map(each).all(|run| is_steady(run) || overload(run).is_some())
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
        _ if reports.iter().any(|r| overload(r).is_some()) => "in the runs without overload, ",
        _ => "in all runs, ",
    };
    Some(match longer(reports).and(options(reports)) {
        Some(options) => {
            let words: Vec<String> = options.iter().map(|(name, value)| format!("{name} {value}")).collect();
            // What a longer run needs only it can tell.
            format!(
                "to reach a steady state {all}use the command below with {} or more; that is a lower bound, \
                 since only a longer run shows when its warm-up ends.",
                words.join(" and ")
            )
        }
        None => format!("to reach a steady state {all}{}.", way(reports)),
    })
}

/// The same runs, each long enough for an answer; `None` if no option extends them, or if they have no common command.
pub(crate) fn longer(reports: &[Report]) -> Option<Vec<String>> {
    let options = options(reports)?;
    let mut words = of_all(reports).filter(|words| !words.is_empty())?;
    for (name, value) in options {
        let key = value.split_once('=').map(|(key, _)| format!("{key}="));
        let given = (1..words.len()).find(|at| {
            words[at - 1] == name && key.as_ref().is_none_or(|key| words[*at].starts_with(key.as_str()))
        });
        match given {
            Some(at) => words[at] = value,
            None => words.extend([name.to_string(), value]),
        }
    }
    Some(words)
}

/// An option that makes a run longer, with its number: `--requests` 5000, or `--set` of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Longer {
    /// The key that is set; empty for `--requests`.
    pub key: &'static str,
    /// Its value.
    pub count: u64,
}

impl Longer {
    /// The name of the option, and what follows it.
    fn words(self) -> (&'static str, String) {
        match self.key {
            "" => ("--requests", self.count.to_string()),
            key => ("--set", format!("{key}={}", self.count)),
        }
    }
}

/// The options that make these runs long enough for an answer, with their values; `None` if they end by themselves, or
/// in different ways.
fn options(reports: &[Report]) -> Option<Vec<(&'static str, String)>> {
    Some(counts(reports)?.into_iter().map(Longer::words).collect())
}

fn counts(reports: &[Report]) -> Option<Vec<Longer>> {
    let end = end_of(reports.first()?);
    if reports.iter().any(|r| end_of(r) != end) {
        return None;
    }
    let most = |of: fn((&Report, &Report)) -> f64| with_reports(reports).map(of).fold(0.0, f64::max);
    let bursts = |count| Some(Longer { key: "workload.bursts", count: bursts(reports, count)? });
    match end {
        End::Requests => {
            let requests = Longer { key: "", count: two_digits(most(requests)) as u64 };
            // A workload in bursts ends before this many requests.
            Some([Some(requests), bursts(further_bursts)].into_iter().flatten().collect())
        }
        End::Trace => {
            let count = most(|(of, run)| passes(run) * times((of, run))).ceil() as u64;
            (count <= PASSES_MAX).then(|| vec![Longer { key: "workload.loops", count }])
        }
        End::Bursts => bursts(bursts_for).map(|option| vec![option]),
        End::Jobs(_) | End::Bound => None,
    }
}

/// The same of runs that may end in different ways, as those of a sweep do: the options of each way, or a sentence where
/// no option makes runs longer that end so. Runs that are steady or overloaded need none.
pub fn options_by_end(reports: Vec<Report>) -> (Vec<Vec<Longer>>, Vec<String>) {
    let mut groups: Vec<(End, Vec<Report>)> = vec![];
    for report in reports.into_iter().filter(|r| !is_steady(r) && overload(r).is_none()) {
        let end = end_of(&report);
        match groups.iter_mut().find(|(of, _)| *of == end) {
            Some((_, group)) => group.push(report),
            None => groups.push((end, vec![report])),
        }
    }
    let (mut found, mut ways) = (vec![], vec![]);
    for (_, group) in &groups {
        match counts(group) {
            Some(options) => found.push(options),
            None => ways.push(way(group)),
        }
    }
    (found, ways)
}

/// Computes a number of bursts from the parameters of a workload, the logical bytes of the drive, and the drive writes wanted.
type CountBursts = fn(&Value, u64, f64) -> Option<u64>;

/// The bursts with which each of these runs can have an answer, by a way of counting them.
fn bursts(reports: &[Report], count: CountBursts) -> Option<u64> {
    let drives = |(of, run): (&Report, &Report)| run.drive_writes().unwrap_or(0.0) * times((of, run));
    let of_one =
        |both: (&Report, &Report)| count(parameters(both.1)?, both.1.capacity.logical_bytes, drives(both));
    with_reports(reports).filter_map(of_one).max()
}

/// The number of requests with which each of these runs can have an answer, to two digits: as for `--requests`, per
/// pass of a trace. `None` if all have one, or are overloaded.
pub fn needed(reports: &[Report]) -> Option<u64> {
    let short = with_reports(reports).filter(|(_, run)| !is_steady(run) && overload(run).is_none());
    short.map(requests).max_by(f64::total_cmp).map(|most| two_digits(most) as u64)
}

/// The number of requests with which a run can have an answer.
fn requests((of, run): (&Report, &Report)) -> f64 {
    run.host.requests.max(1) as f64 / passes(run) * times((of, run))
}

/// Factor by which a run must be longer for an answer.
fn times((of, run): (&Report, &Report)) -> f64 {
    let initial = of.config["initial"]["spelling"].as_str().unwrap_or_default();
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

/// How to extend runs if no option does.
fn way(reports: &[Report]) -> String {
    let times = with_reports(reports).map(times).fold(LONGER, f64::max);
    reports.first().map_or(End::Requests, end_of).later(times)
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
        assert!(!stands(&[Report::default()]) && !stands::<Report>(&[]));
    }

    /// Replicas carry no configuration: they were once taken to begin on a full drive.
    #[test]
    fn replicas_begin_as_their_report_says() {
        let mut of = run(Reached::TooShort, json!({ "kind": "synthetic" }));
        of.config = json!({ "initial": { "spelling": "fresh" } });
        let alone = longer(&[of.clone()]);
        let replica = Report { config: Value::Null, ..of.clone() };
        of.replicas = Some(Replicas { runs: vec![replica], figures: Default::default() });
        assert_eq!(longer(&[of]), alone);
    }

    /// More requests make no run longer that ends with its last burst.
    #[test]
    fn workload_of_bursts_gets_more_of_them() {
        let of = json!({ "bursts": 6, "burst": "1%", "long": "15%", "bounds": { "requests": 9000 } });
        let words =
            longer(&[run(Reached::TooShort, json!({ "kind": "synthetic", "parameters": of }))]).unwrap();
        assert_eq!(words[words.len() - 2..], ["--set", "workload.bursts=85"]);
        let of = json!({ "bursts": 6, "burst": "0.00001%", "bounds": { "requests": 9000 } });
        let short = [run(Reached::TooShort, json!({ "kind": "synthetic", "parameters": of }))];
        assert!(advice(&short).contains("raise bursts= or burst= of the workload 20 times"));
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
            (json!({ "kind": "jobs" }), "raise runtime= and loops= of the jobs 20 times"),
            (jobs(&[json!({ "size": "1g" })]), "raise loops= of the jobs 20 times"),
            (jobs(&[json!({ "runtime": "3", "time_based": "1" })]), "raise runtime= of the jobs 20 times"),
            (jobs(&[json!({ "runtime": "3" })]), "raise runtime= and loops= of"),
            (
                jobs(&[json!({ "runtime": "3", "time_based": "1" }), json!({})]),
                "raise runtime= and loops= of",
            ),
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
        assert!(overload(&full).is_some());
        assert_eq!((short_advice(&[full.clone()]), advice(&[full.clone()])), (None, String::new()));
        assert_eq!(needed(&[full.clone()]), None);
        let mixed = [full, run(Reached::No, trace)];
        assert_eq!(
            short_advice(&mixed).unwrap(),
            "to reach a steady state in the runs without overload, use the command below with --set \
             workload.loops=20 or more; that is a lower bound, since only a longer run shows when its warm-up ends."
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
            "to reach a steady state use the command below with --set workload.loops=20 or more; that is a lower \
             bound, since only a longer run shows when its warm-up ends."
        );
        // Each pass of a trace that is cut has this many requests.
        let cut = run(Reached::No, json!({ "kind": "trace", "requests": 617, "loops": 2 }));
        let words = longer(&[cut]).unwrap();
        assert_eq!(words[words.len() - 2..], ["--requests", "13000"]);
    }

    /// A sweep mixes workloads, and its options are those of a comparison of each kind.
    #[test]
    fn options_of_runs_with_different_ends_stay_apart() {
        let bursts = json!({ "bursts": 6, "burst": "1%", "long": "15%", "bounds": { "requests": 9000 } });
        let looped = run(Reached::No, json!({ "kind": "trace", "loops": 5 }));
        let bursty = run(Reached::No, json!({ "kind": "synthetic", "parameters": bursts }));
        let bounded = run(Reached::No, json!({ "kind": "trace", "bytes": "1KiB" }));
        let mut bounded = bounded;
        bounded.host.counts = RequestCounts { bytes: [0, 2000, 0, 0], ..RequestCounts::default() }.figures();
        let steady = run(Reached::Yes, json!({ "kind": "synthetic" }));
        let all = vec![looped.clone(), bursty.clone(), steady, bounded];
        let (options, ways) = options_by_end(all);
        let keys: Vec<&str> = options.iter().flatten().map(|option| option.key).collect();
        assert_eq!(keys, ["workload.loops", "workload.bursts"]);
        // Of five passes the factor is not the number of passes.
        assert_eq!(options[0][0].count, 100);
        for (report, own) in [(&looped, &options[0]), (&bursty, &options[1])] {
            let words: Vec<String> =
                own.iter().flat_map(|o| [o.words().0.to_string(), o.words().1]).collect();
            assert!(longer(std::slice::from_ref(report)).unwrap().ends_with(&words), "{words:?}");
        }
        assert!(ways.len() == 1 && ways[0].starts_with("raise duration= or bytes="), "{ways:?}");
    }
}
