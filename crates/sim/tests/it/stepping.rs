//! The device driven by hand, and what it does at its limits: full, worn into, asked for too much.

use wordline_ftl::{Initial, InitialError, Mapped, Order, Outcome, RequestError};
use wordline_sim::{Device, DeviceError, DriveError, NoProbe, Pacing, Stop, drive};
use wordline_swarm::Tiny;
use wordline_units::{Attributes, Fraction, HostOp, HostRequest, SimDuration, SimTime};

fn device(tiny: &Tiny, scheme: &str, bits: u32) -> Device<NoProbe> {
    let spec = tiny.spec(bits);
    Device::new(&spec, &spec.geometry().unwrap(), wordline_schemes::build(scheme).unwrap(), NoProbe).unwrap()
}

#[test]
fn a_device_is_stepped_from_outside() {
    let mut d = device(&Tiny::default(), "conventional:mode=slc", 1);
    let write = HostRequest::new(HostOp::Write, 0, 4);
    assert_eq!(d.submit(write, SimTime(0)), Ok(0));
    assert_eq!(d.outstanding(), 1);
    // 2,048 ns of transfer and 20 us of program.
    assert!(d.next_completion(SimTime(22_047)).unwrap().is_none());
    let c = d.next_completion(SimTime(22_048)).unwrap().unwrap();
    assert_eq!((c.number, c.at, c.outcome), (0, SimTime(22_048), Outcome::Done));
    d.advance_to(SimTime(1_000_000)).unwrap();
    assert_eq!(d.now(), SimTime(1_000_000));
    assert_eq!(
        d.submit(write, SimTime(999_999)),
        Err(DeviceError::Late { number: 1, at: SimTime(999_999), now: SimTime(1_000_000) })
    );
    let read = HostRequest::new(HostOp::Read, 1, 2).at(SimTime(2_000_000));
    assert_eq!(d.submit(read, SimTime(2_000_000)), Ok(1));
    let c = d.next_completion(SimTime::NEVER).unwrap().unwrap();
    assert_eq!(c.at.since(c.request.arrival), SimDuration(3_000 + 1_024)); // two of four sectors move
    assert!(d.next_completion(SimTime::NEVER).unwrap().is_none());
}

#[test]
fn empty_or_overlong_request_is_refused_without_trace() {
    let mut d = device(&Tiny::default(), "conventional:mode=slc", 1);
    let end = d.ftl().inspect().logical_lbas();
    let e = d.submit(HostRequest::new(HostOp::Write, end - 1, 2), SimTime(0)).unwrap_err();
    assert!(matches!(e, DeviceError::Request(RequestError::BeyondDrive { .. })));
    assert!(e.to_string().contains("but the capacity is"), "{e}");
    let e = d.submit(HostRequest::new(HostOp::Read, u64::MAX, 1), SimTime(0)).unwrap_err();
    assert!(matches!(e, DeviceError::Request(RequestError::BeyondDrive { .. })));
    let e = d.submit(HostRequest::new(HostOp::Read, 0, 0), SimTime(0)).unwrap_err();
    assert!(matches!(e, DeviceError::Request(RequestError::Empty { number: 0 })));
    assert_eq!((d.outstanding(), d.submitted()), (0, 0));
}

#[test]
fn full_drive_fails_writes_until_a_trim() {
    // More logical pages than the blocks that collection leaves to the host.
    let tiny = Tiny { blocks: 12, spare: 0, ..Tiny::default() };
    let mut d = device(&tiny, "conventional:mode=slc", 1);
    let pages = d.ftl().inspect().logical_lbas() / 4;
    let mut outcomes = [0, 0];
    for page in 0..pages {
        d.submit(HostRequest::new(HostOp::Write, page * 4, 4).at(d.now()), d.now()).unwrap();
        while let Some(c) = d.next_completion(SimTime::NEVER).unwrap() {
            outcomes[(c.outcome == Outcome::OutOfSpace) as usize] += 1;
        }
    }
    assert!(outcomes[1] > 0, "the drive never was full");
    assert_eq!(outcomes[0] + outcomes[1], pages);
    d.ftl_mut().tables().check().unwrap();
    d.submit(HostRequest::new(HostOp::Trim, 0, (pages * 2) as u32).at(d.now()), d.now()).unwrap();
    d.submit(HostRequest::new(HostOp::Write, 0, 4).at(d.now()), d.now()).unwrap();
    let mut last = None;
    while let Some(c) = d.next_completion(SimTime::NEVER).unwrap() {
        last = Some((c.request.op, c.outcome));
    }
    assert_eq!(last, Some((HostOp::Write, Outcome::Done)));
    d.ftl_mut().tables().check().unwrap();
}

