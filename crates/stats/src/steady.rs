//! Determines from where on a run is steady.
//!
//! The warm-up of each measure is cut by MSER-5, and the latest cut applies. If the rest still has a trend, another
//! tenth of the run is cut, up to half: the search of P. Heidelberger and P. D. Welch, "Simulation run length control
//! in the presence of an initial transient", Operations Research 31(6), 1983, with the Mann-Kendall test on twenty
//! batch means instead of theirs. A measure whose own cut is in the second half, and that moves there, is not steady.
//! Finally, the mean of the rest must be precise enough. A [`Role::Balance`] must be near 1 over the same stretch.
//!
//! Other criteria, such as the rounds of the SNIA Performance Test Specification, would be alternatives to
//! [`judge`] that return the same [`Steadiness`].

use crate::estimate::Estimate;
use crate::mser::{Cut, mser5};
use crate::series::Series;
use crate::trend::trend;

/// Number of batch means for trend and interval. According to B. Schmeiser, "Batch size effects in the
/// analysis of simulation output", Operations Research 30(3), 1982, more than thirty gain nothing.
pub const BATCHES: usize = 20;

/// Number of parts of a run that must all lie within the interval of its mean.
const TENTHS: usize = 10;

/// Minimum number of observations: two for each batch of the second half.
pub const OBSERVATIONS_MIN: usize = 4 * BATCHES;

/// A relative change that does not count as drift, however significant.
pub const DRIFT_MAX: f64 = 0.01;

/// Maximum relative half-width of an interval; as wide as the excursion that the SNIA specification allows within its
/// window.
pub const NOISE_MAX: f64 = 0.2;

/// Minimum significance of a cut, in standard errors between the means before and after it. It is higher than
/// for a given position, because the position was searched for.
const STEP_MIN: f64 = 4.0;

/// Maximum deviation of a balance from 1.
pub const UNBALANCE_MAX: f64 = 0.1;

/// Role of a series in the verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A figure of the report: it must not drift, and its mean must be precise.
    Figure,
    /// A balance of inflow and outflow, such as blocks erased over blocks filled: it must be near 1. It is a
    /// conservation law rather than a statistic, so its own warm-up is ignored.
    Balance,
}

/// The verdict.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Steadiness {
    /// All series are steady from this observation on.
    From(usize),
    /// A figure still changes in the second half.
    Drifts {
        /// Index of the series.
        series: usize,
        /// The amount, as in [`drift`].
        by: f64,
    },
    /// A balance is uneven in the second half.
    Unbalanced {
        /// Index of the series.
        series: usize,
        /// Inflow over outflow in the second half.
        at: f64,
    },
    /// No significant drift, but the mean of a figure is not precise enough.
    Noisy {
        /// Index of the series.
        series: usize,
        /// Half-width of its interval over its mean.
        half_width: f64,
        /// The observation from which on nothing drifts.
        from: usize,
    },
    /// A figure has no divisor in parts of the second half.
    Gaps {
        /// Index of the series.
        series: usize,
    },
    /// Too few observations.
    TooShort,
}

/// The mean of the last quarter over that of the third, minus 1; 0 if there is none.
pub fn drift(series: &Series) -> f64 {
    let n = series.len();
    let (middle, last) = (n / 2, n - n / 4);
    match (series.mean(middle, last), series.mean(last, n)) {
        (Some(a), Some(b)) if a != 0.0 => b / a - 1.0,
        _ => 0.0,
    }
}

/// The mean from an observation on, with an interval: that of the means of [`BATCHES`] batches, extended to
/// every tenth of the stretch and by the drift that may go undetected ([`DRIFT_MAX`]), unless there is no
/// variation at all. It therefore holds even if the run continues unlike its batches.
pub fn interval(series: &Series, from: usize) -> Option<Estimate> {
    let batches = Estimate::of(&series.batches(from, BATCHES)?)?;
    let mean = series.mean(from, series.len())?;
    let unseen = if batches.sd > 0.0 { DRIFT_MAX * mean.abs() } else { 0.0 };
    let tenths = series.batches(from, TENTHS)?;
    let off = tenths.iter().map(|t| (t - mean).abs());
    let half_width = off.fold(batches.half_width.max(unseen), f64::max);
    Some(Estimate { mean, half_width, ..batches })
}

