//! In which order operations are served, and what interrupts them: to the nanosecond on one plane, and in the direction
//! that theory says on a drive.

use crate::support::one_die;
use wordline_device::DeviceSpec;
use wordline_ftl::LatencyPart;
use wordline_sim::Completion;
use wordline_units::{HostOp, HostRequest, SimTime};

/// Array, bus and link of a read; array of a program; what a suspension and going on cost.
const SENSE: u64 = 140_000;
const BUS: u64 = 20_480;
const LINK: u64 = 1_000;
const PROGRAM: u64 = 3_102_000;
const STOP: u64 = 20_000;
const RESUME: u64 = 7_000;

const SUSPENDS: [(&str, &str); 3] = [
    ("service.suspend.program", "20us"),
    ("service.suspend.erase", "30us"),
    ("service.suspend.resume", "7us"),
];

/// A drive whose die has so many planes.
fn spec(planes: &str, keys: &[(&str, &str)]) -> DeviceSpec {
    one_die::spec(&[&[("medium.flash.planes_per_die", planes)], keys].concat())
}

/// The completions of whole pages, and suspensions of programs and erases.
fn run(spec: &DeviceSpec, asked: &[(HostOp, u64)]) -> (Vec<Completion>, [u64; 3]) {
    let mut d = one_die::full(spec, "conventional");
    let done = one_die::serve(&mut d, asked);
    (done, d.metrics().suspensions)
}

fn ends(spec: &DeviceSpec, asked: &[(HostOp, u64)]) -> Vec<u64> {
    run(spec, asked).0.iter().map(|c| c.at.0).collect()
}

#[test]
fn read_suspends_a_program_which_resumes_in_place() {
    const AT: u64 = 1_000_000;
    let asked = [(HostOp::Write, 0), (HostOp::Read, AT)];
    let program = BUS + PROGRAM;
    assert_eq!(ends(&spec("1", &[]), &asked), [program + LINK, program + SENSE + BUS + LINK]);

    let (done, suspensions) = run(&spec("1", &SUSPENDS), &asked);
    let read = AT + STOP + SENSE + BUS;
    assert_eq!(done[1].at.0, read + LINK);
    assert_eq!(done[0].at.0, read + RESUME + (program - AT) + LINK);
    assert_eq!(suspensions, [0, 1, 0]);
    // The read stood behind the write until the array was free, and the write behind the read.
    assert_eq!(done[1].parts[LatencyPart::BehindHost], STOP);
    assert_eq!(done[0].parts[LatencyPart::BehindHost], SENSE + BUS);
    assert_eq!(done[0].parts[LatencyPart::Die], PROGRAM + STOP + RESUME);
    assert_eq!(done[0].parts[LatencyPart::Bus], BUS);
}

#[test]
fn programs_of_two_planes_suspend_and_resume_as_one() {
    const AT: u64 = 1_000_000;
    let keys = [&SUSPENDS[..], &[("parallel.multiplane", "opportunistic")]].concat();
    let asked = [(HostOp::Write, 0), (HostOp::Write, 0), (HostOp::Read, AT)];
    let (done, suspensions) = run(&spec("2", &keys), &asked);
    assert_eq!(suspensions, [0, 1, 0]);
    let read = AT + STOP + SENSE + BUS;
    assert_eq!(done[2].at.0, read + LINK);
    // Whichever plane was read, neither goes on before the page is out.
    let programmed = read + RESUME + (2 * BUS + PROGRAM - AT);
    assert_eq!([done[0].at.0, done[1].at.0], [programmed + LINK, programmed + 2 * LINK]);
}

#[test]
fn reads_arriving_meanwhile_precede_the_resume() {
    let asked = [(HostOp::Write, 0), (HostOp::Read, 1_000_000), (HostOp::Read, 1_010_000)];
    let (done, suspensions) = run(&spec("1", &SUSPENDS), &asked);
    let reads = 1_000_000 + STOP + 2 * (SENSE + BUS);
    assert_eq!(done[2].at.0, reads + LINK);
    assert_eq!(done[0].at.0, reads + RESUME + BUS + PROGRAM - 1_000_000 + LINK);
    assert_eq!(suspensions, [0, 1, 0]);
}

