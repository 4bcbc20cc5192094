//! The warm-up cut.
//!
//! Source: K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
//! Simulation 69(6), 1997 (MSER); K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five
//! steady-state truncation heuristics for simulation", Winter Simulation Conference 2000 (MSER-5);
//! K. Hoad, S. Robinson, R. Davies, "Automating warm-up length estimation", Journal of the
//! Operational Research Society 61, 2010 (the last five means are no candidates; a cut in the
//! second half means that the run is too short).

/// Observations whose mean is one point of MSER-5.
pub const MSER_BATCH: usize = 5;

/// The last means, too few to estimate their scatter.
const NO_CANDIDATES: usize = 5;

/// End of a warm-up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cut {
    /// Before this observation; 0 where there is none.
    At(usize),
    /// In the second half: the run is not steady, unless by chance.
    BeyondHalf {
        /// The difference of the means after and before the cut, in standard errors.
        step: f64,
        /// The best cut in the first half, used if the other is due to chance.
        instead: usize,
    },
    /// Fewer means than can be judged.
    TooShort,
}

/// The end of the warm-up of a series by MSER-5: the cut that minimizes the interval of the mean of the rest,
/// over means of five observations.
pub fn mser5(values: &[f64]) -> Cut {
    let means: Vec<f64> =
        values.chunks_exact(MSER_BATCH).map(|b| b.iter().sum::<f64>() / MSER_BATCH as f64).collect();
    let n = means.len();
    if n < 2 * NO_CANDIDATES {
        return Cut::TooShort;
    }
    // Against the middle, so that squares of large numbers do not eat their differences.
    let middle = means.iter().sum::<f64>() / n as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    let mut scatter = vec![0.0; n];
    for d in (0..n).rev() {
        let x = means[d] - middle;
        sum += x;
        squares += x * x;
        let left = (n - d) as f64;
        scatter[d] = (squares - sum * sum / left).max(0.0) / (left * left);
    }
    // What rounding leaves of a constant is no scatter; the earliest of equals is the cut.
    let least = middle * middle * 1e-24;
    let best_below = |end: usize| {
        let better = |best: usize, d: usize| scatter[d].max(least) < scatter[best].max(least);
        (1..end).fold(0, |best, d| if better(best, d) { d } else { best })
    };
    let best = best_below(n - NO_CANDIDATES);
    if best <= n / 2 {
        return Cut::At(best * MSER_BATCH);
    }
    let (before, after) = means.split_at(best);
    let ((a, squares_a), (b, squares_b)) = (mean_and_squares(before), mean_and_squares(after));
    // One variance for both sides: a stretch too short for the rare value that makes the mean
    // does not scatter less for that.
    let variance = (squares_a + squares_b) / (n - 2) as f64;
    let error = (variance * (1.0 / before.len() as f64 + 1.0 / after.len() as f64)).sqrt();
    Cut::BeyondHalf { step: (b - a) / error, instead: best_below(n / 2 + 1) * MSER_BATCH }
}

/// A mean and the sum of squared deviations.
fn mean_and_squares(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum())
}
