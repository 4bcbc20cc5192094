//! Energy of operations: every sum follows from what was done, and nothing else depends on it.

use wordline_counters::{EnergyCounts, Picojoules};
use wordline_device::DeviceSpec;
use wordline_ftl::{Cause, Initial, Mapped};
use wordline_sim::{Device, NoProbe};
use wordline_units::{HostOp, HostRequest, SimTime};

const PJ: [(&str, u64, u64, u64); 3] =
    [("slc", 3_000, 11_000, 170_000), ("tlc", 7_000, 29_000, 230_000), ("qlc", 13_000, 53_000, 290_000)];
/// For each byte on a bus.
const BYTE: u64 = 19;
const PAGE: u64 = 16 * 1024;

/// RARO's drive with a few blocks of eight wordlines, and energies that no two operations share.
fn spec(energy: bool, overrides: &[(&str, &str)]) -> DeviceSpec {
    let mut all: Vec<(String, String)> = vec![];
    let mut set = |key: String, value: String| all.push((key, value));
    for (key, value) in [
        ("medium.flash.blocks_per_plane", "16"),
        ("medium.flash.wordlines_per_block", "8"),
        ("capacity.logical", "16MiB"),
    ] {
        set(key.into(), value.into());
    }
    if energy {
        set("medium.flash.bus.energy".into(), format!("{BYTE}pJ"));
        for (mode, read, program, erase) in PJ {
            let at = format!("medium.flash.{mode}.energy");
            set(format!("{at}.read"), format!("{read}pJ"));
            set(format!("{at}.program"), format!("{program}pJ"));
            set(format!("{at}.erase"), format!("{erase}pJ"));
        }
    }
    for (key, value) in overrides {
        set((*key).into(), (*value).into());
    }
    wordline_device::find("raro-16gb").unwrap().spec(&all).unwrap()
}

fn device(spec: &DeviceSpec, scheme: &str) -> Device<NoProbe> {
    let scheme = wordline_schemes::build(scheme).unwrap();
    let mut d = Device::new(spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    let pages = (spec.logical_bytes() / spec.unit.0) as u32;
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages)), 7).unwrap();
    d
}

fn ask(d: &mut Device<NoProbe>, op: HostOp, page: u64, sectors: u32) {
    d.submit(HostRequest::new(op, page * 32, sectors * 8), d.now()).unwrap();
    d.next_completion(SimTime::NEVER).unwrap().unwrap();
}

fn used(d: &Device<NoProbe>, cause: Cause) -> EnergyCounts {
    d.ftl().counters().energy.as_ref().unwrap()[cause as usize].clone()
}

#[test]
fn a_read_and_a_write_take_what_the_device_file_says() {
    let mut d = device(&spec(true, &[]), "conventional:mode=qlc");
    ask(&mut d, HostOp::Write, 3, 4);
    let write = EnergyCounts {
        program_j: Picojoules(53_000),
        transfer_j: Picojoules(PAGE * BYTE),
        ..EnergyCounts::default()
    };
    assert_eq!(used(&d, Cause::Host), write);
    // Only the sectors that are wanted move.
    ask(&mut d, HostOp::Read, 3, 1);
    let both =
        EnergyCounts { read_j: Picojoules(13_000), transfer_j: Picojoules((PAGE + 4_096) * BYTE), ..write };
    assert_eq!(used(&d, Cause::Host), both);
    // A part of a page: the rest is read first.
    ask(&mut d, HostOp::Write, 5, 1);
    let fill = EnergyCounts {
        read_j: Picojoules(13_000),
        transfer_j: Picojoules(3 * 4_096 * BYTE),
        ..EnergyCounts::default()
    };
    assert_eq!(used(&d, Cause::Rmw), fill);
}

