//! Durations counted in classes, from which quantiles follow.

use serde::{Deserialize, Serialize};
use wordline_units::SimDuration;

/// Latencies of one kind of request, in nanoseconds, to three digits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(into = "Recorded", from = "Recorded")]
pub struct Histogram {
    inner: hdrhistogram::Histogram<u64>,
    sum: u128,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        let inner = hdrhistogram::Histogram::new(3);
        let Ok(mut inner) = inner else { unreachable!("three digits are within the library's one to five") };
        inner.auto(true);
        Histogram { inner, sum: 0, max: 0 }
    }
}

/// A histogram as it is saved: each value that stands for its bucket, with its count.
#[derive(Serialize, Deserialize)]
struct Recorded {
    counts: Vec<(u64, u64)>,
    sum: u128,
    max: u64,
}

impl From<Histogram> for Recorded {
    fn from(h: Histogram) -> Recorded {
        let buckets = h.inner.iter_recorded();
        let counts = buckets.map(|v| (v.value_iterated_to(), v.count_at_value())).collect();
        Recorded { counts, sum: h.sum, max: h.max }
    }
}

impl From<Recorded> for Histogram {
    fn from(recorded: Recorded) -> Histogram {
        let mut h = Histogram { sum: recorded.sum, max: recorded.max, ..Histogram::default() };
        for (value, count) in recorded.counts {
            if h.inner.record_n(value, count).is_err() {
                h.inner.saturating_record_n(value, count);
            }
        }
        h
    }
}

impl Histogram {
    /// Record a latency.
    #[inline]
    pub fn record(&mut self, latency: SimDuration) {
        // Grows as needed; what would not fit counts as the largest that does.
        if self.inner.record(latency.0).is_err() {
            self.inner.saturating_record(latency.0);
        }
        self.sum += latency.0 as u128;
        self.max = self.max.max(latency.0);
    }

    /// Add all values of another histogram.
    pub fn add(&mut self, other: &Histogram) {
        // Grows as needed, as it does for a single latency.
        if self.inner.add(&other.inner).is_err() {
            for v in other.inner.iter_recorded() {
                self.inner.saturating_record_n(v.value_iterated_to(), v.count_at_value());
            }
        }
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.inner.len()
    }

    /// The sum in nanoseconds, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean in nanoseconds, exact; `None` if it is empty.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The maximum, exact.
    pub fn max(&self) -> SimDuration {
        SimDuration(self.max)
    }

    /// The minimum, to three digits; `None` if it is empty.
    pub fn min(&self) -> Option<SimDuration> {
        (self.count() > 0).then(|| SimDuration(self.inner.lowest_equivalent(self.inner.min()).min(self.max)))
    }

    /// The variance in square nanoseconds, to three digits; `None` if it is empty.
    pub fn variance(&self) -> Option<f64> {
        let mean = self.mean()?;
        let middle = |v: u64| self.inner.median_equivalent(v).min(self.max) as f64;
        let off = |v: u64| (middle(v) - mean) * (middle(v) - mean);
        let all = self.inner.iter_recorded();
        let sum: f64 = all.map(|v| off(v.value_iterated_to()) * v.count_at_value() as f64).sum();
        Some(sum / self.count() as f64)
    }

    /// The latency that a share of the requests does not exceed, to three digits.
    pub fn quantile(&self, share: f64) -> Option<SimDuration> {
        (self.count() > 0).then(|| SimDuration(self.inner.value_at_quantile(share).min(self.max)))
    }

    /// Latency and the share of requests at or below it, for every distinct value recorded.
    pub fn cumulative(&self) -> Vec<(SimDuration, f64)> {
        let total = self.count().max(1) as f64;
        let mut below = 0;
        self.inner
            .iter_recorded()
            .map(|v| {
                below += v.count_since_last_iteration();
                (SimDuration(v.value_iterated_to().min(self.max)), below as f64 / total)
            })
            .collect()
    }
}
