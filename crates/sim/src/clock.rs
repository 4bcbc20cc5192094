//! The clock: pending events in a binary heap.
//!
//! Events are ordered by (time, the order in which they were set) and nothing else. An event is one
//! number, so that comparing two takes no branch, and setting one allocates nothing once the heap has
//! grown to as many as are ever pending: one a busy array and bus, one for the host link (or one a request on
//! it, where each queue has its own), one a timer.
//!
//! What happens mostly sets the next event. So the one that happens stays on top of the heap until another takes its
//! place, which is one walk down the heap where taking and setting would be two and one up.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wordline_units::SimTime;

const WHAT_BITS: u32 = 24;
const ORDER_BITS: u32 = 64 - WHAT_BITS;

/// What is pending: time in the upper half, then the order, then what it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Clock {
    events: BinaryHeap<Reverse<u128>>,
    order: u64,
    /// Whether the event on top has happened.
    top_is_past: bool,
    now: SimTime,
}

#[inline(always)]
fn key(at: SimTime, order: u64, what: u32) -> u128 {
    (at.0 as u128) << 64 | (order << WHAT_BITS | what as u64) as u128
}

impl Clock {
    /// Number of distinguishable kinds of events.
    pub const KINDS: u32 = 1 << WHAT_BITS;

    /// A clock at a time, with nothing pending.
    pub fn at(now: SimTime) -> Clock {
        Clock { now, ..Clock::default() }
    }

    /// The current time: that of the last event, or the time to which it was advanced since.
    #[inline(always)]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Advance to a time, unless it has passed.
    #[inline(always)]
    pub fn go_on_to(&mut self, time: SimTime) {
        self.now = self.now.max(time);
    }

    /// The time of the earliest event.
    #[inline(always)]
    pub fn next(&self) -> Option<SimTime> {
        let events = self.events.as_slice();
        let next = match (self.top_is_past, events) {
            (false, events) => events.first()?.0,
            (true, [_, one, other, ..]) => one.0.min(other.0), // the children of the top
            (true, events) => events.get(1)?.0,
        };
        Some(SimTime((next >> 64) as u64))
    }

    /// Remove and return the earliest event, with its time, if it is due by a time.
    #[inline(always)]
    pub fn take(&mut self, until: SimTime) -> Option<(SimTime, u32)> {
        if std::mem::take(&mut self.top_is_past) {
            self.events.pop();
        }
        let event = self.events.peek()?.0;
        let at = SimTime((event >> 64) as u64);
        self.top_is_past = at <= until;
        if !self.top_is_past {
            return None;
        }
        debug_assert!(at >= self.now);
        self.now = at;
        Some((at, event as u32 & (Clock::KINDS - 1)))
    }

    /// A counter that grows with each scheduled event.
    pub fn events_set(&self) -> u64 {
        self.order
    }

    /// Schedule an event.
    #[inline(always)]
    pub fn set(&mut self, what: u32, at: SimTime) {
        debug_assert!(what < Clock::KINDS);
        self.order += 1;
        if self.order >> ORDER_BITS != 0 {
            self.renumber();
        }
        let event = Reverse(key(at, self.order, what));
        if self.top_is_past
            && let Some(mut top) = self.events.peek_mut()
        {
            *top = event;
            self.top_is_past = false;
        } else {
            self.events.push(event);
        }
    }

    /// The order has used up its bits, after some 10^12 events: number those pending from 1 again.
    #[cold]
    fn renumber(&mut self) {
        if std::mem::take(&mut self.top_is_past) {
            self.events.pop();
        }
        let sorted = std::mem::take(&mut self.events).into_sorted_vec();
        self.order = 0;
        for Reverse(event) in sorted.into_iter().rev() {
            self.order += 1;
            let what = event as u32 & (Clock::KINDS - 1);
            self.events.push(Reverse(key(SimTime((event >> 64) as u64), self.order, what)));
        }
        self.order += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(c: &mut Clock) -> Vec<(u64, u32)> {
        std::iter::from_fn(|| c.take(SimTime::NEVER)).map(|(t, what)| (t.0, what)).collect()
    }

    #[test]
    fn events_come_by_time_then_insertion_order() {
        let mut c = Clock::default();
        for (what, time) in [(3, 20), (9, 10), (4, 10), (1, 30)] {
            c.set(what, SimTime(time));
        }
        assert_eq!((c.take(SimTime(9)), c.now()), (None, SimTime(0)));
        assert_eq!(drain(&mut c), [(10, 9), (10, 4), (20, 3), (30, 1)]);
    }

    #[test]
    fn event_yields_to_those_it_sets() {
        let mut c = Clock::default();
        for (what, time) in [(1, 10), (2, 20), (3, 30)] {
            c.set(what, SimTime(time));
        }
        assert_eq!(c.take(SimTime::NEVER), Some((SimTime(10), 1)));
        assert_eq!(c.next(), Some(SimTime(20)));
        c.set(4, SimTime(25));
        assert_eq!(c.next(), Some(SimTime(20)));
        c.set(5, SimTime(15));
        assert_eq!(drain(&mut c), [(15, 5), (20, 2), (25, 4), (30, 3)]);
        assert_eq!((c.next(), c.take(SimTime::NEVER), c.now()), (None, None, SimTime(30)));
        c.go_on_to(SimTime(29));
        assert_eq!(c.now(), SimTime(30));
    }

    #[test]
    fn the_order_survives_its_renumbering() {
        let mut c = Clock { order: (1 << ORDER_BITS) - 3, ..Clock::default() };
        c.set(9, SimTime(1));
        assert_eq!(c.take(SimTime(1)), Some((SimTime(1), 9)));
        for what in [5, 4, 3, 2, 1] {
            c.set(what, SimTime(7));
        }
        assert_eq!(drain(&mut c).iter().map(|e| e.1).collect::<Vec<_>>(), [5, 4, 3, 2, 1]);
    }
}