/// From where on all series, which must have the same length, are steady.
pub fn judge(series: &[(Role, Series)]) -> Steadiness {
    let n = series.iter().map(|(_, s)| s.len()).min().unwrap_or(0);
    let half = n / 2;
    let figures = || series.iter().enumerate().filter(|(_, (role, _))| *role == Role::Figure);
    if n < OBSERVATIONS_MIN {
        return Steadiness::TooShort;
    }
    let unbalance = |s: &Series, from: usize| s.mean(from, n).map_or(0.0, |at| (at - 1.0).abs());
    let balances = series.iter().enumerate().filter(|(_, (role, _))| *role == Role::Balance);
    // A balance that is violated to the end is the cause, whatever else follows from it.
    for (i, (_, s)) in balances {
        if unbalance(s, half) > UNBALANCE_MAX {
            return Steadiness::Unbalanced { series: i, at: s.mean(half, n).unwrap_or(1.0) };
        }
    }
    if let Some((series, _)) = figures().find(|(_, (_, s))| s.batches(half, BATCHES).is_none()) {
        return Steadiness::Gaps { series };
    }
    let mut from = 0;
    let mut late = vec![false; series.len()];
    for (i, (_, s)) in figures() {
        let cut = match warm_up(s) {
            Cut::At(cut) => cut,
            Cut::BeyondHalf { step, instead } => {
                late[i] = step.abs() > STEP_MIN && drift(s).abs() > DRIFT_MAX;
                instead
            }
            Cut::TooShort => return Steadiness::TooShort,
        };
        from = from.max(cut);
    }
    let is_moving = |i: usize, from: usize| match &series[i] {
        (Role::Figure, s) => late[i] || moves(s, from),
        (Role::Balance, s) => unbalance(s, from) > UNBALANCE_MAX,
    };
    let step = n.div_ceil(10);
    loop {
        from = from.min(half);
        let moving: Vec<usize> = (0..series.len()).filter(|i| is_moving(*i, from)).collect();
        if moving.is_empty() {
            break;
        }
        if from == half {
            let by = |i: usize| drift(&series[i].1);
            let worst = moving.into_iter().max_by(|a, b| by(*a).abs().total_cmp(&by(*b).abs())).unwrap_or(0);
            return Steadiness::Drifts { series: worst, by: by(worst) };
        }
        from += step;
    }
    let noise = |s: &Series| interval(s, from).map_or(0.0, |e| e.half_width / e.mean.abs());
    match figures().map(|(i, (_, s))| (i, noise(s))).max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((series, half_width)) if half_width > NOISE_MAX => {
            Steadiness::Noisy { series, half_width, from }
        }
        _ => Steadiness::From(from),
    }
}

/// MSER-5 over the existing observations.
fn warm_up(series: &Series) -> Cut {
    let there: Vec<(usize, f64)> =
        (0..series.len()).filter_map(|i| Some((i, series.mean(i, i + 1)?))).collect();
    let values: Vec<f64> = there.iter().map(|(_, v)| *v).collect();
    // Missing observations at the beginning are not a warm-up.
    let place = |cut: usize| if cut == 0 { 0 } else { there.get(cut).map_or(0, |(at, _)| *at) };
    match mser5(&values) {
        Cut::At(cut) => Cut::At(place(cut)),
        Cut::BeyondHalf { step, instead } => Cut::BeyondHalf { step, instead: place(instead) },
        Cut::TooShort => Cut::TooShort,
    }
}

/// Whether a series has a trend from an observation on that is both significant and large, comparing the two
/// halves of the rest.
fn moves(series: &Series, from: usize) -> bool {
    let n = series.len();
    let middle = from + (n - from) / 2;
    let Some(batches) = series.batches(from, BATCHES) else { return false };
    let change = match (series.mean(from, middle), series.mean(middle, n)) {
        (Some(a), Some(b)) if a != 0.0 => b / a - 1.0,
        (Some(_), Some(b)) => b,
        _ => 0.0,
    };
    change.abs() > DRIFT_MAX && trend(&batches).is_significant()
}
