//! What a user gets to read for each kind of mistake.

use proptest::prelude::*;
use std::collections::BTreeMap;
use wordline_device::config::{Problems, Section};
use wordline_device::*;
use wordline_units::{Fraction, SimDuration};

const GOOD: &str = r#"[device]
name = "x"
[medium.flash]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 64
wordlines_per_block = 32
page = "16KiB"
bus = { rate = "800MB/s" }
[medium.flash.slc]
read = "20us"
program = "200us"
erase = "2ms"
[medium.flash.tlc]
read = ["40us", "60us", "80us"]
program = "700us"
one_shot = true
erase = "3ms"
[capacity]
over_provisioning = "7%"
[gc]
trigger = "free_blocks < 5%"
[ack]
mode = "buffer"
pages = 64
[slc_cache]
static_blocks = 8
trigger = "free_blocks:50%"
"#;

fn read(text: &str, sets: &[(&str, &str)]) -> Result<DeviceSpec, String> {
    let sets: Vec<_> = sets.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    wordline_device::from_toml(text, "devices/x.toml", &sets).map_err(|e| e.to_string())
}

fn good(sets: &[(&str, &str)]) -> DeviceSpec {
    read(GOOD, sets).unwrap_or_else(|e| panic!("{e}"))
}

/// The message for GOOD with one text replaced.
fn broken(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from:?}");
    read(&GOOD.replacen(from, to, 1), &[]).expect_err("a mistake")
}

fn broken_by(path: &str, value: &str) -> String {
    read(GOOD, &[(path, value)]).expect_err("a mistake")
}

#[test]
fn unknown_key_gets_the_key_that_was_meant() {
    assert_eq!(
        broken("over_provisioning =", "over_provisoning ="),
        "devices/x.toml:21: missing key \"over_provisioning\" in [capacity], such as over_provisioning = \
         \"7%\" (or logical = \"40GiB\")\n\
         devices/x.toml:22: unknown key \"over_provisoning\"; did you mean \"over_provisioning\"?"
    );
    assert_eq!(
        broken("[ack]", "[akc]\nx = 1\n[ack]"),
        "devices/x.toml:25: unknown key \"akc\"; did you mean \"ack\"?"
    );
    assert!(broken("name = \"x\"", "zzz = 1").contains("allowed keys: name, description"));
    assert!(broken("name = \"x\"", "name = \"\"").contains("device.name: a device needs a name"));
    let set = |key: &str| read(GOOD, &[(key, "fifo")]).expect_err("a key of no table");
    for key in ["victim", "gc_victim"] {
        assert!(set(key).contains("did you mean \"gc.victim\"?"), "{}", set(key));
    }
    // Two tables have it.
    assert!(set("trigger").contains("allowed keys: device, medium"), "{}", set("trigger"));
}

#[test]
fn a_wrong_or_missing_unit_is_named() {
    assert_eq!(
        broken("read = \"20us\"", "read = 20"),
        "devices/x.toml:13: medium.flash.slc.read: \"20\" is not a time such as \"75us\"; \
         the unit is missing; allowed: ns, us, ms, s, min, h, d"
    );
    assert!(
        broken("\"16KiB\"", "\"16us\"")
            .contains("devices/x.toml:10: medium.flash.page: \"16us\" is not a size")
    );
    assert!(broken("\"7%\"", "\"7MB\"").contains("devices/x.toml:22: capacity.over_provisioning: \"7MB\""));
}

