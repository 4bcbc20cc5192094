//! Are the blocks of a superblock opened, filled, collected and erased as one?

use std::collections::BTreeSet;
use wordline_counters::MultiplaneCounts;
use wordline_device::{Capacity, DeviceSpec, Parity, Superblock, Victim};
use wordline_flash::Geometry;
use wordline_ftl::{BlockLife, Initial, Mapped, OpKind, Outcome};
use wordline_sim::{Device, NoProbe};
use wordline_swarm::Tiny;
use wordline_units::{BlockId, Bytes, Fraction, HostOp, HostRequest, PlaneId, SimTime};

/// A page of 2 KiB takes 2048 ns over the bus; an SLC page is programmed in 20 us.
const MOVE: u64 = 2_048;
const PROGRAM: u64 = 20_000;

fn tiny() -> Tiny {
    Tiny { channels: 2, chips: 1, planes: 4, multiplane: true, ..Tiny::default() }
}

fn device(spec: &DeviceSpec) -> Device<NoProbe> {
    let scheme = wordline_schemes::build("conventional:mode=slc").unwrap();
    Device::new(spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap()
}

fn with(superblock: Superblock) -> DeviceSpec {
    DeviceSpec { superblock, ..tiny().spec(1) }
}

fn write(page: u64) -> HostRequest {
    HostRequest::new(HostOp::Write, page * 4, 4)
}

/// When writes of these pages end that are submitted at time 0, in the order of their submission.
fn ends(d: &mut Device<NoProbe>, pages: &[u64]) -> Vec<u64> {
    for page in pages {
        d.submit(write(*page), SimTime(0)).unwrap();
    }
    let mut all: Vec<_> = std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap()).collect();
    all.sort_by_key(|c| c.number);
    all.iter().map(|c| c.at.0).collect()
}

/// The lives of the blocks at each position of the planes of a group.
fn groups(d: &Device<NoProbe>, g: &Geometry, planes: std::ops::Range<u32>) -> Vec<BTreeSet<BlockLife>> {
    let starts: Vec<u32> = planes.map(|p| g.blocks_of(PlaneId(p)).start).collect();
    let life = |b: u32| d.ftl().inspect().block_status(BlockId(b)).life;
    (0..g.media[0].blocks_per_plane).map(|at| starts.iter().map(|s| life(s + at)).collect()).collect()
}

#[test]
fn pages_of_one_home_spread_over_superblock_planes() {
    // Four pages whose home is the first plane of the first channel.
    let pages = [0, 8, 16, 24];
    let alone = ends(&mut device(&with(Superblock::Off)), &pages);
    assert_eq!(alone, [1, 2, 3, 4].map(|n| MOVE + n * PROGRAM + (n - 1) * MOVE));
    let mut d = device(&with(Superblock::Die));
    assert_eq!(ends(&mut d, &pages), [4 * MOVE + PROGRAM; 4]);
    assert_eq!(d.metrics().multiplane, MultiplaneCounts { commands: [0, 1, 0], operations: [0, 4, 0] });
    // Over all planes they go to both dies, whose programs and buses do not wait for each other.
    assert_eq!(ends(&mut device(&with(Superblock::Drive)), &pages), [2 * MOVE + PROGRAM; 4]);
}

/// A drive three quarters full after so many random writes, which looks at itself after each; how many erases there
/// were, and how many of them began with others.
fn worked(spec: &DeviceSpec, mut look: impl FnMut(&Device<NoProbe>)) -> (u64, u64) {
    let mut d = device(spec);
    let pages = tiny().units(1) as u64;
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(pages as u32 * 3 / 4)), 3).unwrap();
    let mut at = 1;
    for n in 0..3_000u64 {
        at = at * 48_271 % 0x7fff_ffff;
        d.submit(write(at % pages), d.now()).unwrap();
        if n % 8 == 7 {
            while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
        }
        look(&d);
    }
    d.drain().unwrap();
    d.ftl_mut().tables().check().unwrap();
    (d.ftl().counters().erases[0], d.metrics().multiplane.operations[OpKind::Erase as usize])
}