#[test]
fn program_is_suspended_at_most_up_to_the_limit() {
    let asked: Vec<_> =
        std::iter::once((HostOp::Write, 0)).chain((1..=4).map(|i| (HostOp::Read, i * 500_000))).collect();
    for limit in [1u64, 3] {
        let text = limit.to_string();
        let overrides: Vec<_> =
            SUSPENDS.into_iter().chain([("service.suspend.limit", text.as_str())]).collect();
        let (done, suspensions) = run(&spec("1", &overrides), &asked);
        assert_eq!(suspensions, [0, limit, 0]);
        let cost = limit * (STOP + SENSE + BUS + RESUME);
        assert_eq!(done[0].at.0, BUS + PROGRAM + cost + LINK, "limit {limit}");
    }
}

#[test]
fn what_is_nearly_over_is_not_interrupted() {
    let late = BUS + PROGRAM - STOP;
    let asked = [(HostOp::Write, 0), (HostOp::Read, late)];
    let (done, suspensions) = run(&spec("1", &SUSPENDS), &asked);
    assert_eq!(suspensions, [0; 3]);
    assert_eq!(done[1].at.0, BUS + PROGRAM + SENSE + BUS + LINK);
}

#[test]
fn program_is_suspended_only_with_enough_time_left() {
    const MIN_LEFT: u64 = 1_000_000;
    let keys = [&SUSPENDS[..], &[("service.suspend.program_min_left", "1ms")]].concat();
    let program = BUS + PROGRAM;
    for (at, suspended) in [(program - MIN_LEFT - 1, true), (program - MIN_LEFT, false)] {
        let (done, suspensions) = run(&spec("1", &keys), &[(HostOp::Write, 0), (HostOp::Read, at)]);
        assert_eq!(suspensions, [0, u64::from(suspended), 0]);
        let from = if suspended { at + STOP } else { program };
        assert_eq!(done[1].at.0, from + SENSE + BUS + LINK);
    }
}

#[test]
fn read_in_another_plane_suspends_and_program_does_not() {
    // Writes go to plane 0 first, then to plane 1; the read's page lies where the initial state put it.
    let asked = [(HostOp::Write, 0), (HostOp::Write, 10_000), (HostOp::Read, 1_000_000)];
    let (done, suspensions) = run(&spec("2", &SUSPENDS), &asked);
    assert_eq!(suspensions, [0, 1, 0]);
    let sensed = 1_000_000 + STOP + SENSE;
    assert_eq!(done[2].at.0, sensed + BUS + LINK);
    // The first program goes on when its plane is free: at once if the read is in the other, and else when it is
    // brought out. The second one begins on the array after it.
    let rest = BUS + PROGRAM - 1_000_000;
    let goes_on = done[0].at.0 - LINK - RESUME - rest;
    assert!([sensed, sensed + BUS].contains(&goes_on), "{goes_on}");
    assert_eq!(done[1].at.0, done[0].at.0 + PROGRAM);
}

/// The 99th percentile of reads and the mean of writes, us, of reads and writes that collect.
fn mixed(overrides: &[(&str, &str)]) -> (f64, f64, [u64; 3]) {
    let tight = [("capacity.logical", "384MiB"), ("medium.flash.blocks_per_plane", "32")];
    let overrides: Vec<_> = tight.iter().chain(overrides).copied().collect();
    let spec = spec("1", &overrides);
    let mut d = one_die::full(&spec, "conventional");
    let pages = spec.logical_bytes() / spec.unit.0;
    let mut reads = vec![];
    let (mut writes, mut count, mut x) = (0, 0, 1u64);
    for i in 0..60_000u64 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let op = if i % 3 == 0 { HostOp::Write } else { HostOp::Read };
        let arrival = SimTime(i * 8_000_000);
        let request = HostRequest { arrival, ..HostRequest::new(op, (x >> 33) % pages * 32, 32) };
        d.submit(request, arrival).unwrap();
        while let Some(c) = d.poll() {
            let latency = c.at.since(c.request.arrival).0;
            assert_eq!(c.parts.total(), latency, "{c:?}");
            match c.request.op {
                HostOp::Read => reads.push(latency),
                _ => (writes, count) = (writes + latency, count + 1),
            }
        }
    }
    assert!(d.ftl().counters().erases.iter().sum::<u64>() > 10);
    reads.sort_unstable();
    (reads[reads.len() * 99 / 100] as f64 / 1e3, writes as f64 / count as f64 / 1e3, d.metrics().suspensions)
}

