//! What the commands take that are done in Python, under the names of its arguments: the comments are the help texts.

use crate::args::values::{self, Schemes};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;
use wordline_trace::Fit;
use wordline_units::Count;

/// Where many runs execute.
#[derive(Args, Serialize, Debug)]
pub(crate) struct WhereArgs {
    /// Number of runs in parallel [default: number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Where to run: N processes on this machine, or the workers of a Dask scheduler, which need no access to
    /// local files: dask://HOST:PORT
    #[arg(long, value_name = "N|dask://HOST:PORT", conflicts_with = "jobs")]
    pub(crate) on: Option<String>,
    /// Print the number of runs and an estimate of their time, then exit; the estimate samples a few runs for
    /// about ten seconds
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct SweepArgs {
    /// Built-in device or device file; repeat the option to compare several
    #[arg(long = "device", value_name = "DEV", required = true)]
    pub(crate) devices: Vec<String>,
    /// Workload, as for `run`; repeatable
    #[arg(long = "workload", value_name = "FILE|NAME", required = true)]
    pub(crate) workloads: Vec<String>,
    /// Force the format of every trace, as for `run`
    #[arg(long, value_name = "FORMAT")]
    #[serde(skip)]
    pub(crate) format: Option<String>,
    /// Scheme with optional parameters, or several separated by commas; repeatable. `all-compatible` selects
    /// every scheme; the table lists those that a device does not support, with the reason
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    #[serde(serialize_with = "values::listed")]
    pub(crate) schemes: Vec<Schemes>,
    /// Initial state, as for `run`; repeatable
    #[arg(long = "initial", default_value = wordline_run::DEFAULT_INITIAL, value_name = "STATE")]
    pub(crate) initials: Vec<String>,
    /// Start with the steady state of the workload: --initial steady
    #[arg(long, conflicts_with = "initials")]
    #[serde(skip)]
    pub(crate) steady_state: bool,
    /// Key and the values to sweep: gc.victim=greedy,fifo. A comma inside brackets or quotes belongs to the
    /// value. Keys of the device, workload.KEY and scheme.KEY
    #[arg(long, value_name = "KEY=A,B,...")]
    pub(crate) set: Vec<String>,
    /// Figures of the table, by their paths in a report, separated by commas; repeatable [default: mean and
    /// p99.9 latency of writes and reads, WAF, IOPS]
    #[arg(long = "figure", value_name = "PATH", value_delimiter = ',')]
    pub(crate) figures: Vec<String>,
    /// Plot one figure against another and mark the Pareto front; smaller is better unless a figure begins
    /// with +: latency_us.write.mean,+throughput.iops
    #[arg(long, value_name = "PATH,PATH")]
    pub(crate) frontier: Option<String>,
    /// Seed of every random stream
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Run each combination N times with consecutive seeds and show means with 95 % confidence intervals
    #[arg(long, alias = "seeds", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=wordline_run::REPLICAS_MAX as i64))]
    pub(crate) replicas: u32,
    /// Number of requests per run, such as 100000 or 1M; overrides requests= of the workload
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[serde(serialize_with = "values::number")]
    pub(crate) requests: Option<Count>,
    /// How to handle requests beyond the capacity: error, wrap or compact
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<Fit>,
    /// Folder of original traces, as for `run`
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    /// Check every invariant of the drive after each run
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) at: WhereArgs,
    /// Output folder for the page, tables, plots and the reports of all runs
    #[arg(long, value_name = "DIR", default_value = "out/sweep")]
    #[serde(serialize_with = "values::path")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct ModelArgs {
    /// Scheme that has a model, with optional parameters: hyssd or hyssd:tlc_unit=unpacked
    #[arg(value_name = "SCHEME", required_unless_present = "named")]
    pub(crate) scheme: Option<String>,
    /// The same as SCHEME, as other commands take it
    #[arg(long = "scheme", value_name = "SCHEME", conflicts_with = "scheme")]
    #[serde(skip)]
    pub(crate) named: Option<String>,
    /// Built-in device or device file with two media
    #[arg(long, value_name = "DEV")]
    pub(crate) device: String,
    /// Workload, as for `run`
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) workload: String,
    /// Key of the device, workload.KEY or scheme.KEY with its value; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seed of every random stream
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Maximum number of requests to read, such as 100000 or 1M
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[serde(serialize_with = "values::number")]
    pub(crate) requests: Option<Count>,
    /// How to handle requests beyond the capacity: error, wrap or compact
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<Fit>,
    /// Folder of original traces, as for `run`
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    /// Also simulate drives of fixed utilization and show how far the model deviates from them
    #[arg(long)]
    pub(crate) simulate: bool,
    /// Number of simulations in parallel [default: number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Write the plot and its data to DIR
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct ReproduceArgs {
    /// Paper: hierarchy, hyssd, ips, pa-ssd or raro; `all` runs every paper and writes an overview of their
    /// claims; `overview` only rewrites the overview from existing pages
    #[arg(value_name = "PAPER")]
    pub(crate) paper: String,
    /// Produce only these figures and tables, and run only what they need: 9 for 9a and 9b, or table-2;
    /// repeatable
    #[arg(long = "figure", value_name = "N")]
    pub(crate) figures: Vec<String>,
    /// Execute only runs whose names match, such as 'ST-packed/*'; the others count as not run. Repeatable
    #[arg(long = "only", value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// Also execute the runs that explain why a claim deviates; they are not part of a paper
    #[arg(long)]
    pub(crate) causes: bool,
    /// Replace the main reading of an open point of the paper by an alternative, such as heat=period;
    /// repeatable. The page lists readings and alternatives
    #[arg(long = "reading", value_name = "NAME=ALTERNATIVE", conflicts_with = "readings")]
    pub(crate) reading: Vec<String>,
    /// Also run every alternative of every reading, one at a time, and show which results hold under all of
    /// them. Finished runs are not repeated
    #[arg(long)]
    pub(crate) readings: bool,
    /// Run the additional seeds of runs under bursts and show confidence intervals; --dry-run estimates the
    /// time
    #[arg(long)]
    pub(crate) seeds: bool,
    /// Execute no run: write the page of those that have finished, such as after a stop. The others count as
    /// not run: each result is judged under the readings for which its runs have finished
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) finished: bool,
    /// Divide the drive, the footprint and the length of the workloads by K
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) scale: u32,
    /// Folder of real traces; traces that belong to the paper run next to their twins
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) at: WhereArgs,
    /// Output folder for the page, figures, claims.json and the reports of all runs; for `all` and `overview`
    /// the parent folder of all papers [default: out/PAPER, or out]
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct AtlasArgs {
    /// Your workload, as for `run`; needs --device. Without both options, atlas makes the published atlas
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) workload: Option<String>,
    /// Built-in device or device file
    #[arg(long, value_name = "DEV")]
    pub(crate) device: Option<String>,
    /// Scheme with optional parameters, or several separated by commas; repeatable [default: every scheme
    /// that the device supports]
    #[arg(long = "scheme", value_name = "SCHEME")]
    #[serde(serialize_with = "values::listed")]
    pub(crate) schemes: Vec<Schemes>,
    /// Number of seeds per run, 2 to 10 [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10))]
    pub(crate) seeds: Option<u64>,
    /// Maximum number of seeds for the best two schemes of a condition while their difference is not
    /// significant [default: twice --seeds; for the published atlas --seeds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=20))]
    pub(crate) most_seeds: Option<u64>,
    /// Number of requests per run, such as 100000 or 1M [default: 100k; for your workload 50k]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[serde(serialize_with = "values::number")]
    pub(crate) requests: Option<Count>,
    /// Make only this part of the published atlas: pieces (real traces and their twins) or twins; repeatable
    #[arg(long, value_name = "PART", conflicts_with_all = ["workload", "device"])]
    pub(crate) only: Vec<String>,
    /// Folder of real traces to run next to the twins of the published atlas
    #[arg(long, value_name = "DIR", conflicts_with_all = ["workload", "device"])]
    pub(crate) traces: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) at: WhereArgs,
    /// Output folder for the page, its data, plots and the reports of all runs
    #[arg(long, value_name = "DIR", default_value = "out/atlas")]
    #[serde(serialize_with = "values::path")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct ValidateArgs {
    /// Run fewer and smaller rows, in about a minute
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run only rows whose id matches, such as latency or 'waf-greedy-*'
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
    /// Write the page, its plot and the data to DIR
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) out: Option<PathBuf>,
    /// Check the claims of FILE instead of the built-in ones
    #[arg(long, value_name = "FILE")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) claims: Option<PathBuf>,
}

