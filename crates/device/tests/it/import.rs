//! Drives of other simulators and of data sheets: what becomes of each key, and what is said of those that
//! have no counterpart.

use wordline_device::*;
use wordline_units::{Bytes, CellMode, Energy, Fraction, Rate, SimDuration};

const MQSIM: &[u8] = include_bytes!("../files/two-channels.xml");
const SSDSIM: &[u8] = include_bytes!("../files/page.parameters");

fn imported(bytes: &[u8], origin: &str) -> (Imported, DeviceSpec) {
    let found = import(bytes, origin, "mine").unwrap_or_else(|e| panic!("{e}"));
    let spec = wordline_device::from_toml(&found.text, "mine.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    (found, spec)
}

/// Every value has a source that its file's head declares, or is assumed for a reason.
fn has_sources(text: &str, sources: &[&str]) {
    let mut table = "";
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        if line.starts_with('[') {
            table = line;
        } else if table != "[device]" {
            let said = line.split_once(" # ").map_or("", |(_, said)| said);
            assert!(sources.iter().any(|s| said.starts_with(s)) || said.starts_with("ASSUMED: "), "{line}");
        }
    }
    for source in sources {
        assert!(text.starts_with("# ") && text.contains(&format!("# {source} = ")), "{text}");
    }
}

#[test]
fn a_drive_of_mqsim_has_its_geometry_times_and_rules() {
    let (found, s) = imported(MQSIM, "two-channels.xml");
    let m = &s.media[0];
    let t = m.topology;
    assert_eq!((t.channels, t.chips_per_channel, t.dies_per_chip, t.planes_per_die), (2, 3, 1, 2));
    assert_eq!((m.blocks_per_plane, m.wordlines_per_block, m.page), (256, 64, Bytes(4096)));
    // 400 MT/s are 2.5 ns a transfer of two bytes, of which MQSim takes 2.
    assert_eq!(m.bus, "2ns/2B".parse::<Rate>().unwrap());
    assert_eq!(
        (m.command.read, m.command.program, m.command.erase),
        (SimDuration(290), SimDuration(361), SimDuration(220))
    );
    let tlc = m.mode(CellMode::Tlc).unwrap();
    assert_eq!(tlc.read[..3], [41_020, 62_020, 83_020].map(SimDuration));
    assert_eq!(tlc.program[..3], [510_000, 1_900_000, 4_800_000].map(SimDuration));
    assert_eq!((tlc.erase, tlc.endurance), (SimDuration(3_600_000), 2_500));
    // There a share of the flash stays away from the host; here spare flash is counted against what it sees.
    let physical = 2 * 3 * 2 * 256 * 64 * 3 * 4096;
    assert_eq!((s.physical_bytes(), s.logical_bytes()), (physical, physical * 7 / 8));
    assert_eq!(s.allocation.to_string(), "WCDP");
    assert_eq!(s.gc.trigger, Trigger::FreeBlocks(Fraction::percent(4)));
    assert_eq!((s.gc.victim, s.gc.hard_reserve), (Victim::DChoices(8), 3));
    assert_eq!((s.ack, s.host.queue_depth), (Ack::Buffer(256), 2048));
    assert_eq!(s.dram.map_cache, Bytes(65536));
    // Two lanes of .985 GB/s, of which packets take 128 in 156.
    assert!((s.host.rate.mb_per_s() - 1970.0 * 128.0 / 156.0).abs() < 1e-3);
    assert_eq!((s.multiplane, s.multiplane_pages), (Multiplane::Opportunistic, MultiplanePages::Same));
    assert!(s.wear.dynamic && s.wear.static_beyond == Some(80) && !s.wear.enforce);
    assert_eq!(s.service.suspension, None);
    has_sources(&found.text, &["MQSim"]);
}

