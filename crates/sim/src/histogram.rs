//! Durations counted in classes, from which quantiles follow.

use serde::{Deserialize, Serialize};
use wordline_units::SimDuration;

/// Classes into which the values between a power of two and the next are divided, as a power of two: three digits. Values
/// below twice as many have classes of their own.
const CLASS_BITS: u32 = 10;

/// Latencies of one kind of request, in nanoseconds, to three digits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Recorded", from = "Recorded")]
pub struct Histogram {
    /// By class: those of values up to the largest so far.
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

/// The class of a value.
#[inline(always)]
fn class_of(value: u64) -> usize {
    let shift = u64::BITS - 1 - CLASS_BITS - (value | 1 << CLASS_BITS).leading_zeros();
    ((shift as usize) << CLASS_BITS) + (value >> shift) as usize
}

/// The least and the largest value of a class.
fn values_of(class: usize) -> (u64, u64) {
    let shift = (class >> CLASS_BITS).saturating_sub(1);
    let least = ((class - (shift << CLASS_BITS)) as u64) << shift;
    (least, least | ((1 << shift) - 1))
}

/// A histogram as it is saved: each value that stands for its class, with its count.
#[derive(Serialize, Deserialize)]
struct Recorded {
    counts: Vec<(u64, u64)>,
    sum: u128,
    max: u64,
}

impl From<Histogram> for Recorded {
    fn from(h: Histogram) -> Recorded {
        let counts = h.recorded().map(|((_, largest), count)| (largest, count)).collect();
        Recorded { counts, sum: h.sum, max: h.max }
    }
}

impl From<Recorded> for Histogram {
    fn from(recorded: Recorded) -> Histogram {
        let mut h = Histogram { sum: recorded.sum, max: recorded.max, ..Histogram::default() };
        recorded.counts.into_iter().for_each(|(value, count)| h.count_in(class_of(value), count));
        h
    }
}

impl Histogram {
    /// Record a latency.
    #[inline]
    pub fn record(&mut self, latency: SimDuration) {
        self.count_in(class_of(latency.0), 1);
        self.sum += latency.0 as u128;
        self.max = self.max.max(latency.0);
    }

    /// This many more values are in a class.
    #[inline(always)]
    fn count_in(&mut self, class: usize, count: u64) {
        self.count += count;
        match self.counts.get_mut(class) {
            Some(counted) => *counted += count,
            None => self.count_in_new(class, count),
        }
    }

    /// The same in one that is larger than all so far.
    #[cold]
    fn count_in_new(&mut self, class: usize, count: u64) {
        let end = (class + 1).next_multiple_of(1 << CLASS_BITS);
        self.counts.resize(end, 0);
        self.counts[class] = count;
    }

    /// The values of each class that has any, and their count.
    fn recorded(&self) -> impl Iterator<Item = ((u64, u64), u64)> {
        let counted = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(class, count)| (values_of(class), *count))
    }

    /// Add all values of another histogram.
    pub fn add(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
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
        self.recorded().next().map(|((least, _), _)| SimDuration(least.min(self.max)))
    }

    /// The variance in square nanoseconds, to three digits; `None` if it is empty.
    pub fn variance(&self) -> Option<f64> {
        let mean = self.mean()?;
        let middle = |(least, largest): (u64, u64)| (largest - (largest - least) / 2).min(self.max) as f64;
        let off = |values| (middle(values) - mean) * (middle(values) - mean);
        let sum: f64 = self.recorded().map(|(values, count)| off(values) * count as f64).sum();
        Some(sum / self.count() as f64)
    }

    /// The latency that a share of the requests does not exceed, to three digits.
    pub fn quantile(&self, share: f64) -> Option<SimDuration> {
        let enough = ((share.min(1.0) * self.count() as f64).ceil() as u64).max(1);
        let mut below = 0;
        let reaches = |(_, count): &((u64, u64), u64)| {
            below += count;
            below >= enough
        };
        let ((least, largest), _) = self.recorded().find(reaches)?;
        Some(SimDuration(if share == 0.0 { least } else { largest }.min(self.max)))
    }

    /// Latency and the share of requests at or below it, for every distinct value recorded.
    pub fn cumulative(&self) -> Vec<(SimDuration, f64)> {
        let total = self.count().max(1) as f64;
        let mut below = 0;
        self.recorded()
            .map(|((_, largest), count)| {
                below += count;
                (SimDuration(largest.min(self.max)), below as f64 / total)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_hash::SplitMix64;

    /// Values of all magnitudes, and the edges of classes.
    fn values() -> Vec<u64> {
        let mut random = SplitMix64::new(7);
        let drawn = (0..5_000).map(|i| random.bits() >> (12 + i % 50));
        let edges = (0..40).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1]);
        drawn.chain(edges).collect()
    }

    // And it finds there what the library does that it stands in for, because that is too slow for each request.
    #[test]
    fn histogram_counts_in_the_classes_of_hdr_histogram() {
        let mut theirs = hdrhistogram::Histogram::<u64>::new(3).unwrap();
        theirs.auto(true);
        let mut ours = Histogram::default();
        for value in values() {
            ours.record(SimDuration(value));
            theirs.record(value).unwrap();
        }
        let counted: Vec<(u64, u64)> =
            theirs.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect();
        assert_eq!(ours.recorded().map(|((_, largest), n)| (largest, n)).collect::<Vec<_>>(), counted);
        for ((least, largest), _) in ours.recorded() {
            let range = (theirs.lowest_equivalent(least), theirs.highest_equivalent(least));
            assert_eq!(range, (least, largest));
            assert_eq!(theirs.median_equivalent(least), largest - (largest - least) / 2);
        }
        for share in [0.0, 1e-9, 0.001, 0.25, 0.5, 0.9, 0.999, 0.9999, 1.0, 1.5] {
            let theirs = theirs.value_at_quantile(share).min(ours.max);
            assert_eq!(ours.quantile(share), Some(SimDuration(theirs)), "{share}");
        }
    }

    #[test]
    fn saved_histogram_and_a_sum_count_alike() {
        let mut all = Histogram::default();
        values().into_iter().for_each(|value| all.record(SimDuration(value)));
        let loaded = Histogram::from(Recorded::from(all.clone()));
        let (mut small, mut sum) = (Histogram::default(), Histogram::default());
        let (few, rest): (Vec<u64>, Vec<u64>) = values().into_iter().partition(|value| *value < 5_000);
        few.into_iter().for_each(|value| small.record(SimDuration(value)));
        rest.into_iter().for_each(|value| sum.record(SimDuration(value)));
        small.add(&sum);
        for other in [&loaded, &small] {
            assert_eq!(other.cumulative(), all.cumulative());
            let few = |h: &Histogram| (h.count(), h.sum(), h.min(), h.max(), h.variance(), h.quantile(0.5));
            assert_eq!(few(other), few(&all));
        }
    }

    #[test]
    fn empty_histogram_has_no_figures() {
        let empty = Histogram::default();
        assert_eq!((empty.quantile(0.5), empty.min(), empty.mean()), (None, None, None));
        assert_eq!((empty.max(), empty.variance(), empty.cumulative()), (SimDuration(0), None, vec![]));
    }
}
