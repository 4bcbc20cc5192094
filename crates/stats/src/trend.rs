//! Whether a series still rises or falls.
//!
//! Source: H. B. Mann, "Nonparametric tests against trend", Econometrica 13(3), 1945; M. G.
//! Kendall, "Rank Correlation Methods", 1975 (ties); S. Yue, C. Wang, "The Mann-Kendall test
//! modified by effective sample size to detect trend in serially correlated hydrological series",
//! Water Resources Management 18, 2004, eq. 8 and 11; P. K. Sen, "Estimates of the regression
//! coefficient based on Kendall's tau", Journal of the American Statistical Association 63, 1968.

use statrs::function::erf::erfc;

/// A trend less likely than this by chance is one.
pub const SIGNIFICANCE: f64 = 0.01;

/// What the test of Mann and Kendall says.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trend {
    /// Above 0 for a rise, below for a fall.
    pub z: f64,
    /// How likely a trend as strong comes by chance, in either direction.
    pub p: f64,
}

impl Trend {
    /// Whether it is hardly chance.
    pub fn is_significant(&self) -> bool {
        self.p < SIGNIFICANCE
    }
}

/// The test of Mann and Kendall, for ten values or more; neighbours that are alike count less.
pub fn trend(values: &[f64]) -> Trend {
    let n = values.len();
    let mut s = 0i64;
    let mut slopes = Vec::with_capacity(n * n.saturating_sub(1) / 2);
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate().skip(i + 1) {
            s += i64::from(b > a) - i64::from(b < a);
            slopes.push((b - a) / (j - i) as f64);
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
    slopes.sort_by(f64::total_cmp);
    let slope = slopes[slopes.len() / 2];
    let flat: Vec<f64> = values.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
    let z = (s - s.signum()) as f64 / (variance * inflation(&flat)).sqrt();
    Trend { z, p: erfc(z.abs() / std::f64::consts::SQRT_2) }
}

/// Values over independent values, from the correlation of neighbours; 1 where there is none.
fn inflation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    if square <= 1e-24 * mean * mean * n {
        return 1.0;
    }
    let r = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / square;
    let mut power = 1.0;
    let sum: f64 = (1..values.len())
        .map(|k| {
            power *= r.clamp(0.0, 0.99);
            (1.0 - k as f64 / n) * power
        })
        .sum();
    1.0 + 2.0 * sum
}
