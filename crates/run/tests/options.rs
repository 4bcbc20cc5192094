//! Each option of a drive changes what comes out in the direction that theory says. The drive is small, and one thing
//! differs between two runs.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

use std::ops::ControlFlow;
use wordline_report::Report;
use wordline_run::{RunSpec, run};

const TIGHT: &[(&str, &str)] = &[("capacity.logical", "9GiB")];

/// A run of `conventional` on the small drive, with further settings.
fn report(workload: &str, initial: &str, requests: u64, sets: &[&[(&str, &str)]]) -> Report {
    let spec = RunSpec {
        set: sets.iter().copied().flatten().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        requests: Some(requests),
        initial: initial.to_string(),
        check: true,
        ..RunSpec::new("demo-8gb", "conventional", workload)
    };
    run(&spec, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Uniform writes on a drive in its steady state.
fn collecting(sets: &[&[(&str, &str)]]) -> Report {
    report("uniform:bs=16KiB,qd=16", "steady", 30_000, sets)
}

/// Reads and writes on a drive in its steady state.
fn mixed(sets: &[&[(&str, &str)]]) -> Report {
    report("uniform:bs=16KiB,qd=16,read=70%", "steady", 30_000, sets)
}

fn reads(sets: &[&[(&str, &str)]]) -> Report {
    report("uniform:bs=16KiB,qd=32,read=100%", "fill:100%", 30_000, sets)
}

fn read_p99(r: &Report) -> f64 {
    r.latency_us.read.unwrap().p99
}

fn waf(r: &Report) -> f64 {
    r.waf.as_ref().unwrap().total
}

#[test]
fn more_channels_dies_and_a_faster_bus_bring_more_reads_a_second() {
    let rate = |sets: &[&[(&str, &str)]]| reads(sets).throughput.iops;
    // With the same capacity behind fewer of them.
    let halves = |key| [(key, "1"), ("medium.flash.blocks_per_plane", "448")];
    let all = rate(&[]);
    assert!(all > 1.3 * rate(&[&halves("medium.flash.dies_per_chip")]));
    assert!(all > 1.5 * rate(&[&[("medium.flash.channels", "2"), ("medium.flash.blocks_per_plane", "448")]]));
    assert!(all > 1.5 * rate(&[&[("medium.flash.bus.rate", "100MT/s")]]));
}

#[test]
fn more_space_to_spare_lowers_write_amplification() {
    assert!(waf(&collecting(&[])) < 0.8 * waf(&collecting(&[TIGHT])));
}

#[test]
fn no_rule_for_victims_beats_greedy_under_uniform_writes() {
    let of = |rule| waf(&collecting(&[TIGHT, &[("gc.victim", rule)]]));
    let greedy = of("greedy");
    for rule in ["fifo", "d-choices:4", "windowed-greedy:30", "cost-benefit"] {
        assert!(of(rule) > 0.99 * greedy, "{rule}");
    }
    // A random victim is as live as the plane: the most that a rule without malice costs.
    let random = of("random");
    assert!(["fifo", "d-choices:4", "cost-benefit"].into_iter().all(|rule| of(rule) < random));
}

#[test]
fn collection_in_the_background_leaves_reads_and_writes_their_turn() {
    let mean = |class| mixed(&[&[("gc.class", class)]]).latency_us.read.unwrap().mean;
    assert!(mean("background") < mean("foreground"));
}

#[test]
fn suspension_lowers_the_tail_of_reads() {
    let suspends: &[(&str, &str)] = &[("service.suspend.program", "20us"), ("service.suspend.erase", "30us")];
    assert!(read_p99(&mixed(&[suspends])) < 0.5 * read_p99(&mixed(&[])));
}

#[test]
fn reads_wait_longer_where_whoever_comes_first_is_served_first() {
    let mean = |order| mixed(&[&[("service.order", order)]]).latency_us.read.unwrap().mean;
    assert!(mean("first-come") > 1.1 * mean("read-first"));
}

#[test]
fn a_larger_read_cache_leaves_fewer_reads_to_flash() {
    let from_flash = |size| {
        let r = report(
            "zipf:theta=1,bs=16KiB,read=100%,qd=4",
            "fill:100%",
            30_000,
            &[&[("dram.read_cache", size)]],
        );
        r.flash.reads["host"]
    };
    let [off, small, large] = ["off", "16MiB", "256MiB"].map(from_flash);
    assert!(off > small && small > large, "{off} {small} {large}");
}

#[test]
fn a_smaller_cache_of_the_map_raises_reads_and_latency() {
    let of = |size| {
        let sets: &[(&str, &str)] = &[("dram.map_cache", size)];
        let r = report("uniform:bs=16KiB,qd=4,read=70%", "fill:100%", 20_000, &[sets]);
        let map = r.flash.map.unwrap_or_default();
        assert_eq!(map.reads, r.flash.reads.get("metadata").copied().unwrap_or(0), "{size}");
        // Of uniform look-ups as large a share hits as RAM has of the map.
        let expected = map.cached_pages as f64 / map.pages.max(1) as f64;
        assert!((map.hit_share.unwrap_or(0.0) - expected).abs() < 0.02, "{map:?}");
        (map.reads, map.programs, r.latency_us.read.unwrap().mean)
    };
    let [off, large, small] = ["off", "1MiB", "64KiB"].map(of);
    assert!(off.0 == 0 && off.1 == 0);
    assert!(off.0 < large.0 && 1.8 * (large.0 as f64) < small.0 as f64, "{off:?} {large:?} {small:?}");
    assert!(large.1 < small.1 && off.2 < large.2 && 1.1 * large.2 < small.2, "{off:?} {large:?} {small:?}");
}

#[test]
fn a_second_register_overlaps_sensing_and_transfer() {
    let one_die: &[(&str, &str)] = &[
        ("medium.flash.dies_per_chip", "1"),
        ("medium.flash.blocks_per_plane", "448"),
        ("medium.flash.bus.rate", "200MT/s"),
    ];
    let rate = |cache| {
        let cache: &[(&str, &str)] = &[("medium.flash.cache_register", cache)];
        let workload = "sequential:bs=64KiB,read=100%,qd=8";
        report(workload, "fill:100%", 5_000, &[one_die, cache]).throughput.mb_per_s
    };
    assert!(rate("read") > 1.5 * rate("off"));
}

#[test]
fn planes_that_work_together_write_more_at_once() {
    let planes: &[(&str, &str)] = &[("medium.flash.planes_per_die", "2")];
    let rate = |how| {
        let how: &[(&str, &str)] = &[("parallel.multiplane", how)];
        report("sequential:bs=64KiB,qd=64", "fresh", 5_000, &[planes, how]).throughput.mb_per_s
    };
    assert!(rate("opportunistic") > 1.5 * rate("off"));
}

#[test]
fn static_levelling_narrows_the_spread_of_erases() {
    let small: &[(&str, &str)] =
        &[("slc_cache", "off"), ("medium.flash.blocks_per_plane", "40"), ("capacity.logical", "1500MiB")];
    let sigma = |beyond| {
        let levels: &[(&str, &str)] = &[("wear.static", beyond)];
        let r = report("hot-cold:bs=16KiB,qd=8", "fill:100%", 400_000, &[small, levels]);
        r.wear["tlc"].sigma
    };
    assert!(sigma("2") < 0.7 * sigma("off"));
}
