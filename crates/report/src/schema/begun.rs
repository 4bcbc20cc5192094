//! How a drive was put into a steady state before the first request, beside what the run then measured.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A drive that began in the steady state of its workload, as untimed writes found it, beside what the
/// run then measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BegunSteady {
    /// What the drive was written with: `law`, independent writes at the rates of the workload, or
    /// `stream`, the workload's own writes in their order.
    pub by: String,
    /// Write amplification of the untimed writes.
    pub expected_waf: f64,
    /// Whether it stood still when they ended.
    pub settled: bool,
    /// By how much it was higher two drive writes before, relatively; null where there were too few.
    pub drift: Option<f64>,
    /// Untimed writes, in multiples of the data in the planes that were written.
    pub untimed_drive_writes: f64,
    /// Writes in simulated time between those and the run, in multiples of the data on the drive, which are part of no
    /// figure; 0 in reports of older versions.
    #[serde(default)]
    pub timed_drive_writes: f64,
    /// Write amplification at the end of them; null where they were too few to tell, and in reports of older versions.
    #[serde(default)]
    pub timed_waf: Option<f64>,
    /// Free space of a plane as a victim is chosen, in blocks, on average.
    #[serde(default)]
    pub free_blocks: f64,
    /// Slots that padding takes for each logical page of the host that is programmed.
    #[serde(default)]
    pub padding: f64,
    /// Logical pages of the host that are programmed for each that it writes; less than one where newer data replace
    /// those that still wait. 0 in reports of older versions.
    #[serde(default)]
    pub programmed_share: f64,
    /// Logical pages in the planes that were written.
    pub sampled_pages: u64,
    /// Requests of the first tenth of the run.
    pub first_requests: u64,
    /// Write amplification over them, with padding; null where the host wrote less than a hundredth of the drive.
    pub first_waf: Option<f64>,
    /// `first_waf` over `expected_waf`, less one: what the steady state misses, padding included.
    pub residual: Option<f64>,
}
