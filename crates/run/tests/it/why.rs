//! What `why` tells of slow requests, against the operation log of the same run, which another part of the
//! engine writes: every operation that is told is in the log at just those times, stretches lie end to end from
//! arrival to completion, and come to the parts of the latency.

#![allow(clippy::print_stdout)]

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use wordline_report::{Report, Spent, Story, Work, why_text};
use wordline_run::{Files, Recording, RunSpec, Setup, Slowest, WhyAsked, run_recorded, why};
use wordline_trace::Fit;
use wordline_units::HostOp;

/// A use in the log, by operation and what is used.
type Uses = HashMap<u64, Vec<(String, u64, u64)>>;

fn recorded(spec: &RunSpec, folder: &Path) -> (Report, Uses) {
    let log = folder.join("log.csv");
    let setup = Setup::resolve(spec).unwrap();
    let recording = Recording::open(&Files { log: Some(log.clone()), ..Files::default() }).unwrap();
    let report = run_recorded(&setup, &spec.scheme, recording, &mut |_| ControlFlow::Continue(())).unwrap();
    let mut uses = Uses::new();
    for row in std::fs::read_to_string(log).unwrap().lines().skip(2) {
        let cells: Vec<&str> = row.split(',').collect();
        let number = |i: usize| cells[i].parse::<u64>().unwrap();
        uses.entry(number(0)).or_default().push((cells[1].to_string(), number(4), number(5)));
    }
    (report, uses)
}

/// That the log has a piece of work as it is told.
fn is_logged(work: &Work, uses: &Uses) {
    let uses = &uses[&work.op];
    if work.had == "plane" {
        let (from, to) = (uses.iter().map(|u| u.1).min(), uses.iter().map(|u| u.2).max());
        assert_eq!((Some(work.start_ns), Some(work.end_ns)), (from, to), "{work:?}");
    } else {
        let told = (work.had.clone(), work.start_ns, work.end_ns);
        assert!(uses.contains(&told), "{work:?} is not among {uses:?}");
    }
}

fn holds(story: &Story, uses: &Uses, registers: u32) {
    let mut at = story.arrival_ns;
    let mut spent: HashMap<&str, u64> = HashMap::new();
    let last = story.last.as_ref();
    let own = last.filter(|last| last.own).map(|last| last.work.op);
    for s in &story.stretches {
        assert!(s.from_ns == at && s.to_ns > at, "a gap before {s:?} of {story:#?}");
        at = s.to_ns;
        s.behind.iter().for_each(|work| is_logged(work, uses));
        s.behind.iter().for_each(|work| assert!(s.shared_with(work) > 0, "{work:?} is not in {s:?}"));
        let before = matches!(s.spent, Spent::QueueFull | Spent::BufferFull | Spent::Link);
        let part = match s.spent {
            Spent::QueueFull | Spent::BufferFull => "admission",
            Spent::Link => "link",
            Spent::MapMiss => "map_miss",
            _ if !before && s.op != own || own.is_none() => "staging",
            Spent::InRam => "staging",
            Spent::NoSpace => "space",
            Spent::Array | Spent::ArrayBusy => "die",
            Spent::Bus | Spent::BusBusy => "bus",
            Spent::PlaneBusy => {
                // In a plane with one register its work fills the stretch, and each cause its part.
                let of = |cause: fn(&str) -> bool| -> u64 {
                    s.behind.iter().filter(|w| cause(&w.cause)).map(|w| s.shared_with(w)).sum()
                };
                *spent.entry("behind_gc").or_default() += of(|c| c == "gc");
                *spent.entry("behind_migration").or_default() += of(|c| c == "migrate");
                *spent.entry("behind_host").or_default() += of(|c| c != "gc" && c != "migrate");
                continue;
            }
        };
        *spent.entry(part).or_default() += s.ns();
    }
    assert_eq!(at, story.completion_ns, "{story:#?}");
    assert_eq!(story.parts_ns.values().sum::<u64>(), story.completion_ns - story.arrival_ns);
    story.last.iter().chain(&story.brought).for_each(|piece| is_logged(&piece.work, uses));
    if registers == 1 {
        let mut parts: HashMap<&str, u64> = story.parts_ns.iter().map(|(k, v)| (k.as_str(), *v)).collect();
        *parts.entry("die").or_default() += parts.get("retry").copied().unwrap_or(0);
        parts.remove("retry");
        parts.retain(|_, ns| *ns > 0);
        spent.retain(|_, ns| *ns > 0);
        assert_eq!(spent, parts, "{story:#?}");
    }
}