#[test]
fn superblock_opens_and_erases_as_one_at_any_time() {
    for (superblock, planes) in [(Superblock::Die, 4), (Superblock::Drive, 8)] {
        for victim in [Victim::Greedy, Victim::Fifo, Victim::DChoices(2), Victim::CostBenefit] {
            let mut spec = with(superblock);
            spec.gc.victim = victim;
            let geometry = spec.geometry().unwrap();
            let (erases, _) = worked(&spec, |d| {
                for first in (0..8).step_by(planes) {
                    let groups = groups(d, &geometry, first..first + planes as u32);
                    let erased = |lives: &BTreeSet<BlockLife>| lives.contains(&BlockLife::Erased);
                    assert!(groups.iter().all(|lives| !erased(lives) || lives.len() == 1), "{groups:?}");
                }
            });
            assert!(erases > 500 && erases.is_multiple_of(planes as u64), "{erases} erases");
        }
    }
}

#[test]
fn blocks_of_a_die_mostly_erase_in_one_command() {
    let share = |superblock| {
        let (erases, together) = worked(&with(superblock), |_| ());
        together as f64 / erases as f64
    };
    let (alone, together) = (share(Superblock::Off), share(Superblock::Die));
    assert!(together > 0.7 && together > 2.0 * alone, "{together} against {alone}");
}

#[test]
fn unfit_for_superblocks_is_refused_with_reason() {
    let refused = |scheme: &str, change: &dyn Fn(&mut DeviceSpec)| {
        let mut spec = DeviceSpec { superblock: Superblock::Die, ..tiny().spec(3) };
        change(&mut spec);
        let scheme = wordline_schemes::build(scheme).unwrap();
        let made = Device::<_>::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe);
        let why = made.err().map(|e| e.to_string()).unwrap();
        assert!(why.contains("set parallel.superblock=off"), "{why}");
        why
    };
    assert!(refused("hierarchy", &|_| ()).contains("its map tracks parts of pages"));
    assert!(
        refused("turbo-write", &|_| ())
            .contains("its idle GC works page by page, but superblocks are collected as a whole")
    );
    assert!(refused("pa-ssd", &|_| ()).contains("in parts"));
    assert!(refused("conventional", &|s| s.wear.bad_blocks = Fraction::percent(2)).contains("blocks retire"));
    let copies = |s: &mut DeviceSpec| {
        s.media[0].modes.iter_mut().flatten().for_each(|m| m.copy_back = Some(m.erase));
    };
    assert!(refused("conventional", &copies).contains("copy-back"));
}

/// What a drive of superblocks promises, by shape: planes of a superblock, wordlines of a block, bits of its mode, units of
/// a page, and whether there is parity.
struct Shape {
    planes: u32,
    wordlines: u32,
    bits: u32,
    units_per_page: u32,
    parity: Parity,
}

const BLOCKS: u32 = 5;

impl Shape {
    /// Units that a superblock holds beside its parity, and those of a program.
    fn units(&self) -> (u32, u32) {
        let data = if self.parity == Parity::Superpage { self.planes - 1 } else { self.planes };
        let program = self.units_per_page * if self.bits > 1 { self.bits } else { 1 };
        (self.wordlines * self.bits * self.units_per_page * data, program)
    }

    /// A drive of this many units, whose writes are acknowledged from RAM, so that many wait to be programmed.
    fn drive(&self, units: u32) -> Device<NoProbe> {
        let tiny = Tiny {
            planes: self.planes,
            blocks: BLOCKS,
            spare: 1,
            wordlines: self.wordlines,
            units_per_page: self.units_per_page,
            one_shot: true,
            multiplane: true,
            ..Tiny::default()
        };
        let mut spec = DeviceSpec { superblock: Superblock::Drive, parity: self.parity, ..tiny.spec(1) };
        spec.capacity = Capacity::Logical(Bytes(u64::from(units) * spec.unit.0));
        let mode = if self.bits == 1 { "slc" } else { "tlc" };
        let scheme = wordline_schemes::build(&format!("conventional:mode={mode}")).unwrap();
        Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap()
    }
}

