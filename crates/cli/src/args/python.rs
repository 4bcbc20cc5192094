//! What the commands take that are done in Python, under the names of its arguments: the comments are the help texts.

use crate::args::values::{self, Schemes};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;
use wordline_trace::Fit;
use wordline_units::Count;

/// Where many runs are done.
#[derive(Args, Serialize, Debug)]
pub(crate) struct WhereArgs {
    /// Runs that go at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Where the runs are done: on this machine, so many at once, or by the workers of a Dask scheduler, which need
    /// no folder of this machine: dask://HOST:PORT
    #[arg(long, value_name = "N|dask://HOST:PORT", conflicts_with = "jobs")]
    pub(crate) on: Option<String>,
    /// Only say how many runs there are and about how long they take, by trying a few for some ten seconds
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct SweepArgs {
    /// A built-in device or the path of a device file; give it several times to compare
    #[arg(long = "device", value_name = "DEV", required = true)]
    pub(crate) devices: Vec<String>,
    /// A workload, as for run; give it several times
    #[arg(long = "workload", value_name = "FILE|NAME", required = true)]
    pub(crate) workloads: Vec<String>,
    /// A scheme, perhaps with parameters, or several parted by commas; give it several times. `all-compatible` stands for every one; those
    /// that a device refuses are rows with the reason
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    #[serde(serialize_with = "values::listed")]
    pub(crate) schemes: Vec<Schemes>,
    /// An initial state, as for run; give it several times
    #[arg(long = "initial", default_value = wordline_run::DEFAULT_INITIAL, value_name = "STATE")]
    pub(crate) initials: Vec<String>,
    /// A key with the values that it is to take: gc.victim=greedy,fifo. A comma between brackets or
    /// quotes belongs to the value. Keys of the device, workload.KEY and scheme.KEY
    #[arg(long, value_name = "KEY=A,B,...")]
    pub(crate) set: Vec<String>,
    /// The figures of the table, by their paths in a report [default: mean and 99.9 % latencies of
    /// writes and reads, WAF, IOPS]
    #[arg(long = "figure", value_name = "PATH")]
    pub(crate) figures: Vec<String>,
    /// Draw one figure over another, and the runs that no other beats in both; less is better, but for
    /// a figure that begins with +: latency_us.write.mean,+throughput.iops
    #[arg(long, value_name = "PATH,PATH")]
    pub(crate) frontier: Option<String>,
    /// The seed from which every random stream is derived
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Run each combination so many times, with seeds counted on, and show means with their 95 %
    /// intervals
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=wordline_run::REPLICAS_MAX as i64))]
    pub(crate) replicas: u32,
    /// Issue so many requests in each run, such as 100000 or 1M, in place of the workload's own requests=
    #[arg(long, value_name = "N")]
    #[serde(serialize_with = "values::number")]
    pub(crate) requests: Option<Count>,
    /// What to do with requests beyond the drive: error, wrap or compact
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<Fit>,
    /// A folder with original traces, as for run
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    /// Recount every invariant of the drive after each run
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) at: WhereArgs,
    /// Where the page, the tables, the picture and the reports of all runs go
    #[arg(long, value_name = "DIR", default_value = "out/sweep")]
    #[serde(serialize_with = "values::path")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct ModelArgs {
    /// The scheme that has a model, perhaps with parameters: hyssd or hyssd:tlc_unit=unpacked
    #[arg(value_name = "SCHEME")]
    pub(crate) scheme: String,
    /// A built-in device of two media or the path of a device file
    #[arg(long, value_name = "DEV")]
    pub(crate) device: String,
    /// A workload, as for run
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) workload: String,
    /// A key of the device, workload.KEY or scheme.KEY with its value; give it several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The seed from which every random stream is derived
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// The most requests to look at, such as 100000 or 1M
    #[arg(long, value_name = "N")]
    #[serde(serialize_with = "values::number")]
    pub(crate) requests: Option<Count>,
    /// What to do with requests beyond the drive: error, wrap or compact
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<Fit>,
    /// A folder with original traces, as for run
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    /// Simulate drives of fixed utilisations too, and say how far the model is from them
    #[arg(long)]
    pub(crate) simulate: bool,
    /// Simulations that go at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Write the picture and its data into this folder
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct ReproduceArgs {
    /// The paper: hierarchy, hyssd, ips, pa-ssd or raro; `all` for one after the other and an overview of
    /// their claims; `overview` for that alone, of the pages that there are
    #[arg(value_name = "PAPER")]
    pub(crate) paper: String,
    /// Draw only these figures and tables, and run only what they need: 9 for 9a and 9b, or table-2;
    /// give it several times
    #[arg(long = "figure", value_name = "N")]
    pub(crate) figures: Vec<String>,
    /// Do only runs whose names match, such as 'ST-packed/*'; the others count as not run. Give it several
    /// times
    #[arg(long = "only", value_name = "PATTERN")]
    pub(crate) only: Vec<String>,
    /// Do also the runs that no paper has, but that show why a claim deviates
    #[arg(long)]
    pub(crate) causes: bool,
    /// Take an alternative in place of the main reading of an open point of the paper, such as heat=period; give it
    /// several times. The page lists readings and alternatives
    #[arg(long = "reading", value_name = "NAME=ALTERNATIVE", conflicts_with = "readings")]
    pub(crate) reading: Vec<String>,
    /// Run every alternative of every reading too, one at a time from the main ones, and say which results hold under
    /// all of them. Runs that were done before are not repeated
    #[arg(long)]
    pub(crate) readings: bool,
    /// Run the further seeds of runs under bursts, too, and give intervals; --dry-run says how long that takes
    #[arg(long)]
    pub(crate) seeds: bool,
    /// Divide the drive, the footprint and the length of the workloads by this
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) scale: u32,
    /// A folder with real traces: those that belong to the paper are run, too, and stand beside their twins
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) at: WhereArgs,
    /// Where the page, the figures, claims.json and the reports of all runs go; with `all` and `overview` the
    /// folder of the papers' folders [default: out/PAPER, or out]
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct AtlasArgs {
    /// A workload of your own, as for run; with --device. Without either it is the published atlas
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) workload: Option<String>,
    /// A built-in device or the path of a device file
    #[arg(long, value_name = "DEV")]
    pub(crate) device: Option<String>,
    /// A scheme, perhaps with parameters, or several parted by commas; give it several times [default: every one that the device admits]
    #[arg(long = "scheme", value_name = "SCHEME")]
    #[serde(serialize_with = "values::listed")]
    pub(crate) schemes: Vec<Schemes>,
    /// Seeds of each run, 2 to 10 [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=10))]
    pub(crate) seeds: Option<u64>,
    /// Up to which seed the best two schemes of a condition run, where they are not told apart [default: twice
    /// --seeds; of the published atlas --seeds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=20))]
    pub(crate) most_seeds: Option<u64>,
    /// Requests of each run, such as 100000 or 1M [default: 100k; of a workload of your own 50k]
    #[arg(long, value_name = "N")]
    #[serde(serialize_with = "values::number")]
    pub(crate) requests: Option<Count>,
    /// Make only this part of the published atlas: pieces (real traces beside twins) or twins; give it several times
    #[arg(long, value_name = "PART", conflicts_with_all = ["workload", "device"])]
    pub(crate) only: Vec<String>,
    /// Run real traces of this folder beside the twins of the published atlas
    #[arg(long, value_name = "DIR", conflicts_with_all = ["workload", "device"])]
    pub(crate) traces: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) at: WhereArgs,
    /// Where the page, its data and pictures, and the reports of all runs go
    #[arg(long, value_name = "DIR", default_value = "out/atlas")]
    #[serde(serialize_with = "values::path")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Serialize, Debug)]
pub(crate) struct ValidateArgs {
    /// Fewer and smaller rows, in about a minute
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only rows whose id matches, such as latency or 'waf-greedy-*'
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
    /// Write the page, its picture and the data into this folder
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) out: Option<PathBuf>,
    /// Hold it to the claims in this file instead of the built-in ones
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
    /// Length of a measurement in simulated time; the specification has 60s
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) cell: String,
    /// Most rounds to wait for steady state
    #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u16).range(5..))]
    pub(crate) rounds: u16,
    /// Write index.html, pts.csv and the plots to this folder
    #[arg(long, value_name = "DIR")]
    #[serde(serialize_with = "values::maybe_path")]
    pub(crate) out: Option<PathBuf>,
}
