//! Pages of several mapping units that writes share (`mapping.packing`): what that saves, and what it costs in time.

use crate::support::one_die;
use std::convert::Infallible;
use wordline_ftl::{Cause, Initial, Mapped};
use wordline_hash::SplitMix64;
use wordline_sim::{Device, NoProbe, Pacing, Stop, drive};
use wordline_units::{HostOp, HostRequest, SimTime};

type Drive = Device<NoProbe>;

const UNIT: u64 = 4096;
/// A die that works a page of 16 KiB off, and what the bus takes for a unit of 4 KiB.
const PROGRAM: u64 = 160_000;
const READ: u64 = 20_000;
const BUS: u64 = 5_120;
const LINK: u64 = 1_000;

/// SLC pages of 16 KiB with four mapping units each, behind a protected write buffer.
const FOUR: [(&str, &str); 4] =
    [("mapping.unit", "4KiB"), ("mapping.packing", "page"), ("ack.mode", "buffer"), ("ack.pages", "64")];

fn one(keys: &[(&str, &str)]) -> Drive {
    let all = [&[("capacity.logical", "32MiB")], keys].concat();
    one_die::empty(&one_die::spec(&all), "conventional:mode=slc")
}

/// Write, or read, some mapping units one by one, and wait for all.
fn each(d: &mut Drive, op: HostOp, units: impl IntoIterator<Item = u64>) -> Vec<u64> {
    for unit in units {
        d.submit(HostRequest::new(op, unit * UNIT / 512, 8).at(d.now()), d.now()).unwrap();
    }
    let limit = SimTime(d.now().0 + 1_000_000_000);
    std::iter::from_fn(|| d.next_completion(limit).unwrap()).map(|c| c.parts.total()).collect()
}

fn programs(d: &Drive) -> u64 {
    d.ftl().counters().regions.iter().map(|r| r.ops.program_operations).sum()
}

fn padding(d: &Drive) -> u64 {
    d.ftl().counters().program_bytes(Cause::Pad) / UNIT
}

#[test]
fn four_writes_share_a_page_and_a_read_returns_one() {
    let mut d = one(&FOUR);
    each(&mut d, HostOp::Write, [3, 500, 1000]);
    assert_eq!((programs(&d), padding(&d)), (0, 0));
    assert_eq!(each(&mut d, HostOp::Read, [500]), [LINK], "from RAM");
    each(&mut d, HostOp::Write, [42]);
    assert_eq!((programs(&d), padding(&d)), (1, 0));
    assert_eq!(each(&mut d, HostOp::Read, [500]), [READ + BUS + LINK]);
    let off = &[FOUR[0], FOUR[2], FOUR[3]];
    let mut d = one(off);
    each(&mut d, HostOp::Write, [3, 500, 1000, 42]);
    assert_eq!((programs(&d), padding(&d)), (4, 12));
}

// After the time of the host.
#[test]
fn write_waiting_for_its_program_is_padded_in_time() {
    let mut d = one(&[FOUR[0], FOUR[1], ("program.pad_host_after", "70us")]);
    assert_eq!(each(&mut d, HostOp::Write, [7]), [70_000 + 4 * BUS + PROGRAM + LINK]);
    assert_eq!((programs(&d), padding(&d)), (1, 3));
    assert_eq!(each(&mut d, HostOp::Write, [1, 2, 8, 9])[0], 4 * BUS + PROGRAM + LINK, "it is full");
    assert_eq!((programs(&d), padding(&d)), (2, 3));
}

#[test]
fn victim_is_sensed_once_per_page_and_packed_again() {
    // Half of the units of each page die.
    let mut d = one(&FOUR);
    let units = d.ftl().view().logical_pages() as u64;
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(units as u32)), 7).unwrap();
    let mut random = SplitMix64::new(11);
    let places: Vec<u64> = (0..3 * units).map(|_| random.bits() % units).collect();
    let requests = places.iter().map(|unit| HostRequest::new(HostOp::Write, unit * 8, 8));
    drive(
        &mut d,
        requests.map(Ok::<_, Infallible>),
        Pacing::Closed { queue_depth: 32 },
        Stop::default(),
        |_| {},
    )
    .unwrap();
    d.drain().unwrap();
    d.ftl_mut().tables().check().unwrap();
    let counters = d.ftl().counters();
    let copied = counters.program_bytes(Cause::Gc) / UNIT;
    let sensed: u64 = counters.regions.iter().map(|r| r.reads[Cause::Gc as usize]).sum();
    assert!(copied > 1_000, "{copied} units were collected");
    assert!(copied > sensed, "{copied} units took {sensed} reads");
    assert!(padding(&d) * 100 < copied, "{} of padding beside {copied} copied units", padding(&d));
}

/// Write amplification of random writes of 4 KiB, after the drive has been overwritten some times.
fn amplification(keys: &[(&str, &str)]) -> f64 {
    let drive_of = [
        ("medium.flash.slc.program", "10us"),
        ("medium.flash.blocks_per_plane", "128"),
        ("medium.flash.wordlines_per_block", "16"),
        ("ack.mode", "buffer"),
        ("ack.pages", "64"),
        ("mapping.unit", "4KiB"),
        ("gc.trigger", "free_blocks < 4%"),
        ("capacity.logical", "27MiB"),
    ];
    let mut d = one(&[&drive_of[..], keys].concat());
    let units = d.ftl().view().logical_pages() as u64;
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(units as u32)), 7).unwrap();
    let mut random = SplitMix64::new(5);
    let mut write = |count: u64| {
        let places: Vec<u64> = (0..count).map(|_| random.bits() % units).collect();
        let requests = places.iter().map(|unit| HostRequest::new(HostOp::Write, unit * 8, 8));
        let requests = requests.map(Ok::<_, Infallible>);
        drive(&mut d, requests, Pacing::Closed { queue_depth: 32 }, Stop::default(), |_| {}).unwrap();
        d.ftl().counters().programmed_bytes()
    };
    let before = write(5 * units);
    let after = write(5 * units);
    (after - before) as f64 / (5 * units * UNIT) as f64
}

/// A block of 16 pages with four units each, or of 64 pages with one: under uniform writes the flash has the same to do.
#[test]
fn packed_units_amplify_writes_as_small_pages_do() {
    let packed = amplification(&[FOUR[1]]);
    let small = amplification(&[("medium.flash.page", "4KiB"), ("medium.flash.wordlines_per_block", "64")]);
    assert!((packed / small - 1.0).abs() < 0.03, "{packed} packed, {small} with pages of a unit");
    let padded = amplification(&[]);
    assert!(padded > 2.0 * packed, "{padded} padded, {packed} packed");
}
