//! A mean with its interval, as reports have it.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A mean with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Estimate {
    /// The mean, in the unit of the figure.
    pub mean: f64,
    /// Standard deviation of the samples, in the unit of the figure; null if unknown.
    pub sd: Option<f64>,
    /// Half-width of the 95 % confidence interval of the mean, by Student's t, in the unit of the figure;
    /// null if unknown.
    pub half_width_95: Option<f64>,
}

impl Estimate {
    /// From at least two independent values; `None` for fewer, or for non-finite values.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        wordline_stats::Estimate::of(values).map(Estimate::from)
    }
}

impl From<wordline_stats::Estimate> for Estimate {
    fn from(e: wordline_stats::Estimate) -> Estimate {
        Estimate { mean: e.mean, sd: Some(e.sd), half_width_95: Some(e.half_width) }
    }
}
