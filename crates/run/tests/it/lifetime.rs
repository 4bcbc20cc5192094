//! Drives taken to wear-out: every scheme comes to an end, what was worn is what was written, and time on the
//! shelf costs retries.

use std::ops::ControlFlow;
use wordline_report::{Life, Lifetimes, accelerations_agree};
use wordline_run::{EndOfLife, LifetimeSpec, RunError, RunSpec, lifetime};
use wordline_units::SimDuration;

fn run(spec: &LifetimeSpec) -> Result<Lifetimes, RunError> {
    lifetime(spec, &|_| ControlFlow::Continue(()))
}

fn spec(device: &str, scheme: &str, workload: &str, set: &[(&str, &str)]) -> LifetimeSpec {
    let pairs = set.iter().map(|(k, v)| (k.to_string(), v.to_string()));
    LifetimeSpec {
        run: RunSpec { set: pairs.collect(), check: true, ..RunSpec::new(device, scheme, workload) },
        schemes: vec![scheme.to_string()],
        acceleration: Some(100),
        // A second life at half the acceleration, at twice the cost of the first.
        checks_acceleration: false,
        shelf: SimDuration::ZERO,
        end: EndOfLife::default(),
        threads: 2,
    }
}

/// RARO's drive with a few small blocks, 256 MiB of QLC.
const SMALL: [(&str, &str); 4] = [
    ("medium.flash.blocks_per_plane", "16"),
    ("medium.flash.wordlines_per_block", "64"),
    ("capacity.logical", "128MiB"),
    ("wear.spread", "10%"),
];

/// A drive that each scheme admits, with few blocks of a known endurance.
fn admitting(scheme: &str) -> (&'static str, Vec<(&'static str, &'static str)>) {
    match scheme {
        "raro" | "hotness" => {
            let endurance = [
                ("medium.flash.slc.endurance", "400"),
                ("medium.flash.tlc.endurance", "200"),
                ("medium.flash.qlc.endurance", "200"),
            ];
            ("raro-16gb", [&SMALL[..], &endurance].concat())
        }
        "hyssd" => (
            "hyssd-st",
            vec![
                ("medium.slc.channels", "4"),
                ("medium.*.blocks_per_plane", "16"),
                ("capacity.logical", "32MiB"),
                ("medium.slc.slc.endurance", "400"),
                ("medium.tlc.tlc.endurance", "200"),
            ],
        ),
        "pa-ssd" | "conventional-tlc" => (
            "pa-ssd-288gb",
            vec![
                ("medium.flash.channels", "2"),
                ("medium.flash.planes_per_die", "1"),
                ("medium.flash.blocks_per_plane", "20"),
                ("medium.flash.tlc.endurance", "200"),
                ("capacity.logical", "64MiB"),
            ],
        ),
        "turbo-write" | "ips" | "ips-agc" | "ips-cooperative" => (
            "ips-384gb",
            vec![
                ("medium.flash.channels", "2"),
                ("medium.flash.chips_per_channel", "1"),
                ("medium.flash.blocks_per_plane", "32"),
                ("medium.flash.slc.endurance", "400"),
                ("medium.flash.tlc.endurance", "200"),
                ("slc_cache.static_blocks", "4"),
                ("capacity.logical", "48MiB"),
            ],
        ),
        _ => (
            "demo-8gb",
            vec![
                ("medium.flash.blocks_per_plane", "24"),
                ("medium.flash.wordlines_per_block", "32"),
                ("medium.flash.slc.endurance", "400"),
                ("medium.flash.tlc.endurance", "200"),
                ("slc_cache.static_blocks", "4"),
                ("capacity.logical", "64MiB"),
            ],
        ),
    }
}

// A pass of half a drive write touches 39 % of the drive: repeated, it would leave the rest without a stale page, and WAF
// near 1. Between passes the idle drive collects, too.
#[test]
fn short_passes_amplify_writes_as_one_long_run_does() {
    const PAGES: u32 = 14_336;
    let (device, mut set) = admitting("conventional");
    set.retain(|(key, _)| *key != "capacity.logical");
    set.push(("capacity.logical", "224MiB"));
    let of = |requests| LifetimeSpec {
        acceleration: Some(4),
        ..spec(device, "conventional", &format!("uniform:read=0%,bs=16KiB,requests={requests}"), &set)
    };
    let life = run(&of(PAGES / 2)).unwrap();
    let whole = life.schemes[0].lives[0].phases.iter().rfind(|phase| phase.retired_blocks == 0).unwrap();
    let long = wordline_run::run(&of(PAGES * 60).run, &mut |_| ControlFlow::Continue(())).unwrap();
    let (life, long) = (whole.waf.unwrap(), long.waf.unwrap().total);
    assert!(life > 0.9 * long, "{life} in passes, {long} in one run");
}