#[test]
fn write_pacing_acts_between_trigger_and_reserve() {
    let paced = |sets: &[(&str, &str)]| good(&[&[("gc.trigger", "free_blocks < 20%")], sets].concat());
    assert_eq!(good(&[]).gc.pace_below, None);
    assert_eq!(paced(&[("gc.pace_below", "off")]).gc, paced(&[]).gc);
    let spec = paced(&[("gc.pace_below", "13")]); // 20 % of 64 blocks, rounded up
    assert_eq!(spec.gc.pace_below, Some(13));
    assert_eq!(read(&to_toml(&spec), &[]).unwrap().gc, spec.gc, "a file says the same");
    assert!(describe(&spec).contains("write pace       slower below 13 free blocks per plane"));
    let reserve = "2 must exceed gc.hard_reserve = 2; below that GC is urgent";
    for (trigger, below, says) in [
        (
            "free_blocks < 20%",
            "14",
            "14 is above the GC trigger: gc.trigger starts GC when a plane has fewer than 13 free blocks",
        ),
        ("free_blocks < 20%", "2", reserve),
        ("free_slots < 20%", "2", reserve),
        ("never", "4", "requires a gc.trigger other than \"never\"; set it, or remove this key"),
        ("free_blocks < 20%", "a few", "\"a few\" is not a whole number from 1 to "),
    ] {
        let e = read(GOOD, &[("gc.trigger", trigger), ("gc.pace_below", below)]).expect_err("a mistake");
        assert!(e.contains(&format!("gc.pace_below: {says}")), "{e}");
    }
}

// When idle time empties it, and what it leaves.
#[test]
fn slc_cache_states_its_idle_delay_and_remainder() {
    let cache = |sets: &[(&str, &str)]| good(sets).slc_cache.unwrap();
    let usual = cache(&[]);
    assert_eq!((usual.idle, usual.dynamic_reserve), (None, None));
    assert_eq!(cache(&[("slc_cache.idle_after", "never"), ("slc_cache.dynamic_reserve", "off")]), usual);
    let timed = &[("slc_cache.idle_after", "15s"), ("slc_cache.idle_rate", "480MB/s")];
    let idle = cache(timed).idle.unwrap();
    assert_eq!((idle.after.0, idle.rate.mb_per_s()), (15_000_000_000, 480.0));
    let shared = &[("slc_cache.dynamic_blocks", "40"), ("slc_cache.dynamic_reserve", "20%")];
    assert_eq!(cache(shared).dynamic_reserve, Some(Fraction::percent(20)));
    for sets in [&timed[..], &shared[..], &timed[..1]] {
        let spec = good(sets);
        assert_eq!(read(&to_toml(&spec), &[]).unwrap().slc_cache, spec.slc_cache, "a file says the same");
    }
    for (key, value, says) in [
        ("slc_cache.idle_rate", "1GB/s", "idle_rate: requires idle_after; set it, or remove this key"),
        ("slc_cache.dynamic_reserve", "20%", "dynamic_reserve: requires dynamic_blocks; set it, or remove"),
        ("slc_cache.idle_after", "2h", "slc_cache.idle_after: "),
        ("slc_cache.idle_after", "soon", "slc_cache.idle_after: "),
    ] {
        let e = broken_by(key, value);
        assert!(e.contains(says), "{e}");
    }
    let e = read(GOOD, &[shared[0], ("slc_cache.dynamic_reserve", "96%")]).unwrap_err();
    assert!(e.contains("slc_cache.dynamic_reserve: ") && e.contains("95%"), "{e}");
}

#[test]
fn a_link_that_would_overflow_the_clock_is_refused() {
    assert_eq!(
        broken_by("host.rate", "1h/B"),
        "--set host.rate=1h/B: host.rate: 3600000000000ns/B is slower than 1kB/s"
    );
    assert!(broken_by("medium.flash.bus.rate", "999B/s").contains("999B/s is slower than 1kB/s"));
    assert!(broken("\"2ms\"", "\"2h\"").contains("medium.flash.slc.erase: 2h is not between 0ns and 1h"));
}

#[test]
fn a_description_made_by_hand_is_checked_like_a_file() {
    let mut spec = good(&[]);
    assert_eq!(wordline_device::checked(&spec, "report.json").as_ref(), Ok(&spec));
    spec.media[0].blocks_per_plane = 0;
    let text = wordline_device::checked(&spec, "report.json").expect_err("no blocks").to_string();
    assert!(text.contains("medium.flash.blocks_per_plane: \"0\" is not a whole number"), "{text}");
}