/// Fill a drive, then write single units at random, alone or several together, and drain it now and then while it collects.
/// Returns how many writes found no space.
fn refused_writes(d: &mut Device<NoProbe>, units: u32) -> usize {
    let (mut random, mut refused) = (7u64, 0);
    let mut next = move |below: u32| {
        random = random * 48_271 % 0x7fff_ffff;
        random % u64::from(below)
    };
    for n in 0..4_000 {
        let unit = if n < units { u64::from(n) } else { next(units) };
        d.submit(write(unit), d.now()).unwrap();
        if n > units && next(4) == 0 {
            d.advance_to(SimTime(d.now().0 + next(30_000))).unwrap();
            d.drain().unwrap();
        }
        if n < units || next(3) == 0 {
            while let Some(ended) = d.next_completion(SimTime::NEVER).unwrap() {
                refused += usize::from(ended.outcome == Outcome::OutOfSpace);
            }
        }
    }
    d.drain().unwrap();
    while let Some(ended) = d.poll() {
        refused += usize::from(ended.outcome == Outcome::OutOfSpace);
    }
    d.ftl_mut().tables().check().unwrap();
    refused
}

/// All but one superblock, which GC needs, hold all that they can but one program: with that much every write has its place,
/// and with one program more in each none has once the drive is full.
#[test]
fn superblocks_hold_what_is_promised_and_no_more() {
    let mut tried = 0;
    for (planes, wordlines, units_per_page) in
        [(2, 2, 2), (2, 3, 1), (3, 2, 2), (4, 1, 2), (4, 3, 1), (8, 2, 1)]
    {
        for (bits, parity) in
            [(1, Parity::Off), (1, Parity::Superpage), (3, Parity::Off), (3, Parity::Superpage)]
        {
            let shape = Shape { planes, wordlines, bits, units_per_page, parity };
            let (all, program) = shape.units();
            let told =
                format!("{planes} planes, {wordlines} wordlines, {bits} bits, {units_per_page}, {parity:?}");
            let promised = (BLOCKS - 1) * (all - program);
            assert_eq!(refused_writes(&mut shape.drive(promised), promised), 0, "{told}: {promised}");
            let full = (BLOCKS - 1) * all;
            assert!(refused_writes(&mut shape.drive(full), full) > 0, "{told}: {full}");
            tried += 1;
        }
    }
    assert_eq!(tried, 24);
}

/// Programs of a drive that writes rounds of three random units, each a whole wordline, and is drained some time after it
/// got the last of them.
fn programs_if_drained(rounds: u64, after: u64) -> u64 {
    let shape = Shape { planes: 2, wordlines: 2, bits: 3, units_per_page: 1, parity: Parity::Off };
    let mut d = shape.drive(36);
    let mut random = 7;
    for n in 0..12 + rounds {
        while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
        for at in 0..3 {
            random = random * 48_271 % 0x7fff_ffff;
            d.submit(write(if n < 12 { 3 * n + at } else { random % 36 }), d.now()).unwrap();
        }
    }
    d.advance_to(SimTime(d.now().0 + after)).unwrap();
    d.drain().unwrap();
    d.ftl().counters().regions[0].ops.program_operations
}

/// Whenever a drive is drained, a collection pads its last program alone.
#[test]
fn drain_pads_no_program_that_gc_still_fills() {
    let mut collects = 0;
    for rounds in 1..40 {
        let whenever: BTreeSet<u64> = (0..100).map(|at| programs_if_drained(rounds, at * 4_000)).collect();
        assert_eq!(whenever.len(), 1, "{rounds} rounds: {whenever:?}");
        collects += u64::from(whenever.first() > Some(&(12 + rounds)));
    }
    assert!(collects > 10, "{collects}");
}
