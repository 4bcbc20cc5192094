//! When a figure is one. Means of replicas with intervals, the warm-up of a run, and the steady-state test of
//! the rest: pure functions of numbers, independent of drives.
//!
//! Overview: [`Estimate`] is a mean with its interval; [`Series`] is one measure along a run, as sums from
//! which the mean of any stretch is exact; [`judge`] takes several of them and returns since when all are
//! steady, which one is not, or that the run is too short to tell. It is built on [`mser5`] and [`trend`].

mod estimate;
mod mser;
mod series;
mod steady;
mod trend;

pub use estimate::{CONFIDENCE, Estimate};
pub use mser::{Cut, MSER_BATCH, mser5};
pub use series::Series;
pub use steady::{
    BATCHES, DRIFT_MAX, NOISE_MAX, OBSERVATIONS_MIN, Role, Steadiness, UNBALANCE_MAX, drift, interval, judge,
};
pub use trend::{SIGNIFICANCE, Trend, trend};
