//! The device files: their numbers are the papers', each value has its source, and what is read
//! can be written back.

use wordline_device::*;
use wordline_flash::{Beyond, CacheRegister, ErrorModel, Refresh};
use wordline_units::{Bytes, CellMode, Fraction, PageType, SimDuration};

const GIB: u64 = 1 << 30;

fn spec(name: &str) -> DeviceSpec {
    let device = find(name).unwrap_or_else(|| panic!("no device {name}"));
    device.spec(&[]).unwrap_or_else(|e| panic!("{e}"))
}

fn set(name: &str, overrides: &[(&str, &str)]) -> DeviceSpec {
    let device = find(name).unwrap_or_else(|| panic!("no device {name}"));
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    device.spec(&overrides).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_builtin_reads_and_can_be_numbered() {
    for device in builtin() {
        let spec = device.spec(&[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(spec.name, device.name);
        assert!(!spec.description.is_empty() && !spec.description.contains('\n'));
        let geometry = spec.geometry().unwrap();
        assert!(spec.logical_bytes() <= spec.physical_bytes());
        assert_eq!(spec.physical_bytes() % geometry.unit, 0);
    }
}

#[test]
fn hierarchy_is_2_gib_of_slc_and_42_of_tlc() {
    let s = spec("hierarchy-44gb");
    let m = &s.media[0];
    let cache = s.slc_cache.unwrap();
    let slc = m.topology.planes() as u64 * cache.static_blocks as u64 * m.block_bytes(CellMode::Slc);
    assert_eq!((slc, s.physical_bytes()), (2 * GIB, 42 * GIB));
    assert_eq!(slc + s.physical_bytes(), 44 * GIB);
    assert_eq!((m.pages_per_block(CellMode::Slc), m.pages_per_block(CellMode::Tlc)), (128, 384));
    assert_eq!(m.mode(CellMode::Tlc).unwrap().pages_per_program, 3);
    assert_eq!(s.gc.trigger, Trigger::FreeBlocks(Fraction::percent(50)));
    // 42 GiB / 1.07 = 39.25 GiB.
    assert_eq!(s.logical_bytes() * 107 / 100 / (1 << 20), 42 * 1024 - 1);
    assert!((s.logical_bytes() as f64 / GIB as f64 - 39.25).abs() < 0.01);
}

#[test]
fn raro_is_16_gib_with_8_of_data() {
    let s = spec("raro-16gb");
    let m = &s.media[0];
    assert_eq!((s.physical_bytes(), s.logical_bytes()), (16 * GIB, 8 * GIB));
    assert_eq!(m.topology.planes() * m.blocks_per_plane, 1024);
    let mib = |mode| m.block_bytes(mode) >> 20;
    assert_eq!([mib(CellMode::Slc), mib(CellMode::Tlc), mib(CellMode::Qlc)], [4, 12, 16]);
    // 20 us of bus and 1 us of host outside the 140 us of the array.
    let read = unloaded_read(&s, m, CellMode::Qlc, PageType::Lsb).unwrap();
    assert_eq!(read, SimDuration(140_000 + 20_480 + 1_000));
}

#[test]
fn hyssd_has_two_media_on_separate_dies() {
    for (name, mode) in [("hyssd-st", CellMode::Slc), ("hyssd-mt", CellMode::Mlc)] {
        let s = spec(name);
        let [fast, tlc] = s.media.as_slice() else { panic!("two media") };
        assert_eq!(fast.densest(), mode);
        let fast_bytes =
            fast.topology.planes() as u64 * fast.blocks_per_plane as u64 * fast.block_bytes(mode);
        assert_eq!(fast_bytes, 2 * GIB);
        assert_eq!(tlc.topology.planes() * tlc.blocks_per_plane, 5464);
        assert_eq!((fast.page, tlc.page), (Bytes(4096), Bytes(8192)));
        assert_eq!(s.logical_bytes(), 16 * GIB);
        let geometry = s.geometry().unwrap();
        assert_eq!((geometry.dies, geometry.channels), (16, 16));
        // Collection begins at one free block a die, which is the hard reserve, and no trigger comes before it.
        let Trigger::FreeBlocks(share) = s.gc.trigger else { panic!("free blocks") };
        assert_eq!(s.gc.hard_reserve, 1, "{name}");
        for m in &s.media {
            assert!(share.of(m.blocks_per_plane as u64) <= 1, "{name} {}", m.name);
        }
    }
    assert_eq!(spec("hyssd-st").media[0].blocks_per_plane * 8, 4096);
    assert_eq!(spec("hyssd-mt").media[0].blocks_per_plane * 8, 2048);
}

#[test]
fn ips_is_384_gib_of_which_4_are_cache() {
    let s = spec("ips-384gb");
    let m = &s.media[0];
    assert_eq!(m.topology.planes(), 128);
    assert_eq!(128 * m.blocks_per_plane as u64 * m.block_bytes(CellMode::Tlc), 384 * GIB);
    let cache = s.slc_cache.unwrap();
    assert_eq!(128 * cache.static_blocks as u64 * m.block_bytes(CellMode::Slc), 4 * GIB);
    assert_eq!(s.physical_bytes(), 372 * GIB);
    assert!((s.logical_bytes() as f64 / GIB as f64 - 372.0 / 1.07).abs() < 1e-4);
}

#[test]
fn pa_ssd_is_288_gib_and_exposes_85_percent() {
    let s = spec("pa-ssd-288gb");
    let m = &s.media[0];
    assert_eq!((m.topology.planes(), m.topology.dies()), (256, 16));
    assert_eq!(s.physical_bytes(), 288 * GIB);
    assert_eq!(s.logical_bytes(), 288 * GIB * 85 / 100 / 8192 * 8192);
    let program = m.mode(CellMode::Tlc).unwrap().program;
    assert_eq!(program[..3], [SimDuration(500_000), SimDuration(2_000_000), SimDuration(5_500_000)]);
    assert_eq!(s.gc.trigger, Trigger::FreeSlots(Fraction::percent(30)));
}

#[test]
fn mqsim_latencies_come_out_to_the_nanosecond() {
    let s = spec("mqsim-qd1");
    let m = &s.media[0];
    assert_eq!(unloaded_read(&s, m, CellMode::Slc, PageType::Lsb), Some(SimDuration(102_442)));
    assert_eq!(unloaded_program(&s, m, CellMode::Slc, PageType::Lsb), Some(SimDuration(777_501)));
    let wide = set("mqsim-qd1", &[("medium.flash.page", "16KiB")]);
    assert_eq!(wide.unit, Bytes(16 << 10), "the mapping unit follows the page");
    let read = unloaded_read(&wide, &wide.media[0], CellMode::Slc, PageType::Lsb);
    assert_eq!(read, Some(SimDuration(129_514)));
    // 4 KiB: only the wanted sectors move.
    assert_eq!(290 + 75_020 + m.bus.time_for(4096).0 + s.host.rate.time_for(4096).0 + 60, 88_906);
}

#[test]
fn consumer_drive_has_its_published_cache_and_rates() {
    let s = spec("consumer-qlc");
    let m = &s.media[0];
    let cache = s.slc_cache.unwrap();
    let bytes = |blocks: u32| 32.0 * blocks as f64 * m.block_bytes(CellMode::Slc) as f64 / 1e9;
    assert!((bytes(cache.static_blocks) - 12.0).abs() < 0.5);
    assert!((bytes(cache.static_blocks + cache.dynamic_blocks) - 140.0).abs() < 0.5);
    assert!(s.logical_bytes() <= 1_000_204_886_016 && s.logical_bytes() > 1_000_204_800_000);
    let qlc = m.mode(CellMode::Qlc).unwrap();
    let die = 4.0 * 4.0 * 16384.0 / qlc.program[0].as_secs() / 1e6;
    assert!((die - 40.0).abs() < 0.1, "{die} MB/s a die");
    let slc = 32.0 * 16384.0 / m.mode(CellMode::Slc).unwrap().program[0].as_secs() / 1e6;
    assert!(slc > 2500.0, "{slc} MB/s in the cache");
}

#[test]
fn the_demo_drive_is_8_gib_with_half_a_gib_of_cache() {
    let s = spec("demo-8gb");
    let m = &s.media[0];
    assert_eq!((s.logical_bytes(), s.physical_bytes()), (8 * GIB, 9 * GIB));
    let cache = s.slc_cache.unwrap();
    let slc = m.topology.planes() as u64 * cache.static_blocks as u64 * m.block_bytes(CellMode::Slc);
    assert_eq!((slc, cache.when_full), (GIB / 2, WhenFull::Direct));
}

#[test]
fn default_reserve_is_two_blocks_or_half_a_percent() {
    assert_eq!([1, 256, 400, 401, 2048].map(GcSpec::default_reserve), [2, 2, 2, 3, 11]);
}

#[test]
fn a_device_survives_toml_and_json_unchanged() {
    for device in builtin() {
        let spec = device.spec(&[]).unwrap_or_else(|e| panic!("{e}"));
        let text = to_toml(&spec);
        let again =
            wordline_device::from_toml(&text, "again.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(again, spec, "{text}");
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<DeviceSpec>(&json).unwrap(), spec);
    }
}

// Each has a description, too.
#[test]
fn victim_rules_survive_toml_and_json() {
    for rule in ["greedy", "fifo", "d-choices:10"] {
        let set = [("gc.victim".to_string(), rule.to_string())];
        let spec = wordline_device::find("demo-8gb").unwrap().spec(&set).unwrap();
        assert_eq!(wordline_device::from_toml(&to_toml(&spec), "x", &[]).unwrap(), spec);
        let json = serde_json::to_string(&spec).unwrap();
        assert!(json.contains(&format!("\"victim\":\"{rule}\"")), "{json}");
        assert_eq!(serde_json::from_str::<DeviceSpec>(&json).unwrap(), spec);
        assert!(describe(&spec).contains(&format!("{rule} victim")));
    }
}

// One link per queue has a description, too.
#[test]
fn queue_links_survive_toml_and_json() {
    let [shared, own] = ["shared", "per-queue"].map(|link| set("raro-16gb", &[("host.link", link)]));
    assert_eq!((shared.host.link, own.host.link), (Lanes::Shared, Lanes::PerQueue));
    assert_eq!(shared, spec("raro-16gb"));
    assert_eq!(wordline_device::from_toml(&to_toml(&own), "x", &[]).unwrap(), own);
    let json = [&shared, &own].map(|spec| serde_json::to_string(spec).unwrap());
    assert!(!json[0].contains("\"link\"") && json[1].contains("\"link\":\"per-queue\""), "{json:?}");
    assert_eq!(serde_json::from_str::<DeviceSpec>(&json[1]).unwrap(), own);
    assert!(describe(&own).contains("1 us per write, for each queue"), "{}", describe(&own));
    let wrong = ("host.link".to_string(), "per-thread".to_string());
    let why = find("raro-16gb").unwrap().spec(&[wrong]).unwrap_err().to_string();
    assert!(why.contains("\"per-thread\" is not one of shared, per-queue"), "{why}");
}

#[test]
fn names_and_descriptions_with_quotes_survive_toml() {
    let mut s = spec("demo-8gb");
    s.description = "a \"drive\" \\ with\ttab and µ".into();
    s.media[0].name = "flash 1.0".into();
    assert_eq!(wordline_device::from_toml(&to_toml(&s), "x", &[]).unwrap(), s);
}

#[test]
fn an_unknown_device_is_guessed() {
    assert_eq!(names_like("hierarchy-44g"), Some("hierarchy-44gb"));
    assert_eq!(names_like("raro"), Some("raro-16gb"));
    assert_eq!(names_like("zzz"), None);
}

#[test]
fn description_shows_geometry_bus_and_idle_latency() {
    let text = describe(&spec("hierarchy-44gb"));
    for part in [
        "39.25 GiB logical, 42 GiB physical",
        "16 planes",
        "333 MB/s per channel, 1332 MB/s total",
        "1600*",
        "2 GiB static",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    for device in builtin() {
        let text = describe(&spec(device.name));
        let longest = text.lines().max_by_key(|l| l.chars().count()).unwrap();
        assert!(longest.chars().count() <= 130, "{longest}");
    }
    let text = describe(&spec("pa-ssd-288gb"));
    assert!(text.contains("500..5500"), "{text}");
}

// --- sources ----------------------------------------------------------------------------------

/// Value lines of a device file whose comment neither names a source declared at the head of the
/// file (`# Paper = ...`) nor says `ASSUMED:` and why. The texts of [device] have no source.
fn without_source(text: &str) -> Vec<String> {
    let declared: Vec<&str> = text
        .lines()
        .take_while(|l| !l.starts_with('['))
        .filter_map(|l| l.strip_prefix("# ")?.split_once(" = ").map(|(name, _)| name.trim()))
        .collect();
    let sourced = |comment: &str| {
        if let Some(reason) = comment.strip_prefix("ASSUMED:") {
            return reason.trim().len() >= 8;
        }
        let word = comment.split([',', ':', ';', ' ']).next().unwrap_or("");
        declared.contains(&word)
    };
    let mut bad = Vec::new();
    let mut table = "";
    for line in text.lines() {
        if line.starts_with('[') {
            table = line;
        } else if !line.is_empty() && !line.starts_with('#') && table != "[device]" {
            let comment = line.split_once(" # ").map_or("", |(_, c)| c.trim());
            if !sourced(comment) {
                bad.push(line.to_string());
            }
        }
    }
    bad
}

#[test]
fn every_device_value_has_a_source_or_a_reason() {
    for device in builtin() {
        assert_eq!(without_source(device.text), Vec::<String>::new(), "{}", device.origin());
    }
}

#[test]
fn measured_devices_say_so_and_have_their_rows() {
    let rows = ["cliffs", "enterprise"].map(|name| measured(name).unwrap());
    let listed = rows.iter().flat_map(|table| table.lines().skip(1)).map(|l| l.split(',').next().unwrap());
    let listed: std::collections::BTreeSet<&str> = listed.collect();
    for device in builtin() {
        let says = device.text.contains("not a statement by its maker");
        assert_eq!(device.is_measured(), says, "{}", device.name);
        assert_eq!(device.is_measured(), listed.contains(device.name), "{}", device.name);
    }
    let known = builtin().iter().filter(|d| d.is_measured());
    assert!(known.count() >= 14);
    assert_eq!(measured("cliff"), None);
    for line in measured("rated").unwrap().lines().skip(1) {
        assert!(find(line.split(',').next().unwrap()).is_some(), "{line}");
    }
}

#[test]
fn a_value_without_source_is_found() {
    let head = "# Paper = Someone\n[medium.flash]\n";
    assert!(without_source(&format!("{head}page = \"4KiB\" # Paper, Table I\n")).is_empty());
    assert!(without_source(&format!("{head}page = \"4KiB\" # ASSUMED: one a sector\n")).is_empty());
    for bad in ["", " # ASSUMED:", " # Pap, Table I", " # Table I", " # "] {
        assert_eq!(without_source(&format!("{head}page = \"4KiB\"{bad}\n")).len(), 1, "{bad:?}");
    }
}

// --- errors -----------------------------------------------------------------------------------

// Each has a description, too.
#[test]
fn error_models_survive_toml_and_json() {
    for model in ErrorModel::NAMES.into_iter().chain(["fixed:3"]) {
        let s =
            set("raro-16gb", &[("errors.model", model), ("errors.t_unit", "36h"), ("errors.decode", "7us")]);
        let e = s.errors.as_ref().unwrap();
        assert_eq!(
            (e.name.as_str(), e.t_unit, e.decode),
            (model, SimDuration(36 * 3_600_000_000_000), SimDuration(7_000))
        );
        let text = to_toml(&s);
        assert_eq!(wordline_device::from_toml(&text, "x", &[]).unwrap(), s, "{text}");
        let json = serde_json::to_string(&s).unwrap();
        assert_eq!(serde_json::from_str::<DeviceSpec>(&json).unwrap(), s);
        assert!(describe(&s).contains(&format!("errors           model {model}")));
    }
    assert_eq!(set("raro-16gb", &[("errors", "off")]).errors, None);
}

#[test]
fn refresh_and_registers_survive_toml_and_json() {
    let given = [
        ("errors.model", "raro"),
        ("errors.refresh", "30d"),
        ("errors.read_reclaim", "100000"),
        ("errors.refresh_retries", "8"),
        ("medium.flash.cache_register", "read"),
    ];
    let s = set("raro-16gb", &given);
    let month = SimDuration(30 * 86_400_000_000_000);
    let asked = Refresh { age: Some(month), reads: Some(100_000), retries: Some(8) };
    assert_eq!(s.errors.as_ref().unwrap().refresh, asked);
    assert_eq!(s.media[0].cache_register, CacheRegister::Read);
    let text = to_toml(&s);
    assert_eq!(wordline_device::from_toml(&text, "x", &[]).unwrap(), s, "{text}");
    let json = serde_json::to_string(&s).unwrap();
    assert_eq!(serde_json::from_str::<DeviceSpec>(&json).unwrap(), s);
    let never = set("raro-16gb", &[("errors.model", "raro"), ("errors.refresh", "never")]);
    assert!(never.errors.as_ref().unwrap().refresh.is_never() && never.media[0].cache_register.is_off());
    assert!(!to_toml(&never).contains("refresh") && !to_toml(&never).contains("cache_register"));
}

#[test]
fn an_error_model_is_changed_key_by_key() {
    let s = set(
        "raro-16gb",
        &[
            ("errors.model", "raro"),
            ("errors.codeword", "2KiB"),
            ("errors.qlc.beta", "1e-4"),
            ("errors.qlc.senses", "1,2,4,8"),
            ("errors.qlc.beyond", "uncorrectable"),
            ("errors.tlc", "off"),
        ],
    );
    let (e, known) = (s.errors.as_ref().unwrap(), ErrorModel::builtin("raro").unwrap());
    let (qlc, was) = (e.mode(CellMode::Qlc).unwrap(), known.mode(CellMode::Qlc).unwrap());
    assert_eq!((e.codeword, e.mode(CellMode::Tlc)), (16_384, None));
    assert_eq!((qlc.rber.beta, qlc.rber.alpha, qlc.senses), (1e-4, was.rber.alpha, [1, 2, 4, 8]));
    assert_eq!((qlc.beyond, e.mode(CellMode::Slc)), (Beyond::Uncorrectable, known.mode(CellMode::Slc)));
    assert_eq!(wordline_device::from_toml(&to_toml(&s), "x", &[]).unwrap(), s, "{}", to_toml(&s));
}

// --- wear --------------------------------------------------------------------------------------

#[test]
fn wear_is_off_by_default_and_reads_back_as_written() {
    let plain = spec("raro-16gb");
    assert!(plain.wear.is_off() && !to_toml(&plain).contains("[wear]"));
    let keys = [
        ("wear.enforce", "true"),
        ("wear.acceleration", "20"),
        ("wear.spread", "12.5%"),
        ("wear.bad_blocks", "1%"),
        ("wear.dynamic", "true"),
        ("wear.static", "40"),
    ];
    let s = set("raro-16gb", &keys);
    let wear = WearSpec {
        enforce: true,
        acceleration: 20,
        spread: Fraction(125_000_000),
        bad_blocks: Fraction::percent(1),
        dynamic: true,
        static_beyond: Some(40),
    };
    assert_eq!(s.wear, wear);
    assert_eq!(wordline_device::checked(&s, "again.toml").unwrap().wear, wear);
    assert_eq!(set("raro-16gb", &[("wear.static", "off")]).wear.static_beyond, None);
}

#[test]
fn wrong_wear_is_refused_with_what_is_allowed() {
    for (key, value, says) in [
        ("wear.acceleration", "0", "1 to 100000"),
        ("wear.spread", "40%", "not between"),
        ("wear.bad_blocks", "60%", "not between"),
        ("wear.enforce", "yes", "true, false"),
        ("wear.static", "0", "whole number"),
        ("wear.statc", "5", "did you mean \"static\"?"),
    ] {
        let pair = [(key.to_string(), value.to_string())];
        let e = find("raro-16gb").unwrap().spec(&pair).unwrap_err().to_string();
        assert!(e.contains(says), "{key}={value}: {e}");
    }
    let both =
        [("wear.acceleration", "20"), ("wear.static", "30")].map(|(k, v)| (k.to_string(), v.to_string()));
    let e = find("raro-16gb").unwrap().spec(&both).unwrap_err().to_string();
    assert!(e.contains("at least 40"), "{e}");
}