#[test]
fn retry_senses_and_transfers_again_with_bus_decoding() {
    for (retransfer, moves) in [("false", 1), ("true", 4)] {
        let errors = [("errors.model", "fixed:3"), ("errors.retransfer", retransfer)];
        let mut d = device(&spec(true, &errors), "conventional:mode=tlc");
        ask(&mut d, HostOp::Read, 0, 4);
        let read = EnergyCounts {
            read_j: Picojoules(4 * 7_000),
            transfer_j: Picojoules(moves * PAGE * BYTE),
            ..EnergyCounts::default()
        };
        assert_eq!(used(&d, Cause::Host), read, "retransfer {retransfer}");
    }
}

#[test]
fn a_one_shot_program_is_counted_once() {
    let mut d = device(&spec(true, &[("medium.flash.tlc.one_shot", "true")]), "conventional:mode=tlc");
    for page in [0, 4, 8] {
        d.submit(HostRequest::new(HostOp::Write, page * 32, 32), SimTime(0)).unwrap();
    }
    while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
    let once = EnergyCounts {
        program_j: Picojoules(29_000),
        transfer_j: Picojoules(3 * PAGE * BYTE),
        ..EnergyCounts::default()
    };
    assert_eq!(used(&d, Cause::Host), once);
}

/// Overwrite so much that blocks are collected.
fn overwritten(spec: &DeviceSpec, scheme: &str) -> Device<NoProbe> {
    let mut d = device(spec, scheme);
    let pages = spec.logical_bytes() / spec.unit.0;
    for i in 0..4 * pages {
        ask(&mut d, HostOp::Write, i * 7919 % pages, 4);
        if i.is_multiple_of(3) {
            ask(&mut d, HostOp::Read, i * 31 % pages, 2);
        }
    }
    d.drain().unwrap();
    d
}

#[test]
fn energy_over_gc_is_counts_times_energies() {
    for (mode, read, program, erase) in PJ.into_iter().skip(1) {
        let scheme = format!("conventional:mode={mode}");
        let d = overwritten(&spec(true, &[]), &scheme);
        let c = d.ftl().counters();
        let r = &c.regions[0];
        for cause in [Cause::Host, Cause::Gc] {
            let (k, used) = (cause as usize, used(&d, cause));
            assert!(r.reads[k] > 0 && r.program_pages[k] > 0, "{mode} {cause:?}");
            assert_eq!(used.read_j.0, r.reads[k] * read);
            assert_eq!(used.program_j.0, r.program_pages[k] * program);
            let half = if cause == Cause::Host { 2 } else { 1 };
            assert_eq!(used.transfer_j.0, (r.reads[k] / half + r.program_pages[k]) * PAGE * BYTE);
        }
        let erased: u64 = c.energy.iter().flatten().map(|used| used.erase_j.0).sum();
        assert!(r.counts.erases > 0);
        assert_eq!(erased, r.counts.erases * erase);
    }
}

#[test]
fn a_copy_within_a_plane_moves_nothing() {
    let d = overwritten(&spec(true, &[("medium.flash.qlc.copy_back", "3.3ms")]), "conventional:mode=qlc");
    let (used, r) = (used(&d, Cause::Gc), &d.ftl().counters().regions[0]);
    assert!(r.ops.copy_backs > 0 && r.ops.copy_backs == r.program_pages[Cause::Gc as usize]);
    assert_eq!((used.read_j.0, used.program_j.0), (r.ops.copy_backs * 13_000, r.ops.copy_backs * 53_000));
    assert_eq!(used.transfer_j.0, 0);
}

#[test]
fn nothing_but_the_sums_depends_on_energy() {
    for scheme in ["conventional:mode=qlc", "hotness:warm=1,hot=2", "ips:mode=qlc"] {
        let [with, without] = [true, false].map(|energy| overwritten(&spec(energy, &[]), scheme));
        let hash = |d: &Device<NoProbe>| d.metrics().result_hash(&d.ftl().counters().integers());
        assert_eq!(hash(&with), hash(&without), "{scheme}");
        assert_eq!(without.ftl().counters().energy, None);
    }
}
