//! One experiment from its words to the report, and what is said when the words are wrong.

#![allow(clippy::print_stdout)]

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use wordline_report::{Reached, Report};
use wordline_run::{
    Blame, Executor, Job, JobProgress, Progress, RunError, RunSpec, Setup, compare, rerun, rerun_with, run,
};
use wordline_schemes::Registry;
use wordline_units::{Face, SimTime};

fn demo(scheme: &str, requests: u64) -> RunSpec {
    RunSpec {
        requests: Some(requests),
        check: true,
        ..RunSpec::new("demo-8gb", scheme, "bursty:write_rate=100MB/s")
    }
}

fn report(spec: &RunSpec) -> Report {
    run(spec, &mut |_| ControlFlow::Continue(())).unwrap()
}

fn error(spec: &RunSpec) -> RunError {
    run(spec, &mut |_| ControlFlow::Continue(())).unwrap_err()
}

#[test]
fn same_seed_gives_one_report_on_any_thread_count() {
    let schemes = ["conventional", "slc-cache", "slc-cache:when_full=wait"].map(str::to_string);
    let spec = demo(&schemes[0], 6000);
    let alone: Vec<Report> = schemes.iter().map(|s| report(&spec.with_scheme(s))).collect();
    for threads in [1, 3] {
        let setup = Setup::resolve(&spec).unwrap();
        let together = compare(&setup, &schemes, threads, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(together.reports == alone, "on {threads} threads");
    }
    assert_ne!(alone[0].result_hash, alone[1].result_hash);
    let other = report(&RunSpec { seed: 2, ..spec });
    assert_ne!(other.result_hash, alone[0].result_hash);
}

#[test]
fn replicas_equal_runs_of_their_seeds_on_any_threads() {
    let schemes = ["conventional", "slc-cache"].map(str::to_string);
    let spec = RunSpec { seed: u64::MAX, replicas: 3, ..demo(&schemes[0], 3000) };
    let setup = Setup::resolve(&spec).unwrap();
    let on = |threads| compare(&setup, &schemes, threads, &mut |_| ControlFlow::Continue(())).unwrap();
    let alone = on(1);
    for threads in [2, 5, 64] {
        assert!(on(threads) == alone, "on {threads} threads");
    }
    for (report, scheme) in alone.reports.iter().zip(&schemes) {
        let replicas = report.replicas.as_ref().unwrap();
        let first = RunSpec { replicas: 1, ..spec.with_scheme(scheme) };
        let without = self::report(&first);
        assert!(Report { replicas: None, ..report.clone() } == without, "the first is the run itself");
        assert_eq!(replicas.runs.iter().map(|r| r.seed).collect::<Vec<_>>(), [u64::MAX, 0, 1]);
        for run in &replicas.runs {
            let single = self::report(&RunSpec { seed: run.seed, ..first.clone() });
            assert!(*run == single.in_brief(), "seed {}", run.seed);
        }
    }
    let p50 = |r: &Report| r.latency_us.write.unwrap().p50;
    let runs = |i: usize| alone.reports[i].replicas.as_ref().unwrap().runs.iter().map(p50);
    let mean = runs(0).zip(runs(1)).map(|(a, b)| (b / a - 1.0) * 100.0).sum::<f64>() / 3.0;
    assert!((alone.differences_percent[1]["latency_us.write.p50"].mean - mean).abs() < 1e-9);
}

// Runs that an executor does come to the same, and it is asked only where several run in parallel.
#[test]
fn remote_runs_agree_and_are_used_only_in_parallel() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let executor = Executor::new(move |job, on_progress| {
        count.fetch_add(1, Ordering::Relaxed);
        assert!(on_progress(JobProgress::Run(7, SimTime(9))).is_continue());
        let Job::Run(spec) = job else { panic!("{job:?}") };
        // The other scheme is left to the process that asks.
        let here = spec.scheme.starts_with("slc-cache");
        here.then(|| run(spec, &mut |_| ControlFlow::Continue(())).map(|r| r.to_json().unwrap()))
    });
    let schemes = ["conventional", "slc-cache"].map(str::to_string);
    let set = vec![("scheme.when_full".to_string(), "wait".to_string())];
    let spec = RunSpec { replicas: 2, set, executor: Some(executor), ..demo(&schemes[0], 2000) };
    let setup = Setup::resolve(&spec).unwrap();
    let mut seen = vec![];
    let mut on = |threads| {
        let on_progress = &mut |p: Progress| {
            seen.push((p.run, p.completed, p.now.0));
            ControlFlow::Continue(())
        };
        compare(&setup, &schemes, threads, on_progress).unwrap()
    };
    let alone = on(1);
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    assert!(on(2) == alone);
    assert_eq!(asked.load(Ordering::Relaxed), 4);
    assert!((0..4).all(|number| seen.contains(&(number, 7, 9))));
}