// Each with its value and the reason.
#[test]
fn import_lists_mqsim_values_without_a_device_key() {
    let (found, _) = imported(MQSIM, "two-channels.xml");
    let why = |key: &str| {
        let l = found.left_out.iter().find(|l| l.key == key).unwrap_or_else(|| panic!("{key} is not named"));
        assert!(!l.why.is_empty());
        (l.value.as_str(), l.why.as_str())
    };
    assert_eq!(why("Page_No_Per_Block").0, "193");
    assert!(
        why("CMD_Suspension_Support")
            .1
            .contains("MQSim's schedulers never suspend an operation; set service.suspend to enable it")
    );
    assert_eq!(why("Seed"), ("7", "use --seed"));
    assert_eq!(why("Temperature_Of_Operation"), ("55", "no counterpart in a device file"));
    // Every key is in the file, or is named.
    let text = String::from_utf8_lossy(MQSIM);
    let keys = text.lines().filter_map(|l| {
        let (key, rest) = l.trim().strip_prefix('<')?.split_once('>')?;
        rest.contains("</").then_some(key)
    });
    let joined =
        ["Page_Read_Latency", "Page_Program_Latency", "SATA", "HostInterface", "Static_Wearleveling_Enabled"];
    for key in keys.filter(|k| !joined.iter().any(|j| k.starts_with(j))) {
        let carried = found.text.contains(key);
        assert!(carried || found.left_out.iter().any(|l| l.key == key), "{key} is lost without a word");
    }
}

#[test]
fn a_fourth_type_of_page_is_named_as_assumed() {
    let text = String::from_utf8_lossy(MQSIM).replace("<Flash_Technology>TLC", "<Flash_Technology>QLC");
    let found = import(text.as_bytes(), "f", "mine").unwrap();
    for what in ["Read", "Program"] {
        let key = format!("Page_{what}_Latency of a fourth type");
        let left =
            found.left_out.iter().find(|l| l.key == key).unwrap_or_else(|| panic!("{key} is not named"));
        assert!(left.why.contains("medium.flash.qlc."), "{}", left.why);
    }
    assert!(
        found
            .text
            .contains("ASSUMED: the fourth page type is as slow as MSB, because the file has no time for it"),
        "{}",
        found.text
    );
    let with = text.replace("<Seed>7</Seed>", "<Seed>7</Seed><Support_Zone>false</Support_Zone>");
    let found = import(with.as_bytes(), "f", "mine").unwrap();
    assert!(found.left_out.iter().any(|l| l.key == "Support_Zone"));
}

#[test]
fn ssdsim_drive_keeps_geometry_times_and_energy() {
    let (found, s) = imported(SSDSIM, "page.parameters");
    let m = &s.media[0];
    let t = m.topology;
    assert_eq!((t.channels, t.chips_per_channel, t.dies_per_chip, t.planes_per_die), (2, 3, 2, 4));
    assert_eq!((m.blocks_per_plane, m.wordlines_per_block, m.page), (512, 128, Bytes(4096)));
    assert_eq!((m.bus.time_for(4096), s.sector), (SimDuration(4096 * 25), Bytes(512)));
    assert_eq!(
        (m.command.read, m.command.program, m.command.erase),
        (SimDuration(210), SimDuration(210), SimDuration(150))
    );
    let slc = m.mode(CellMode::Slc).unwrap();
    assert_eq!(
        (slc.read[0], slc.program[0], slc.erase),
        (SimDuration(24_000), SimDuration(310_000), SimDuration(1_700_000))
    );
    assert_eq!(slc.endurance, 60_000);
    // 20 mA at 2.5 V are 50 mW: 1.2 uJ in 24 us.
    let e = m.energy.as_ref().unwrap();
    let of = e.modes[CellMode::Slc.index()].unwrap();
    assert_eq!(
        (of.read[0], of.program[0], of.erase),
        (Energy(1_200_000), Energy(15_500_000), Energy(85_000_000))
    );
    let physical = 2 * 3 * 2 * 4 * 512 * 128 * 4096;
    assert_eq!((s.physical_bytes(), s.logical_bytes()), (physical, physical * 4 / 5 / 4096 * 4096));
    assert_eq!(s.gc.trigger, Trigger::FreeSlots(Fraction::percent(10)));
    assert_eq!((s.multiplane, s.ack), (Multiplane::Opportunistic, Ack::Buffer(16)));
    has_sources(&found.text, &["SSDSim", "Model"]);
    let named: Vec<&str> = found.left_out.iter().map(|l| l.key.as_str()).collect();
    for key in ["t_WC", "static_allocation", "gc threshold", "dram active current", "t_CLS", "aged ratio"] {
        assert!(named.contains(&key), "{key} is lost without a word: {named:?}");
    }
}

