//! Do like operations of a die's planes share its array's time, to the nanosecond, and no others?

use wordline_counters::MultiplaneCounts;
use wordline_ftl::{Initial, LatencyPart, Mapped, OpKind};
use wordline_sim::{Completion, Device, NoProbe, Pacing, Stop, drive};
use wordline_swarm::Tiny;
use wordline_units::{HostOp, HostRequest, SimTime};

/// A page of 2 KiB takes 2048 ns over the bus; an SLC page is read in 3 us and programmed in 20.
const MOVE: u64 = 2_048;
const READ: u64 = 3_000;
const PROGRAM: u64 = 20_000;

/// One die of four planes, half full; page n lies in plane n mod 4.
fn die(multiplane: bool, scheme: &str) -> Device<NoProbe> {
    die_of(Tiny { multiplane, ..Tiny::default() }, scheme)
}

fn die_of(tiny: Tiny, scheme: &str) -> Device<NoProbe> {
    let tiny = Tiny { planes: 4, ..tiny };
    let spec = tiny.spec(1);
    let scheme = wordline_schemes::build(scheme).unwrap();
    let mut d = Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap();
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(tiny.units(1) / 2)), 3).unwrap();
    d
}

fn page(op: HostOp, number: u64) -> HostRequest {
    HostRequest::new(op, number * 4, 4)
}

/// Completions of requests, each submitted at its time, in the order in which they were submitted.
fn ends(d: &mut Device<NoProbe>, requests: &[(u64, HostOp, u64)]) -> Vec<Completion> {
    for (at, op, number) in requests {
        let request = HostRequest { arrival: SimTime(*at), ..page(*op, *number) };
        d.submit(request, SimTime(*at)).unwrap();
    }
    let mut all: Vec<Completion> =
        std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap()).collect();
    all.sort_by_key(|c| c.number);
    all
}

fn times(completions: &[Completion]) -> Vec<u64> {
    completions.iter().map(|c| c.at.0).collect()
}

fn each(op: HostOp) -> [(u64, HostOp, u64); 4] {
    [0, 1, 2, 3].map(|plane| (0, op, plane))
}

#[test]
fn programs_transfer_in_turn_and_start_together() {
    let first = MOVE + PROGRAM;
    let off = times(&ends(&mut die(false, "conventional:mode=slc"), &each(HostOp::Write)));
    assert_eq!(off, [first, first + PROGRAM, first + 2 * PROGRAM, first + 3 * PROGRAM]);
    let mut d = die(true, "conventional:mode=slc");
    let together = ends(&mut d, &each(HostOp::Write));
    assert_eq!(times(&together), [4 * MOVE + PROGRAM; 4]);
    assert_eq!(d.metrics().multiplane, MultiplaneCounts { commands: [0, 1, 0], operations: [0, 4, 0] });
    // The first waits on the array for the others, and the last on the bus.
    for (completion, moved) in [(&together[0], 1), (&together[3], 4)] {
        let parts = completion.parts;
        assert_eq!(parts[LatencyPart::Bus], moved * MOVE);
        assert_eq!(parts[LatencyPart::Die], (4 - moved) * MOVE + PROGRAM);
        assert_eq!(parts.total(), 4 * MOVE + PROGRAM);
    }
}

#[test]
fn program_does_not_wait_for_an_untransferred_one() {
    for (late, second) in [(MOVE - 1, 2 * MOVE + PROGRAM), (MOVE, MOVE + 2 * PROGRAM)] {
        let mut d = die(true, "conventional:mode=slc");
        let found = times(&ends(&mut d, &[(0, HostOp::Write, 0), (late, HostOp::Write, 1)]));
        assert_eq!(found[1], second, "the second comes at {late}");
    }
}

#[test]
fn reads_sense_together_and_transfer_in_turn() {
    let alone = READ + MOVE;
    let off = times(&ends(&mut die(false, "conventional:mode=slc"), &each(HostOp::Read)));
    assert_eq!(off, [alone, 2 * READ + MOVE, 3 * READ + MOVE, 4 * READ + MOVE]);
    let mut d = die(true, "conventional:mode=slc");
    d.submit(HostRequest::new(HostOp::Read, 0, 16), SimTime(0)).unwrap();
    let together = d.next_completion(SimTime::NEVER).unwrap().unwrap();
    assert_eq!(together.at.0, READ + 4 * MOVE);
    assert_eq!(d.metrics().multiplane, MultiplaneCounts { commands: [1, 0, 0], operations: [4, 0, 0] });
    let parts = together.parts;
    assert_eq!((parts[LatencyPart::Die], parts[LatencyPart::Bus]), (READ, 4 * MOVE));
    // Of four requests the first finds the die idle.
    let mut d = die(true, "conventional:mode=slc");
    let each = times(&ends(&mut d, &each(HostOp::Read)));
    assert_eq!(each, [alone, 2 * READ + MOVE, 2 * READ + 2 * MOVE, 2 * READ + 3 * MOVE]);
    assert_eq!(d.metrics().multiplane, MultiplaneCounts { commands: [1, 0, 0], operations: [3, 0, 0] });
}

