//! Idle periods: whether the drive is in one.

use wordline_ftl::{Saved, saved_fields};
use wordline_units::{SimDuration, SimTime};

/// Whether the drive is idle. It is from some time after the last request has ended until the next one comes.
#[derive(Clone, Debug)]
pub(crate) struct Idle {
    /// After how long without a request.
    after: SimDuration,
    is_idle: bool,
    since: SimTime,
    /// When the last request ended after which none was outstanding.
    rests_since: SimTime,
    /// Whether an alarm is set. There is one at most, which is set again where it rings too early.
    rings: bool,
}

/// What an alarm means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ring {
    /// The drive is idle from now on.
    Begins,
    /// A request has come since it was set: it is set again, for this time.
    Again(SimTime),
    /// Requests are outstanding.
    Busy,
}

impl Saved for Idle {
    saved_fields! { Idle,
        values: [is_idle, since, rests_since, rings],
        parts: [],
        rebuilt: [after],
    }
}

impl Idle {
    /// A drive that counts as idle after this time.
    pub fn new(after: SimDuration) -> Idle {
        Idle { after, is_idle: false, since: SimTime(0), rests_since: SimTime(0), rings: false }
    }

    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// The last outstanding request has completed. Returns when a timer must fire, if none is set.
    pub fn wait(&mut self, now: SimTime) -> Option<SimTime> {
        self.rests_since = now;
        (!std::mem::replace(&mut self.rings, true)).then(|| now + self.after)
    }

    /// The timer has fired.
    pub fn ring(&mut self, busy: bool, now: SimTime) -> Ring {
        let due = self.rests_since + self.after;
        self.rings = !busy && due > now;
        if busy {
            return Ring::Busy;
        }
        if due > now {
            return Ring::Again(due);
        }
        (self.is_idle, self.since) = (true, now);
        Ring::Begins
    }

    /// The drive works as if it were idle, in a period without a beginning.
    pub fn drain(&mut self) {
        self.is_idle = true;
    }

    /// The idle period ends. Returns its length, if the drive was idle.
    #[inline(always)]
    pub fn end(&mut self, now: SimTime) -> Option<SimDuration> {
        std::mem::replace(&mut self.is_idle, false).then(|| now.since(self.since))
    }

    /// Restart at time 0.
    pub fn start_anew(&mut self) {
        (self.is_idle, self.since, self.rests_since) = (false, SimTime(0), SimTime(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_ends_once_and_is_as_long_as_since_it_began() {
        let mut idle = Idle::new(SimDuration(100));
        assert_eq!(idle.wait(SimTime(3)), Some(SimTime(103)));
        assert_eq!(idle.wait(SimTime(7)), None);
        assert_eq!(idle.end(SimTime(50)), None);
        assert_eq!(idle.ring(false, SimTime(103)), Ring::Again(SimTime(107)));
        assert_eq!(idle.ring(false, SimTime(107)), Ring::Begins);
        assert!(idle.is_idle());
        assert_eq!(idle.end(SimTime(150)), Some(SimDuration(43)));
        assert_eq!((idle.end(SimTime(160)), idle.is_idle()), (None, false));
        // An alarm that rings while requests are outstanding is set again by the last of these.
        assert_eq!(idle.wait(SimTime(200)), Some(SimTime(300)));
        assert_eq!(idle.ring(true, SimTime(300)), Ring::Busy);
        assert_eq!(idle.wait(SimTime(310)), Some(SimTime(410)));
    }
}