#[test]
fn a_missing_key_names_its_table_and_an_example() {
    assert_eq!(
        broken("page = \"16KiB\"\n", ""),
        "devices/x.toml:3: missing key \"page\" in [medium.flash], such as page = \"16KiB\""
    );
    let all = read("", &[]).expect_err("an empty file");
    for key in ["medium", "capacity", "trigger"] {
        assert!(all.contains(&format!("devices/x.toml: missing key \"{key}\"")), "{all}");
    }
}

#[test]
fn a_word_that_is_not_offered_is_guessed() {
    assert_eq!(
        broken_by("gc.victim", "greddy"),
        "--set gc.victim=greddy: gc.victim: \"greddy\" is not one of greedy, fifo, random, d-choices:N, windowed-greedy:N, cost-benefit; did you mean \"greedy\"?"
    );
    assert!(broken_by("gc.victim", "d-choices").ends_with("did you mean \"d-choices:10\"?"));
    assert!(broken_by("gc.victim", "d-choices:0").contains("\"0\" is not a number of blocks from 1 to 1024"));
}

#[test]
fn what_can_interrupt_nothing_is_refused() {
    let with = |more: &[(&str, &str)]| {
        let overrides: Vec<_> = [("service.suspend.program", "20us")].iter().chain(more).copied().collect();
        read(GOOD, &overrides)
    };
    with(&[]).expect("programs are suspended");
    let refused = |more: &[(&str, &str)]| with(more).expect_err("nothing to interrupt");
    assert!(
        refused(&[("service.suspend.program", "off")])
            .contains("suspends nothing; set program or erase to the suspend latency, as in \"20us\"")
    );
    assert!(
        refused(&[("service.order", "shortest")])
            .contains("requires order = \"read-first\"; set it, or remove this key")
    );
    assert!(refused(&[("service.suspend.limit", "0")]).contains("not a whole number from 1"));
    assert!(refused(&[("service.suspend.program_min_left", "-1us")]).contains("program_min_left: "));
    assert!(
        refused(&[("service.suspend.erase_min_left", "1us")])
            .contains("erase_min_left: requires erase, the suspend latency, as in \"20us\"; set it")
    );
    assert!(refused(&[("medium.flash.cache_register", "on")]).contains("set cache_register = \"off\""));
    with(&[("parallel.multiplane", "opportunistic")])
        .expect("commands of several planes are suspended as one");
    let parity = [("parallel.parity", "superpage")];
    let why = "parallel.parity: requires superblocks of at least two planes; set superblock = \"channel\"";
    assert!(read(GOOD, &parity).expect_err("blocks stand alone").contains(why));
    let over_all = [("parallel.superblock", "drive"), parity[0]];
    let (with_it, without) = (read(GOOD, &over_all), read(GOOD, &over_all[..1]));
    let bytes = |spec: &Result<DeviceSpec, String>| {
        let spec = spec.as_ref().expect("superblocks over all planes");
        (spec.physical_bytes(), spec.parity_bytes())
    };
    assert!(bytes(&with_it).1 > 0 && bytes(&without) == (bytes(&with_it).0, 0));
    let same = [("parallel.multiplane_pages", "same")];
    assert!(
        read(GOOD, &same)
            .expect_err("nothing goes together")
            .contains("requires multiplane = \"opportunistic\"; set it, or remove this key")
    );
    let together = [("parallel.multiplane", "opportunistic"), same[0]];
    let spec =
        read(GOOD, &together).expect("requires multiplane = \"opportunistic\"; set it, or remove this key");
    assert_eq!(wordline_device::checked(&spec, "again").expect("it is still right"), spec);
}

