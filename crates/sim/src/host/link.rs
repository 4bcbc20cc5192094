//! The host link: time from the drive to the host for a completed request.

use std::collections::VecDeque;
use wordline_device::{HostLink, Lanes};
use wordline_ftl::{RequestId, Saved, saved_fields};
use wordline_units::{HostOp, HostRequest, SimDuration, SimTime};

/// Result of passing a request to the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sent {
    /// It is over at once.
    Over,
    /// It is on the link behind others, whose end is an event already.
    Behind,
    /// It is on the link, and its end is an event that is to be set.
    Until(SimTime),
}

/// The host link. Requests are on it in the order in which they end. Of one lane the first has an event in the clock;
/// where each queue of the host has a lane of its own, or the controller takes another time for reads than for writes,
/// each request has one.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    rules: HostLink,
    takes_no_time: bool,
    /// When each lane is free.
    free_at: Vec<SimTime>,
    /// With the time at which each ends.
    queue: VecDeque<(SimTime, RequestId)>,
}

impl Saved for Link {
    saved_fields! { Link,
        values: [free_at, queue],
        parts: [],
        rebuilt: [rules, takes_no_time],
    }
}

impl Link {
    pub fn new(rules: HostLink) -> Link {
        let times = [rules.read_overhead, rules.write_overhead, rules.read_latency, rules.write_latency];
        let takes_no_time = rules.rate.is_off() && times == [SimDuration::ZERO; 4];
        Link { rules, takes_no_time, free_at: vec![], queue: VecDeque::new() }
    }

    /// Whether every request passes immediately.
    #[inline(always)]
    pub fn takes_no_time(&self) -> bool {
        self.takes_no_time
    }

    /// Enqueue a request.
    pub fn send(&mut self, id: RequestId, request: &HostRequest, now: SimTime) -> Sent {
        let lane = if self.has_lanes() { request.volume as usize } else { 0 };
        let (overhead, latency) = match request.op {
            HostOp::Read => (self.rules.read_overhead, self.rules.read_latency),
            HostOp::Write => (self.rules.write_overhead, self.rules.write_latency),
            HostOp::Trim | HostOp::Flush => (SimDuration::ZERO, SimDuration::ZERO),
        };
        let end = match (request.op, self.queue.back()) {
            // A flush takes no time, but says that what came before is over: it must not overtake the writes that
            // still stand here. A trim says nothing of others.
            (HostOp::Flush, Some((last, _))) => *last,
            (HostOp::Trim | HostOp::Flush, _) => return Sent::Over,
            _ => self.occupy(lane, now, overhead + self.rules.rate.time_for(request.bytes())) + latency,
        };
        let is_event = self.queue.is_empty() || self.has_events();
        // Of one lane each comes behind the one before, unless the controller takes its own time for it.
        let at = self.queue.partition_point(|(before, _)| *before <= end);
        self.queue.insert(at, (end, id));
        if is_event { Sent::Until(end) } else { Sent::Behind }
    }

    /// Whether each queue has a lane of its own.
    fn has_lanes(&self) -> bool {
        self.rules.link == Lanes::PerQueue
    }

    /// Whether each request has an event, since it may end before one that was sent earlier.
    fn has_events(&self) -> bool {
        self.has_lanes() || self.rules.read_latency != self.rules.write_latency
    }

    /// When a lane has done with what takes this long, behind what it was given before.
    fn occupy(&mut self, lane: usize, now: SimTime, takes: SimDuration) -> SimTime {
        if lane >= self.free_at.len() {
            self.free_at.resize(lane + 1, SimTime(0));
        }
        let free_at = &mut self.free_at[lane];
        *free_at = now.max(*free_at) + takes;
        *free_at
    }

    /// The first request reaches the host.
    pub fn deliver(&mut self) -> Option<RequestId> {
        self.queue.pop_front().map(|(_, id)| id)
    }

    /// Time of the next arrival at the host, if no event is scheduled for it yet.
    pub fn next_event(&self) -> Option<SimTime> {
        self.queue.front().filter(|_| !self.has_events()).map(|(end, _)| *end)
    }