#[test]
fn every_scheme_comes_to_an_end() {
    for entry in wordline_schemes::all() {
        let (device, mut set) = admitting(&entry.name);
        set.push(("wear.spread", "10%"));
        set.dedup_by_key(|(k, _)| *k);
        let spec = spec(device, &entry.name, "zipf:bs=16KiB,requests=5k", &set);
        let spec = LifetimeSpec { acceleration: Some(40), checks_acceleration: true, ..spec };
        let found = run(&spec).unwrap_or_else(|e| panic!("{}: {e}", entry.name));
        assert!(found.schemes[0].check.is_some(), "{}", entry.name);
        for life in found.schemes[0].lives.iter().chain(&found.schemes[0].check) {
            assert!(life.total_bytes_written > 0.0 && life.retired_blocks > 0, "{}", entry.name);
            let grows = life
                .phases
                .windows(2)
                .all(|w| w[0].drive_writes < w[1].drive_writes && w[0].retired_blocks <= w[1].retired_blocks);
            assert!(grows, "{}: {:?}", entry.name, life.phases);
        }
    }
}

/// What the life of the flash gave, in bytes programmed: every erase makes room for a block.
fn programmed(life: &Life, physical: f64, endurance: f64) -> f64 {
    life.phases.last().unwrap().life_used * endurance * physical
}

#[test]
fn wear_equals_programs_at_any_acceleration() {
    for acceleration in [20, 40] {
        let set = [&SMALL[..], &[("wear.dynamic", "true")]].concat();
        let spec = LifetimeSpec {
            acceleration: Some(acceleration),
            ..spec("raro-16gb", "conventional", "uniform:bs=16KiB,requests=25k", &set)
        };
        let life = &run(&spec).unwrap().schemes[0].lives[0];
        let worn = programmed(life, (1u64 << 28) as f64, 1000.0);
        let written = life.total_bytes_written * life.waf.unwrap();
        // The first filling of erased blocks needs no erase, and counts as often as an erase stands for.
        assert!((written / worn - 1.0).abs() < 0.06, "{acceleration}: {written} against {worn}");
    }
}

#[test]
fn the_same_seed_gives_the_same_life_and_seeds_differ() {
    let mut spec = spec("raro-16gb", "conventional", "zipf:bs=16KiB,requests=12k", &SMALL);
    spec.run.replicas = 2;
    let (once, again) = (run(&spec).unwrap(), run(&LifetimeSpec { threads: 1, ..spec }).unwrap());
    assert_eq!(once, again);
    let [a, b] = once.schemes[0].lives.as_slice() else { panic!("two lives") };
    assert!(a.seed != b.seed && a.total_bytes_written != b.total_bytes_written);
    let text = once.to_json().unwrap();
    assert_eq!(serde_json::from_str::<Lifetimes>(&text).unwrap(), once);
}

#[test]
fn time_on_the_shelf_costs_retries() {
    let set = [&SMALL[..], &[("errors.model", "raro")]].concat();
    let retries = |days: u64| {
        let shelf = SimDuration(days * 86_400 * 1_000_000_000);
        let spec = LifetimeSpec {
            shelf,
            ..spec("raro-16gb", "conventional", "zipf:read=50%,bs=16KiB,requests=12k", &set)
        };
        run(&spec).unwrap().schemes[0].lives[0].retries.unwrap()
    };
    let (none, month) = (retries(0), retries(30));
    assert!(month > none * 1.05, "{none} and {month}");
}

