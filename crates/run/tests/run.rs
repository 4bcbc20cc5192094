//! One experiment from its words to the report, and what is said when the words are wrong.

#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, beside the test functions

use std::ops::ControlFlow;
use wordline_report::Report;
use wordline_run::{Blame, RunError, RunSpec, Setup, compare, rerun, run};

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
fn the_same_seed_gives_the_same_report_twice_and_on_any_number_of_threads() {
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
    let again = rerun(&read, None, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(again.is_same(), "{} became {}", again.recorded, again.report.result_hash);
    assert_eq!(again.report.config, first.config);
    assert_eq!(first.wear["tlc"].min, 30);
}

#[test]
fn every_request_and_every_byte_is_in_the_report() {
    let r = report(&demo("slc-cache", 20_000));
    assert_eq!(r.host.requests, 20_000);
    assert_eq!(r.host.completed + r.host.failures(), r.host.requests);
    assert_eq!(r.host.read_requests + r.host.write_requests, 20_000);
    let waf = r.waf.as_ref().unwrap();
    let parts: f64 = waf.parts.values().flat_map(|k| k.values()).sum();
    assert!((parts - waf.total).abs() < 1e-9);
    let by_region: u64 = r.flash.regions.iter().map(|g| g.program_bytes).sum();
    let by_cause: u64 =
        r.flash.program_bytes.values().flat_map(|k| k.values()).flat_map(|g| g.values()).sum();
    assert_eq!(by_region, by_cause);
    let pages = (waf.total * r.host.write_page_bytes as f64).round() as u64;
    assert_eq!(pages, by_cause);
    assert!(r.latency_cdf.write.len() <= 400 && r.latency_cdf.write.last().unwrap()[1] == 1.0);
    let write = r.latency_us.write.unwrap();
    assert!(write.p50 <= write.p99 && write.p99 <= write.max && write.mean <= write.max);
    assert!(write.p99 > 100.0, "no flash program is that fast: {write:?}");
    let written: f64 = r.timeline.write_mb_per_s.iter().sum::<f64>() * r.timeline.bin_s * 1e6;
    assert!((written - r.host.write_bytes as f64).abs() < 1.0);
    assert!(r.capacity.live_bytes > 0 && r.capacity.live_bytes <= r.capacity.logical_bytes);
    assert_eq!(r.capacity.regions.len(), 2);
}

#[test]
fn a_preloaded_drive_finds_every_page_that_is_read() {
    let mut spec = demo("conventional", 4000);
    let full = report(&spec);
    assert!(!full.hints.iter().any(|h| h.contains("never written")), "{:?}", full.hints);
    spec.initial = "fresh".into();
    spec.workload = "uniform:read=90%".into();
    let fresh = report(&spec);
    assert!(fresh.hints.iter().any(|h| h.contains("never written")), "{:?}", fresh.hints);
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
    let cases: [(RunSpec, &[&str]); 10] = [
        (
            RunSpec { device: "demo-8bg".into(), ..good.clone() },
            &["did you mean \"demo-8gb\"?", "list devices"],
        ),
        (RunSpec { scheme: "slc-cahce".into(), ..good.clone() }, &["did you mean \"slc-cache\"?"]),
        (RunSpec { workload: "brusty".into(), ..good.clone() }, &["did you mean \"bursty\"?"]),
        (set("gc.victm", "fifo"), &["victm", "did you mean \"victim\"?"]),
        (set("medium.flash.tlc.read", "75"), &["75", "unit"]),
        (set("capacity.logical", "1TiB"), &["capacity.logical", "more than the flash holds"]),
        (set("workload.raed", "1%"), &["raed", "allowed"]),
        (set("scheme.static", "1"), &["scheme.static", "allowed"]),
        (RunSpec { initial: "full".into(), ..good.clone() }, &["initial", "allowed"]),
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
fn a_scheme_that_does_not_fit_the_device_is_refused_with_the_reason() {
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
    assert!(r.hints.iter().any(|h| h.contains("no collection happened")), "{:?}", r.hints);
}

#[test]
fn a_drive_that_cannot_follow_the_workload_says_so() {
    let fast =
        RunSpec { requests: Some(20_000), ..RunSpec::new("demo-8gb", "conventional", "uniform:rate=200k") };
    let hint = |r: &Report| r.hints.iter().any(|h| h.contains("faster than the drive"));
    assert!(hint(&report(&fast)));
    assert!(!hint(&report(&RunSpec { workload: "uniform:rate=100".into(), requests: Some(500), ..fast })));
}

/// Collection once left a filled drive without a block to collect into.
#[test]
fn a_cache_that_waits_has_room_on_a_drive_that_is_filled_to_95_percent() {
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
                assert_eq!((r.host.completed, r.host.failures()), (6000, 0), "{}", spec.command());
                assert!(r.flash.erases["tlc"] > 0, "{}", spec.command());
            }
        }
    }
}
