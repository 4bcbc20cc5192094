//! From where on a run is steady.
//!
//! Each measure's warm-up is cut by MSER-5, and the latest cut taken. If what follows still has a
//! trend, a tenth of the run more is cut, up to half: the search of P. Heidelberger and P. D. Welch,
//! "Simulation run length control in the presence of an initial transient", Operations Research
//! 31(6), 1983, with the test of Mann and Kendall on twenty batch means in the place of theirs. A
//! measure whose own cut lies in the second half, and that moves there, has not settled. At last,
//! the mean of what is left must be known well enough to be called a figure.
//!
//! Other criteria, such as the rounds of the SNIA Performance Test Specification, would stand
//! beside [`judge`] and give the same [`Steadiness`].

use crate::estimate::Estimate;
use crate::mser::{Cut, MSER_BATCH, mser5};
use crate::series::Series;
use crate::trend::trend;

/// Batch means on which trend and interval are judged. B. Schmeiser, "Batch size effects in the
/// analysis of simulation output", Operations Research 30(3), 1982: more than thirty gain nothing.
pub const BATCHES: usize = 20;

/// Fewer observations cannot be judged: two for each batch of the second half.
pub const OBSERVATIONS_MIN: usize = 4 * BATCHES;

/// A relative change that is no drift, however certain.
pub const DRIFT_MAX: f64 = 0.01;

/// A relative half-width of an interval beyond which a mean is no figure yet; as wide as the
/// excursion that the SNIA specification allows within its window.
pub const NOISE_MAX: f64 = 0.2;

/// Standard errors between what is before a cut and what is after it, from which on the cut is no
/// chance. More than for a place that is given, since this one was searched for.
const STEP_MIN: f64 = 4.0;

/// What a series is to the judgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A figure of the report: it must not drift, and its mean must be known.
    Figure,
    /// A state of the drive: it must not drift.
    State,
}

/// What came out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Steadiness {
    /// All series are steady from this observation on.
    From(usize),
    /// A series moves even in the second half.
    Drifts {
        /// Which.
        series: usize,
        /// How much, as in [`drift`].
        by: f64,
    },
    /// Nothing moves that can be told from noise, but the mean of a figure is not known.
    Noisy {
        /// Which.
        series: usize,
        /// Half the width of its interval over its mean.
        half_width: f64,
    },
    /// Too few observations.
    TooShort,
}

/// The mean of the last quarter over that of the third, less 1; 0 where there is none.
pub fn drift(series: &Series) -> f64 {
    let n = series.len();
    let (middle, last) = (n / 2, n - n / 4);
    match (series.mean(middle, last), series.mean(last, n)) {
        (Some(a), Some(b)) if a != 0.0 => b / a - 1.0,
        _ => 0.0,
    }
}

/// The mean from an observation on, with its interval by the means of [`BATCHES`] batches.
pub fn known(series: &Series, from: usize) -> Option<Estimate> {
    let batches = Estimate::of(&series.batches(from, BATCHES)?)?;
    Some(Estimate { mean: series.mean(from, series.len())?, ..batches })
}

/// From where on the series, all of one length, are steady.
pub fn judge(series: &[(Role, Series)]) -> Steadiness {
    let n = series.iter().map(|(_, s)| s.len()).min().unwrap_or(0);
    let half = n / 2;
    if n < OBSERVATIONS_MIN || series.iter().any(|(_, s)| s.batches(half, BATCHES).is_none()) {
        return Steadiness::TooShort;
    }
    let mut from = 0;
    let mut late = vec![false; series.len()];
    for (i, (_, s)) in series.iter().enumerate() {
        match warm_up(s) {
            Cut::At(cut) => from = from.max(cut),
            Cut::BeyondHalf { step } => late[i] = step.abs() > STEP_MIN,
            Cut::TooShort => return Steadiness::TooShort,
        }
    }
    let unsettled = |i: usize| late[i] && drift(&series[i].1).abs() > DRIFT_MAX;
    let step = n.div_ceil(10);
    loop {
        let from_here = from.min(half);
        let moving = |i: &usize| unsettled(*i) || moves(&series[*i].1, from_here);
        if !(0..series.len()).any(|i| moving(&i)) {
            from = from_here;
            break;
        }
        if from >= half {
            let by = |i: usize| drift(&series[i].1);
            let worst = (0..series.len()).filter(moving).max_by(|a, b| by(*a).abs().total_cmp(&by(*b).abs()));
            let worst = worst.unwrap_or(0);
            return Steadiness::Drifts { series: worst, by: by(worst) };
        }
        from += step;
    }
    let noise = |s: &Series| known(s, from).map_or(0.0, |e| e.half_width / e.mean.abs());
    let figures = || (0..series.len()).filter(|i| series[*i].0 == Role::Figure);
    match figures().map(|i| (i, noise(&series[i].1))).max_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((series, half_width)) if half_width > NOISE_MAX => Steadiness::Noisy { series, half_width },
        _ => Steadiness::From(from),
    }
}

/// MSER-5 over the observations that there are.
fn warm_up(series: &Series) -> Cut {
    let there: Vec<(usize, f64)> =
        (0..series.len()).filter_map(|i| Some((i, series.mean(i, i + 1)?))).collect();
    let values: Vec<f64> = there.iter().map(|(_, v)| *v).collect();
    match mser5(&values) {
        Cut::At(cut) => match there.get(cut) {
            // What is missing before the first observation is no warm-up.
            Some((at, _)) if cut > 0 => Cut::At((*at).min(series.len() / 2 + MSER_BATCH)),
            _ => Cut::At(0),
        },
        other => other,
    }
}

/// Whether a series has a trend from an observation on that is both certain and large enough to
/// matter: from the first half of the rest to the second.
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
