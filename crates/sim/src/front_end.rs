//! The front end of a drive: requests on their way to the host, those that have ended, alarms, and idle periods.

use crate::clock::Clock;
use crate::completion::Completion;
use crate::host::admission::Admission;
use crate::host::idle::{Idle, Ring};
use crate::host::link::{Link, Sent};
use crate::host::timers::{Alarm, Timers};
use crate::observer::Observer;
use crate::probe::Probe;
use wordline_device::HostLink;
use wordline_ftl::{Ftl, Pending, RequestId, Saved, saved_fields};
use wordline_units::{SimDuration, SimTime};

/// The front end. The link has the first of its events in the clock, and each timer one of those behind that.
#[derive(Clone, Debug)]
pub(crate) struct FrontEnd {
    link: Link,
    timers: Timers,
    admission: Admission,
    idle: Idle,
    /// The number of the link's event.
    first_event: u32,
}

impl Saved for FrontEnd {
    saved_fields! { FrontEnd,
        values: [timers, admission],
        parts: [link, idle],
        rebuilt: [first_event],
    }
}

impl FrontEnd {
    /// The front end of a drive with this link, whose events have numbers from one on, that is idle after a time
    /// without requests.
    pub fn new(link: HostLink, idle_after: SimDuration, first_event: u32) -> FrontEnd {
        let (timers, admission, idle) = (Timers::default(), Admission::default(), Idle::new(idle_after));
        FrontEnd { link: Link::new(link), timers, admission, idle, first_event }
    }

    /// The same of a drive that has seen this many requests, with completions that were not yet taken.
    pub fn after(self, submitted: u64, ended: Vec<Completion>) -> FrontEnd {
        FrontEnd { admission: Admission::after(submitted, ended), ..self }
    }

    /// Restart at time 0, with an empty link.
    pub fn start_anew(&mut self) {
        self.link.start_anew();
        self.idle.start_anew();
        self.admission = Admission::default();
    }

    /// The host's requests: their number, and those that have ended.
    #[inline(always)]
    pub fn admission(&self) -> &Admission {
        &self.admission
    }

    /// The same, for what changes in them.
    #[inline(always)]
    pub fn admission_mut(&mut self) -> &mut Admission {
        &mut self.admission
    }

    /// The number of requests submitted so far, and all completions not yet taken.
    pub fn into_parts(self) -> (u64, Vec<Completion>) {
        (self.admission.submitted(), self.admission.into_ended())
    }

    /// Whether every request passes the link immediately.
    #[inline(always)]
    pub fn passes_at_once(&self) -> bool {
        self.link.takes_no_time()
    }

    /// A request enters the link. Returns whether it is over at once.
    #[inline(never)]
    pub fn send(&mut self, id: RequestId, ftl: &Ftl, clock: &mut Clock) -> bool {
        match self.link.send(id, &ftl.pending(id).request, clock.now()) {
            Sent::Over => return true,
            Sent::Behind => {}
            Sent::Until(end) => clock.set(self.first_event, end),
        }
        false
    }

    /// The event of the link: the first request reaches the host.
    #[inline(never)]
    pub fn next_delivery(&mut self, clock: &mut Clock) -> Option<RequestId> {
        let id = self.link.deliver();
        if let Some(end) = self.link.next_event() {
            clock.set(self.first_event, end);
        }
        id
    }

    /// A request reaches the host: its completion is kept until it is taken.
    #[inline(always)]
    pub fn hand_over<P: Probe>(
        &mut self,
        id: RequestId,
        ftl: &mut Ftl,
        observer: &mut Observer<P>,
        now: SimTime,
    ) {
        let data = ftl.release(id);
        if !P::WATCHES && self.admission.keeps_times_alone() {
            return self.admission.end_at(now);
        }
        let Pending { request, number, outcome, parts, .. } = *ftl.pending(id);
        let completion = Completion { number, request, at: now, outcome, parts, data };
        observer.completed(&completion);
        self.admission.end(completion);
    }