#[test]
fn flush_completes_after_earlier_writes_only() {
    let tiny = Tiny { one_shot: true, ..Tiny::default() };
    let mut d = device(&tiny, "conventional", 3);
    for page in 0..2 {
        d.submit(HostRequest::new(HostOp::Write, page * 4, 4), SimTime(0)).unwrap();
    }
    d.submit(HostRequest::new(HostOp::Flush, 0, 0), SimTime(0)).unwrap();
    d.submit(HostRequest::new(HostOp::Write, 8, 4), SimTime(0)).unwrap();
    let order: Vec<(u64, u64)> = std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap())
        .map(|c| (c.number, c.at.0))
        .collect();
    // The flush pads the group of two at once; the third write waits its 500 us for company.
    let group = 3 * 2_048 + 90_000;
    assert_eq!(order, [(0, group), (1, group), (2, group), (3, 500_000 + group)]);
}

// A full buffer holds up the next one.
#[test]
fn buffered_write_is_acknowledged_when_taken() {
    let tiny = Tiny { ack_buffer: Some(2), ..Tiny::default() };
    let mut d = device(&tiny, "conventional:mode=slc", 1);
    for page in 0..3 {
        d.submit(HostRequest::new(HostOp::Write, page * 4, 4), SimTime(0)).unwrap();
    }
    let ends: Vec<u64> =
        std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap()).map(|c| c.at.0).collect();
    assert_eq!(ends, [0, 0, 22_048]);
}

fn fua(lba: u64, blocks: u32) -> HostRequest {
    HostRequest { attributes: Attributes::FUA, ..HostRequest::new(HostOp::Write, lba, blocks) }
}

#[test]
fn fua_write_completes_on_flash_despite_a_buffer() {
    for ack_buffer in [Some(8), None] {
        let mut d = device(&Tiny { ack_buffer, ..Tiny::default() }, "conventional:mode=slc", 1);
        d.submit(HostRequest::new(HostOp::Write, 0, 4), SimTime(0)).unwrap();
        d.submit(fua(4, 8), SimTime(0)).unwrap();
        d.submit(HostRequest::new(HostOp::Write, 16, 4), SimTime(0)).unwrap();
        let ends: Vec<(u64, u64)> = std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap())
            .map(|c| (c.number, c.at.0))
            .collect();
        // One plane programs one page after the other; the write with FUA is the second and the third.
        let program = 2_048 + 20_000;
        let want = match ack_buffer {
            Some(_) => [(0, 0), (2, 0), (1, 3 * program)],
            None => [(0, program), (1, 3 * program), (2, 4 * program)],
        };
        assert_eq!(ends, want, "{ack_buffer:?}");
        d.ftl_mut().tables().check().unwrap();
    }
}

#[test]
fn fua_write_joining_a_buffered_one_waits_for_its_program() {
    let mut d = device(&Tiny { ack_buffer: Some(8), ..Tiny::default() }, "conventional:mode=slc", 1);
    d.submit(HostRequest::new(HostOp::Write, 0, 4), SimTime(0)).unwrap();
    while d.next_completion(SimTime::NEVER).unwrap().is_some() {}
    d.drain().unwrap();
    let at = d.now().0;
    d.submit(HostRequest::new(HostOp::Write, 0, 1), SimTime(at)).unwrap();
    d.submit(fua(1, 1), SimTime(at)).unwrap();
    let ends: Vec<(u64, u64)> = std::iter::from_fn(|| d.next_completion(SimTime::NEVER).unwrap())
        .map(|c| (c.number, c.at.0 - at))
        .collect();
    // The first of the two has the three sectors read that it lacks, and the second joins it.
    assert_eq!(ends, [(1, 0), (2, 3_000 + 3 * 512 + 2_048 + 20_000)]);
    assert_eq!(d.ftl().counters().regions[0].ops.program_operations, 2);
}

#[test]
fn full_drive_refuses_fua_though_the_buffer_has_room() {
    let tiny = Tiny { spare: 0, ack_buffer: Some(3), ..Tiny::default() };
    let mut d = device(&tiny, "conventional:mode=slc", 1);
    let pages = d.ftl().inspect().logical_lbas() / 4;
    let mut outcome = |request: HostRequest| {
        d.submit(request, d.now()).unwrap();
        d.next_completion(SimTime::NEVER).unwrap().unwrap().outcome
    };
    let outcomes: Vec<Outcome> = (0..pages).map(|page| outcome(fua(page * 4, 4))).collect();
    let done = outcomes.iter().filter(|o| **o == Outcome::Done).count() as u64;
    assert!(done > 0 && pages - done > 3, "{done} of {pages}, and the buffer takes 3");
    // What was refused may stay in the buffer, as after a failed write; with room it comes to flash.
    assert_eq!(outcome(HostRequest::new(HostOp::Trim, 0, pages as u32 * 2)), Outcome::Done);
    assert_eq!(outcome(fua(0, 4)), Outcome::Done);
    d.ftl_mut().tables().check().unwrap();
}

