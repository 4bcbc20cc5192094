//! Waiting: a connection's thread waits for its client and processes due events meanwhile; a separate thread waits for
//! due events alone.

use crate::lock;
use crate::pacer::{Watch, be_punctual};
use crate::shared::Shared;
use crate::socket::Socket;
use std::io::{self, IoSliceMut, Read};
use std::time::{Duration, Instant};

/// In the last moments before an instant, this long, a thread checks only the clock.
const LAST: Duration = Duration::from_micros(2);

impl Shared {
    /// Read the next bytes of a client, and process due events meanwhile if this thread has the watch. If the
    /// client is `expected` to send soon, or after a reply, this thread polls the socket for the spin time
    /// before it sleeps.
    pub(crate) fn read(
        &self,
        watch: &mut Watch,
        mut socket: &Socket,
        into: &mut [IoSliceMut<'_>],
        expected: impl Fn() -> bool,
    ) -> io::Result<usize> {
        let spin = self.pacing.spin;
        let from_now_on = || (!spin.is_zero() && expected()).then(|| Instant::now() + spin);
        let mut looks_until = from_now_on();
        loop {
            let now = Instant::now();
            // Due events go before the client, which may send much.
            let left = self.pacing.due(watch).map(|due| due.saturating_duration_since(now));
            if left.is_some_and(|left| left <= LAST.min(spin)) {
                self.go_on(watch);
                looks_until = from_now_on();
                continue;
            }
            let looks = looks_until.is_some_and(|until| now < until) && watch.may_poll(now);
            if left.is_none() && !looks {
                return socket.read_vectored(into);
            }
            if let Some(read) = socket.try_read(into)? {
                return Ok(read);
            }
            match left {
                Some(left) if !looks && left > spin => socket.wait(left - spin)?,
                Some(_) if !looks => std::thread::yield_now(),
                // Let other threads run first, such as the client's.
                _ => watch.let_others_run(now),
            }
        }
    }

    /// Process the event that is about to be due.
    fn go_on(&self, watch: &mut Watch) {
        while self.pacing.due(watch).is_some_and(|due| Instant::now() < due) {
            std::hint::spin_loop();
        }
        let mut engine = lock(&self.engine);
        let cuts = engine.epoch();
        engine.pump(Instant::now());
        self.leave(engine, cuts, Some(watch));
    }

    /// Give up the watch, before a connection's thread waits for anything other than its client, or ends.
    pub(crate) fn hand_over(&self, watch: &mut Watch) {
        if self.pacing.due(watch).is_some() {
            self.with_engine(|_| ());
        }
    }

    /// Process due events while no connection's thread has the watch, until the server stops.
    pub(crate) fn pace(&self) {
        be_punctual();
        let mut engine = lock(&self.engine);
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
                engine = lock(&self.engine);
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
                engine = lock(&self.engine);
            }
        }
    }
}
