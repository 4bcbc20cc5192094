//! Do pages go where they wait least, when they may go to any plane?

use std::convert::Infallible;
use wordline_device::{Allocation, DeviceSpec, Packing, Superblock};
use wordline_ftl::OpKind;
use wordline_sim::{Device, Event, Log, NoProbe, Pacing, Stop, drive};
use wordline_swarm::{Rng, Tiny};
use wordline_units::{HostOp, HostRequest, SimTime};

/// A page of 2 KiB takes 2048 ns over the bus; an SLC page is programmed in 20 us.
const MOVE: u64 = 2_048;
const PROGRAM: u64 = 20_000;

fn device(tiny: &Tiny) -> Device<NoProbe> {
    let spec = tiny.spec(1);
    let scheme = wordline_schemes::build("conventional:mode=slc").unwrap();
    Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap()
}

/// A drive of so many planes in all, where pages may go to any of them or go where their number says.
fn drive_of(planes: u32, dies: u32, multiplane: bool, dynamic: bool) -> Tiny {
    Tiny {
        channels: 4,
        chips: dies / 4,
        planes: planes / dies,
        blocks: 40,
        wordlines: 16,
        multiplane,
        extra: if dynamic { "[allocation]\norder = \"dynamic\"\n" } else { "" },
        ..Tiny::default()
    }
}

/// What the host asks, and when.
#[derive(Clone, Copy, Debug)]
enum Load {
    /// Half writes of a page and half of eight, this far apart: seldom two at a time.
    Sparse(u64),
    /// The same, and a read of a page for each, at random times this far apart on the mean.
    Mixed(u64),
    /// Writes of one to sixteen pages, so many at a time.
    Closed(u32),
}

fn mean_write(tiny: &Tiny, load: Load) -> f64 {
    let mut d = device(tiny);
    let (pages, mut rng, mut now) = (tiny.units(1) as u64, Rng::new(7), 0);
    let stream = (0..1_500u64).map(|i| {
        let (op, length) = match load {
            Load::Mixed(_) if i % 2 == 1 => (HostOp::Read, 1),
            Load::Closed(_) => (HostOp::Write, 1 + rng.below(16)),
            _ => (HostOp::Write, if rng.below(2) == 0 { 1 } else { 8 }),
        };
        now += match load {
            Load::Sparse(apart) => apart,
            Load::Mixed(apart) => rng.below(2 * apart),
            Load::Closed(_) => 0,
        };
        let first = rng.below(pages - length);
        let request = HostRequest::new(op, first * 4, length as u32 * 4);
        Ok::<_, Infallible>(HostRequest { arrival: SimTime(now), ..request })
    });
    let pacing = match load {
        Load::Closed(queue_depth) => Pacing::Closed { queue_depth },
        _ => Pacing::Open { queue_depth: 64 },
    };
    drive(&mut d, stream, pacing, Stop::default(), |_| {}).unwrap();
    d.metrics().latency[HostOp::Write as usize].mean().unwrap()
}

#[test]
fn pages_spread_over_channels_then_dies_then_planes() {
    for (pages, ends) in [
        (4, MOVE + PROGRAM),     // a channel each
        (8, 2 * MOVE + PROGRAM), // a die each
        (9, MOVE + 2 * PROGRAM), // the last waits in a second plane for the first die that is done
    ] {
        let mut d = device(&drive_of(16, 8, false, true));
        d.submit(HostRequest::new(HostOp::Write, 0, pages * 4), SimTime(0)).unwrap();
        assert_eq!(d.next_completion(SimTime::NEVER).unwrap().unwrap().at.0, ends, "{pages} pages");
    }
}

/// What a drive has of its own.
type Own = fn(&mut DeviceSpec);
const BY_ADDRESS: Own = |_| {};
const DYNAMIC: Own = |spec| spec.allocation = Allocation::Dynamic;
const ROUND_ROBIN: Own = |spec| spec.allocation = Allocation::RoundRobin;
const SUPERBLOCKS: Own = |spec| spec.superblock = Superblock::Drive;
/// Drives that choose the plane of a page freely.
const FREE: [(&str, Own); 3] =
    [("dynamic", DYNAMIC), ("round-robin", ROUND_ROBIN), ("superblocks", SUPERBLOCKS)];

/// Programs of each of six planes, each of three pages, after writes to these pages, far apart in time.
fn programs(own: Own, pages: impl Iterator<Item = u64>) -> [u32; 6] {
    programs_of(own, 1, pages.map(|page| (page, 1)))
}

