//! When a twin's requests come: gaps of a two-phase hyper-exponential law, some requests at the time
//! of the one before, all under an envelope that stretches and squeezes time.

use super::description::{Arrivals, Envelope};
use crate::random::RandomStream;

/// A clock whose time passes at a rate that changes.
#[derive(Clone)]
struct Warp {
    /// Relative rates, with mean 1.
    rates: Vec<f64>,
    /// Length of each, in nanoseconds.
    part: f64,
    at: usize,
    /// What is left of the part, in nanoseconds.
    left: f64,
}

impl Warp {
    fn new(e: &Envelope) -> Warp {
        let mean = e.weights.iter().sum::<f64>() / e.weights.len() as f64;
        let part = e.period.0 as f64 / e.weights.len() as f64;
        Warp { rates: e.weights.iter().map(|w| w / mean).collect(), part, at: 0, left: part }
    }

    /// The real time in which so much time at rate 1 passes, in nanoseconds.
    fn pass(&mut self, mut even: f64) -> f64 {
        let period = self.part * self.rates.len() as f64;
        // Rates have mean 1, so a whole period is as long on either clock.
        let whole = libm::floor(even / period) * period;
        even -= whole;
        let mut real = whole;
        loop {
            let rate = self.rates[self.at];
            if even < self.left * rate {
                let passed = even / rate;
                self.left -= passed;
                return real + passed;
            }
            even -= self.left * rate;
            real += self.left;
            self.at = (self.at + 1) % self.rates.len();
            self.left = self.part;
        }
    }
}

/// The times of a twin's requests.
#[derive(Clone)]
pub(crate) struct Clock {
    group: f64,
    fast_share: f64,
    fast: f64,
    slow: f64,
    warp: Option<Warp>,
    now: f64,
    random: RandomStream,
}

impl Clock {
    /// For a twin of so many requests.
    pub fn new(a: &Arrivals, requests: u64, random: RandomStream) -> Clock {
        Clock {
            group: a.group.as_f64(),
            fast_share: a.burst_share.as_f64(),
            fast: a.burst_gap.0 as f64,
            slow: a.slow_gap_ns(requests),
            warp: a.envelope.as_ref().map(Warp::new),
            now: 0.0,
            random,
        }
    }

    /// The time of the next request, in nanoseconds.
    #[inline]
    pub fn next(&mut self) -> u64 {
        if self.group == 0.0 || self.random.unit() > self.group {
            let fast = self.fast_share > 0.0 && self.random.unit() <= self.fast_share;
            let gap = -libm::log(self.random.unit()) * if fast { self.fast } else { self.slow };
            self.now += self.warp.as_mut().map_or(gap, |w| w.pass(gap));
        }
        self.now as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::{Fraction, SimDuration};

    fn arrivals(envelope: Option<Envelope>) -> Arrivals {
        Arrivals {
            closed: None,
            span: SimDuration(1_000_000_000_000),
            burst_share: Fraction::percent(85),
            burst_gap: SimDuration(100_000),
            group: Fraction::percent(10),
            envelope,
        }
    }

    #[test]
    fn gaps_have_the_mean_the_phases_and_the_groups_that_are_asked_for() {
        let n = 1_000_000;
        let mut clock = Clock::new(&arrivals(None), n, RandomStream::new(1, "test"));
        let times: Vec<u64> = (0..n).map(|_| clock.next()).collect();
        let span = *times.last().unwrap() as f64;
        // The law's squared coefficient of variation is 12.6, so five standard errors are 1.8 %.
        assert!((span / 1e12 - 1.0).abs() < 0.018, "{span}");
        let same = times.windows(2).filter(|w| w[0] == w[1]).count() as f64 / n as f64;
        assert!((same - 0.1).abs() < 0.002, "{same}");
    }

    #[test]
    fn an_envelope_moves_requests_in_time_and_keeps_their_number() {
        let envelope =
            Envelope { period: SimDuration(6_000_000_000), weights: vec![6.0, 1.0, 1.0, 1.0, 1.0, 0.0] };
        let n = 1_000_000;
        let mut clock = Clock::new(&arrivals(Some(envelope)), n, RandomStream::new(1, "test"));
        let times: Vec<u64> = (0..n).map(|_| clock.next()).collect();
        let span = *times.last().unwrap() as f64;
        assert!((span / 1e12 - 1.0).abs() < 0.03, "{span}");
        let part = |k: u64| times.iter().filter(|t| **t / 1_000_000_000 % 6 == k).count() as f64 / n as f64;
        assert!((part(0) - 0.6).abs() < 0.02 && (part(1) - 0.1).abs() < 0.02, "{} {}", part(0), part(1));
        assert!(part(5) < 1e-3, "{}", part(5));
    }
}