#[test]
fn suspension_cuts_read_tails_and_costs_writes() {
    let (tail, mean, none) = mixed(&[]);
    let (tail_with, mean_with, suspensions) = mixed(&SUSPENDS);
    assert_eq!(none, [0; 3]);
    assert!(suspensions[1] > 100 && suspensions[2] > 0, "{suspensions:?}");
    // Without it a read may wait for a whole program; with it for the stop and what reads there are.
    assert!(tail > PROGRAM as f64 / 2e3 && tail_with < tail / 2.0, "{tail} {tail_with}");
    assert!(mean_with > mean, "{mean} {mean_with}");
}

#[test]
fn orders_serve_what_they_say_first() {
    // While the first write is programmed, a write and then a read are queued.
    let asked = [(HostOp::Write, 0), (HostOp::Write, 10_000), (HostOp::Read, 20_000)];
    let (program, read) = (BUS + PROGRAM, SENSE + BUS);
    for (order, ends_at) in [
        ("read-first", [program, 2 * program + read, program + read]),
        ("first-come", [program, 2 * program, 2 * program + read]),
        ("shortest", [program, 2 * program + read, program + read]),
    ] {
        let spec = spec("1", &[("service.order", order)]);
        assert_eq!(ends(&spec, &asked), ends_at.map(|end| end + LINK), "{order}");
    }
}

#[test]
fn shares_of_the_dies_time_are_kept_to_the_operation() {
    // A write, thirty reads and two more writes, all at once.
    let kinds = std::iter::once(HostOp::Write)
        .chain(std::iter::repeat_n(HostOp::Read, 30))
        .chain([HostOp::Write; 2])
        .collect::<Vec<_>>();
    let asked: Vec<_> = kinds.into_iter().map(|op| (op, 0)).collect();
    let (program, read) = (BUS + PROGRAM, SENSE + BUS);
    // A program takes as long as 22.2 reads: with equal shares 23 reads begin before the second write does, and a read
    // costs its share half, or twice, with the other two. What is left is all that there is.
    for (reads, writes, before) in [("1", "1", [23, 30]), ("2", "1", [30, 30]), ("1", "2", [12, 23])] {
        let shares =
            [("service.order", "shares"), ("service.shares.read", reads), ("service.shares.write", writes)];
        let ends = ends(&spec("1", &shares), &asked);
        let first = program + LINK;
        assert_eq!(ends[0], first);
        let [second, third] = before;
        assert_eq!(ends[31], first + second * read + program, "{reads}:{writes}");
        assert_eq!(ends[32], first + third * read + 2 * program, "{reads}:{writes}");
    }
}

#[test]
fn idle_kind_saves_up_no_share() {
    // Ten reads at first; then as many writes and reads at once take turns by their shares from then on.
    let late = 100_000_000;
    let mut asked = vec![(HostOp::Read, 0); 10];
    asked.extend([(HostOp::Read, late), (HostOp::Write, late), (HostOp::Write, late)]);
    asked.extend([(HostOp::Read, late); 30]);
    let shares = [("service.order", "shares"), ("service.shares.read", "1"), ("service.shares.write", "1")];
    let ends = ends(&spec("1", &shares), &asked);
    let (program, read) = (BUS + PROGRAM, SENSE + BUS);
    // The first read is under way as the others come. One write follows at once, the other after the reads of its time.
    assert_eq!(ends[11], late + read + program + LINK);
    assert_eq!(ends[12], late + read + 2 * program + 22 * read + LINK);
}
