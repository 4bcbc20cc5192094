//! The report of one run: what one scheme did on one device under one workload. It alone reproduces the run (resolved
//! configuration, seed, version), and the name of every number has its unit. This is the schema `wordline.report/1`;
//! the comments here become the descriptions in `report.schema.json`.
//!
//! Maps are keyed by text and ordered, so that the same run is written as the same bytes.

use crate::schema::activity::{Capacity, Flash, LifeUsed, Lifetime, LostBlocks, OutOfReach, Waf, Wear};
use crate::schema::blocks::{BlockMap, Conditions, Utilisation, WearHistogram};
use crate::schema::estimate::Estimate;
use crate::schema::jobs::{JobActivity, QueueActivity};
use crate::schema::run_end::{AfterLastRequest, Balance};
use crate::schema::series::{LatencyCdf, Timeline};
use crate::schema::steady::{AfterWarmUp, SteadyState};
use crate::schema::steady_start::BegunSteady;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use wordline_counters::{Bytes, HostFigures, IdleTime, RequestFigures, Requests};

/// The name of the schema that [`Report`] follows.
pub const REPORT_SCHEMA: &str = "wordline.report/1";

/// The result of one run. Two reports are equal if the runs had the same result: engine speed ([`Report::speed`]) and
/// command line ([`Report::command`]) do not count.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "Wordline report"))]
pub struct Report {
    /// Always `wordline.report/1`.
    pub schema: String,
    /// The version of Wordline that ran.
    pub version: String,
    /// The configuration with every default filled in: with `seed` and `version` it reproduces the run.
    pub config: Value,
    /// The seed from which every random stream is derived.
    pub seed: u64,
    /// The scheme that decided where data go.
    pub scheme: SchemeInfo,
    /// The drive.
    pub device: DeviceInfo,
    /// Requests of the host.
    pub workload: WorkloadInfo,
    /// The command that reproduces this result; empty in reports of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Jobs of a job file; absent if the workload is not a job file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobActivity>,
    /// Queues of the host; absent if the device file has no `host.arbitration`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<QueueActivity>,
    /// Requests and bytes of the host.
    pub host: Host,
    /// Simulated time from the first arrival to the last completion, in seconds.
    pub simulated_s: f64,
    /// Latencies of completed requests, in microseconds, from arrival to completion.
    pub latency_us: Latencies,
    /// Latency breakdown of reads and writes.
    #[serde(default)]
    pub latency_parts_us: LatencyParts,
    /// Completed work over simulated time.
    pub throughput: Throughput,
    /// Flash operations.
    pub flash: Flash,
    /// Write amplification; null where the host wrote nothing.
    pub waf: Option<Waf>,
    /// Start in steady state; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begun_steady: Option<BegunSteady>,
    /// Use and cost of idle time; absent if the scheme does not use it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleTime>,
    /// Steady-state verdict, and figures after the warm-up; null if not judged.
    #[serde(default)]
    pub steady_state: Option<SteadyState>,
    /// The repeats with other seeds; absent without repeats. All other figures of this report are those of the first
    /// seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<Replicas>,
    /// The run repeated on its twin with shifted locality; absent without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub twin_sensitivity: Vec<ShiftedRun>,
    /// Contents of the drive.
    pub capacity: Capacity,
    /// Program/erase cycles of the blocks at the end, by the mode they are in: `slc`, `mlc`, `tlc`, `qlc`.
    pub wear: BTreeMap<String, Wear>,
    /// Number of blocks by erase count, and by current mode.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub wear_histogram: BTreeMap<String, WearHistogram>,
    /// Utilization of dies and buses; absent in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<Utilisation>,
    /// Conditions that must be equal for a fair comparison; absent in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Conditions>,
    /// GC triggers that cannot be satisfied with the data; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub out_of_reach: Vec<OutOfReach>,
    /// Share of life used; absent if no mode has an endurance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life_used: Option<LifeUsed>,
    /// Lost blocks; absent without a table `[wear]` in the device file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_blocks: Option<LostBlocks>,
    /// Remaining lifetime; absent if the device file has no endurance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lifetime: Option<Lifetime>,
    /// Metrics that the scheme records: by name, pairs of host page writes and the value from then on; `followed` in
    /// reports of older versions.
    #[serde(default, alias = "followed", skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Vec<[f64; 2]>>,
    /// Ignored scheme actions by reason; absent if there were none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub without_effect: BTreeMap<String, u64>,
    /// Work after the last completion, which no other figure contains; absent in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_last_request: Option<AfterLastRequest>,
    /// Contents of the drive at the start and at the last completion; absent in reports of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    /// Memory that the engine holds.
    pub memory: Memory,
    /// Speed of the engine: depends on the machine, and is not part of the result.
    pub speed: Speed,
    /// Advice, one sentence each.
    #[serde(default)]
    pub hints: Vec<String>,
    /// Hexadecimal hash over request number, completion time and outcome, and all integer counters.
    pub result_hash: String,
    /// Distribution of latencies, for pictures.
    #[serde(default)]
    pub latency_cdf: LatencyCdf,
    /// The run in bins of time, for pictures.
    #[serde(default)]
    pub timeline: Timeline,
    /// The drive's blocks over time, for pictures.
    #[serde(default, skip_serializing_if = "BlockMap::is_empty")]
    pub block_map: BlockMap,
}