/// The same on a drive with some units in a page, where writes share pages, after writes from a unit on of so many.
fn programs_of(own: Own, units: u32, writes: impl Iterator<Item = (u64, u32)>) -> [u32; 6] {
    // Its write buffer has room for incomplete programs in all planes.
    let mut tiny =
        Tiny { channels: 6, one_shot: true, ack_buffer: Some(48 * units), ..drive_of(6, 4, false, false) };
    tiny.units_per_page = units;
    let scheme = wordline_schemes::build("conventional").unwrap();
    let mut spec = tiny.spec(1);
    spec.packing = if units > 1 { Packing::Page } else { spec.packing };
    own(&mut spec);
    let mut d = Device::new(&spec, &spec.geometry().unwrap(), scheme, Log::default()).unwrap();
    let writes = writes.zip(0u64..).map(|((unit, units), i)| {
        let request = HostRequest::new(HostOp::Write, unit * 4, units * 4);
        Ok::<_, Infallible>(HostRequest { arrival: SimTime(i * 10_000_000), ..request })
    });
    drive(&mut d, writes, Pacing::Open { queue_depth: 64 }, Stop::default(), |_| {}).unwrap();
    let mut programs = [0; 6];
    for event in &d.probe().events {
        if let Event::Array { kind: OpKind::Program, plane, .. } = event {
            programs[plane.0 as usize] += 1;
        }
    }
    programs
}

/// How far programs of planes differ.
fn spread(programs: [u32; 6]) -> u32 {
    programs.iter().max().unwrap() - programs.iter().min().unwrap()
}

/// Three pages make a program, a divisor of the number of planes. The last write waits for two more.
#[test]
fn an_idle_drive_writes_to_each_plane_in_turn() {
    for (name, own) in FREE {
        assert_eq!(programs(own, 0..=18 * 5), [5; 6], "{name}");
    }
}

/// A unit waits for others to fill its page. Whole pages cannot, and go on in turn.
#[test]
fn part_of_a_page_does_not_draw_whole_pages_to_its_plane() {
    for (name, own) in FREE {
        let pages = (1..=18 * 5).map(|page| (2 * page, 2));
        let found = programs_of(own, 2, std::iter::once((0, 1)).chain(pages));
        assert!(found.iter().all(|n| (4..=6).contains(n)), "{name}: {found:?}");
    }
}

/// What overfills a program leaves a part to the next one of its plane. If more followed it there, an odd unit would send
/// all writes of even numbers of units to one plane. The first write makes the number odd; none leaves its page.
#[test]
fn what_overfills_a_program_does_not_draw_more_to_its_plane() {
    for (name, own) in FREE {
        for (units, each) in [(4, 2), (4, 3), (3, 2)] {
            let writes = (1..=120).map(|page| (page * u64::from(units), each));
            let found = programs_of(own, units, std::iter::once((0, 1)).chain(writes));
            assert!(spread(found) <= 2, "{name}: {each} of {units}: {found:?}");
        }
    }
}

/// A page that fills up a program leaves part of a page behind, which draws no page either.
#[test]
fn pages_and_parts_of_pages_go_to_all_planes() {
    for (name, own) in FREE {
        for part in [1, 3] {
            let writes = (0..240).map(|page| (4 * page, if page % 2 == 0 { 4 } else { part }));
            let found = programs_of(own, 4, writes);
            assert!(spread(found) <= 3, "{name}: {part}: {found:?}");
        }
    }
}

#[test]
fn a_hot_page_goes_to_each_plane_but_by_its_address_to_one() {
    let hot = || std::iter::repeat_n(7, 18 * 5 + 1);
    assert_eq!(programs(ROUND_ROBIN, hot()), [5; 6]);
    assert_eq!(programs(BY_ADDRESS, hot()), [0, 30, 0, 0, 0, 0]);
}

#[test]
fn free_plane_choice_never_slows_writes() {
    let loads = [Load::Sparse(1_000_000), Load::Sparse(60_000), Load::Mixed(20_000), Load::Closed(16)];
    for (planes, dies) in [(8, 8), (64, 8), (32, 16), (16, 4)] {
        for multiplane in [false, true] {
            for load in loads {
                let of = |dynamic| mean_write(&drive_of(planes, dies, multiplane, dynamic), load);
                let (fixed, free) = (of(false), of(true));
                assert!(
                    free <= fixed,
                    "{planes} planes, {dies} dies, {multiplane}, {load:?}: {fixed} ns to {free}"
                );
            }
        }
    }
}
