//! The decision of a comparison.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The decision of a comparison: the verdict and its measures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Decision {
    /// Sentences that name the best scheme against the baseline, and how many runs are steady.
    pub verdict: String,
    /// At most ten measures, in table order.
    pub measures: Vec<Measure>,
    /// The four to six measures at the head of a page, in order; fewer if the runs have no more.
    #[serde(default)]
    pub lead: Vec<Measure>,
    /// Position in `reports` of the scheme that the verdict names first; null if there is none or it is unknown.
    #[serde(default)]
    pub winner: Option<usize>,
    /// Gain against cost; null if no two measures differ.
    #[serde(default)]
    pub tradeoff: Option<Tradeoff>,
}

/// Two measures that trade off against each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Tradeoff {
    /// What is gained.
    pub gain: Measure,
    /// What it costs.
    pub cost: Measure,
    /// Positions in `reports` of the Pareto-optimal runs, best gain first.
    pub frontier: Vec<usize>,
}

/// One measure of every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Measure {
    /// Path of the figure in the JSON of a report.
    pub path: String,
    /// Its heading and label.
    pub name: String,
    /// The unit of the values.
    pub unit: String,
    /// The better direction, `lower` or `higher`; null if neither.
    pub better: Option<String>,
    /// The value of each report, the mean over its replicas; null if missing, and for the latency of an
    /// overloaded run beside others.
    pub values: Vec<Option<f64>>,
    /// Positions in `reports` of the best runs, several if the difference is not significant; empty if all are equal.
    pub best: Vec<usize>,
}