// They are refused where they mean nothing.
#[test]
fn turns_shares_and_flushes_read_back_as_written() {
    let read_as_written = |overrides: &[(&str, &str)]| {
        let spec = read(GOOD, overrides).expect("it is right");
        assert_eq!(wordline_device::checked(&spec, "again").expect("it is still right"), spec);
        spec
    };
    let refused = |overrides: &[(&str, &str)]| read(GOOD, overrides).expect_err("it means nothing");

    let weighted = [("host.arbitration", "weighted"), ("host.weights.high", "8")];
    let queue = [("host.queue.db.class", "urgent"), ("host.queue.db.depth", "32")];
    let spec = read_as_written(&[weighted, queue].concat());
    let turns = spec.arbitration.expect("queues take turns");
    assert_eq!(turns.order, ArbitrationOrder::Weighted([8, 1, 1]));
    assert_eq!((turns.burst, turns.queues[0].depth), (1, Some(32)));
    read_as_written(&[("host.arbitration", "round-robin"), ("host.burst", "4"), queue[1]]);
    assert!(
        refused(&[weighted[1]])
            .contains("host.weights: requires arbitration = \"weighted\" or \"round-robin\"")
    );
    assert!(refused(&queue).contains("host.queue: requires arbitration = \"weighted\" or \"round-robin\""));
    assert!(
        refused(&[("host.arbitration", "round-robin"), queue[0]])
            .contains("requires arbitration = \"weighted\"")
    );
    assert!(refused(&[weighted[0], ("host.weights.low", "0")]).contains("not a whole number from 1 to 256"));

    let shares = [("service.order", "shares"), ("service.shares.read", "4")];
    assert_eq!(read_as_written(&shares).service.shares, Some(Shares([4, 1, 1, 1])));
    assert!(refused(&shares[..1]).contains("missing key \"shares\""));
    assert!(
        refused(&shares[1..])
            .contains("service.shares: requires order = \"shares\"; set it, or remove this key")
    );
    let together = ("parallel.multiplane", "opportunistic");
    assert!(refused(&[shares[0], shares[1], together]).contains("set parallel.multiplane = \"off\""));

    let buffer = [("ack.mode", "buffer"), ("ack.pages", "64")];
    let full = [buffer[0], buffer[1], ("ack.flush", "when-full")];
    let flush = read_as_written(&full).flush.expect("it keeps pages back");
    assert_eq!((flush.high, flush.low), (Fraction::percent(75), Fraction::percent(25)));
    read_as_written(&[buffer[0], buffer[1], ("ack.flush", "idle"), ("ack.idle", "2ms")]);
    assert!(
        broken("mode = \"buffer\"\npages = 64", "flush = \"when-full\"")
            .contains("ack.flush: requires mode = \"buffer\"; set it, or remove this key")
    );
    assert!(
        refused(&[buffer[0], buffer[1], ("ack.high", "50%")])
            .contains("ack.high: requires flush = \"when-full\"; set it, or remove this key")
    );
    assert!(
        refused(&[full[0], full[1], full[2], ("ack.low", "80%")])
            .contains("ack.low: 80% must be below high = 75%")
    );
}

#[test]
fn impossible_geometry_is_refused() {
    assert!(
        broken("channels = 2", "channels = 0").contains(":4: medium.flash.channels: \"0\" is not a whole")
    );
    assert!(broken("channels = 2", "channels = -2").contains("\"-2\" is not a whole number from 1"));
    assert!(broken("channels = 2", "channels = 99999999999999999999").contains("not a whole number"));
    assert!(broken_by("mapping.unit", "12KiB").contains("is not a multiple of the mapping unit, 12KiB"));
    assert!(broken_by("mapping.sector", "500B").contains("500B is not a multiple of 512B"));
    assert!(
        broken_by("mapping.sector", "3KiB").contains("mapping.unit: 16KiB is not a multiple of the sector")
    );
    assert!(broken_by("mapping.sector", "0").contains("is not a multiple of 512B"));
    let wide =
        read(GOOD, &[("medium.flash.page", "64KiB"), ("mapping.sector", "512B")]).expect_err("too wide");
    assert!(wide.contains("has 128 sectors of 512B, at most 32"), "{wide}");
    assert!(broken_by("medium.flash.wordlines_per_block", "20000").contains("60000 pages, at most 32768"));
    assert!(broken_by("medium.flash.channels", "100000").contains("has 100000 planes; at most 65,536"));
    let said = broken_by("medium.flash.blocks_per_plane", "16777216");
    assert!(
        said.contains("exceed 32-bit numbers; at most") && said.contains("GiB of flash in units of"),
        "{said}"
    );
    let many = [("medium.flash.blocks_per_plane", "16777216"), ("medium.flash.channels", "60000")];
    assert!(read(GOOD, &many).expect_err("too many blocks").contains("choose larger blocks"));
}

