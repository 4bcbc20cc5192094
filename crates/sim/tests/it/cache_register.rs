//! A second register of each plane: to the nanosecond what overlaps by it, and what may not.

use crate::support::one_die;
use wordline_device::DeviceSpec;
use wordline_sim::{Completion, Pacing, Stop, drive};
use wordline_units::{HostOp, HostRequest, SimTime};

/// Array, bus and link of a read; array of a program.
const SENSE: u64 = 140_000;
const BUS: u64 = 20_480;
const LINK: u64 = 1_000;
const PROGRAM: u64 = 3_102_000;

fn spec(cache_register: &str, keys: &[(&str, &str)]) -> DeviceSpec {
    one_die::spec(&[&[("medium.flash.cache_register", cache_register)], keys].concat())
}

fn run(spec: &DeviceSpec, asked: &[(HostOp, u64)]) -> Vec<Completion> {
    one_die::serve(&mut one_die::full(spec, "conventional"), asked)
}

fn ends(spec: &DeviceSpec, asked: &[(HostOp, u64)]) -> Vec<u64> {
    run(spec, asked).iter().map(|c| c.at.0).collect()
}

#[test]
fn the_next_page_is_sensed_while_one_is_brought_out() {
    let reads = [(HostOp::Read, 0); 4];
    let one_by_one = |n: u64| n * (SENSE + BUS) + LINK;
    let overlapped = |n: u64| n * SENSE + BUS + LINK;
    for (cache, end) in [
        ("off", one_by_one as fn(u64) -> u64),
        ("program", one_by_one),
        ("read", overlapped),
        ("on", overlapped),
    ] {
        assert_eq!(ends(&spec(cache, &[]), &reads), [1, 2, 3, 4].map(end), "{cache}");
    }
    // Where the bus takes longer, it is the bus that sets the pace, and a page that was sensed waits.
    let slow = ("medium.flash.bus.rate", "40MB/s");
    let bus = 409_600;
    let at_the_pace_of_the_bus = [1, 2, 3, 4].map(|n| SENSE + n * bus + LINK);
    assert_eq!(ends(&spec("on", &[slow]), &reads), at_the_pace_of_the_bus);
}

#[test]
fn next_page_is_loaded_while_one_is_programmed() {
    let writes = [(HostOp::Write, 0); 4];
    let one_by_one = |n: u64| n * (BUS + PROGRAM) + LINK;
    let overlapped = |n: u64| BUS + n * PROGRAM + LINK;
    for (cache, end) in [
        ("off", one_by_one as fn(u64) -> u64),
        ("read", one_by_one),
        ("program", overlapped),
        ("on", overlapped),
    ] {
        assert_eq!(ends(&spec(cache, &[]), &writes), [1, 2, 3, 4].map(end), "{cache}");
    }
}

#[test]
fn page_starts_its_program_1_ns_after_it_could_not() {
    // The second page comes just before, with, and just after the end of the first's program.
    let first = BUS + PROGRAM;
    for (arrives, ends_at) in [
        (first - BUS - 1, 2 * first - BUS + LINK),
        (first - BUS, 2 * first - BUS + LINK),
        (first - BUS + 1, 2 * first - BUS + LINK + 1),
    ] {
        assert_eq!(ends(&spec("on", &[]), &[(HostOp::Write, 0), (HostOp::Write, arrives)])[1], ends_at);
    }
}

#[test]
fn read_waits_for_a_program_in_the_cache_register() {
    let asked = [(HostOp::Write, 0), (HostOp::Write, 0), (HostOp::Read, 1_000_000)];
    let read = SENSE + BUS + LINK;
    assert_eq!(ends(&spec("off", &[]), &asked)[2], BUS + PROGRAM + read);
    assert_eq!(ends(&spec("on", &[]), &asked)[2], BUS + 2 * PROGRAM + read);
    // And a program for a page that is on its way out.
    let asked = [(HostOp::Read, 0), (HostOp::Write, 0)];
    assert_eq!(ends(&spec("on", &[]), &asked)[1], SENSE + 2 * BUS + PROGRAM + LINK);
}

