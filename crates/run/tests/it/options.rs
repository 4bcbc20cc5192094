//! Each option of a drive changes what comes out in the direction that theory says. The drive is small, and one thing
//! differs between two runs.

use std::io::Write;
use std::ops::ControlFlow;
use wordline_report::Report;
use wordline_run::{RunSpec, Setup, run, run_length, verdict_bytes};

/// A quarter of the small drive with all of its dies, for latencies of runs that begin steady.
const SHALLOW: &[(&str, &str)] = &[("medium.flash.wordlines_per_block", "32"), ("capacity.logical", "2GiB")];
/// A quarter with blocks as they are, on which write amplification depends, and the same with less to spare.
const ROOMY: &[(&str, &str)] = &[("medium.flash.channels", "1"), ("capacity.logical", "2GiB")];
const TIGHT: &[(&str, &str)] = &[("medium.flash.channels", "1"), ("capacity.logical", "2304MiB")];

/// A run of `conventional` on the small drive, with further settings.
fn report(workload: &str, initial: &str, requests: u64, sets: &[&[(&str, &str)]]) -> Report {
    report_of(workload, initial, Some(requests), sets)
}

/// The same of a workload that ends by itself.
fn report_of(workload: &str, initial: &str, requests: Option<u64>, sets: &[&[(&str, &str)]]) -> Report {
    let spec = RunSpec {
        set: sets.iter().copied().flatten().map(|(k, v)| (k.to_string(), v.to_string())).collect(),
        requests,
        initial: initial.to_string(),
        check: true,
        ..RunSpec::new("demo-8gb", "conventional", workload)
    };
    run(&spec, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Uniform writes on a drive in its steady state.
fn collecting(drive: &[(&str, &str)], set: &[(&str, &str)]) -> Report {
    report("uniform:bs=16KiB,qd=16", "steady", 30_000, &[drive, set])
}

/// Reads and writes on a drive in its steady state.
fn mixed(set: &[(&str, &str)]) -> Report {
    report("uniform:bs=16KiB,qd=16,read=70%", "steady", 30_000, &[SHALLOW, set])
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
fn channels_dies_and_bus_speed_raise_read_iops() {
    let rate = |sets: &[&[(&str, &str)]]| reads(sets).throughput.iops;
    // With the same capacity behind fewer of them.
    let halves = |key| [(key, "1"), ("medium.flash.blocks_per_plane", "448")];
    let all = rate(&[]);
    assert!(all > 1.3 * rate(&[&halves("medium.flash.dies_per_chip")]));
    assert!(all > 1.5 * rate(&[&[("medium.flash.channels", "2"), ("medium.flash.blocks_per_plane", "448")]]));
    assert!(all > 1.5 * rate(&[&[("medium.flash.bus.rate", "100MT/s")]]));
}

#[test]
fn controller_time_adds_latency_but_keeps_throughput() {
    let controller: &[(&str, &str)] = &[("host.read_latency", "10us")];
    let alone = |sets| {
        let r = report("uniform:bs=16KiB,qd=1,read=100%", "fill:100%", 1_000, &[sets]);
        r.latency_us.read.unwrap().mean
    };
    assert!((alone(controller) - alone(&[]) - 10.0).abs() < 0.01);
    let many =
        |sets| report("uniform:bs=16KiB,qd=256,read=100%", "fill:100%", 10_000, &[sets]).throughput.iops;
    assert!(many(controller) > 0.99 * many(&[]));
}

#[test]
fn more_space_to_spare_lowers_write_amplification() {
    assert!(waf(&collecting(ROOMY, &[])) < 0.8 * waf(&collecting(TIGHT, &[])));
}

#[test]
fn no_victim_rule_beats_greedy_under_uniform_writes() {
    let of = |rule| waf(&collecting(TIGHT, &[("gc.victim", rule)]));
    let greedy = of("greedy");
    // A random victim is as live as the plane: the most that a rule without malice costs.
    let random = of("random");
    for rule in ["fifo", "d-choices:4", "windowed-greedy:30", "cost-benefit"] {
        let waf = of(rule);
        assert!(waf > 0.99 * greedy, "{rule}");
        assert!(rule == "windowed-greedy:30" || waf < random, "{rule}");
    }
}

#[test]
fn background_gc_leaves_turns_to_reads_and_writes() {
    let mean = |class| mixed(&[("gc.class", class)]).latency_us.read.unwrap().mean;
    assert!(mean("background") < mean("foreground"));
}

#[test]
fn suspension_lowers_the_tail_of_reads() {
    let suspends: &[(&str, &str)] = &[("service.suspend.program", "20us"), ("service.suspend.erase", "30us")];
    assert!(read_p99(&mixed(suspends)) < 0.5 * read_p99(&mixed(&[])));
}

#[test]
fn fifo_service_makes_reads_wait_longer() {
    let mean = |order| mixed(&[("service.order", order)]).latency_us.read.unwrap().mean;
    assert!(mean("first-come") > 1.1 * mean("read-first"));
}

#[test]
fn larger_read_share_cuts_read_tail_and_costs_writes() {
    let of = |read, write| {
        let r = mixed(&[
            // Or writes go where nobody reads, and have nothing to pay for.
            ("allocation.order", "CWDP"),
            ("service.order", "shares"),
            ("service.shares.read", read),
            ("service.shares.write", write),
            ("service.shares.collection", write),
        ]);
        (read_p99(&r), r.latency_us.write.unwrap().mean)
    };
    let [few, more, most] = [("1", "20"), ("1", "1"), ("20", "1")].map(|(read, write)| of(read, write));
    assert!(more.0 < few.0 && most.0 < few.0, "{few:?} {more:?} {most:?}");
    assert!(most.1 > few.1, "{few:?} {more:?} {most:?}");
}

#[test]
fn holding_buffer_programs_fewer_hot_pages() {
    let programmed = |flush| {
        let sets: &[(&str, &str)] = &[("ack.mode", "buffer"), ("ack.pages", "1024"), ("ack.flush", flush)];
        let r = report("zipf:theta=1,bs=16KiB,qd=4", "fill:100%", 30_000, &[sets]);
        r.flash.programs["host"].program
    };
    let [at_once, idle, when_full] = ["at-once", "idle", "when-full"].map(programmed);
    assert!(when_full as f64 * 1.2 < at_once as f64 && idle <= at_once, "{at_once} {idle} {when_full}");
}

#[test]
fn hot_and_cold_streams_lower_write_amplification() {
    let text = "[global]\nioengine=libaio\nbs=16k\nrw=randwrite\nnorandommap\ntime_based\nruntime=1000\n\
                [hot]\nsize=140m\niodepth=9\nwrite_hint=short\n\
                [cold]\noffset=140m\nsize=1300m\niodepth=1\nwrite_hint=long\n";
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let small: &[(&str, &str)] =
        &[("slc_cache", "off"), ("medium.flash.blocks_per_plane", "48"), ("capacity.logical", "1500MiB")];
    let of = |streams| {
        let sets = [small, &[("scheme.streams", streams)]];
        waf(&report_of(&file.path().display().to_string(), "fill:100%", Some(300_000), &sets))
    };
    let (together, apart) = (of("0"), of("2"));
    assert!(apart < 0.95 * together, "{together} {apart}");
}

// Pages of a stream that die together are copied less where the trace names the streams.
#[test]
fn trace_streams_of_one_lifetime_copy_fewer_pages() {
    // Two logs that are written round and round, a short one and a long one; only their stream tells them apart.
    let (mut rows, logs) = ("at,op,page,stream\n".to_string(), [0..9_216, 9_216..92_160]);
    let mut next = [0, 0];
    for n in 0..300_000usize {
        let log = n % 2;
        let pages = &logs[log];
        rows += &format!("{n},w,{},{}\n", pages.start + next[log] % pages.len(), log + 1);
        next[log] += 1;
    }
    let mut file = tempfile::NamedTempFile::with_suffix(".csv").unwrap();
    file.write_all(rows.as_bytes()).unwrap();
    let small: &[(&str, &str)] = &[
        ("slc_cache", "off"),
        ("medium.flash.blocks_per_plane", "48"),
        ("capacity.logical", "1500MiB"),
        ("scheme.streams", "2"),
    ];
    let of = |column: &str| {
        let options = "closed=64,format=csv,time=at:us,offset=page:16KiB,size=always:16KiB,op=op";
        let workload = format!("{}:{options}{column}", file.path().display());
        report_of(&workload, "fill:100%", None, &[small]).waf.unwrap()
    };
    let (together, apart) = (of(""), of(",stream=stream"));
    assert!(apart.without_pad < 0.9 * together.without_pad, "{together:?} {apart:?}");
    assert!(apart.total < 0.95 * together.total, "{together:?} {apart:?}");
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
fn smaller_journal_raises_reads_and_bounds_changes() {
    let of = |size| {
        let sets: &[(&str, &str)] = &[
            ("slc_cache", "off"),
            ("medium.flash.blocks_per_plane", "48"),
            ("capacity.logical", "1500MiB"),
            ("dram.map_cache", "64KiB"),
            ("dram.map_journal", size),
        ];
        let r = report("uniform:bs=16KiB,qd=4", "fill:100%", 40_000, &[sets]);
        let map = r.flash.map.unwrap_or_default();
        (map.reads, map.programs, map.journal_peak_bytes)
    };
    let [all, large, small] = ["unbounded", "512B", "128B"].map(of);
    assert!(all.0 < large.0 && large.0 < small.0, "{all:?} {large:?} {small:?}");
    assert!(all.1 < large.1 && large.1 < small.1, "{all:?} {large:?} {small:?}");
    // Beyond the bound is what changed in pages of the map while they were read or programmed: no more than all that the
    // smallest holds.
    assert!(large.2 < 512 + small.2 && 3 * large.2 < 2 * all.2, "{all:?} {large:?} {small:?}");
}

#[test]
fn smaller_map_cache_raises_reads_and_latency() {
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

/// Writes of one page at a time go to the planes of their addresses: a die has a page at hand for one or two of its
/// planes, where superblocks have one for each.
#[test]
fn superblocks_fill_the_planes_of_a_die_together() {
    let planes: &[(&str, &str)] = &[
        ("medium.flash.planes_per_die", "4"),
        ("parallel.multiplane", "opportunistic"),
        ("allocation.order", "CWDP"),
    ];
    let rate = |how| {
        let how: &[(&str, &str)] = &[("parallel.superblock", how)];
        report("uniform:bs=16KiB,qd=8", "fresh", 5_000, &[planes, how]).throughput.mb_per_s
    };
    let (die, off) = (rate("die"), rate("off"));
    assert!(die > 1.02 * off, "{die} {off}");
}

/// Sequential writes fill superpages. One page of each is parity, which a saturated drive pays with as much of its rate.
#[test]
fn parity_takes_its_share_of_programs_and_rate() {
    let room: &[(&str, &str)] =
        &[("slc_cache", "off"), ("capacity.logical", "6GiB"), ("parallel.superblock", "drive")];
    let ran =
        |how| report("sequential:bs=16KiB,qd=64", "fresh", 20_000, &[room, &[("parallel.parity", how)]]);
    let (off, on) = (ran("off"), ran("superpage"));
    let bytes = |r: &Report, cause| r.waf.as_ref().unwrap().cause(cause);
    let planes =
        f64::from(wordline_device::find("demo-8gb").unwrap().spec(&[]).unwrap().geometry().unwrap().planes);
    assert!(!off.flash.program_bytes.contains_key("parity"));
    let share = bytes(&on, "parity") / waf(&on);
    assert!((share * planes - 1.0).abs() < 0.01, "{share}");
    assert!((waf(&off) / waf(&on) + share - 1.0).abs() < 0.01, "{} {}", waf(&on), waf(&off));
    let rate = on.throughput.mb_per_s / off.throughput.mb_per_s;
    assert!((rate * planes / (planes - 1.0) - 1.0).abs() < 0.02, "{rate}");
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

/// The 99th percentiles of the reads of two jobs, us: one behind the other's back, with a priority of its own.
fn of_two_jobs(prioclass: &str, sets: &[&[(&str, &str)]]) -> (f64, f64) {
    let text = format!(
        "[global]\nioengine=libaio\nbs=16k\nrw=randread\nnorandommap\nsize=1g\ntime_based\nruntime=1\n\
         [front]\niodepth=2\nprioclass={prioclass}\n[back]\niodepth=64\n"
    );
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let sets: Vec<_> = [&[("host.queue_depth", "16")][..]].into_iter().chain(sets.iter().copied()).collect();
    let r = report_of(&file.path().display().to_string(), "fill:100%", None, &sets);
    let p99 = |name: &str| {
        let queue = r.queues.iter().find(|q| q.name == name).unwrap();
        queue.read.as_ref().unwrap().percentile_ns(99.0).unwrap() as f64 / 1e3
    };
    (p99("front"), p99("back"))
}

#[test]
fn urgent_queue_waits_less_than_rotating_and_low_ones() {
    let weighted: &[(&str, &str)] = &[
        ("host.arbitration", "weighted"),
        ("host.weights.high", "8"),
        ("host.weights.medium", "64"),
        ("host.weights.low", "1"),
    ];
    let turns: &[(&str, &str)] = &[("host.arbitration", "round-robin")];
    let (urgent, behind) = of_two_jobs("1", &[weighted]);
    let (alike, _) = of_two_jobs("1", &[turns]);
    let (low, _) = of_two_jobs("3", &[weighted]);
    assert!(urgent <= alike && alike < 0.5 * low, "{urgent} {alike} {low}");
    assert!(urgent < 0.5 * behind, "{urgent} {behind}");
}

/// What is told of a run before it begins, of bounds of every kind, beside what the workload comes to.
#[test]
fn length_of_run_is_known_beforehand() {
    let length = |workload: &str, requests| {
        let spec = RunSpec { requests, ..RunSpec::new("fair-tlc", "conventional", workload) };
        run_length(&Setup::resolve(&spec).unwrap())
    };
    let near = |a: u64, b: u64| (a as f64 / b as f64 - 1.0).abs() < 0.01;
    let page = 16 << 10;
    let all = length("uniform:read=25%,bs=16KiB,requests=1M", None).unwrap();
    assert!(!all.is_exact && near(all.requests, 1_000_000), "{all:?}");
    assert!(near(all.write_bytes, 750_000 * page) && near(all.bytes, 1_000_000 * page), "{all:?}");
    let few = length("uniform:read=25%,bs=16KiB,requests=1M", Some(500)).unwrap();
    assert!(few.is_exact && few.requests == 500 && few.bytes == 500 * page, "{few:?}");
    let bytes = length("uniform:read=50%,bs=16KiB,bytes=4GiB", None).unwrap();
    assert!(near(bytes.write_bytes, 4 << 30) && near(bytes.requests, 2 * (4 << 30) / page), "{bytes:?}");
    let open = length("uniform:read=50%,bs=16KiB,rate=100k,duration=4s", None).unwrap();
    assert!(near(open.requests, 400_000), "{open:?}");
    // Time ends a closed loop: how far it comes is the drive's.
    assert_eq!(length("uniform:read=50%,bs=16KiB,duration=4s", None), None);
    // A verdict needs the drive full, and ten blocks of each plane collected; a steady one begins full.
    let bytes = |initial: &str| {
        let spec = RunSpec {
            initial: initial.into(),
            ..RunSpec::new("fair-tlc", "conventional", "uniform:read=0%,bs=16KiB,requests=9")
        };
        let setup = Setup::resolve(&spec).unwrap();
        (verdict_bytes(&setup), setup.device.logical_bytes(), setup.device.physical_bytes())
    };
    let (fresh, logical, physical) = bytes("fresh");
    assert!(fresh > physical && fresh > logical / 10);
    assert!(bytes("steady").0 + physical == fresh, "{:?}", bytes("steady"));
}
