//! Bursts of a kind of request. A request belongs to a burst if the last few requests of its kind arrived
//! faster than the overall mean. No absolute time is used, so a twin at another rate has as many bursts.

/// Number of requests over which a rate is measured.
pub(crate) const OVER: usize = 64;

/// The times of the last requests of a kind.
#[derive(Clone)]
pub(crate) struct Recent {
    times: [u64; OVER],
    count: u64,
}

impl Default for Recent {
    fn default() -> Recent {
        Recent { times: [0; OVER], count: 0 }
    }
}

impl Recent {
    /// The mean gap in nanoseconds of the last requests up to the current one; none for the first.
    #[inline]
    pub fn gap(&mut self, time: u64) -> Option<f64> {
        let at = (self.count % OVER as u64) as usize;
        let before = self.count.min(OVER as u64);
        let oldest = if before < OVER as u64 { self.times[0] } else { self.times[at] };
        self.times[at] = time;
        self.count += 1;
        (before > 0).then(|| time.saturating_sub(oldest) as f64 / before as f64)
    }
}
