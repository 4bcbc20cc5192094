//! The trend test of a series.
//!
//! Source: H. B. Mann, "Nonparametric tests against trend", Econometrica 13(3), 1945; M. G. Kendall, "Rank
//! Correlation Methods", 1975 (ties); S. Yue, C. Wang, "The Mann-Kendall test modified by effective sample
//! size to detect trend in serially correlated hydrological series", Water Resources Management 18, 2004.
//! Differs: they take the correlation of neighbors around a straight line, here it is around a parabola,
//! since the curvature of a decay would count as correlation.

use statrs::function::erf::erfc;

/// Significance level of a trend.
pub const SIGNIFICANCE: f64 = 0.01;

/// Result of the Mann-Kendall test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trend {
    /// Above 0 for a rise, below for a fall.
    pub z: f64,
    /// Probability of a trend at least as strong by chance, in either direction.
    pub p: f64,
}

impl Trend {
    /// Whether it is significant.
    pub fn is_significant(&self) -> bool {
        self.p < SIGNIFICANCE
    }
}

/// The Mann-Kendall test, for ten values or more; correlated neighbors count less.
pub fn trend(values: &[f64]) -> Trend {
    let n = values.len();
    let mut s = 0i64;
    for (i, a) in values.iter().enumerate() {
        for b in &values[i + 1..] {
            s += i64::from(b > a) - i64::from(b < a);
        }
    }
    let count = n as f64;
    let pairs = |m: f64| m * (m - 1.0) * (2.0 * m + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|equal| pairs(equal.len() as f64)).sum();
    let variance = (pairs(count) - ties) / 18.0;
    if s == 0 || variance <= 0.0 {
        return Trend { z: 0.0, p: 1.0 };
    }
    let z = (s - s.signum()) as f64 / (variance * inflation(values)).sqrt();
    Trend { z, p: erfc(z.abs() / std::f64::consts::SQRT_2) }
}

/// Values over independent values, from the correlation of neighbors around a parabola; 1 if there is none.
fn inflation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let time: Vec<f64> = (0..values.len()).map(|i| i as f64 - (n - 1.0) / 2.0).collect();
    let spread = time.iter().map(|t| t * t).sum::<f64>() / n;
    let bend: Vec<f64> = time.iter().map(|t| t * t - spread).collect();
    // The three are orthogonal, so that each can be taken away by itself.
    let mut rest = values.to_vec();
    for form in [vec![1.0; values.len()], time, bend] {
        let dot: f64 = rest.iter().zip(&form).map(|(v, f)| v * f).sum();
        let square: f64 = form.iter().map(|f| f * f).sum();
        rest.iter_mut().zip(&form).for_each(|(v, f)| *v -= dot / square * f);
    }
    let left: f64 = rest.iter().map(|v| v * v).sum();
    if left <= 1e-24 * values.iter().map(|v| v * v).sum::<f64>() {
        return 1.0;
    }
    let r = rest.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / left;
    let mut power = 1.0;
    let sum: f64 = (1..values.len())
        .map(|k| {
            power *= r.clamp(0.0, 0.99);
            (1.0 - k as f64 / n) * power
        })
        .sum();
    1.0 + 2.0 * sum
}
