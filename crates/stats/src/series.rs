//! One measure along a run.

/// A measure along a run, as running sums of dividend and divisor: latency over requests, bytes programmed
/// over bytes written. So the mean of any stretch is exact, however unevenly the work is distributed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Series {
    sums: Vec<(f64, f64)>,
}

impl Series {
    /// From running sums at the end of each observation, (dividend, divisor); before the first both are 0.
    pub fn of_sums(sums: impl IntoIterator<Item = (f64, f64)>) -> Series {
        Series { sums: std::iter::once((0.0, 0.0)).chain(sums).collect() }
    }

    /// From plain observations, each of the same weight.
    pub fn of_values(values: &[f64]) -> Series {
        let mut sum = 0.0;
        Series::of_sums(values.iter().enumerate().map(|(i, v)| {
            sum += v;
            (sum, (i + 1) as f64)
        }))
    }

    /// Number of observations.
    pub fn len(&self) -> usize {
        self.sums.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The mean of the observations `from..to`; `None` where nothing divides.
    pub fn mean(&self, from: usize, to: usize) -> Option<f64> {
        let (a, b) = (self.sums.get(from)?, self.sums.get(to)?);
        let (top, bottom) = (b.0 - a.0, b.1 - a.1);
        (bottom > 0.0 && top.is_finite()).then(|| top / bottom)
    }

    /// The means of `count` stretches of equal length that end with the last observation, the first not
    /// before `from`; `None` where one of them is empty.
    pub fn batches(&self, from: usize, count: usize) -> Option<Vec<f64>> {
        let size = self.len().saturating_sub(from) / count.max(1);
        if size == 0 {
            return None;
        }
        let start = self.len() - size * count;
        (0..count).map(|i| self.mean(start + i * size, start + (i + 1) * size)).collect()
    }
}