/// The error that a file gives after a change.
fn refused(bytes: &[u8], from: &str, to: &str) -> String {
    let text = String::from_utf8_lossy(bytes);
    assert!(text.contains(from), "{from}");
    import(text.replacen(from, to, 1).as_bytes(), "f", "mine").unwrap_err().to_string()
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let e = refused(MQSIM, "<Block_No_Per_Plane>256", "<Block_No_Per_Plane>many");
    assert_eq!(e, "f:45: Block_No_Per_Plane: \"many\" is not a whole number, such as 8");
    let e = refused(MQSIM, "<Flash_Technology>TLC", "<Flash_Technology>XLC");
    assert!(e.contains("\"XLC\" is not SLC, MLC, TLC or QLC"), "{e}");
    let e = refused(MQSIM, "<Block_Erase_Latency>3600000</Block_Erase_Latency>", "");
    assert_eq!(e, "f: Block_Erase_Latency is missing; expected a time in nanoseconds, such as 75000");
    let e = refused(MQSIM, "<Seed>7</Seed>", "<Seed>7</Seed><Seed>8</Seed>");
    assert!(e.contains("Seed appears twice"), "{e}");
    let e = refused(MQSIM, "</Flash_Parameter_Set>", "");
    assert!(e.starts_with("f:") && e.contains("invalid XML"), "{e}");
    let e = refused(MQSIM, "<Block_No_Per_Plane>256", "<Block_No_Per_Plane>2");
    assert!(e.contains("f, as a device file:") && e.contains("blocks_per_plane"), "{e}");
    // A drive that is none of these is not made one of them.
    let e = refused(MQSIM, "<Seed>7</Seed>", "<Seed>7</Seed><Address_Mapping>HYBRID</Address_Mapping>");
    assert!(e.contains("Address_Mapping: \"HYBRID\" is not supported, because Wordline maps pages or parts of pages; set it to PAGE_LEVEL for a page-mapped drive with the same flash") && e.contains("set it to"), "{e}");
    let e = refused(MQSIM, "<Seed>7</Seed>", "<Seed>7</Seed><Support_Zone>true</Support_Zone>");
    assert!(e.contains("Support_Zone: zoned drives are not supported; set it to false for a conventional drive with the same flash"), "{e}");
    let e = refused(SSDSIM, "address mapping=1", "address mapping=3");
    assert!(e.contains("address mapping: \"3\" is not supported, because Wordline maps pages or parts of pages; set it to 1 for a page-mapped drive with the same flash"), "{e}");
    let e = import(b"<IO_Scenario></IO_Scenario>", "w.xml", "x").unwrap_err().to_string();
    assert!(e.contains("not the workload file"), "{e}");
    let e = refused(SSDSIM, "chip number[1] = 3", "chip number[1] = 2");
    assert!(e.contains("[3, 2]; all channels must have the same number of chips"), "{e}");
    let e = refused(SSDSIM, "page capacity = 4096", "page capacity = 2048");
    assert!(e.contains("page capacity is 2048, and subpage page x subpage capacity 4096"), "{e}");
    let e = import(b"hello\n", "x", "x").unwrap_err().to_string();
    assert!(e.starts_with("x:1: \"hello\" is not a line of SSDSim, such as \"channel number = 2;\" (ssdconfig.xml of MQSim is also accepted)"), "{e}");
    for empty in [&b""[..], b"#\n", b"<a/>"] {
        assert!(import(empty, "x", "x").is_err());
    }
}

fn draft() -> Draft {
    Draft {
        name: "mine".into(),
        capacity: Bytes(1_000_000_000_000),
        cell: CellMode::Tlc,
        channels: 8,
        interface: "pcie4x4".parse().unwrap(),
        over_provisioning: None,
        page: None,
        bus: None,
        read: None,
        program: None,
        write_rate: None,
        erase: None,
        endurance: None,
        slc_cache: None,
    }
}

fn drafted(draft: &Draft) -> (String, DeviceSpec) {
    let text = draft.to_toml().unwrap_or_else(|e| panic!("{e}"));
    let spec = wordline_device::from_toml(&text, "mine.toml", &[]).unwrap_or_else(|e| panic!("{e}"));
    (text, spec)
}