impl Report {
    /// Host writes in drive writes; `None` where the capacity is unknown.
    pub fn drive_writes(&self) -> Option<f64> {
        let capacity = self.capacity.logical_bytes;
        (capacity > 0).then(|| self.host.moved().write_bytes as f64 / capacity as f64)
    }

    /// Write amplification between two points of the run in drive writes, by the bins of the timeline; `None` where
    /// nothing was.
    pub fn waf_between(&self, from: f64, until: f64) -> Option<f64> {
        let line = &self.timeline;
        let stretch = [from, until].map(|drive_writes| drive_writes * self.capacity.logical_bytes as f64);
        let (mut sum, mut programmed, mut host) = (0.0, 0.0, 0.0);
        let volumes = line.write_page_mb_per_s.iter().zip(&line.programmed_mb_per_s);
        for (asked, (page_bytes, programs)) in line.write_mb_per_s.iter().zip(volumes) {
            if (stretch[0]..stretch[1]).contains(&sum) {
                host += page_bytes;
                programmed += programs;
            }
            sum += asked * 1e6 * line.bin_s;
        }
        (host > 0.0).then(|| programmed / host)
    }

    /// Figures after the warm-up, if any.
    pub fn after_warm_up(&self) -> Option<&AfterWarmUp> {
        self.steady_state.as_ref()?.after.as_ref()
    }

    /// The part of a report that replicas keep.
    pub fn in_brief(&self) -> Report {
        Report {
            config: Value::Null,
            command: vec![],
            hints: vec![],
            latency_cdf: Default::default(),
            timeline: Default::default(),
            replicas: None,
            ..self.clone()
        }
    }

    /// All that is part of the result.
    fn result(&self) -> Report {
        let mut result = Report { command: vec![], speed: Speed::default(), ..self.clone() };
        if let Some(replicas) = &mut result.replicas {
            replicas.runs = replicas.runs.iter().map(Report::result).collect();
        }
        result
    }

    /// The report as indented JSON, ending in a newline.
    ///
    /// # Errors
    /// Never for a report of finite numbers; the error is serde's.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Read a report back.
    ///
    /// # Errors
    /// When the text is not JSON, or not a report.
    pub fn from_json(text: &str) -> Result<Report, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl PartialEq for Report {
    fn eq(&self, other: &Report) -> bool {
        let text = |report: &Report| serde_json::to_string(&report.result());
        matches!((text(self), text(other)), (Ok(one), Ok(other)) if one == other)
    }
}

/// A run on a twin with a shifted LRU write hit rate, at an eighth of its written footprint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ShiftedRun {
    /// Requested shift of the hit rate, in points.
    pub asked_points: f64,
    /// Measured shift on its first requests, in points.
    pub reached_points: f64,
    /// Mean write latency, in microseconds; null where no write completed.
    pub write_mean_us: Option<f64>,
    /// 99th percentile of write latency, in microseconds.
    pub write_p99_us: Option<f64>,
    /// Mean read latency, in microseconds; null where no read completed.
    pub read_mean_us: Option<f64>,
    /// 99th percentile of read latency, in microseconds.
    pub read_p99_us: Option<f64>,
    /// Write amplification; null where the host wrote nothing.
    pub waf: Option<f64>,
    /// The hash of that run's result.
    pub result_hash: String,
}

/// The scheme of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SchemeInfo {
    /// Its name in the registry, as the command line spells it.
    pub name: String,
    /// One line for people.
    #[serde(default)]
    pub title: String,
    /// Its color in pictures, as `#rrggbb`; by default chosen automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
}

/// The drive of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DeviceInfo {
    /// Its name, as in `wordline list devices`.
    pub name: String,
    /// One line for people.
    #[serde(default)]
    pub description: String,
    /// Its spelling in the command: its name, or the path of its file.
    #[serde(default)]
    pub spelling: String,
    /// Changes to its file, each as `KEY=VALUE`, in the order of the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
}

/// The workload of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WorkloadInfo {
    /// A name, or the file's name without its folder.
    pub name: String,
    /// Further information: format, hash of the input, and fit of the requests to the drive.
    #[serde(flatten)]
    pub details: BTreeMap<String, Value>,
}