#[test]
fn initial_states_keep_invariants_or_do_not_fit() {
    let tiny = Tiny { channels: 2, planes: 2, blocks: 20, spare: 6, units_per_page: 2, ..Tiny::default() };
    let units = tiny.units(3);
    let half: Vec<_> = (0..units).step_by(2).map(wordline_units::Lpn).collect();
    for order in [Order::Sequential, Order::Random] {
        for initial in [
            Initial::fresh(),
            Initial { order, ..Initial::holding(Mapped::First(units)) },
            Initial { order, ..Initial::holding(Mapped::Set(half.clone())) },
            Initial { order, valid: Fraction::percent(75), ..Initial::holding(Mapped::First(units / 2)) },
            Initial { aged_invalid: Fraction::percent(70), ..Initial::fresh() },
            Initial { aged_invalid: Fraction::percent(70), ..Initial::holding(Mapped::First(units / 4)) },
            Initial { cycles: [10, 20, 30, 40], ..Initial::fresh() },
        ] {
            let mut d = device(&tiny, "conventional:program=sequential", 3);
            d.ftl_mut().setup().precondition(&initial, 11).unwrap();
            d.ftl_mut().tables().check().unwrap();
            assert_eq!(d.ftl().inspect().mapped(), initial.mapped.count() as u64);
            let writes = (0..units as u64 * 3).map(|i| {
                Ok::<_, std::convert::Infallible>(HostRequest::new(
                    HostOp::Write,
                    i * 37 % units as u64 * 4,
                    4,
                ))
            });
            drive(&mut d, writes, Pacing::Closed { queue_depth: 8 }, Stop::default(), |_| {}).unwrap();
            d.drain().unwrap();
            d.ftl_mut().tables().check().unwrap();
            assert_eq!(d.metrics().out_of_space, 0);
        }
    }
    let mut d = device(&tiny, "conventional:program=sequential", 3);
    let too_much = Initial { valid: Fraction::percent(30), ..Initial::holding(Mapped::First(units)) };
    assert!(matches!(d.ftl_mut().setup().precondition(&too_much, 1), Err(InitialError::TooMuch { .. })));
    let mut d = device(&tiny, "conventional:program=sequential", 3);
    let beyond = Initial::holding(Mapped::First(units + 1));
    assert!(matches!(d.ftl_mut().setup().precondition(&beyond, 1), Err(InitialError::BeyondDrive { .. })));
}

#[test]
fn initial_image_reads_as_if_written() {
    let tiny = Tiny { channels: 2, blocks: 20, spare: 6, ..Tiny::default() };
    let mut d = device(&tiny, "conventional:program=sequential", 3);
    let units = tiny.units(3);
    d.ftl_mut().setup().precondition(&Initial::holding(Mapped::First(units / 2)), 1).unwrap();
    let reads = (0..units as u64)
        .map(|u| Ok::<_, std::convert::Infallible>(HostRequest::new(HostOp::Read, u * 4, 4)));
    drive(&mut d, reads, Pacing::Closed { queue_depth: 1 }, Stop::default(), |_| {}).unwrap();
    let counters = d.ftl().counters();
    assert_eq!(counters.regions[0].reads.iter().sum::<u64>(), units as u64 / 2);
    assert_eq!(counters.reads_unmapped, units as u64 / 2);
}

#[test]
fn time_bounded_closed_loop_ends_or_says_why_not() {
    let spin = |initial: Initial| {
        let mut d = device(&Tiny::default(), "conventional:mode=slc", 1);
        d.ftl_mut().setup().precondition(&initial, 1).unwrap();
        let reads = std::iter::repeat_with(|| {
            Ok::<_, std::convert::Infallible>(HostRequest::new(HostOp::Read, 0, 4))
        });
        let stop = Stop { duration: Some(SimDuration(10_000_000)), ..Stop::default() };
        drive(&mut d, reads, Pacing::Closed { queue_depth: 4 }, stop, |_| {})
    };
    let summary = spin(Initial::holding(Mapped::First(4))).unwrap();
    assert!(summary.end.0 >= 10_000_000 && summary.end.0 < 10_100_000);
    assert!(matches!(spin(Initial::fresh()), Err(DriveError::NoTimePasses { .. })));
}