fn asked(slowest: usize, op: Option<HostOp>) -> WhyAsked {
    WhyAsked { slowest, op, ..WhyAsked::default() }
}

fn told(report: &Report, asked: &WhyAsked) -> Vec<Story> {
    why(report, asked, None, &mut |_| ControlFlow::Continue(())).unwrap().stories
}

/// Scheme, workload, initial state, changed keys, and the registers of a plane.
type Case = (&'static str, &'static str, &'static str, Vec<(String, String)>, u32);

#[test]
fn explained_latency_matches_the_log() {
    let busy = "uniform:read=30%,bs=1KiB@20/4KiB@40/16KiB@40,qd=16,requests=6000";
    let paced = "bursty:write_rate=150MB/s,requests=6k";
    let set = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    let cases: [Case; 9] = [
        ("conventional", busy, "fill:95%,order=random", vec![], 1),
        ("slc-cache", busy, "fill:80%", vec![], 1),
        ("slc-cache", paced, "fill:90%", set(&[("host.queue_depth", "8")]), 1),
        (
            "conventional",
            busy,
            "fill:95%,order=random",
            set(&[("ack.mode", "buffer"), ("ack.pages", "32")]),
            1,
        ),
        ("turbo-write", paced, "fresh", vec![], 1),
        ("conventional", busy, "fill:95%,order=random", set(&[("gc.class", "foreground")]), 1),
        ("conventional", busy, "fill:90%", set(&[("parallel.multiplane", "opportunistic")]), 1),
        ("conventional", busy, "fill:90%", set(&[("medium.flash.cache_register", "on")]), 2),
        ("conventional", busy, "fill:90%", set(&[("dram.map_cache", "64KiB")]), 1),
    ];
    for (scheme, workload, initial, set, registers) in cases {
        let folder = tempfile::tempdir().unwrap();
        let spec = RunSpec { set, initial: initial.into(), ..RunSpec::new("demo-8gb", scheme, workload) };
        let (report, uses) = recorded(&spec, folder.path());
        for op in [None, Some(HostOp::Read)] {
            let stories = told(&report, &asked(200, op));
            assert_eq!(stories.len(), 200, "{scheme} {:?}", spec.set);
            let took: Vec<u64> = stories.iter().map(|s| s.completion_ns - s.arrival_ns).collect();
            assert!(took.is_sorted_by(|a, b| a >= b), "the slowest first");
            stories.iter().for_each(|story| holds(story, &uses, registers));
            if op.is_none() {
                let longest = report.latency_us.write.unwrap().max.max(report.latency_us.read.unwrap().max);
                assert_eq!(took[0] as f64 / 1e3, longest);
            }
        }
        let all = told(&report, &WhyAsked { numbers: vec![5999, 0, 17], ..WhyAsked::default() });
        assert_eq!(all.iter().map(|s| s.number).collect::<Vec<_>>(), [5999, 0, 17]);
        all.iter().for_each(|story| holds(story, &uses, registers));
    }
}

#[test]
fn queue_content_before_a_request_is_explained() {
    let set = vec![("host.queue_depth".to_string(), "4".to_string())];
    let workload = "bursty:write_rate=150MB/s,requests=2k";
    let spec =
        RunSpec { set, initial: "fill:90%".into(), ..RunSpec::new("demo-8gb", "conventional", workload) };
    let (report, _) = recorded(&spec, tempfile::tempdir().unwrap().path());
    let stories = told(&report, &asked(200, None));
    let waited = |s: &&Story| s.stretches.iter().any(|s| s.spent == Spent::QueueFull);
    assert!(stories.iter().filter(waited).count() > 100);
    for story in stories.iter().filter(waited) {
        // All but the place that it got, and those that others left in that instant.
        let beside = story.let_in_beside.as_ref().unwrap();
        assert!((1..=3).contains(&beside.requests.values().sum::<u64>()), "{story:#?}");
        assert!(beside.oldest < story.number, "{story:#?}");
        assert!(beside.oldest_since_ns <= story.stretches[0].to_ns, "{story:#?}");
    }
    let why = why(&report, &asked(1, None), None, &mut |_| ControlFlow::Continue(())).unwrap();
    let text = why_text(&why, true);
    assert!(text.contains("waiting for the drive, whose queue was full: "), "{text}");
    assert!(text.contains(" outstanding when it was admitted; the oldest, request "), "{text}");
}

#[test]
fn cause_of_slow_requests_leads_within_ten_lines() {
    let buffer = [("ack.mode", "buffer"), ("ack.pages", "64")].map(|(k, v)| (k.to_string(), v.to_string()));
    let random = |read: &str| format!("uniform:read={read},bs=16KiB,qd=32,requests=3000");
    let cases = [
        ("slc-cache", "bursty:requests=8k".to_string(), "preload", vec![], "read", ("migrate", "S")),
        ("conventional", random("30%"), "fill:100%,valid=77.1%", buffer.to_vec(), "write", ("gc", "D")),
        ("conventional", random("0%"), "fresh", buffer.to_vec(), "write", ("host", "D")),
    ];
    for (scheme, workload, initial, set, op, cause) in cases {
        let spec = RunSpec { set, initial: initial.into(), ..RunSpec::new("demo-8gb", scheme, &workload) };
        let report = wordline_run::run(&spec, &mut |_| ControlFlow::Continue(())).unwrap();
        let asked = WhyAsked { summed: Some(Slowest::default()), ..WhyAsked::default() };
        let why = why(&report, &asked, None, &mut |_| ControlFlow::Continue(())).unwrap();
        let text = why_text(&why, false);
        assert!(text.lines().count() <= 10, "{text}");
        let slow = why.summaries.iter().find(|s| s.op == op).unwrap();
        let first = &slow.causes[0];
        assert_eq!((first.cause.as_str(), first.region.as_str()), cause, "{text}");
        // Every nanosecond has a cause.
        let all: f64 = slow.causes.iter().map(|c| c.share).sum();
        assert!((all - 1.0).abs() < 1e-3, "{all}: {:?}", slow.causes);
        match cause.0 {
            "gc" => assert!(first.valid.is_some_and(|v| (0.6..0.85).contains(&v)), "{first:?}"),
            "migrate" => {
                assert!(first.short_since_ns.is_some_and(|ns| ns > 0), "{first:?}");
                assert!(first.bytes_per_s.is_some_and(|rate| (1e6..1e9).contains(&rate)), "{first:?}");
            }
            _ => assert_eq!(first.valid, None),
        }
    }
}

#[test]
fn ten_slowest_cloudphysics_requests_are_explained() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let file = root.join("cloudphysics/cloudPhysicsIO.vscsi.zst");
    if !file.exists() {
        println!("skipped: {} is missing", file.display());
        return;
    }
    for scheme in ["conventional", "slc-cache"] {
        let folder = tempfile::tempdir().unwrap();
        let spec =
            RunSpec { fit: Some(Fit::Compact), ..RunSpec::new("demo-8gb", scheme, &file.to_string_lossy()) };
        let (report, uses) = recorded(&spec, folder.path());
        for op in [None, Some(HostOp::Read)] {
            let why = why(&report, &asked(10, op), None, &mut |_| ControlFlow::Continue(())).unwrap();
            assert_eq!(why.stories.len(), 10);
            why.stories.iter().for_each(|story| holds(story, &uses, 1));
            // Nearly all of each request's time is told as somebody's work.
            for s in &why.stories {
                let explained: u64 =
                    s.stretches.iter().filter(|s| s.spent != Spent::InRam).map(|s| s.ns()).sum();
                let all = s.completion_ns - s.arrival_ns;
                assert!(explained * 10 > all * 9, "{}", why_text(&why, true));
            }
        }
    }
}

#[test]
fn missing_request_number_is_refused_with_the_range() {
    let spec = RunSpec::new("demo-8gb", "conventional", "bursty:requests=100");
    let report = wordline_run::run(&spec, &mut |_| ControlFlow::Continue(())).unwrap();
    let asked = WhyAsked { numbers: vec![100], ..WhyAsked::default() };
    let error = why(&report, &asked, None, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(error.contains("no request 100") && error.contains("0 to 99"), "{error}");
    let mut other = report.clone();
    other.result_hash = "0".repeat(16);
    let asked = self::asked(1, None);
    let error = why(&other, &asked, None, &mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(error.contains("differs from the report"), "{error}");
}