/// Requests and bytes of the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Host {
    /// Submitted requests.
    pub requests: u64,
    /// Requests that completed successfully.
    pub completed: u64,
    /// Requests that completed with an error, by outcome (`out_of_space`, `uncorrectable`, `worn_out`). Outcomes that
    /// did not happen are absent.
    #[serde(default)]
    pub failed: BTreeMap<String, u64>,
    /// Requests and bytes by kind.
    #[serde(flatten)]
    pub counts: RequestFigures,
    /// Pages that writes touched.
    #[serde(flatten)]
    pub pages: HostFigures,
    /// Bytes of completed trims.
    pub trim_bytes: u64,
    /// Bytes of acknowledged writes that are in the write buffer at the end of the run, because the full drive had no
    /// space for them on flash.
    #[serde(default)]
    pub unplaced_bytes: u64,
}

impl Host {
    /// Submitted requests, by kind.
    pub fn asked(&self) -> &Requests {
        &self.counts.ended
    }

    /// Bytes of completed reads and writes.
    pub fn moved(&self) -> &Bytes {
        &self.counts.bytes
    }

    /// The base of write amplification, in bytes.
    pub fn page_bytes(&self) -> u64 {
        self.pages.write_page_bytes
    }

    /// Requests that completed with an error.
    pub fn failures(&self) -> u64 {
        self.failed.values().sum()
    }
}

/// Latencies by the kind of request; null where no such request completed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Latencies {
    /// Of reads.
    pub read: Option<Latency>,
    /// Of writes.
    pub write: Option<Latency>,
    /// Of trims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<Latency>,
    /// Of flushes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flush: Option<Latency>,
}

/// A distribution of latencies in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Latency {
    /// Requests counted.
    pub count: u64,
    /// Mean, in microseconds.
    pub mean: f64,
    /// Median, in microseconds.
    pub p50: f64,
    /// 90th percentile, in microseconds.
    pub p90: f64,
    /// 99th percentile, in microseconds.
    pub p99: f64,
    /// 99.9th percentile, in microseconds.
    pub p999: f64,
    /// 99.99th percentile, in microseconds.
    pub p9999: f64,
    /// The longest, in microseconds.
    pub max: f64,
}

/// The mean latency by part, in microseconds, by kind of request; empty if none completed. Parts that took no time are
/// absent, and the others add up to the mean. They are `admission` (the queue before the drive, or its write buffer, is
/// full), `map_miss` (the page of the mapping table is read from flash), `staging` (in the drive's RAM: for other pages of
/// a one-shot program, or for the missing part of a page), `behind_host`, `behind_gc` and `behind_migration` (the plane is
/// busy with that), `space` (no page is free), `die` (the array, with the wait for it), `retry` (read retries), `bus` and
/// `link` (with the wait for them). The parts of a request are those of its last page to complete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct LatencyParts {
    /// Of reads.
    pub read: BTreeMap<String, f64>,
    /// Of writes.
    pub write: BTreeMap<String, f64>,
}

/// Completed work over simulated time. A megabyte is 10^6 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Throughput {
    /// Requests per second.
    pub iops: f64,
    /// Megabytes per second, read and written.
    pub mb_per_s: f64,
    /// Megabytes per second read.
    pub read_mb_per_s: f64,
    /// Megabytes per second written.
    pub write_mb_per_s: f64,
}

/// Memory that the engine holds at the end of the run, counted by its own structures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Memory {
    /// All of the engine's state, in bytes.
    pub engine_bytes: u64,
    /// The map and its inverse, in bytes.
    pub map_bytes: u64,
    /// Bytes of mapping table per allocated logical page; null if there is none.
    pub bytes_per_mapped_page: Option<f64>,
    /// Tables that the drive would keep in addition to a page map, counted as in the literature; omitted if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<MapTable>,
}

/// A table of a drive, counted as in the literature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct MapTable {
    /// Its name.
    pub name: String,
    /// Its entries.
    pub entries: u64,
    /// Bits of an entry, by the drive's geometry.
    pub entry_bits: u32,
    /// Its size in bytes.
    pub bytes: u64,
}

/// Speed of the engine on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Speed {
    /// Wall-clock time of the run, in seconds.
    pub wall_s: f64,
    /// Host requests per second of wall-clock time.
    pub requests_per_s: f64,
    /// Flash operations per second of wall-clock time.
    pub flash_ops_per_s: f64,
    /// Peak memory of the process, in bytes; null if unknown.
    pub peak_rss_bytes: Option<u64>,
}

/// A run repeated with consecutive seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Replicas {
    /// The replicas in the order of their seeds, without configuration and series. The first is the run of this report;
    /// each equals a separate run with that seed.
    pub runs: Vec<Report>,
    /// Mean, standard deviation and interval of every figure that all replicas have, by its path in the report:
    /// `latency_us.write.mean`, `waf.total`. Empty if all replicas have the same result.
    pub figures: BTreeMap<String, Estimate>,
}

impl Replicas {
    /// Whether all replicas have the same result, so that it does not depend on the seed.
    pub fn are_identical(&self) -> bool {
        self.runs.windows(2).all(|w| w[0].result_hash == w[1].result_hash)
    }
}
