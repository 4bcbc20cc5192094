//! What decides a comparison.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What decides a comparison: the verdict, and the measures that it rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Decision {
    /// Sentences that say which scheme is best at what, against the baseline, and how many runs are steady.
    pub verdict: String,
    /// At most ten measures, in the order of the table.
    pub measures: Vec<Measure>,
    /// The four to six measures at the head of a page, in its order; fewer where the runs have no more.
    #[serde(default)]
    pub lead: Vec<Measure>,
    /// Position in `reports` of the scheme that the verdict names first; null where none is, or it is not known.
    #[serde(default)]
    pub winner: Option<usize>,
    /// What is gained against what it costs; null where no two measures differ.
    #[serde(default)]
    pub tradeoff: Option<Tradeoff>,
}

/// Two measures of which one is bought with the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Tradeoff {
    /// What is gained.
    pub gain: Measure,
    /// What it costs.
    pub cost: Measure,
    /// Positions in `reports` of the runs that no other run beats in both, the best gain first.
    pub frontier: Vec<usize>,
}

/// One measure of every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Measure {
    /// Where the figure is in the JSON of a report.
    pub path: String,
    /// Its heading and label.
    pub name: String,
    /// The unit of the values.
    pub unit: String,
    /// Which end is the good one, `lower` or `higher`; null where neither is.
    pub better: Option<String>,
    /// The value of each report, the mean over its replicas; null where it has none.
    pub values: Vec<Option<f64>>,
    /// Positions in `reports` of the best, several where they do not differ significantly; empty where all are alike.
    pub best: Vec<usize>,
}
