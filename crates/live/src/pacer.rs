//! Decides which thread processes due events: that of the connection with the latest request, while it waits for its
//! client, or else a separate pacing thread. With one client, one thread is active, and not two.

use crate::engine::core::Engine;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The thread of its own, among the numbers of connections.
const OWN: u64 = 0;

/// Whose watch it is.
pub(crate) struct Pacing {
    /// The number of the connection, written under the engine's lock.
    by: AtomicU64,
    /// Something is due before the thread of its own would wake up.
    sooner: Condvar,
    /// The same while it spins.
    woken: AtomicBool,
    /// How long before an instant whose watch it is stops sleeping.
    pub spin: Duration,
}

/// What a connection's thread has to see to.
pub(crate) struct Watch {
    number: u64,
    /// When something is due next, as long as it is this thread's watch.
    due: Option<Instant>,
}

/// Sleep no longer than is asked for. Where that cannot be had, the kernel's usual slack of 50 us makes answers late, and the
/// statistics say so.
pub(crate) fn be_punctual() {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

impl Watch {
    /// That of a connection's thread, on which this is called.
    pub(crate) fn new(number: u64) -> Watch {
        be_punctual();
        Watch { number, due: None }
    }
}

impl Pacing {
    pub(crate) fn new(spin: Duration) -> Pacing {
        Pacing { by: AtomicU64::new(OWN), sooner: Condvar::new(), woken: AtomicBool::new(false), spin }
    }

    /// Who leaves the engine has the watch from now on, if something is due and it is a connection's thread; else the thread of its
    /// own. Returns whether that must be woken up.
    pub(crate) fn pass(&self, engine: &mut Engine, to: Option<&mut Watch>) -> bool {
        let due = engine.next_due();
        if let Some(watch) = to {
            watch.due = due;
            if due.is_some() {
                self.by.store(watch.number, Ordering::Release);
                engine.sleeps_until = None;
                return false;
            }
        }
        self.by.store(OWN, Ordering::Release);
        let is_sooner = due.is_some_and(|due| engine.sleeps_until.is_none_or(|until| due < until));
        if is_sooner {
            engine.sleeps_until = due;
        }
        is_sooner
    }

    /// When a connection's thread has to see to something, unless another has the watch by now.
    pub(crate) fn due(&self, watch: &mut Watch) -> Option<Instant> {
        watch.due = watch.due.filter(|_| self.is_by(watch.number));
        watch.due
    }

    /// Whether the thread of its own has the watch.
    pub(crate) fn is_own(&self) -> bool {
        self.is_by(OWN)
    }

    fn is_by(&self, number: u64) -> bool {
        self.by.load(Ordering::Acquire) == number
    }

    /// Wake the thread of its own.
    pub(crate) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
        self.sooner.notify_one();
    }

    /// That thread sleeps until it is woken up, or has slept for so long.
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

    /// That thread spins until an instant, or until it is woken up or has lost the watch.
    pub(crate) fn spin_until(&self, until: Instant, engine: MutexGuard<'_, Engine>) {
        self.woken.store(false, Ordering::Relaxed);
        drop(engine);
        while Instant::now() < until && !self.woken.load(Ordering::Acquire) && self.is_own() {
            std::hint::spin_loop();
        }
    }
}
