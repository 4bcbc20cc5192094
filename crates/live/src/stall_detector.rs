//! Detects whether the system runs a thread on time. A server on a busy machine replies late for reasons outside it;
//! the delays of a thread that only sleeps and reads the clock separate the two causes.

use crate::clock::TimeScale;
use crate::engine::core::Engine;
use crate::lock;
use crate::shared::Shared;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

/// Length of each sleep. It is shorter than [`DISTURBED`](crate::statistics::DISTURBED).
const NAP: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// Sleep and read the clock, and report the longest delay of each second, until the server stops.
pub(crate) fn watch(shared: &Shared) {
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    while !shared.is_stopping() {
        // On a drive that takes no time, no reply is late.
        let takes_time = shared.time_scale() != TimeScale::NONE;
        let begun = Instant::now();
        let mut longest = Duration::ZERO;
        let mut last = begun;
        while last.duration_since(begun) < SECOND && !shared.is_stopping() {
            let nap = if takes_time { NAP } else { SECOND / 20 };
            std::thread::sleep(nap);
            let now = Instant::now();
            longest = longest.max(now.duration_since(last).saturating_sub(nap));
            last = now;
        }
        lock(&shared.statistics).end_second(longest);
        shared.with_engine(Engine::look_at_files);
    }
}