/// A test of SNIA's specification.
#[derive(ValueEnum, Serialize, Clone, Copy, Debug)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PtsTest {
    /// Random requests of eight sizes and seven mixes of reads and writes, QD 32
    Iops,
    /// Sequential reads and writes of 1 MiB and 128 KiB, QD 32
    Throughput,
    /// Random requests of three sizes and three mixes, QD 1
    Latency,
    /// Write saturation: random 4 KiB writes to an empty drive until it is in steady state
    Wsat,
    /// Host idle recovery: bursts of random 4 KiB writes with idle time between them, from 5 to 50 s
    Hir,
    /// Cross stimulus recovery: sequential writes, then random ones, then sequential ones again
    Xsr,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct PtsArgs {
    /// The test
    #[arg(value_enum, value_name = "TEST")]
    pub(crate) test: PtsTest,
    /// A built-in device or the path of a device file
    #[arg(long, value_name = "DEV")]
    pub(crate) device: String,
    /// A scheme, perhaps with parameters, or several separated by commas; repeatable
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    #[serde(serialize_with = "values::listed")]
    pub(crate) schemes: Vec<Schemes>,
    /// A device key or scheme.KEY with its value; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Seed of every random stream
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Length of a measurement in simulated time; 60s in the specification
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) cell: String,
    /// Maximum number of rounds until steady state
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u16).range(5..))]
    pub(crate) rounds: u16,
    /// Write index.html, pts.csv and the plots to this folder
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct DeviceFitArgs {
    /// Folder of measurements: tables in CSV, JSON output and bandwidth logs of fio, probe.json; or one CSV file
    #[arg(value_name = "DIR")]
    #[serde(serialize_with = "values::path")]
    pub(crate) measurements: PathBuf,
    /// Device file to write; its name becomes the name of the device
    #[arg(short = 'o', long, value_name = "DEVICE.toml")]
    #[serde(serialize_with = "values::path")]
    pub(crate) output: PathBuf,
    /// Name of the drive to fit, if the tables have several
    #[arg(long, value_name = "NAME")]
    pub(crate) drive: Option<String>,
    /// Also write index.html with a plot of measurement and model to DIR
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) out: Option<PathBuf>,
    /// Seed of the search
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Overwrite an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct DeviceProbeArgs {
    /// Folder for the job files, and for the results of --run and --device
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::path")]
    pub(crate) jobs: PathBuf,
    /// Capacity of the drive that the jobs are for, such as 1TB
    #[arg(long, value_name = "SIZE", required_unless_present_any = ["device", "run"], conflicts_with_all = ["device", "run"])]
    pub(crate) capacity: Option<String>,
    /// Run the jobs with fio on this block device, after its name was typed; all its data are lost. Jobs with results are skipped
    #[arg(long, value_name = "PATH", conflicts_with = "device")]
    pub(crate) run: Option<String>,
    /// Maximum number of bytes that all jobs of --run may write, such as 2TB; further jobs are skipped
    #[arg(long, value_name = "SIZE", requires = "run")]
    pub(crate) budget: Option<String>,
    /// Only jobs that read; they need a drive with data
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Also run the jobs on this built-in device or device file, in simulated time
    #[arg(long, value_name = "DEV")]
    pub(crate) device: Option<String>,
    /// Scheme of --device, with optional parameters [default: slc-cache if the device has an SLC cache, else conventional]
    #[arg(long, value_name = "SCHEME", requires = "device")]
    pub(crate) scheme: Option<String>,
    /// Key of the device or scheme.KEY with its value; repeatable
    #[arg(long, value_name = "KEY=VALUE", requires = "device")]
    pub(crate) set: Vec<String>,
    /// Seed of every random stream
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct PickArgs {
    /// Workload, as for `run`
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) workload: String,
    /// Force the trace format, as for `run`
    #[arg(long, value_name = "FORMAT")]
    #[serde(skip)]
    pub(crate) format: Option<String>,
    /// Drives separated by commas: built-in devices or device files; `all` selects every measured one
    #[arg(long, value_name = "DEV,...", default_value = "all", value_delimiter = ',')]
    pub(crate) drives: Vec<String>,
    /// Maximum number of requests to read, such as 100000 or 1M [default: 100k]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    #[serde(serialize_with = "values::number")]
    pub(crate) requests: Option<Count>,
    /// How to handle requests beyond the capacity: error, wrap or compact
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<Fit>,
    /// Share of each drive that holds data before the first request
    #[arg(long, value_name = "SHARE", default_value = "50%")]
    pub(crate) fill: String,
    /// Seed of every random stream
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Folder of original traces, as for `run`
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    /// Number of drives in parallel [default: number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
