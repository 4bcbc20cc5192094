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

/// Read the next bytes of a client, and process due events meanwhile if this thread has the watch. If the
/// client is `expected` to send soon, or after a reply, this thread polls the socket for the spin time
/// before it sleeps.
pub(crate) fn read(
    shared: &Shared,
    watch: &mut Watch,
    mut socket: &Socket,
    into: &mut [IoSliceMut<'_>],
    expected: impl Fn() -> bool,
) -> io::Result<usize> {
    let spin = shared.pacing.spin;
    let from_now_on = || (!spin.is_zero() && expected()).then(|| Instant::now() + spin);
    let mut looks_until = from_now_on();
    loop {
        let now = Instant::now();
        // Due events go before the client, which may send much.
        let left = shared.pacing.due(watch).map(|due| due.saturating_duration_since(now));
        if left.is_some_and(|left| left <= LAST.min(spin)) {
            go_on(shared, watch);
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
fn go_on(shared: &Shared, watch: &mut Watch) {
    while shared.pacing.due(watch).is_some_and(|due| Instant::now() < due) {
        std::hint::spin_loop();
    }
    let mut engine = lock(&shared.engine);
    let cuts = engine.epoch();
    engine.pump(Instant::now());
    shared.leave(engine, cuts, Some(watch));
}

/// Give up the watch, before a connection's thread waits for anything other than its client, or ends.
pub(crate) fn hand_over(shared: &Shared, watch: &mut Watch) {
    if shared.pacing.due(watch).is_some() {
        shared.with_engine(|_| ());
    }
}

/// Process due events while no connection's thread has the watch, until the server stops.
pub(crate) fn pace(shared: &Shared) {
    be_punctual();
    let mut engine = lock(&shared.engine);
    while !shared.is_stopping() {
        if !shared.pacing.is_own() {
            engine = shared.pacing.sleep(engine, None);
            continue;
        }
        let cuts = engine.epoch();
        engine.pump(Instant::now());
        let until = engine.sleep_until_due();
        if engine.has_output() || engine.epoch() != cuts {
            shared.leave(engine, cuts, None);
            engine = lock(&shared.engine);
            continue;
        }
        let Some(until) = until else {
            engine = shared.pacing.sleep(engine, None);
            continue;
        };
        let left = until.saturating_duration_since(Instant::now());
        if left > shared.pacing.spin {
            engine = shared.pacing.sleep(engine, Some(left - shared.pacing.spin));
        } else {
            shared.pacing.spin_until(until, engine);
            engine = lock(&shared.engine);
        }
    }
}