    /// Restart at time 0 with an empty link.
    pub fn start_anew(&mut self) {
        debug_assert!(self.queue.is_empty());
        self.free_at.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::Rate;

    /// A byte a nanosecond, and 10 ns for a write besides.
    fn link(lanes: Lanes) -> Link {
        with_controller(lanes, [0, 0])
    }

    /// The same, and this long in the controller for a read and a write, ns.
    fn with_controller(link: Lanes, latencies: [u64; 2]) -> Link {
        let [read_overhead, write_overhead] = [0, 10].map(SimDuration);
        let [read_latency, write_latency] = latencies.map(SimDuration);
        let rate = Rate { bytes: 1, nanoseconds: 1 };
        let rules = HostLink {
            rate,
            read_overhead,
            write_overhead,
            read_latency,
            write_latency,
            queue_depth: 1,
            link,
        };
        Link::new(rules)
    }

    fn request(op: HostOp, volume: u16) -> HostRequest {
        HostRequest { volume, ..HostRequest::new(op, 0, 1) }
    }

    #[test]
    fn lane_serializes_requests_and_only_the_first_is_due() {
        let mut link = link(Lanes::Shared);
        assert_eq!(
            link.send(RequestId(0), &request(HostOp::Write, 0), SimTime(5)),
            Sent::Until(SimTime(527))
        );
        assert_eq!(link.send(RequestId(1), &request(HostOp::Read, 1), SimTime(6)), Sent::Behind);
        assert_eq!(link.deliver(), Some(RequestId(0)));
        assert_eq!(link.next_event(), Some(SimTime(527 + 512)));
        assert_eq!(link.deliver(), Some(RequestId(1)));
        assert_eq!((link.deliver(), link.next_event()), (None, None));
    }

    #[test]
    fn separate_lanes_overlap_and_each_request_is_due() {
        let mut link = link(Lanes::PerQueue);
        assert_eq!(
            link.send(RequestId(0), &request(HostOp::Write, 0), SimTime(0)),
            Sent::Until(SimTime(522))
        );
        assert_eq!(link.send(RequestId(1), &request(HostOp::Read, 1), SimTime(1)), Sent::Until(SimTime(513)));
        assert_eq!(link.next_event(), None);
        assert_eq!([link.deliver(), link.deliver()], [Some(RequestId(1)), Some(RequestId(0))]);
    }

    // A flush waits for both.
    #[test]
    fn controller_works_while_the_link_serves_others() {
        let mut link = with_controller(Lanes::Shared, [0, 1_000]);
        let write = link.send(RequestId(0), &request(HostOp::Write, 0), SimTime(0));
        assert_eq!(write, Sent::Until(SimTime(1_522)));
        let read = link.send(RequestId(1), &request(HostOp::Read, 0), SimTime(1));
        assert_eq!(read, Sent::Until(SimTime(522 + 512)), "the read ends before the write");
        let flush = link.send(RequestId(2), &request(HostOp::Flush, 0), SimTime(2));
        assert_eq!(flush, Sent::Until(SimTime(1_522)));
        assert_eq!([(); 3].map(|()| link.deliver()), [1, 0, 2].map(|n| Some(RequestId(n))));
        let mut link = with_controller(Lanes::Shared, [1_000, 1_000]);
        assert_eq!(
            link.send(RequestId(0), &request(HostOp::Read, 0), SimTime(0)),
            Sent::Until(SimTime(1_512))
        );
        assert_eq!(link.send(RequestId(1), &request(HostOp::Read, 0), SimTime(0)), Sent::Behind);
        link.deliver();
        assert_eq!(link.next_event(), Some(SimTime(2_024)));
    }

    #[test]
    fn flush_queues_behind_the_link_and_a_trim_does_not() {
        let mut link = link(Lanes::Shared);
        assert_eq!(link.send(RequestId(0), &request(HostOp::Flush, 0), SimTime(0)), Sent::Over);
        link.send(RequestId(1), &request(HostOp::Write, 0), SimTime(0));
        assert_eq!(link.send(RequestId(2), &request(HostOp::Flush, 0), SimTime(1)), Sent::Behind);
        assert_eq!(link.send(RequestId(3), &request(HostOp::Trim, 0), SimTime(1)), Sent::Over);
        link.deliver();
        assert_eq!((link.next_event(), link.deliver()), (Some(SimTime(522)), Some(RequestId(2))));
    }

    #[test]
    fn used_lane_is_free_when_the_drive_restarts() {
        let mut link = link(Lanes::Shared);
        link.send(RequestId(0), &request(HostOp::Read, 0), SimTime(1_000));
        link.deliver();
        link.start_anew();
        assert_eq!(link.send(RequestId(1), &request(HostOp::Read, 0), SimTime(0)), Sent::Until(SimTime(512)));
    }
}