    /// Set a timer.
    #[inline(never)]
    pub fn set(&mut self, at: SimTime, alarm: Alarm, clock: &mut Clock) {
        clock.set(self.first_event + 1 + self.timers.set(alarm), at);
    }

    /// The event of a timer, with requests outstanding or not. Returns what it means: a timer of the layer, or that the
    /// drive is idle from now on. It means nothing if requests are outstanding, or one has come since it was set.
    pub fn ring(&mut self, event: u32, busy: bool, clock: &mut Clock) -> Option<Alarm> {
        let alarm = self.timers.fire(event - self.first_event - 1);
        if matches!(alarm, Alarm::Layer(_)) {
            return Some(alarm);
        }
        match self.idle.ring(busy, clock.now()) {
            Ring::Begins => return Some(alarm),
            Ring::Again(at) => self.set(at, alarm, clock),
            Ring::Busy => {}
        }
        None
    }

    /// The last outstanding request has completed: an alarm is set, if none is.
    pub fn rest(&mut self, clock: &mut Clock) {
        if let Some(at) = self.idle.wait(clock.now()) {
            self.set(at, Alarm::Idle, clock);
        }
    }

    /// Whether the drive is idle.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        self.idle.is_idle()
    }

    /// The drive works as if it were idle, in a period without a beginning.
    pub fn drain(&mut self) {
        self.idle.drain();
    }

    /// The idle period ends. Returns its length, if the drive was idle.
    #[inline(always)]
    pub fn end_idle(&mut self, now: SimTime) -> Option<SimDuration> {
        self.idle.end(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_ftl::Timer;

    /// Idle after 100 ns; its link has event 6.
    fn front_end() -> FrontEnd {
        let link = wordline_swarm::Tiny::default().spec(1).host;
        FrontEnd::new(link, SimDuration(100), 6)
    }

    fn pending(clock: &mut Clock) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| clock.take(SimTime::NEVER)).map(|(at, event)| (at.0, event)).collect()
    }

    #[test]
    fn timers_have_the_events_behind_that_of_the_link() {
        let (mut front, mut clock) = (front_end(), Clock::default());
        front.set(SimTime(5), Alarm::Layer(Timer::Merge { page: 3 }), &mut clock);
        front.set(SimTime(9), Alarm::Layer(Timer::Merge { page: 4 }), &mut clock);
        assert_eq!(pending(&mut clock), [(5, 7), (9, 8)]);
        let rung = front.ring(8, true, &mut clock);
        assert!(matches!(rung, Some(Alarm::Layer(Timer::Merge { page: 4 }))));
        // The slot that came free has the next timer.
        front.set(SimTime(20), Alarm::Layer(Timer::Merge { page: 5 }), &mut clock);
        assert_eq!(pending(&mut clock), [(20, 8)]);
    }

    #[test]
    fn alarm_that_rings_too_early_is_set_again() {
        let (mut front, mut clock) = (front_end(), Clock::default());
        front.rest(&mut clock);
        clock.go_on_to(SimTime(30));
        front.rest(&mut clock);
        assert_eq!(clock.take(SimTime::NEVER), Some((SimTime(100), 7)));
        assert!(front.ring(7, false, &mut clock).is_none() && !front.is_idle());
        assert_eq!(clock.take(SimTime::NEVER), Some((SimTime(130), 7)));
        assert!(matches!(front.ring(7, false, &mut clock), Some(Alarm::Idle)) && front.is_idle());
        assert_eq!(front.end_idle(SimTime(150)), Some(SimDuration(20)));
        front.rest(&mut clock);
        assert!(front.ring(7, true, &mut clock).is_none() && !front.is_idle());
    }

    #[test]
    fn drive_after_a_power_cut_counts_on() {
        let front = front_end().after(7, vec![]);
        let (submitted, ended) = front.into_parts();
        assert_eq!((submitted, ended.len()), (7, 0));
    }
}
