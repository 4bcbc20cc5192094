//! How the numbers of requests in time windows vary.

use wordline_units::HostOp;

const SECOND: u64 = 1_000_000_000;
/// Lengths of the windows of arrival counts, in nanoseconds: 10 us to 100 s.
pub(crate) const WINDOWS: [u64; 8] = [
    SECOND / 100_000,
    SECOND / 10_000,
    SECOND / 1000,
    SECOND / 100,
    SECOND / 10,
    SECOND,
    10 * SECOND,
    100 * SECOND,
];

/// Minimum number of windows for a variance.
const WINDOWS_LEAST: f64 = 10.0;

/// Counts of reads and writes in windows of one length.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    length: u64,
    /// End of the current window, and number of previous ones.
    end: u64,
    before: u64,
    counts: [f64; 2],
    sums: [f64; 2],
    squares: [f64; 2],
    products: f64,
}

/// How the counts of reads and of writes vary between windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variation {
    /// Whole windows.
    pub windows: u64,
    pub means: [f64; 2],
    pub variances: [f64; 2],
    pub covariance: f64,
}

impl Windows {
    pub fn new(length: u64) -> Windows {
        let none = [0.0; 2];
        Windows { length, end: length, before: 0, counts: none, sums: none, squares: none, products: 0.0 }
    }

    /// Their length in nanoseconds.
    pub fn length(&self) -> u64 {
        self.length
    }

    #[inline]
    pub fn add(&mut self, time: u64, op: HostOp) {
        if time >= self.end {
            for kind in [0, 1] {
                self.sums[kind] += self.counts[kind];
                self.squares[kind] += self.counts[kind] * self.counts[kind];
            }
            self.products += self.counts[0] * self.counts[1];
            self.counts = [0.0; 2];
            self.before = time / self.length;
            self.end = (self.before + 1) * self.length;
        }
        self.counts[usize::from(op == HostOp::Write)] += 1.0;
    }

    /// Means, variances and covariance of the counts. None with fewer than ten whole windows.
    pub fn variation(&self) -> Option<Variation> {
        // The last window is cut off, so it is left out.
        let n = self.before as f64;
        let means = self.sums.map(|sum| sum / n);
        let variances = [0, 1].map(|k| self.squares[k] / n - means[k] * means[k]);
        let covariance = self.products / n - means[0] * means[1];
        (n >= WINDOWS_LEAST).then_some(Variation { windows: self.before, means, variances, covariance })
    }
}

impl Variation {
    /// Variance over mean of the counts of all requests. None without requests.
    pub fn dispersion(&self) -> Option<f64> {
        let (mean, variance) = (self.means[0] + self.means[1], self.variances[0] + self.variances[1]);
        (mean > 0.0).then(|| (variance + 2.0 * self.covariance) / mean)
    }

    /// Variance over mean of the counts of reads or of writes.
    pub fn dispersion_of(&self, op: HostOp) -> Option<f64> {
        let kind = usize::from(op == HostOp::Write);
        (self.means[kind] > 0.0).then(|| self.variances[kind] / self.means[kind])
    }

    /// Correlation of the counts of reads and writes, with random variation excluded. None if all variation
    /// is random.
    pub fn together(&self) -> Option<f64> {
        let [reads, writes] = [0, 1].map(|k| self.variances[k] - self.means[k]);
        (reads > 0.0 && writes > 0.0).then(|| (self.covariance / libm::sqrt(reads * writes)).clamp(-1.0, 1.0))
    }
}
