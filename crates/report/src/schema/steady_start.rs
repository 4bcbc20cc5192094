//! Start of a run in steady state, compared with what the run then measured.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A drive that started in the steady state of its workload, found by untimed writes, compared with what the run then
/// measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BegunSteady {
    /// Source of the untimed writes: `law`, independent writes at the rates of the workload, or `stream`, the
    /// workload's own writes in order.
    pub by: String,
    /// Write amplification of the untimed writes.
    pub expected_waf: f64,
    /// Whether the WAF was stable at their end.
    pub settled: bool,
    /// Relative excess of the WAF two drive writes earlier; null with too few writes.
    pub drift: Option<f64>,
    /// Untimed writes, in multiples of the data in the planes that were written.
    pub untimed_drive_writes: f64,
    /// Writes in simulated time between those and the run, in multiples of the data on the drive, which no figure
    /// includes; 0 in reports of older versions.
    #[serde(default)]
    pub timed_drive_writes: f64,
    /// WAF at their end; null if there were too few, and in reports of older versions.
    #[serde(default)]
    pub timed_waf: Option<f64>,
    /// Mean free space of a plane at victim selection, in blocks.
    #[serde(default)]
    pub free_blocks: f64,
    /// Slots of padding per programmed logical page of the host.
    #[serde(default)]
    pub padding: f64,
    /// Logical pages programmed per logical page that the host wrote; below 1 if newer data replace those that wait in
    /// RAM. 0 in reports of older versions.
    #[serde(default)]
    pub programmed_share: f64,
    /// Logical pages in the planes that were written.
    pub sampled_pages: u64,
    /// Requests of the first tenth of the run.
    pub first_requests: u64,
    /// WAF over them, with padding; null if the host wrote less than a hundredth of the drive.
    pub first_waf: Option<f64>,
    /// `first_waf` over `expected_waf`, less one: the error of the steady start, including padding.
    pub residual: Option<f64>,
}