// What an operation waits for in either register is told apart.
#[test]
fn register_waits_are_reported_by_cause() {
    use wordline_ftl::LatencyPart::{BehindHost, Bus, Die, Link};
    let parts = |cache, asked: &[(HostOp, u64)]| {
        let of = |c: &Completion| [BehindHost, Die, Bus, Link].map(|part| c.parts[part]);
        run(&spec(cache, &[]), asked).iter().map(of).collect::<Vec<_>>()
    };
    let reads = parts("on", &[(HostOp::Read, 0); 3]);
    assert_eq!(reads, [0, 1, 2].map(|n| [n * SENSE, SENSE, BUS, LINK]));
    let writes = parts("on", &[(HostOp::Write, 0); 3]);
    // In the register a page waits for the program before it, as for any other use of the array.
    let first = [0, PROGRAM, BUS, LINK];
    let second = [BUS, 2 * PROGRAM - BUS, BUS, LINK];
    let third = [BUS + PROGRAM, 2 * PROGRAM - BUS, BUS, LINK];
    assert_eq!(writes, [first, second, third]);
}

// Where the decoder is behind the bus.
#[test]
fn page_keeps_its_register_until_decoded_right() {
    let spec = spec("on", &[("errors.model", "fixed:1"), ("errors.retransfer", "true")]);
    let first = 2 * SENSE + 2 * BUS + LINK;
    let second_is_sensed = 2 * SENSE + BUS;
    assert_eq!(ends(&spec, &[(HostOp::Read, 0); 2]), [first, second_is_sensed + 2 * SENSE + 2 * BUS + LINK]);
}

#[test]
fn moved_page_leaves_while_the_next_is_sensed() {
    // A sector of 4 KiB is wanted, 12 KiB more are brought out for the move.
    let spec = spec("on", &[("errors.model", "fixed:1")]);
    let mut d = one_die::full(&spec, "hotness:warm=1,hot=2");
    for page in 0..2 {
        d.submit(HostRequest::new(HostOp::Read, page * 32, 8), SimTime(0)).unwrap();
    }
    let ends: Vec<u64> =
        std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap()).map(|c| c.at.0).collect();
    assert_eq!(ends, [2 * SENSE + BUS / 4 + LINK, 4 * SENSE + BUS / 4 + LINK]);
}

#[test]
fn retries_cost_sequential_reads_their_array_time() {
    // SPEC 2.D, Figs. 3 and 4: with the transfer hidden, T0 is the array's time alone.
    for (mode, sense) in [("qlc", 140.0), ("tlc", 66.0)] {
        let bandwidth = |retries: u64| {
            let model = format!("fixed:{retries}");
            let spec = spec("on", &[("errors.model", &model)]);
            let mut d = one_die::full(&spec, &format!("conventional:mode={mode}"));
            let pages = spec.logical_bytes() / spec.unit.0;
            let requests = (0..2_000u64).map(|i| {
                Ok::<_, std::convert::Infallible>(HostRequest::new(HostOp::Read, i % pages * 32, 32))
            });
            let pacing = Pacing::Closed { queue_depth: 4 };
            let summary = drive(&mut d, requests, pacing, Stop::default(), |_| {}).unwrap();
            1.0 / summary.end.since(SimTime(0)).as_secs()
        };
        let alone = bandwidth(0);
        for retries in [1, 4, 10] {
            let expected = sense / (sense + retries as f64 * sense);
            let found = bandwidth(retries) / alone;
            assert!((found / expected - 1.0).abs() < 0.001, "{mode}, {retries}: {found} against {expected}");
        }
    }
}

#[test]
fn shared_array_planes_transfer_behind_each_other() {
    let two = ("medium.flash.planes_per_die", "2");
    let spec = spec("on", &[two, ("medium.flash.blocks_per_plane", "8")]);
    let (reads, writes) = ([(HostOp::Read, 0); 4], [(HostOp::Write, 0); 4]);
    assert_eq!(ends(&spec, &reads), [1, 2, 3, 4].map(|n| n * SENSE + BUS + LINK));
    assert_eq!(ends(&spec, &writes), [1, 2, 3, 4].map(|n| BUS + n * PROGRAM + LINK));
}