#[test]
fn read_at_array_start_waits_for_the_next_command() {
    for (at, counts) in [(READ - 1, [3, 0, 0]), (READ, [2, 0, 0])] {
        let mut d = die(true, "conventional:mode=slc");
        let mut all = each(HostOp::Read);
        all[3].0 = at;
        // Out at 6000 + 3 x 2048 either way, since the bus is not free before.
        assert_eq!(times(&ends(&mut d, &all))[3], 2 * READ + 3 * MOVE);
        assert_eq!(d.metrics().multiplane.operations, counts, "the last comes at {at}");
    }
}

#[test]
fn read_precedes_programs_that_wait_for_other_planes() {
    let mut d = die(true, "conventional:mode=slc");
    let writes = [0, 1, 3].map(|plane| (0, HostOp::Write, plane));
    let found = ends(&mut d, &[writes[0], writes[1], writes[2], (5_000, HostOp::Read, 2)]);
    let programmed = 5_000 + READ + PROGRAM;
    assert_eq!(times(&found), [programmed, programmed, programmed, 5_000 + READ + MOVE]);
    assert_eq!(d.metrics().multiplane, MultiplaneCounts { commands: [0, 1, 0], operations: [0, 3, 0] });
}

#[test]
fn pages_of_two_modes_are_not_read_together() {
    let mut d = die(true, "slc-cache");
    // Page 0 goes to the cache; pages 1 and 2 lie in TLC.
    let begin = times(&ends(&mut d, &[(0, HostOp::Write, 0)]))[0];
    let found =
        times(&ends(&mut d, &[(begin, HostOp::Read, 2), (begin, HostOp::Read, 0), (begin, HostOp::Read, 1)]));
    let senses: Vec<u64> = found.iter().map(|at| at - begin - MOVE).collect();
    assert_eq!(d.metrics().multiplane, MultiplaneCounts::default());
    // Each ends a sense of its own after the one before it.
    assert!(senses[1] == senses[0] + READ && senses[2] > senses[1] + READ, "{senses:?}");
}

#[test]
fn erases_go_together_and_planes_gain_by_it() {
    let run = |multiplane| {
        let mut d = die(multiplane, "conventional:mode=slc");
        let pages = d.ftl().view().logical_pages() as u64;
        let stream =
            (0..4_000u64).map(|i| Ok::<_, std::convert::Infallible>(page(HostOp::Write, i * 7 % pages)));
        let end =
            drive(&mut d, stream, Pacing::Closed { queue_depth: 32 }, Stop::default(), |_| {}).unwrap().end;
        (end.0, d.metrics().multiplane.clone())
    };
    let (alone, none) = run(false);
    let (together, counts) = run(true);
    assert_eq!(none, MultiplaneCounts::default());
    assert!(counts.operations[OpKind::Erase as usize] > 0, "{counts:?}");
    // Four planes that program at once are bound by the array's time and the bus of three further pages.
    assert!((alone as f64) > 2.5 * together as f64, "{alone} to {together}");
}

// Where pages of one command must have one number.
#[test]
fn plane_a_page_ahead_programs_alone() {
    for (same_pages, ends, operations) in [
        (false, [4 * MOVE + PROGRAM; 4], 4),
        (true, [MOVE + PROGRAM, MOVE + 2 * PROGRAM, MOVE + 2 * PROGRAM, MOVE + 2 * PROGRAM], 3),
    ] {
        let mut d = die_of(Tiny { multiplane: true, same_pages, ..Tiny::default() }, "conventional:mode=slc");
        let ahead = times(&self::ends(&mut d, &[(0, HostOp::Write, 4)]))[0];
        let asked = [0, 1, 2, 3].map(|plane| (ahead, HostOp::Write, plane));
        let found = times(&self::ends(&mut d, &asked)).into_iter().map(|at| at - ahead).collect::<Vec<_>>();
        assert_eq!(found, ends, "same pages: {same_pages}");
        assert_eq!(
            d.metrics().multiplane,
            MultiplaneCounts { commands: [0, 1, 0], operations: [0, operations, 0] }
        );
    }
}
