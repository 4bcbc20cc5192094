//! Waiting: of a connection's thread for its client, while what is due happens; of the thread of its own for what is due.

use crate::lock;
use crate::shared::Shared;
use crate::socket::Socket;
use crate::watch::{Watch, be_punctual};
use std::io::{self, Read};
use std::time::{Duration, Instant};

/// So long before an instant nothing is looked at any more but the clock.
const LAST: Duration = Duration::from_micros(2);

impl Shared {
    /// Read what a client sends next, and let happen meanwhile what is due, if it is this thread's watch. A client that is
    /// `expected` to send something at once, then or after an answer, is looked for, for as long as one spins, before this
    /// thread sleeps.
    pub(crate) fn read(
        &self,
        watch: &mut Watch,
        mut socket: &Socket,
        into: &mut [u8],
        expected: impl Fn() -> bool,
    ) -> io::Result<usize> {
        let spin = self.pacing.spin;
        let from_now_on = || (!spin.is_zero() && expected()).then(|| Instant::now() + spin);
        let mut looks_until = from_now_on();
        loop {
            if let Some(read) = socket.try_read(into)? {
                return Ok(read);
            }
            let now = Instant::now();
            let looks = looks_until.is_some_and(|until| now < until);
            let Some(due) = self.pacing.due(watch) else {
                if looks {
                    // Whoever else has work goes first: the client, perhaps.
                    std::thread::yield_now();
                    continue;
                }
                return socket.read(into);
            };
            let left = due.saturating_duration_since(now);
            if left <= LAST.min(spin) {
                while Instant::now() < due {
                    std::hint::spin_loop();
                }
                let mut engine = lock(self.engine());
                let cuts = engine.epoch();
                engine.pump(Instant::now());
                self.leave(engine, cuts, Some(watch));
                looks_until = from_now_on();
            } else if left <= spin || looks {
                std::thread::yield_now();
            } else {
                socket.wait(left - spin)?;
            }
        }
    }

    /// A connection's thread is about to wait for something else than its client, or to end.
    pub(crate) fn hand_over(&self, watch: &mut Watch) {
        if self.pacing.due(watch).is_some() {
            self.with_engine(|_| ());
        }
    }

    /// Let things happen at their instants while no connection's thread has the watch, until the server stops.
    pub(crate) fn pace(&self) {
        be_punctual();
        let mut engine = lock(self.engine());
        while !self.is_stopping() {
            if !self.pacing.is_own() {
                engine = self.pacing.sleep(engine, None);
                continue;
            }
            let cuts = engine.epoch();
            engine.pump(Instant::now());
            engine.sleeps_until = engine.next_due();
            let until = engine.sleeps_until;
            if !engine.out.is_empty() || engine.epoch() != cuts || !engine.notes.is_empty() {
                self.leave(engine, cuts, None);
                engine = lock(self.engine());
                continue;
            }
            let Some(until) = until else {
                engine = self.pacing.sleep(engine, None);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left > self.pacing.spin {
                engine = self.pacing.sleep(engine, Some(left - self.pacing.spin));
            } else {
                self.pacing.spin_until(until, engine);
                engine = lock(self.engine());
            }
        }
    }
}
