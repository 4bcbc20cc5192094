//! Is the last program of each superpage parity, in time, space and count?

use wordline_counters::Cause;
use wordline_device::{Capacity, DeviceSpec, Parity, Superblock};
use wordline_ftl::{Initial, Mapped};
use wordline_sim::{Device, NoProbe};
use wordline_swarm::Tiny;
use wordline_units::{Fraction, HostOp, HostRequest, SimTime};

/// Planes of a superblock, all of the drive.
const PLANES: u64 = 8;

fn tiny() -> Tiny {
    Tiny { channels: 2, chips: 1, planes: 4, multiplane: true, ..Tiny::default() }
}

fn with(parity: Parity) -> DeviceSpec {
    DeviceSpec { superblock: Superblock::Drive, parity, ..tiny().spec(1) }
}

fn device(spec: &DeviceSpec, mode: &str) -> Device<NoProbe> {
    let scheme = wordline_schemes::build(&format!("conventional:mode={mode}")).unwrap();
    Device::new(spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap()
}

fn write(page: u64) -> HostRequest {
    HostRequest::new(HostOp::Write, page * 4, 4)
}

/// Pages of a cause, and bytes of all.
fn programmed(d: &Device<NoProbe>, cause: Cause) -> (u64, u64) {
    let counters = d.ftl().counters();
    let pages = counters.regions.iter().map(|region| region.program_pages[cause as usize]).sum();
    (pages, counters.program_bytes(cause))
}

/// The time at which writes of these pages have ended that were submitted at time 0, and all that follows from them.
fn end_of(d: &mut Device<NoProbe>, pages: u64) -> (SimTime, SimTime) {
    for page in 0..pages {
        d.submit(write(page), SimTime(0)).unwrap();
    }
    let mut last = SimTime(0);
    while let Some(completion) = d.next_completion(SimTime::NEVER).unwrap() {
        last = last.max(completion.at);
    }
    d.drain().unwrap();
    (last, d.now())
}

#[test]
fn one_program_per_plane_count_is_parity() {
    let mut d = device(&with(Parity::Superpage), "slc");
    assert_eq!(end_of(&mut d, PLANES - 2).0, end_of(&mut device(&with(Parity::Off), "slc"), PLANES - 2).0);
    assert_eq!(programmed(&d, Cause::Parity), (0, 0));
    // Five superpages of seven pages each, and a page of the sixth.
    let mut d = device(&with(Parity::Superpage), "slc");
    end_of(&mut d, 5 * (PLANES - 1) + 1);
    assert_eq!(programmed(&d, Cause::Host).0, 5 * (PLANES - 1) + 1);
    assert_eq!(programmed(&d, Cause::Parity), (5, 5 * 2_048));
    assert_eq!((programmed(&d, Cause::Pad).0, d.ftl().counters().regions[0].ops.program_operations), (0, 41));
    assert_eq!(programmed(&device(&with(Parity::Off), "slc"), Cause::Parity), (0, 0));
    d.ftl_mut().tables().check().unwrap();
}

#[test]
fn parity_holds_plane_and_bus_as_long_as_a_page() {
    // Seven pages and their parity take as long as eight pages.
    let eight = end_of(&mut device(&with(Parity::Off), "slc"), PLANES).1;
    let mut d = device(&with(Parity::Superpage), "slc");
    let (acknowledged, all) = end_of(&mut d, PLANES - 1);
    assert!(acknowledged <= eight && all == eight, "{acknowledged:?} {all:?} {eight:?}");
}

#[test]
fn one_shot_wordline_is_followed_by_wordline_parity() {
    let tiny = Tiny { one_shot: true, ..tiny() };
    let mut spec = DeviceSpec { superblock: Superblock::Drive, parity: Parity::Superpage, ..tiny.spec(3) };
    spec.capacity = Capacity::Logical(wordline_units::Bytes(spec.unit.0 * 100));
    let mut d = device(&spec, "tlc");
    end_of(&mut d, 2 * 3 * (PLANES - 1));
    assert_eq!(programmed(&d, Cause::Host).0, 2 * 3 * (PLANES - 1));
    let (pages, pads) = (programmed(&d, Cause::Parity).0, programmed(&d, Cause::Pad).0);
    // Where groups were padded, they count as programs, too.
    assert_eq!(pages % 3, 0);
    assert_eq!(pages / 3, (2 * 3 * (PLANES - 1) + pads) / 3 / (PLANES - 1));
}

#[test]
fn capacity_is_what_parity_leaves() {
    let of = |parity| {
        let spec = DeviceSpec { capacity: Capacity::OverProvisioning(Fraction::percent(25)), ..with(parity) };
        (spec.logical_bytes(), spec.parity_bytes(), spec.physical_bytes())
    };
    let ((without, none, all), (with_it, parity, same)) = (of(Parity::Off), of(Parity::Superpage));
    assert_eq!((none, all, parity * PLANES), (0, same, all));
    let whole_pages = |bytes: u64| bytes / 2_048 * 2_048;
    assert_eq!((without, with_it), (whole_pages(all * 4 / 5), whole_pages((all - parity) * 4 / 5)));
}

/// Random writes on a drive that holds as many pages as one with parity promises: all bytes programmed, and pages of
/// parity and of all else.
fn worked(parity: Parity) -> (u64, u64, u64) {
    let mut spec = with(parity);
    let pages = tiny().units(1) as u64 * (PLANES - 1) / PLANES;
    spec.capacity = Capacity::Logical(wordline_units::Bytes(pages * spec.unit.0));
    let mut d = device(&spec, "slc");
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages as u32)), 3).unwrap();
    let mut at = 1;
    for n in 0..4_000u64 {
        at = at * 48_271 % 0x7fff_ffff;
        d.submit(write(at % pages), d.now()).unwrap();
        if n % 8 == 7 {
            while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
        }
    }
    d.drain().unwrap();
    d.ftl_mut().tables().check().unwrap();
    let parity = programmed(&d, Cause::Parity).0;
    let others = Cause::PROGRAMS.into_iter().filter(|cause| *cause != Cause::Parity);
    (d.ftl().counters().programmed_bytes(), parity, others.map(|cause| programmed(&d, cause).0).sum())
}

#[test]
fn collection_writes_parity_anew_and_costs_more() {
    let (without, none, _) = worked(Parity::Off);
    let (bytes, parity, others) = worked(Parity::Superpage);
    assert_eq!(none, 0);
    assert_eq!(parity, others / (PLANES - 1));
    // More than parity itself: victims hold more that is valid beside it.
    assert!(bytes * (PLANES - 1) > without * PLANES, "{bytes} against {without}");
}
