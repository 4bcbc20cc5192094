//! What idle time was used for, and what that cost the requests that came meanwhile. What a drive does to
//! empty itself at the end of a run is no idle time.

use serde::{Deserialize, Serialize};
use wordline_ftl::Cause;
use wordline_units::SimDuration;

/// Sums over a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IdleTime {
    /// Times that the drive was found idle.
    pub periods: u64,
    /// How long it then was until the next request, ns.
    pub lasted: u64,
    /// How long planes worked meanwhile, ns by cause.
    pub worked: [u64; Cause::COUNT],
    /// Bytes programmed, by cause.
    pub programmed: [u64; Cause::COUNT],
    /// Blocks erased.
    pub erases: u64,
    /// Requests that found such work in their way.
    pub delayed: u64,
    /// How long they waited for it, ns.
    pub waited: u64,
    /// The longest of these waits, ns.
    pub longest: u64,
}

impl IdleTime {
    /// A request has ended of which a part stood behind idle work for so long.
    #[inline(always)]
    pub(crate) fn delayed_by(&mut self, behind: SimDuration) {
        if behind.0 > 0 {
            self.delayed += 1;
            self.waited += behind.0;
            self.longest = self.longest.max(behind.0);
        }
    }
}
