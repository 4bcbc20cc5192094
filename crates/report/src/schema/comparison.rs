//! Several runs: schemes on one device and workload, one of them the baseline. This is the schema
//! `wordline.comparison/1`.

use crate::schema::decision::Decision;
use crate::schema::estimate::Estimate;
use crate::schema::replicas::{self, differences_percent};
use crate::schema::report::Report;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the schema that [`Comparison`] follows.
pub const COMPARISON_SCHEMA: &str = "wordline.comparison/1";

/// Reports of several schemes on one device and workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Wordline comparison"))]
pub struct Comparison {
    /// Always `wordline.comparison/1`.
    pub schema: String,
    /// Position of the baseline in `reports`.
    #[serde(default)]
    pub baseline: usize,
    /// The runs in display order.
    pub reports: Vec<Report>,
    /// For each report, the difference of each figure from the baseline in percent, by its path: the mean over
    /// replicas, paired by seed, with its interval. Absent without replicas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differences_percent: Vec<BTreeMap<String, Estimate>>,
    /// Schemes that do not support the device, if all compatible ones were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedScheme>,
    /// Schemes whose runs failed; those of the reports are compared nevertheless.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedScheme>,
    /// Verdict and measures that decide; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// A scheme that a device does not admit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct RefusedScheme {
    /// Its name.
    pub scheme: String,
    /// The reason, in a sentence.
    pub reason: String,
}

/// A scheme whose run ended with an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FailedScheme {
    /// Its spelling.
    pub scheme: String,
    /// The error, in a line.
    pub reason: String,
}

impl Comparison {
    /// A comparison against the first of the reports.
    pub fn new(reports: Vec<Report>) -> Comparison {
        let replicated = reports.len() > 1 && reports.iter().all(|r| r.replicas.is_some());
        let differences_percent = match reports.first().filter(|_| replicated) {
            Some(baseline) => reports.iter().map(|r| differences_percent(r, baseline)).collect(),
            None => vec![],
        };
        Comparison {
            schema: COMPARISON_SCHEMA.to_string(),
            baseline: 0,
            reports,
            differences_percent,
            refused: vec![],
            failed: vec![],
            decision: None,
        }
    }

    /// The comparison as indented JSON, ending in a newline.
    ///
    /// # Errors
    /// Never for reports of finite numbers; the error is serde's.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// The comparison embedded in a page, as JSON on one line: everything that `wordline rerun` needs, and every
    /// figure, without the series that the page has as pictures. A single report is a report.
    pub(crate) fn carried(&self) -> Result<String, serde_json::Error> {
        let brief = |r: &Report| Report {
            latency_cdf: Default::default(),
            timeline: Default::default(),
            block_map: Default::default(),
            wear_histogram: Default::default(),
            utilisation: None,
            metrics: Default::default(),
            ..r.clone()
        };
        let carried = |r: &Report| {
            let replicas = r.replicas.as_ref();
            let replicas = replicas.map(|all| replicas::replicas(all.runs.iter().map(brief).collect()));
            Report { replicas, ..brief(r) }
        };
        let reports: Vec<Report> = self.reports.iter().map(carried).collect();
        match reports.as_slice() {
            [only] if self.refused.is_empty() && self.failed.is_empty() => serde_json::to_string(only),
            _ => serde_json::to_string(&Comparison { reports, decision: None, ..self.clone() }),
        }
    }

    /// Read a comparison back.
    ///
    /// # Errors
    /// When the text is not JSON, or not a comparison.
    pub fn from_json(text: &str) -> Result<Comparison, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The baseline's position, 0 if the file names a missing one.
    pub(crate) fn baseline_index(&self) -> usize {
        if self.baseline < self.reports.len() { self.baseline } else { 0 }
    }
}
