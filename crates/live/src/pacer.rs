//! Decides which thread processes due events. This is the thread of the connection with the latest request,
//! while it waits for its client, or else a separate pacing thread. With one client, one thread is active
//! instead of two.

use crate::engine::core::Engine;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of the pacing thread; connections have other numbers.
const OWN: u64 = 0;

/// Which thread has the watch, that is, processes due events.
pub(crate) struct Pacing {
    /// The number of the connection, or [`OWN`]; written under the engine's lock.
    by: AtomicU64,
    /// Wakes the pacing thread: an event is due before the time at which it would wake up.
    sooner: Condvar,
    /// The same signal while the pacing thread spins.
    woken: AtomicBool,
    /// How long before an instant the thread on watch stops sleeping and spins.
    pub spin: Duration,
}

/// The share of a connection's thread in the watch.
pub(crate) struct Watch {
    number: u64,
    /// When the next event is due, as long as this thread has the watch.
    due: Option<Instant>,
    /// From when on this thread polls its socket again, after other threads have kept it waiting.
    polls_from: Option<Instant>,
}

/// A thread that lets others run for longer than this shares its core with them. Whoever sleeps until data arrive then runs
/// sooner than whoever polls for them.
const CROWDED: Duration = Duration::from_micros(100);
/// How many times as long it then does not poll.
const RESTS: u32 = 20;

/// Let this thread sleep no longer than requested. If the system refuses, the kernel's default timer slack of
/// 50 us delays replies, which the statistics show.
pub(crate) fn be_punctual() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

impl Watch {
    /// The watch of the calling thread, which serves a connection.
    pub(crate) fn new(number: u64) -> Watch {
        be_punctual();
        Watch { number, due: None, polls_from: None }
    }

    /// Whether this thread has the watch, and must process an event.
    pub(crate) fn has_due(&self) -> bool {
        self.due.is_some()
    }

    /// Whether the core is free enough to poll a socket on it.
    pub(crate) fn may_poll(&self, now: Instant) -> bool {
        self.polls_from.is_none_or(|until| now >= until)
    }

    /// Let other threads run, as of now, while this one polls.
    pub(crate) fn let_others_run(&mut self, now: Instant) {
        std::thread::yield_now();
        self.has_waited(now, now.elapsed());
    }

    fn has_waited(&mut self, since: Instant, waited: Duration) {
        if waited > CROWDED {
            self.polls_from = Some(since + waited * (RESTS + 1));
        }
    }
}

impl Pacing {
    pub(crate) fn new(spin: Duration) -> Pacing {
        Pacing { by: AtomicU64::new(OWN), sooner: Condvar::new(), woken: AtomicBool::new(false), spin }
    }

    /// Pass the watch on when a thread leaves the engine: to that thread if it serves a connection and an
    /// event is due, else to the pacing thread. Returns whether the pacing thread must be woken up.
    pub(crate) fn pass(&self, engine: &mut Engine, to: Option<&mut Watch>) -> bool {
        let due = engine.next_due();
        if let Some(watch) = to {
            watch.due = due;
            if due.is_some() {
                self.by.store(watch.number, Ordering::Release);
                engine.end_sleep();
                return false;
            }
        }
        self.by.store(OWN, Ordering::Release);
        engine.wakes_sooner(due)
    }

    /// When a connection's thread must process an event. Nothing if another thread has the watch by now.
    pub(crate) fn due(&self, watch: &mut Watch) -> Option<Instant> {
        watch.due = watch.due.filter(|_| self.is_by(watch.number));
        watch.due
    }

    /// Whether the pacing thread has the watch.
    pub(crate) fn is_own(&self) -> bool {
        self.is_by(OWN)
    }

    fn is_by(&self, number: u64) -> bool {
        self.by.load(Ordering::Acquire) == number
    }

    /// Wake the pacing thread.
    pub(crate) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.sooner.notify_one();
    }

    /// Let the pacing thread sleep until it is woken up, or for at most this long.
    pub(crate) fn sleep<'a>(
        &self,
        engine: MutexGuard<'a, Engine>,
        most: Option<Duration>,
    ) -> MutexGuard<'a, Engine> {
        match most {
            None => self.sooner.wait(engine).unwrap_or_else(PoisonError::into_inner),
            Some(most) => self.sooner.wait_timeout(engine, most).unwrap_or_else(PoisonError::into_inner).0,
        }
    }

    /// Let the pacing thread spin until an instant, or until it is woken up or loses the watch.
    pub(crate) fn spin_until(&self, until: Instant, engine: MutexGuard<'_, Engine>) {
        self.woken.store(false, Ordering::Relaxed);
        drop(engine);
        while Instant::now() < until && !self.woken.load(Ordering::Acquire) && self.is_own() {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delayed_thread_stops_polling_for_a_while() {
        let (mut watch, now) = (Watch::new(1), Instant::now());
        watch.has_waited(now, CROWDED);
        assert!(watch.may_poll(now), "the core is free");
        let waited = Duration::from_millis(3);
        watch.has_waited(now, waited);
        let again = now + waited * 21;
        assert!(!watch.may_poll(now + waited) && !watch.may_poll(again - CROWDED) && watch.may_poll(again));
    }
}