#[test]
fn over_committed_capacity_is_refused_with_figures() {
    let toml = GOOD.replace("over_provisioning = \"7%\"", "logical = \"1GiB\"");
    assert_eq!(
        read(&toml, &[]).expect_err("too much"),
        "devices/x.toml:22: capacity.logical: 1GiB exceeds the capacity of the flash in its densest mode, 168MiB \
         (8 blocks per plane are a static SLC cache and add no capacity)"
    );
    // Nobody wrote line 22 wrongly: the setting leads to it, and to the only problem.
    assert_eq!(
        read(&toml.replace("1GiB", "128MiB"), &[("slc_cache.static_blocks", "60"), ("gc.victim", "fifo")])
            .expect_err("too much"),
        "--set slc_cache.static_blocks=60: capacity.logical: 128MiB exceeds the capacity of the flash in its densest \
         mode, 12MiB (60 blocks per plane are a static SLC cache and add no capacity; 21 leave room) \
         (devices/x.toml:22)"
    );
    let dynamic =
        toml.replace("1GiB", "128MiB").replace("static_blocks = 8", "static_blocks = 8\ndynamic_blocks = 0");
    assert_eq!(
        read(&dynamic, &[("slc_cache.static_blocks", "99999")]).expect_err("too many"),
        "--set slc_cache.static_blocks=99999: slc_cache.static_blocks: 99999 static and 0 dynamic blocks exceed the \
         64 blocks per plane of medium \"flash\""
    );
    // What is wrong in the file is the file's, whatever is set.
    assert!(read(&toml, &[("gc.victim", "fifo")]).expect_err("too much").starts_with("devices/x.toml:22: "));
    assert!(
        broken("static_blocks = 8", "static_blocks = 8\ndynamic_blocks = 57")
            .contains("8 static and 57 dynamic blocks exceed the 64 blocks per plane of medium \"flash\"")
    );
    assert!(
        broken("over_provisioning = \"7%\"", "logical = \"8KiB\"")
            .contains("capacity: less than one mapping unit is left for the host")
    );
}

#[test]
fn a_cache_needs_a_medium_with_two_modes() {
    let toml = GOOD.replace("[medium.flash.slc]", "[medium.flash.mlc]");
    assert!(read(&toml, &[]).expect_err("no slc").contains(
        "no medium has both SLC and a denser mode, so an SLC cache is not possible; add [medium.NAME.slc]"
    ));
}

#[test]
fn all_problems_are_reported_at_once_in_file_order() {
    let toml = GOOD
        .replace("chips_per_channel = 1", "chips = 1")
        .replace("\"800MB/s\"", "\"fast\"")
        .replace("program = \"700us\"", "program = [\"1us\", \"2us\"]")
        .replace("\"7%\"", "\"7\\u0025%\"")
        .replace("\"free_blocks < 5%\"", "\"free_pages < 5%\"");
    let text = read(&toml, &[("host.rate", "3"), ("gc.clas", "host")]).expect_err("many");
    let lines: Vec<&str> = text.lines().map(|l| l.split(": ").next().unwrap_or("")).collect();
    let at = |n: u32| format!("devices/x.toml:{n}");
    let expected = [
        at(3),
        at(5),
        at(11),
        at(18),
        at(22),
        at(24),
        "--set gc.clas=host".into(),
        "--set host.rate=3".into(),
    ];
    assert_eq!(lines, expected, "{text}");
}