#[test]
fn executor_repeats_a_report_one_seed_at_a_time() {
    let first = report(&RunSpec { replicas: 3, seed: 9, ..demo("slc-cache", 1000) });
    let seeds = Arc::new(Mutex::new(vec![]));
    let asked = Arc::clone(&seeds);
    let executor = Executor::new(move |job, _| {
        let Job::Rerun { spec, report, workload: None } = job else { panic!("{job:?}") };
        asked.lock().unwrap().push(spec.seed);
        let again = rerun(report, None, 1, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(again.report.replicas.is_none());
        Some(Ok(again.report.to_json().unwrap()))
    });
    let with = (&Registry::standard(), Some(executor));
    let again = rerun_with(&first, None, with, 2, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(again.is_same());
    assert!(again.report.replicas == first.replicas);
    seeds.lock().unwrap().sort_unstable();
    assert_eq!(*seeds.lock().unwrap(), [9, 10, 11]);
}

#[test]
fn executor_errors_are_worded_by_each_front_end() {
    let said = ["--fit".to_string(), "fit=".to_string()];
    let wrong = Executor::new(move |_, _| {
        Some(Err(RunError::Executor { blame: Blame::Refused, said: said.clone() }))
    });
    let spec = RunSpec { replicas: 2, executor: Some(wrong), ..demo("conventional", 100) };
    let setup = Setup::resolve(&spec).unwrap();
    let schemes = ["conventional".to_string()];
    let e = compare(&setup, &schemes, 2, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!((e.blame(), e.exit_code()), (Blame::Refused, 2));
    assert_eq!([e.to_string(), e.on(Face::CommandLine), e.on(Face::Python)], ["--fit", "--fit", "fit="]);
}

#[test]
fn a_replicated_report_reproduces_every_replica() {
    let spec = RunSpec { replicas: 3, seed: 9, ..demo("slc-cache", 3000) };
    let first = Report::from_json(&report(&spec).to_json().unwrap()).unwrap();
    let again = rerun(&first, None, 2, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(again.is_same() && again.report.replicas == first.replicas);
    let mut forged = first.clone();
    forged.replicas.as_mut().unwrap().runs[1].result_hash = "0".repeat(16);
    let found = rerun(&forged, None, 2, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(!found.is_same());
    assert_eq!(found.differing_seeds, [10]);
}

#[test]
fn replicas_without_randomness_have_no_intervals() {
    let spec =
        RunSpec { replicas: 3, ..RunSpec::new("demo-8gb", "conventional", "sequential:read=0%,requests=2k") };
    let replicas = report(&spec).replicas.unwrap();
    assert!(replicas.are_identical() && replicas.figures.is_empty());
}

/// Overwriting a full small drive at random: collection begins at once, and evens out.
fn overwritten(requests: u64) -> RunSpec {
    RunSpec {
        requests: Some(requests),
        initial: "fill:100%,order=random".into(),
        ..RunSpec::new("demo-8gb", "conventional", "uniform:read=0%,bs=16KiB,qd=16")
    }
}

#[test]
fn filling_drive_is_steady_only_in_a_long_run() {
    let tiny = report(&overwritten(1000)).steady_state.unwrap();
    assert_eq!((tiny.reached, tiny.after), (Reached::TooShort, None));
    assert!(tiny.why.contains("at least 2,000"), "{}", tiny.why);

    // Nothing is erased yet, and everything as even as can be.
    let short = report(&overwritten(30_000)).steady_state.unwrap();
    assert_eq!((short.reached, short.after), (Reached::No, None));
    assert!(!tiny.stationary && !short.stationary);
    assert!(short.why.contains("erases 0 blocks"), "{}", short.why);

    let long = report(&overwritten(1_200_000));
    let waf = long.waf.as_ref().unwrap().total;
    let state = long.steady_state.clone().unwrap();
    assert_eq!((state.reached, state.stationary), (Reached::Yes, true), "{}", state.why);
    let (from, after) = (state.from.unwrap(), state.after.unwrap());
    assert!(from.share > 0.05 && from.share <= 0.5, "{from:?}");
    assert_eq!(from.requests + after.requests, long.host.requests);
    assert!((from.time_s + after.simulated_s - long.simulated_s).abs() < 1e-6);
    let known = after.waf.unwrap();
    assert!(known.mean > waf + 0.05, "{known:?} after the warm-up, {waf} with it");
    assert!(known.half_width_95.unwrap() < 0.05 * known.mean);
    assert!(after.read_latency_us.is_none());
}

/// Such reads were called steady, though the collection that follows delays them.
#[test]
fn reads_beside_rare_writes_are_unsteady_before_collection() {
    let reads = |writes: &str| {
        let of = format!("uniform:read={writes},qd=4,requests=20k");
        let spec = RunSpec { initial: "fill:60%".into(), ..RunSpec::new("demo-8gb", "conventional", &of) };
        report(&spec).steady_state.unwrap()
    };
    let few = reads("98%");
    assert_eq!((few.reached, few.stationary), (Reached::No, false), "{}", few.why);
    assert!(few.why.contains("the drive still fills up"), "{}", few.why);
    assert_eq!(reads("99.95%").reached, Reached::Yes);
}

/// Near what the drive can do, nothing drifts, but the mean of one run says little.
#[test]
fn noisy_run_without_drift_is_stationary() {
    let r = report(&RunSpec {
        initial: "fill:30%".into(),
        ..RunSpec::new("fair-tlc", "conventional", "uniform:read=100%,rate=100k,requests=5k")
    });
    let state = r.steady_state.unwrap();
    assert_eq!((state.reached, state.stationary), (Reached::TooShort, true), "{}", state.why);
    assert!(
        state.why.starts_with("the mean read latency after the warm-up has a half-width"),
        "{}",
        state.why
    );
}

// What follows the warm-up agrees with the whole run.
#[test]
fn reads_are_steady_and_the_rest_matches_the_whole() {
    let r = report(&RunSpec::new("demo-8gb", "conventional", "uniform:read=100%,qd=4,requests=20k"));
    let state = r.steady_state.unwrap();
    assert_eq!(state.reached, Reached::Yes, "{}", state.why);
    let after = state.after.unwrap();
    let (e, whole) = (after.read_latency_us.unwrap(), r.latency_us.read.unwrap().mean);
    assert!((e.mean / whole - 1.0).abs() < 0.02 && after.waf.is_none(), "{e:?} against {whole}");
}

#[test]
fn a_report_alone_reproduces_its_run() {
    let spec = RunSpec {
        set: [
            ("gc.victim", "fifo"),
            ("workload.read", "40%"),
            ("scheme.when_full", "wait"),
            ("medium.flash.tlc.program", "1800us"),
        ]
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .to_vec(),
        seed: 77,
        initial: "fill:60%,valid=80%+pe:tlc=30".into(),
        requests: Some(5000),
        ..RunSpec::new("demo-8gb", "slc-cache", "zipf:qd=8")
    };
    let first = report(&spec);
    let text = first.to_json().unwrap();
    let read = Report::from_json(&text).unwrap();
    assert!(read == first, "a report read back is the report");
    let again = rerun(&read, None, 1, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(again.is_same(), "{} became {}", again.recorded, again.report.result_hash);
    assert_eq!(again.report.config, first.config);
    assert_eq!(first.wear["tlc"].min, 30);
}

/// 3,000 cycles are the endurance of its TLC blocks.
#[test]
fn initial_wear_beyond_the_endurance_is_refused() {
    let with = |pe: &str| RunSpec {
        initial: format!("preload+pe:{pe}"),
        requests: Some(10),
        ..RunSpec::new("fair-tlc", "conventional", "uniform")
    };
    for (pe, says) in
        [("tlc=3001", "3001 P/E cycles are more than TLC blocks endure"), ("tlc=10..3001", "10..3001")]
    {
        let e = Setup::resolve(&with(pe)).unwrap_err().to_string();
        assert!(e.contains(says) && e.contains("allowed: up to 3000 cycles"), "{e}");
    }
    assert!(Setup::resolve(&with("tlc=2000..3000,slc=100000")).is_ok());
}

#[test]
fn retention_without_error_model_gets_a_hint() {
    let aged = RunSpec {
        initial: "fill:60%+retention:30d".into(),
        requests: Some(100),
        ..RunSpec::new("demo-8gb", "conventional", "uniform")
    };
    let told =
        |spec: &RunSpec| report(spec).hints.iter().any(|h| h.contains("so retention:30d of the initial"));
    assert!(told(&aged));
    let set = vec![("errors.model".to_string(), "raro".to_string())];
    assert!(!told(&RunSpec { set, ..aged }));
}

#[test]
fn writes_that_take_no_time_get_a_hint() {
    let told = |key: &str, value: &str| {
        let set = vec![(key.to_string(), value.to_string())];
        let requests = Some(100);
        let spec = RunSpec::new("fair-tlc", "slc-cache", "bursty:write_rate=50MB/s");
        let hints = report(&RunSpec { set, requests, ..spec }).hints;
        hints.iter().filter(|h| h.starts_with("writes take 0 µs: this device")).count()
    };
    assert_eq!(told("ack.pages", "64"), 1);
    assert_eq!(told("host.write_latency", "5us"), 0);
    assert_eq!(told("ack.mode", "program"), 0);
}

#[test]
fn copies_that_a_scheme_does_not_keep_apart_get_a_hint() {
    let told = |scheme: &str, copies: &str| {
        let set = vec![("gc.copies".to_string(), copies.to_string())];
        let hints = report(&RunSpec { set, ..demo(scheme, 100) }).hints;
        hints.iter().filter(|h| h.starts_with("gc.copies=apart has no effect: ")).count()
    };
    assert_eq!(told("slc-cache", "apart"), 1);
    assert_eq!(told("slc-cache", "together"), 0);
    for scheme in ["conventional", "conventional:streams=2", "slc-cache+conventional"] {
        assert_eq!(told(scheme, "apart"), 0, "{scheme}");
    }
}

#[test]
fn every_request_and_every_byte_is_in_the_report() {
    let r = report(&demo("slc-cache", 20_000));
    assert_eq!(r.host.requests, 20_000);
    assert_eq!(r.host.completed + r.host.failures(), r.host.requests);
    assert_eq!(r.host.asked().read_requests + r.host.asked().write_requests, 20_000);
    let waf = r.waf.as_ref().unwrap();
    let parts: f64 = waf.parts.values().flat_map(|k| k.values()).sum();
    let line = &r.timeline;
    let so_far = line.programmed_mb_per_s.iter().sum::<f64>() / line.write_page_mb_per_s.iter().sum::<f64>();
    assert!((so_far - waf.total).abs() < 1e-9, "{so_far} over time, {} in all", waf.total);
    assert!((parts - waf.total).abs() < 1e-9);
    let by_region: u64 = r.flash.regions.iter().map(|g| g.program_bytes).sum();
    let by_cause: u64 =
        r.flash.program_bytes.values().flat_map(|k| k.values()).flat_map(|g| g.values()).sum();
    assert_eq!(by_region, by_cause);
    let pages = (waf.total * r.host.page_bytes() as f64).round() as u64;
    assert_eq!(pages, by_cause);
    assert!(r.latency_cdf.write.len() <= 400 && r.latency_cdf.write.last().unwrap()[1] == 1.0);
    let write = r.latency_us.write.unwrap();
    assert!(write.p50 <= write.p99 && write.p99 <= write.max && write.mean <= write.max);
    assert!(write.p99 > 100.0, "no flash program is that fast: {write:?}");
    let written: f64 = r.timeline.write_mb_per_s.iter().sum::<f64>() * r.timeline.bin_s * 1e6;
    assert!((written - r.host.moved().write_bytes as f64).abs() < 1.0);
    assert!(r.capacity.live_bytes > 0 && r.capacity.live_bytes <= r.capacity.logical_bytes);
    assert_eq!(r.capacity.regions.len(), 2);
}

// 4 KiB in a mapping page of 16 KiB; no write is overwritten while it is buffered, since one is in flight at a time.
#[test]
fn waf_counts_bytes_as_written_and_rounded_up() {
    let waf = |size: &str| {
        let workload = format!("sequential:bs={size},align=16KiB,read=0%,qd=1,requests=512");
        let spec = RunSpec { initial: "fresh".into(), ..RunSpec::new("demo-8gb", "conventional", &workload) };
        report(&spec).waf.unwrap()
    };
    let (part, whole) = (waf("4KiB"), waf("16KiB"));
    assert!((part.per_host_byte.unwrap() / part.total - 4.0).abs() < 1e-12, "{part:?}");
    assert_eq!(whole.per_host_byte, None, "nothing was rounded up");
}

#[test]
fn a_preloaded_drive_finds_every_page_that_is_read() {
    let mut spec = demo("conventional", 4000);
    let full = report(&spec);
    assert!(
        !full.hints.iter().any(|h| h.contains("% of the pages read were unmapped and took no flash time")),
        "{:?}",
        full.hints
    );
    spec.initial = "fresh".into();
    spec.workload = "uniform:read=90%".into();
    let fresh = report(&spec);
    assert!(
        fresh.hints.iter().any(|h| h.contains("% of the pages read were unmapped and took no flash time")),
        "{:?}",
        fresh.hints
    );
}

#[test]
fn a_closed_loop_may_be_bounded_by_time() {
    let spec = RunSpec::new("demo-8gb", "conventional", "uniform:read=100%,qd=4,duration=200ms");
    let r = report(&spec);
    assert!((0.19..0.25).contains(&r.simulated_s), "{}", r.simulated_s);
    assert!(r.host.completed > 1000);
}

#[test]
fn a_mistake_is_the_users_and_says_what_is_allowed() {
    let good = demo("conventional", 100);
    let set = |k: &str, v: &str| RunSpec { set: vec![(k.into(), v.into())], ..good.clone() };
    let cases: [(RunSpec, &[&str]); 11] = [
        (
            RunSpec { device: "demo-8bg".into(), ..good.clone() },
            &["did you mean \"demo-8gb\"?", "list devices"],
        ),
        (RunSpec { scheme: "slc-cahce".into(), ..good.clone() }, &["did you mean \"slc-cache\"?"]),
        (RunSpec { workload: "brusty".into(), ..good.clone() }, &["did you mean \"bursty\"?"]),
        (set("gc.victm", "fifo"), &["victm", "did you mean \"victim\"?"]),
        (set("medium.flash.tlc.read", "75"), &["75", "unit"]),
        (
            set("capacity.logical", "1TiB"),
            &["capacity.logical", "exceeds the capacity of the flash in its densest mode"],
        ),
        (set("workload.raed", "1%"), &["raed", "allowed"]),
        (set("scheme.static", "1"), &["scheme.static", "allowed"]),
        (RunSpec { initial: "full".into(), ..good.clone() }, &["initial", "allowed"]),
        (RunSpec { replicas: 1001, ..good.clone() }, &["--replicas 1001", "1 to 1000"]),
        (
            RunSpec { requests: None, workload: "uniform:duration=1s,requests=0".into(), ..good.clone() },
            &["requests"],
        ),
    ];
    for (spec, says) in cases {
        let e = error(&spec);
        assert_eq!((e.blame(), e.exit_code()), (Blame::User, 2), "{e}");
        for word in says {
            assert!(e.to_string().contains(word), "{word:?} is not in: {e}");
        }
    }
}

#[test]
fn all_problems_of_a_device_are_reported_at_once() {
    let set = [("gc.victm", "fifo"), ("mapping.unit", "10"), ("slc_cache.when_full", "never")];
    let set = set.map(|(k, v)| (k.to_string(), v.to_string())).to_vec();
    let text = error(&RunSpec { set, ..demo("conventional", 100) }).to_string();
    for word in ["victm", "unit", "when_full"] {
        assert!(text.contains(word), "{word} is not in: {text}");
    }
}

#[test]
fn scheme_that_does_not_fit_is_refused_with_reason() {
    let e = error(&RunSpec { requests: Some(10), ..RunSpec::new("mqsim-qd1", "slc-cache", "uniform") });
    assert_eq!((e.blame(), e.exit_code()), (Blame::Refused, 2), "{e}");
    assert!(e.to_string().contains("slc-cache") && e.to_string().contains("mqsim-qd1"), "{e}");
}

#[test]
fn an_interrupted_run_gives_no_report() {
    let spec =
        RunSpec { requests: Some(200_000), ..RunSpec::new("demo-8gb", "conventional", "uniform:read=100%") };
    let e = run(&spec, &mut |_| ControlFlow::Break(())).unwrap_err();
    assert_eq!((e.blame(), e.exit_code()), (Blame::Interrupted, 130));
}

#[test]
fn a_run_without_collection_says_so() {
    let r = report(&demo("conventional", 1000));
    assert!(r.hints.iter().any(|h| h.contains("no GC happened")), "{:?}", r.hints);
}

#[test]
fn a_drive_that_cannot_follow_the_workload_says_so() {
    let fast =
        RunSpec { requests: Some(20_000), ..RunSpec::new("demo-8gb", "conventional", "uniform:rate=200k") };
    let hint = |r: &Report| r.hints.iter().any(|h| h.contains("faster than it completes them"));
    assert!(hint(&report(&fast)));
    assert!(!hint(&report(&RunSpec { workload: "uniform:rate=100".into(), requests: Some(500), ..fast })));
}

/// Collection once left a filled drive without a block to collect into.
#[test]
fn waiting_cache_has_room_on_a_95_percent_full_drive() {
    let device = format!("{}/tests/golden/hybrid.toml", env!("CARGO_MANIFEST_DIR"));
    for scheme in ["slc-cache:when_full=wait", "slc-cache:when_full=direct"] {
        for workload in ["uniform:bs=4KiB,qd=32", "sequential:bs=64KiB,qd=8", "zipf:bs=4KiB@50/32KiB@50,qd=8"]
        {
            for initial in ["fill:95%", "fill:95%,order=seq"] {
                let spec = RunSpec {
                    set: vec![("capacity.logical".into(), "14MiB".into())],
                    initial: initial.into(),
                    requests: Some(6000),
                    check: true,
                    ..RunSpec::new(&device, scheme, workload)
                };
                let r = report(&spec);
                assert_eq!((r.host.completed, r.host.failures()), (6000, 0), "{}", spec.shell_command());
                assert!(r.flash.erases["tlc"] > 0, "{}", spec.shell_command());
            }
        }
    }
}

#[test]
fn latency_hints_of_a_trace_guide_page_types_under_hgs() {
    // Fast pages first, so that the pages behind them may be programmed; then ten small writes.
    let rows = |hint: &str| {
        let large = (0..20).map(|n| format!("{n}00000,W,{},2097152,\n", n << 21));
        let small = (20..30).map(|n| format!("{n}00000,W,{},8192,{hint}\n", n << 21));
        std::iter::once("us,op,at,size,urgent\n".to_string()).chain(large).chain(small).collect::<String>()
    };
    let folder = tempfile::tempdir().unwrap();
    let dominated = |hint: &str, column: &str| {
        let path = folder.path().join(format!("{hint}.csv"));
        std::fs::write(&path, rows(hint)).unwrap();
        let spelling = format!("{}:format=csv,time=us:us,op=op,offset=at,size=size{column}", path.display());
        let report = report(&RunSpec::new("pa-ssd-288gb", "pa-ssd:HGS+LFS", &spelling));
        let counts = report.flash.page_types.unwrap().writes_dominated_by;
        ["lsb", "csb"].map(|page| counts.get(page).copied().unwrap_or(0))
    };
    assert_eq!(dominated("short", ",hint=urgent"), [30, 0]);
    assert_eq!(dominated("medium", ",hint=urgent"), [20, 10]);
    assert_eq!(dominated("", ",hint=urgent"), [30, 0]);
    assert_eq!(dominated("medium", ""), [30, 0]);
}

#[test]
fn full_cache_spares_a_nearly_empty_region_behind_it() {
    let small =
        ["channels=2", "chips_per_channel=1", "dies_per_chip=1", "planes_per_die=1", "blocks_per_plane=200"];
    let small = small.map(|s| format!("medium.flash.{s}"));
    let others = ["slc_cache.static_blocks=20", "gc.class=foreground", "capacity.logical=256MiB"];
    let set = small.iter().map(String::as_str).chain(others);
    let set = set.map(|s| s.split_once('=').unwrap()).map(|(k, v)| (k.to_string(), v.to_string()));
    let spec = RunSpec {
        requests: Some(15_000),
        set: set.collect(),
        ..RunSpec::new("hierarchy-44gb", "hierarchy:merged_to=next", "uniform:read=0%,bs=8KiB,qd=1024")
    };
    let flash = report(&spec).flash;
    assert!(flash.reads["migration"] > 10_000, "{:?}", flash.reads);
    assert_eq!(flash.reads["gc"], 0);
}
