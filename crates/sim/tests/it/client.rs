//! A client of a closed loop that thinks between requests and rests after bursts.

use std::convert::Infallible;
use wordline_sim::{
    Client, Completion, Device, Host, HostTurn, NoProbe, Pacing, Pauses, Stop, drive, drive_host,
};
use wordline_swarm::Tiny;
use wordline_units::{HostOp, HostRequest, SimDuration, SimTime};

/// A program of a page: 2,048 ns of transfer and 20 us on the array.
const WRITE: u64 = 22_048;

fn device() -> Device<NoProbe> {
    let spec = Tiny::default().spec(1);
    let scheme = wordline_schemes::build("conventional:mode=slc").unwrap();
    Device::new(&spec, &spec.geometry().unwrap(), scheme, NoProbe).unwrap()
}

/// Writes of whole pages, one after the other.
fn writes(count: u64) -> impl Iterator<Item = Result<HostRequest, Infallible>> {
    (0..count).map(|i| Ok(HostRequest::new(HostOp::Write, i % 8 * 4, 4)))
}

/// A host, and when it asked.
struct Timed<H>(H, Vec<u64>);

impl<H: Host> Host for Timed<H> {
    type Error = H::Error;

    fn turn(&mut self, now: SimTime) -> Result<HostTurn, H::Error> {
        let turn = self.0.turn(now)?;
        if let HostTurn::Issue(request) = turn {
            assert_eq!(request.arrival, now);
            self.1.push(now.0);
        }
        Ok(turn)
    }

    fn completed(&mut self, completion: &Completion) {
        self.0.completed(completion);
    }

    fn is_timed(&self) -> bool {
        self.0.is_timed()
    }

    fn ends_worn(&self) -> bool {
        self.0.ends_worn()
    }
}

/// When a client asks for its writes, and when the last of them ends.
fn asked(count: u64, queue_depth: u32, pauses: Pauses, stop: Stop) -> (Vec<u64>, u64) {
    let mut device = device();
    let mut host = Timed(Client::new(writes(count), queue_depth, pauses, stop), vec![]);
    let summary = drive_host(&mut device, &mut host, None, |_| {}).unwrap();
    assert_eq!(summary.requests, host.1.len() as u64);
    device.ftl_mut().tables().check().unwrap();
    (host.1, summary.end.0)
}

#[test]
fn client_thinks_between_completion_and_next_request() {
    let pauses = Pauses { think: SimDuration(1_000), burst: None };
    let (times, end) = asked(3, 1, pauses, Stop::default());
    assert_eq!(times, [0, WRITE + 1_000, 2 * (WRITE + 1_000)]);
    assert_eq!(end, 3 * WRITE + 2_000);
}

#[test]
fn each_place_in_the_queue_thinks_for_itself() {
    let pauses = Pauses { think: SimDuration(500_000), burst: None };
    let (times, _) = asked(4, 2, pauses, Stop::default());
    // Both begin at once; the plane does one after the other, and each is followed half a millisecond later.
    assert_eq!(times, [0, 0, WRITE + 500_000, 2 * WRITE + 500_000]);
}

#[test]
fn a_burst_ends_before_the_rest_begins() {
    let rest = SimDuration(1_000_000);
    let pauses = Pauses { think: SimDuration(0), burst: Some((2 * 2_048, rest)) };
    let (times, end) = asked(5, 2, pauses, Stop::default());
    let burst = times[2] - rest.0;
    assert_eq!(times[..2], [0, 0]);
    assert!(burst > WRITE && burst <= 2 * WRITE, "the rest begins when both have ended: {times:?}");
    assert_eq!(times[3], times[2]);
    assert_eq!(times[4], times[2] + burst + rest.0, "every burst takes as long");
    assert_eq!(end, times[4] + WRITE, "no rest follows the last request");
}

#[test]
fn reads_do_not_use_up_a_burst() {
    let mut device = device();
    let reads = (0..4).map(|_| Ok::<_, Infallible>(HostRequest::new(HostOp::Read, 0, 4)));
    let pauses = Pauses { think: SimDuration(0), burst: Some((1, SimDuration(1_000_000))) };
    let mut host = Timed(Client::new(reads, 1, pauses, Stop::default()), vec![]);
    drive_host(&mut device, &mut host, None, |_| {}).unwrap();
    assert!(host.1.iter().all(|&t| t < 1_000_000), "{:?}", host.1);
}

#[test]
fn without_pauses_it_is_the_closed_loop() {
    for depth in [1, 3, 8] {
        let (_, end) = asked(400, depth, Pauses::default(), Stop::default());
        let mut plain = device();
        let pacing = Pacing::Closed { queue_depth: depth };
        let summary = drive(&mut plain, writes(400), pacing, Stop::default(), |_| {}).unwrap();
        assert_eq!(summary.end.0, end, "queue depth {depth}");
    }
}

#[test]
fn its_time_ends_it_in_the_midst_of_a_rest() {
    let stop = Stop { duration: Some(SimDuration(2_000_000)), ..Stop::default() };
    let pauses = Pauses { think: SimDuration(0), burst: Some((2_048, SimDuration(1_500_000))) };
    let (times, _) = asked(u64::MAX, 1, pauses, stop);
    assert_eq!(times, [0, WRITE + 1_500_000]);
}