#[test]
fn broken_syntax_is_reported_with_line_and_column() {
    let text = broken("channels = 2", "channels = = 2");
    assert!(text.starts_with("devices/x.toml:4:12: not TOML: "), "{text}");
    assert!(broken("channels = 2", "channels = 2\nchannels = 3").contains("devices/x.toml:5:1: not TOML: "));
}

#[test]
fn a_value_where_a_table_belongs_is_refused() {
    let toml = GOOD.replace("[gc]\ntrigger = \"free_blocks < 5%\"", "") + "\n";
    assert!(read(&format!("gc = 5\n{toml}"), &[]).expect_err("a value").contains("expected a table, not"));
    let text = read("[[medium]]\nchannels = 1\n", &[]).expect_err("a list");
    assert!(text.contains("devices/x.toml:1: medium: expected a table, not a list of tables"), "{text}");
    assert!(broken("page = \"16KiB\"", "page = 1979-05-27").contains("not a date"));
}

#[test]
fn an_override_changes_one_value() {
    let s =
        good(&[("medium.flash.tlc.read", "66us"), ("gc.hard_reserve", "5"), ("allocation.order", "PDWC")]);
    assert_eq!(s.media[0].modes[2].as_ref().map(|t| t.read[2]), Some(SimDuration(66_000)));
    assert_eq!((s.gc.hard_reserve, s.allocation.to_string().as_str()), (5, "PDWC"));
    let s = good(&[("medium.flash.tlc.read", "10us,20us,30us")]);
    assert_eq!(s.media[0].modes[2].as_ref().map(|t| t.read[1]), Some(SimDuration(20_000)));
}

#[test]
fn a_medium_is_found_by_name_number_or_star() {
    for path in ["medium.flash.blocks_per_plane", "medium.0.blocks_per_plane", "medium.*.blocks_per_plane"] {
        assert_eq!(good(&[(path, "32")]).media[0].blocks_per_plane, 32, "{path}");
    }
    assert_eq!(
        broken_by("medium.falsh.page", "8KiB"),
        "--set medium.falsh.page=8KiB: no medium \"falsh\"; did you mean \"flash\"?"
    );
    assert!(broken_by("medium.7.page", "8KiB").contains("allowed: flash, its number, or * for all"));
}

#[test]
fn override_creates_tables_and_removes_the_cache() {
    assert_eq!(good(&[("host.read_overhead", "1us")]).host.read_overhead, SimDuration(1_000));
    assert_eq!(good(&[("slc_cache", "off")]).slc_cache, None);
}

// A buffer that loses its data in a power cut must program them after a time.
#[test]
fn only_a_protected_buffer_holds_pages_for_ever() {
    let usual = SimDuration(500_000);
    let volatile = good(&[("ack.mode", "program")]);
    assert_eq!((volatile.program_buffer, volatile.pad_after), (ProgramBuffer::Volatile, Some(usual)));
    let protected = good(&[("ack.mode", "buffer"), ("ack.pages", "64")]);
    assert_eq!((protected.program_buffer, protected.pad_after), (ProgramBuffer::Protected, None));
    assert_eq!(protected.pad_host_after, usual);
    let timed = good(&[("ack.mode", "program"), ("program.pad_after", "20ms")]);
    assert_eq!((timed.pad_after, timed.pad_host_after.0), (Some(SimDuration(20_000_000)), 20_000_000));
    let problem =
        read(GOOD, &[("ack.mode", "program"), ("program.pad_after", "never")]).expect_err("volatile");
    assert!(problem.contains("program.pad_after=never"), "{problem}");
    assert!(problem.contains("set program.buffer = \"protected\""), "{problem}");
    let asked =
        good(&[("ack.mode", "program"), ("program.pad_after", "never"), ("program.buffer", "protected")]);
    assert_eq!(asked.pad_after, None);
}