#[test]
fn data_sheet_values_are_asked_for_or_assumed() {
    for cell in CellMode::ALL {
        for (capacity, channels) in
            [(1u64 << 30, 1), (64 << 30, 4), (1_000_000_000_000, 8), (30_720_000_000_000, 16)]
        {
            let (text, s) = drafted(&Draft { cell, channels, capacity: Bytes(capacity), ..draft() });
            has_sources(&text, &["Asked"]);
            assert_eq!(s.media[0].densest(), cell);
            assert_eq!(
                (s.logical_bytes(), s.media[0].topology.channels),
                (capacity / s.unit.0 * s.unit.0, channels)
            );
            // Units have numbers of 32 bits.
            let unit = if capacity < 1 << 44 { 4 << 10 } else { 16 << 10 };
            let packing = if unit == 4 << 10 { Packing::Page } else { Packing::Off };
            assert_eq!((s.sector.0, s.unit.0, s.packing), (4 << 10, unit, packing));
            let over = s.physical_bytes() as f64 / s.logical_bytes() as f64 - 1.0;
            assert!((0.069..0.12).contains(&over), "{cell} {capacity}: {over}");
        }
    }
}

/// A request occupies the link for its overhead: 5 us of it once bounded every new drive to 200,000 requests a second,
/// which nothing said.
#[test]
fn firmware_of_a_new_drive_does_not_occupy_its_link() {
    let (text, s) = drafted(&draft());
    let (link, all) = (s.host.read_overhead, s.host.read_overhead + s.host.read_latency);
    assert_eq!((link, all), (SimDuration(500), SimDuration(5_000)), "{text}");
    let said = wordline_device::drawing(&s);
    let bound = "host link        7000 MB/s, 2,000,000 reads per second, 2,000,000 writes per second\n";
    assert!(said.contains(bound), "{said}");
    let (_, s) = drafted(&Draft { cell: CellMode::Slc, ..draft() });
    let s = wordline_device::DeviceSpec {
        host: HostLink { read_overhead: SimDuration(0), write_overhead: SimDuration(0), ..s.host },
        ..s
    };
    assert!(wordline_device::drawing(&s).contains("host link        7000 MB/s\n"));
}

#[test]
fn data_sheet_answers_are_kept_and_write_rate_is_met() {
    let rate: Rate = "2000MB/s".parse().unwrap();
    let given = Draft {
        write_rate: Some(rate),
        read: Some(SimDuration(45_000)),
        endurance: Some(1_500),
        slc_cache: Some(Bytes(20 << 30)),
        ..draft()
    };
    let (text, s) = drafted(&given);
    let m = &s.media[0];
    let tlc = m.mode(CellMode::Tlc).unwrap();
    assert_eq!((tlc.read[2], tlc.endurance), (SimDuration(45_000), 1_500));
    let all_planes = m.topology.planes() as f64 * 3.0 * m.page.0 as f64;
    assert!((all_planes / tlc.program[0].as_secs() / 2e9 - 1.0).abs() < 1e-3);
    let cache =
        s.slc_cache.unwrap().static_blocks as u64 * m.topology.planes() as u64 * m.block_bytes(CellMode::Slc);
    assert!((20u64 << 30..22 << 30).contains(&cache), "{cache}");
    assert!(text.contains("# Asked: gives 2000MB/s"), "{text}");
    let (_, s) = drafted(&Draft { page: Some(Bytes(2 << 10)), ..draft() });
    assert_eq!((s.unit, s.packing), (Bytes(2 << 10), Packing::Off));
    let e = Draft { capacity: Bytes(1 << 20), ..draft() }.to_toml().unwrap_err().to_string();
    assert!(e.starts_with("mine, created from options"), "{e}");
    let e = "usb".parse::<Interface>().unwrap_err().to_string();
    assert!(e.contains("sata3, pcie3x2, pcie3x4, pcie4x4, pcie5x4, or a rate"), "{e}");
}

#[test]
fn drawing_has_every_medium_and_derived_values() {
    for device in builtin() {
        let text = drawing(&device.spec(&[]).unwrap());
        for said in [
            "medium ",
            "channel 0",
            "block: ",
            "upper bounds",
            "over-provisioning",
            "page-level table",
            "unloaded",
        ] {
            assert!(text.contains(said), "{}: {said}\n{text}", device.name);
        }
        assert!(text.lines().all(|l| l.chars().count() <= 110), "{text}");
    }
}

