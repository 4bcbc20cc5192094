//! Drives run to wear-out: results of `wordline lifetime` for each scheme. This is the schema
//! `wordline.lifetime/1`. Bytes written and time are those of the real drive: simulated values times the
//! acceleration.

use crate::schema::report::{DeviceInfo, SchemeInfo, WorkloadInfo};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The name of the schema that [`Lifetimes`] follows.
pub const LIFETIME_SCHEMA: &str = "wordline.lifetime/1";

/// Tolerance between results at an acceleration and at half of it: 5 %.
pub const ACCELERATION_TOLERANCE: f64 = 0.05;

/// A drive taken to wear-out under several schemes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Wordline lifetimes"))]
pub struct Lifetimes {
    /// Always `wordline.lifetime/1`.
    pub schema: String,
    /// The version of Wordline that ran.
    pub version: String,
    /// The drive.
    pub device: DeviceInfo,
    /// Requests of the host in each phase.
    pub workload: WorkloadInfo,
    /// Device, workload and initial state with every default filled in, for the first scheme.
    pub config: Value,
    /// Bytes that the host can address.
    pub logical_bytes: u64,
    /// P/E cycles per simulated erase.
    pub acceleration: u32,
    /// Power-off time after each phase, in seconds: data age, and blocks do not wear.
    pub shelf_s: f64,
    /// End condition, as for `--end`; a write without space always ends a run.
    #[serde(default = "out_of_space")]
    pub end: String,
    /// Whether it was stopped early: the figures then cover the run so far.
    #[serde(default)]
    pub stopped: bool,
    /// The command that repeats it, word by word; empty in files of older versions.
    #[serde(default)]
    pub command: Vec<String>,
    /// Results for each scheme, the baseline first.
    pub schemes: Vec<SchemeLife>,
}

/// The end condition before there was a choice.
fn out_of_space() -> String {
    "out-of-space".to_string()
}

/// A drive under one scheme, once for each seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SchemeLife {
    /// The scheme.
    pub scheme: SchemeInfo,
    /// One lifetime run per seed.
    pub lives: Vec<Life>,
    /// The first seed at half the acceleration; null if the acceleration is 1.
    pub check: Option<Life>,
}

/// One drive from its first write to the first one without space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Life {
    /// The seed of workload, initial state and block endurance.
    pub seed: u64,
    /// Cycles that each simulated erase stood for.
    pub acceleration: u32,
    /// The condition that ended it: `capacity`, `usable:SHARE`, `spare:SHARE`, `uncorrectable`, `out-of-space`,
    /// or `stopped`.
    #[serde(default = "out_of_space")]
    pub ended_by: String,
    /// Mean share of life used of the blocks at the end.
    #[serde(default)]
    pub life_used: f64,
    /// Host writes until the end, in bytes.
    pub total_bytes_written: f64,
    /// The same in drive writes.
    pub drive_writes: f64,
    /// The same per day over five years.
    pub drive_writes_per_day: f64,
    /// Lifetime at the pace of the workload, in years, without power-off time.
    pub years: f64,
    /// Simulated passes of the workload; 0 in files of older versions.
    #[serde(default)]
    pub passes: u64,
    /// Those of them that reached a steady state.
    #[serde(default)]
    pub steady_passes: u64,
    /// Write amplification over the lifetime; null if the host's pages are unknown.
    pub waf: Option<f64>,
    /// Write latency over the lifetime.
    pub write: Option<AgedLatency>,
    /// Read latency over the lifetime.
    pub read: Option<AgedLatency>,
    /// Mean retries per page that the host read; null without an error model.
    pub retries: Option<f64>,
    /// Uncorrectable pages of host reads, as simulated; null without an error model.
    pub uncorrectable: Option<u64>,
    /// Blocks of the drive.
    pub blocks: u64,
    /// Blocks that were bad from the beginning.
    pub bad_blocks: u64,
    /// Blocks that retired.
    pub retired_blocks: u64,
    /// Blocks whose data static wear leveling moved.
    pub levelled_blocks: u64,
    /// The lifetime in phases of one pass each; a sample of them if there are very many.
    pub phases: Vec<LifePhase>,
    /// A hash of the result hashes of all phases.
    pub result_hash: String,
}

/// A latency, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AgedLatency {
    /// Mean, in microseconds.
    pub mean: f64,
    /// 99th percentile, in microseconds.
    pub p99: f64,
}

/// A pass of the workload, and the drive after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LifePhase {
    /// Host writes until then, in drive writes.
    pub drive_writes: f64,
    /// Years at the pace of the workload until then, without power-off time.
    pub years: f64,
    /// Blocks that had retired by then.
    pub retired_blocks: u64,
    /// Capacity of the drive then, in bytes.
    pub usable_bytes: u64,
    /// Mean share of life used of the blocks.
    pub life_used: f64,
    /// Write amplification in the phase; null if the host wrote nothing.
    pub waf: Option<f64>,
    /// Write latency in the phase.
    pub write: Option<AgedLatency>,
    /// Read latency in the phase.
    pub read: Option<AgedLatency>,
    /// Mean retries per page that the host read.
    pub retries: Option<f64>,
}

impl Life {
    /// The end condition of a run that was stopped early.
    pub const STOPPED: &str = "stopped";

    /// Whether it was stopped early.
    pub fn is_stopped(&self) -> bool {
        self.ended_by == Life::STOPPED
    }
}

impl Lifetimes {
    /// As indented JSON, ending in a newline.
    ///
    /// # Errors
    /// Never for finite numbers; the error is serde's.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Lifetimes from their JSON.
    ///
    /// # Errors
    /// A message for the user, if it is not such JSON, or has another schema.
    pub fn from_json(text: &str) -> Result<Lifetimes, String> {
        let found: Lifetimes =
            serde_json::from_str(text).map_err(|e| format!("not the JSON of a lifetime run: {e}"))?;
        if found.schema != LIFETIME_SCHEMA {
            return Err(format!("unsupported schema {:?}; allowed: {LIFETIME_SCHEMA:?}", found.schema));
        }
        Ok(found)
    }

    /// Each scheme, its phases and lifetime runs as rows of CSV.
    pub fn to_csv(&self) -> String {
        let mut out = String::from(
            "scheme,seed,acceleration,phase,drive_writes,years,retired_blocks,usable_bytes,life_used,waf,\
             write_mean_us,write_p99_us,read_mean_us,read_p99_us,retries_per_page\n",
        );
        for s in &self.schemes {
            for life in s.lives.iter().chain(&s.check) {
                for (number, p) in life.phases.iter().enumerate() {
                    let name = match s.scheme.name.contains([',', '"']) {
                        true => format!("\"{}\"", s.scheme.name.replace('"', "\"\"")),
                        false => s.scheme.name.clone(),
                    };
                    let text = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x}"));
                    let row = [
                        name,
                        life.seed.to_string(),
                        life.acceleration.to_string(),
                        (number + 1).to_string(),
                        p.drive_writes.to_string(),
                        p.years.to_string(),
                        p.retired_blocks.to_string(),
                        p.usable_bytes.to_string(),
                        p.life_used.to_string(),
                        text(p.waf),
                        text(p.write.map(|l| l.mean)),
                        text(p.write.map(|l| l.p99)),
                        text(p.read.map(|l| l.mean)),
                        text(p.read.map(|l| l.p99)),
                        text(p.retries),
                    ];
                    out += &row.join(",");
                    out.push('\n');
                }
            }
        }
        out
    }
}