#[test]
fn an_override_replaces_the_other_way_to_say_it() {
    assert_eq!(good(&[("capacity.logical", "64MiB")]).logical_bytes(), 64 << 20);
    assert_eq!(good(&[("ack.mode", "program")]).ack, Ack::Program);
    let both = GOOD.replace("over_provisioning = \"7%\"", "over_provisioning = \"7%\"\nlogical = \"64MiB\"");
    assert!(read(&both, &[]).expect_err("both").contains("not both"));
    let two = [("capacity.logical", "64MiB"), ("capacity.over_provisioning", "9%")];
    assert!(read(GOOD, &two).expect_err("two arguments").contains("not both"));
}

#[test]
fn an_override_that_does_not_fit_the_tree_is_refused() {
    assert!(broken_by("gc", "5").contains("\"gc\" is a table; set one of its keys: trigger"));
    assert!(broken_by("gc.trigger.share", "5%").contains("\"gc.trigger\" is a value, not a table"));
    assert!(broken_by("gc..trigger", "5%").contains("is not a key such as \"gc.victim\""));
    assert!(broken_by("a.a.a.a.a.a.a.a.a.a", "1").contains("is not a key such as \"gc.victim\""));
    assert!(broken_by("medium.flash", "1").contains("set one of its keys"));
}

#[test]
fn triggers_and_orders_have_one_meaning() {
    assert_eq!("free_slots<30%".parse(), Ok(Trigger::FreeSlots(Fraction::percent(30))));
    assert_eq!("free_blocks:0.5".parse(), Ok(Trigger::FreeBlocks(Fraction::percent(50))));
    for bad in ["", "free_blocks", "free_blocks < 101%", "blocks < 5%", "free_blocks < x"] {
        assert!(bad.parse::<Trigger>().is_err(), "{bad:?}");
    }
    for order in [Allocation::CWDP, Allocation::Dynamic, Allocation::RoundRobin] {
        assert_eq!(order.to_string().parse(), Ok(order));
    }
    assert_eq!("cwdp".parse(), Ok(Allocation::CWDP));
    for bad in ["", "CWD", "CWDD", "CWDPC", "XWDP", "Dynamic"] {
        assert!(bad.parse::<Allocation>().is_err(), "{bad:?}");
    }
}