#[test]
fn drawing_shows_how_much_of_a_flash_map_is_in_ram() {
    let drawn = |size: &str| {
        let set = [("dram.map_cache".to_string(), size.to_string())];
        drawing(&find("demo-8gb").unwrap().spec(&set).unwrap())
    };
    // 524,288 entries, of which 4096 fit in a page of the map.
    let text = drawn("64KiB");
    assert!(text.contains("64.50 KiB: 4 of 128 pages, and the flash address of each"), "{text}");
    assert!(!drawn("off").contains("mapping cache"));
    let keys = |size: &str, journal: &str| {
        [("dram.map_cache", size), ("dram.map_journal", journal)].map(|(k, v)| (k.to_string(), v.to_string()))
    };
    let spec = |size, journal| find("demo-8gb").unwrap().spec(&keys(size, journal));
    let text = drawing(&spec("64KiB", "4KiB").unwrap());
    assert!(
        text.contains("68.50 KiB: 4 of 128 pages, and the flash address of each, and the journal"),
        "{text}"
    );
    let kept = wordline_device::checked(&spec("64KiB", "4KiB").unwrap(), "demo.toml").unwrap();
    assert_eq!(kept.dram.map_journal, Some(Bytes(4096)));
    assert_eq!(spec("64KiB", "unbounded").unwrap().dram.map_journal, None);
    // The cache that was turned off as an argument leaves the journal of the file without a meaning.
    assert_eq!(spec("off", "4KiB").unwrap().dram.map_journal, None);
    let alone = find("demo-8gb").unwrap().spec(&keys("off", "4KiB")[1..]).unwrap_err().to_string();
    assert!(alone.contains("dram.map_journal: requires map_cache, because otherwise the whole mapping table is in RAM; set it, or remove this key"), "{alone}");
    let small = spec("64KiB", "4B").unwrap_err().to_string();
    assert!(small.contains("dram.map_journal: 4B is not between 8B and"), "{small}");
    let wrong = find("demo-8gb").unwrap().spec(&[("dram.map_cache".to_string(), "20KiB".to_string())]);
    let wrong = wrong.unwrap_err().to_string();
    assert!(wrong.contains("dram.map_cache: 20KiB is not a multiple of the mapping unit, 16KiB"), "{wrong}");
}

#[test]
fn energy_is_set_for_every_operation_or_for_none() {
    let set = |more: &[(&str, &str)]| {
        let all: Vec<_> = more.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        find("mqsim-qd1").unwrap().spec(&all)
    };
    let whole = [
        ("medium.flash.bus.energy", "40pJ"),
        ("medium.flash.slc.energy.read", "1.5uJ"),
        ("medium.flash.slc.energy.program", "20uJ"),
        ("medium.flash.slc.energy.erase", "0.3mJ"),
    ];
    let s = set(&whole).unwrap();
    assert!(s.gives_energy());
    assert_eq!(wordline_device::from_toml(&to_toml(&s), "x", &[]).unwrap(), s);
    assert_eq!(serde_json::from_str::<DeviceSpec>(&serde_json::to_string(&s).unwrap()).unwrap(), s);
    let told = describe(&s);
    for part in ["40 pJ per byte transferred\n", "SLC 1.5 uJ per read, 20 uJ per program, 300 uJ per erase"] {
        assert!(told.contains(part), "{told}");
    }
    let e = set(&whole[..1]).unwrap_err().to_string();
    assert!(
        e.contains("medium.flash.slc: other modes of this medium have energy values; add energy ="),
        "{e}"
    );
    let e = set(&whole[1..]).unwrap_err().to_string();
    assert!(
        e.contains(
            "medium.flash.bus: the array has energy values; add energy = \"40pJ\", per byte transferred"
        ),
        "{e}"
    );
    let e = set(&whole[..3]).unwrap_err().to_string();
    assert!(e.contains("missing key \"erase\" in [medium.flash.slc.energy]"), "{e}");
    assert!(!to_toml(&set(&[]).unwrap()).contains("energy"));
}