#[test]
fn what_cannot_be_lived_is_refused_with_its_reason() {
    let set = [&SMALL[..], &[("wear.acceleration", "7")]].concat();
    let odd = LifetimeSpec {
        acceleration: None,
        checks_acceleration: true,
        ..spec("raro-16gb", "conventional", "zipf:requests=1k", &set)
    };
    assert!(run(&odd).unwrap_err().to_string().contains("even number"));
    let reads = spec("raro-16gb", "conventional", "zipf:read=100%,requests=1k", &SMALL);
    assert!(run(&reads).unwrap_err().to_string().contains("writes nothing"));
    let unknown = spec("demo-8gb", "conventional", "zipf:requests=1k", &[]);
    assert!(run(&unknown).unwrap_err().to_string().contains("endurance"));
    let fine = [&SMALL[..], &[("wear.static", "150")]].concat();
    let fine = spec("raro-16gb", "conventional", "zipf:requests=1k", &fine);
    assert!(run(&fine).unwrap_err().to_string().contains("at every erase"));
}

#[test]
fn a_drive_is_over_at_the_end_that_is_asked_for() {
    // A small part of the drive is written, so that it would live on long after it holds less than its capacity.
    let mut set = SMALL.to_vec();
    set.extend([("capacity.logical", "240MiB"), ("wear.spread", "25%")]);
    set.dedup_by_key(|(k, _)| *k);
    set.retain(|(k, v)| *k != "capacity.logical" || *v == "240MiB");
    set.retain(|(k, v)| *k != "wear.spread" || *v == "25%");
    let live = |end: &str| {
        let spec = spec("raro-16gb", "conventional", "uniform:span=20%,bs=16KiB,requests=12k", &set);
        let spec = LifetimeSpec { end: end.parse().unwrap(), acceleration: Some(20), ..spec };
        let found = run(&spec).unwrap_or_else(|e| panic!("{e}"));
        assert!(!found.stopped && found.end == end);
        found.schemes[0].lives[0].clone()
    };
    let usable = |l: &Life| l.phases.last().unwrap().usable_bytes;
    let (spare, capacity, on) = (live("spare:50%"), live("capacity"), live("out-of-space"));
    assert_eq!(
        (&*spare.ended_by, &*capacity.ended_by, &*on.ended_by),
        ("spare:50%", "capacity", "out-of-space")
    );
    assert!(spare.drive_writes <= capacity.drive_writes && capacity.drive_writes < on.drive_writes);
    assert!(usable(&capacity) < 240 << 20 && usable(&on) < usable(&capacity), "{capacity:?}");
    assert!(usable(&spare) >= 240 << 20, "{spare:?}");
}

#[test]
fn a_life_that_is_stopped_keeps_what_was_lived() {
    let spec = spec("raro-16gb", "conventional", "zipf:bs=16KiB,requests=20k", &SMALL);
    let spec = LifetimeSpec { threads: 1, checks_acceleration: true, ..spec };
    let stop = |after: u64| {
        lifetime(&spec, &|p| {
            if p.passes >= after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    };
    let found = stop(3).unwrap();
    assert!(found.stopped);
    let life = &found.schemes[0].lives[0];
    assert!(life.is_stopped() && life.phases.len() == 3 && life.total_bytes_written > 0.0, "{life:?}");
    assert!(accelerations_agree(&found.schemes[0]).is_none());
    assert!(matches!(stop(0), Err(RunError::Interrupted)), "nothing was lived");
}

#[test]
fn lifetimes_have_the_command_that_repeats_them() {
    let mut asked = spec("raro-16gb", "raro", "zipf:read=50%,bs=16KiB", &SMALL);
    asked.schemes.push("conventional".to_string());
    (asked.run.check, asked.shelf, asked.end) =
        (false, SimDuration(86_400_000_000_000), EndOfLife::OutOfSpace);
    assert_eq!(
        asked.command().join(" "),
        "wordline lifetime --device raro-16gb --workload zipf:read=50%,bs=16KiB --scheme raro --scheme conventional \
         --acceleration 100 --shelf 86400s --end out-of-space --set medium.flash.blocks_per_plane=16 \
         --set medium.flash.wordlines_per_block=64 --set capacity.logical=128MiB --set wear.spread=10%"
    );
    let plain =
        LifetimeSpec { acceleration: None, shelf: SimDuration::ZERO, end: EndOfLife::default(), ..asked };
    assert!(plain.command().join(" ").contains("--scheme conventional --set medium"));
}