#[test]
fn parameters_given_as_pairs_use_the_same_reader() {
    let pairs: Vec<(String, String)> = [("window", "1024"), ("shar", "0.5"), ("idle", "5")]
        .map(|(k, v)| (k.to_string(), v.to_string()))
        .into();
    let problems = Problems::default();
    let mut section = Section::from_pairs("scheme hierarchy", &pairs, &problems);
    let window: u32 = section.take_or("window", 1);
    let share: Fraction = section.take_or("share", Fraction::percent(50));
    let idle: Option<SimDuration> = section.take("idle");
    let depth: Option<u32> = section.require("depth", "16");
    section.finish();
    assert_eq!((window, share, idle, depth), (1024, Fraction::percent(50), None, None));
    let text = problems.finish(Some(())).expect_err("three problems").to_string();
    for part in [
        "scheme hierarchy: missing key \"depth\", such as depth = 16",
        "scheme hierarchy:shar=0.5: unknown key \"shar\"; did you mean \"share\"?",
        "scheme hierarchy:idle=5: idle: \"5\" is not a time such as \"75us\"",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

#[test]
fn deep_nesting_is_refused_not_overflowed() {
    let deep = format!("{}x = 1", "a.".repeat(20_000));
    assert!(read(&deep, &[]).is_err());
    assert!(read(&format!("x = {}1{}", "[".repeat(20_000), "]".repeat(20_000)), &[]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes changed, any lines dropped: an answer, never a panic; and what is accepted is a
    /// drive that can be numbered and written back.
    #[test]
    fn no_text_makes_the_reader_panic(
        which in 0..builtin().len(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        digits in proptest::collection::vec((any::<prop::sample::Index>(), b'0'..=b'9'), 0..6),
        drop in proptest::option::of(any::<prop::sample::Index>()),
        cut in proptest::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let mut bytes = builtin()[which].text.as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let places: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i].is_ascii_digit()).collect();
        for (at, digit) in digits {
            if !places.is_empty() {
                bytes[places[at.index(places.len())]] = digit;
            }
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<&str> = text.lines().collect();
        if let Some(drop) = drop && !lines.is_empty() {
            lines.remove(drop.index(lines.len()));
        }
        check(&lines.join("\n"), &[])?;
    }

    /// Nor do values at the edge of what a number can hold.
    #[test]
    fn no_override_makes_the_reader_panic(
        which in 0..builtin().len(),
        sets in proptest::collection::btree_map(
            prop::sample::select(vec![
                "medium.0.channels", "medium.*.chips_per_channel", "medium.*.dies_per_chip",
                "medium.0.planes_per_die", "medium.*.blocks_per_plane", "medium.0.wordlines_per_block",
                "medium.*.page", "medium.0.bus.rate", "medium.0.bus.width", "medium.0.tlc.read",
                "medium.0.slc.program", "mapping.unit", "mapping.sector", "capacity.logical",
                "capacity.over_provisioning", "gc.trigger", "gc.hard_reserve", "host.rate",
                "slc_cache.static_blocks", "slc_cache.dynamic_blocks", "ack.pages", "medium", "x.y",
            ]),
            prop::sample::select(vec![
                "0", "1", "2", "64", "255", "65536", "16777216", "4294967295", "18446744073709551615",
                "1B", "512B", "4KiB", "16KiB", "1MiB", "16777215TiB", "100%", "18446744073%", "free_slots:0%",
                "off", "1MT/s", "1125899906842624ns/B", "999999ns/B", "1h", "18446744073709551615ns", "", "-1", "µ",
            ]),
            1..4,
        ),
    ) {
        let sets: BTreeMap<&str, &str> = sets;
        let sets: Vec<(&str, &str)> = sets.into_iter().collect();
        check(builtin()[which].text, &sets)?;
    }
}

fn check(text: &str, sets: &[(&str, &str)]) -> Result<(), TestCaseError> {
    let Ok(spec) = read(text, sets) else { return Ok(()) };
    prop_assert!(spec.geometry().is_ok());
    prop_assert!(spec.logical_bytes() <= spec.physical_bytes());
    prop_assert!(!describe(&spec).is_empty());
    let again = read(&to_toml(&spec), &[]);
    prop_assert_eq!(again.as_ref(), Ok(&spec), "{}", to_toml(&spec));
    Ok(())
}

#[test]
fn a_wrong_error_model_is_met_with_what_would_do() {
    for (path, value, says) in [
        ("errors.model", "rarro", "did you mean \"raro\"?"),
        ("errors.model", "fixed:99", "fixed:N with N up to 31"),
        ("errors.decode", "5us", "missing key \"model\""),
    ] {
        let e = broken_by(path, value);
        assert!(e.contains(says) && e.contains("errors"), "{path}={value}: {e}");
    }
    for (path, value, says) in [
        ("errors.tlc.senses", "4,4,4,3", "3 page types"),
        ("errors.tlc.senses", "2,0,2", "numbers of read voltages, each 1 or more"),
        ("errors.tlc.epsilon", "-1", "not between"),
        ("errors.tlc.epsilon", "NaN", "not between"),
        ("errors.tlc.most_retries", "32", "0 to 31"),
        ("errors.tlc.beyond", "clamped", "clamp"),
        ("errors.tlc.sigma_pages", "0.1", "did you mean \"sigma_page\"?"),
        ("errors.mlc.epsilon", "1e-3", "missing key \"alpha\""),
        ("errors.retransmit", "true", "retransfer"),
        ("errors.delta", "1.5", "not between"),
        ("errors.t_unit", "0s", "not between"),
        ("errors.refresh", "1s", "not between"),
        ("errors.read_reclaim", "0", "1 to"),
        ("errors.refresh_retries", "32", "1 to 31"),
        ("medium.flash.cache_register", "both", "not one of off, read, program, on"),
    ] {
        let e = read(GOOD, &[("errors.model", "raro"), (path, value)]).expect_err("a mistake");
        assert!(e.contains(says), "{path}={value}: {e}");
    }
}
