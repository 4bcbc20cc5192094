//! What is run, and what is asked of a report: the comments are the help texts.

use crate::args::values::{Schemes, pair};
use crate::error::Failure;
use clap::Args;
use std::path::PathBuf;
use wordline_report::Rows;
use wordline_run::{EndOfLife, Files, Slowest, Window};
use wordline_trace::Fit;
use wordline_units::{Count, HostOp, SimDuration};

#[derive(Args, Debug)]
pub(crate) struct What {
    /// Built-in device (`wordline list devices`) or device file
    #[arg(long, value_name = "DEV")]
    pub(crate) device: String,
    /// Trace file, folder or tar archive of traces (join several with +), - for standard input, fio job file
    /// (`wordline explain fio`), built-in workload or twin (`wordline list workloads`), or twin file. Options
    /// follow a colon: zipf:theta=1.1,read=70%, trace.csv:speedup=10 or job.fio:section=NAME
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) workload: String,
    /// Force the trace format (`wordline list formats`), with optional options; csv reads any table:
    /// 'csv:time=Start (s),offset=Offset:hex,size=Length,op=Type'
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Set a key of the device (gc.trigger=free_blocks:5%), the workload (workload.speedup=10) or every
    /// scheme that has it (scheme.when_full=wait)
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
    /// Folder of original traces; the original of a twin, if found there, replaces the twin [default:
    /// environment variable WORDLINE_TRACES]
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    /// Run twice more with the locality of the twin shifted by 3 percentage points of LRU write hit rate,
    /// down and up, and show how the result changes
    #[arg(long)]
    pub(crate) twin_sensitivity: bool,
    /// Seed of every random stream
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Run N times with consecutive seeds from --seed and show means with 95 % confidence intervals; the
    /// first replica equals the run without this option
    #[arg(long, alias = "seeds", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=wordline_run::REPLICAS_MAX as i64))]
    pub(crate) replicas: u32,
    /// Number of runs in parallel; results do not depend on it [default: number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Number of requests, such as 100000 or 1M; overrides requests= of the workload. A trace may end earlier
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) requests: Option<Count>,
    /// State of the drive before the first request: fresh, preload, fill:90%[,order=seq|random][,valid=80%],
    /// steady, aged_invalid:70%, aged_blocks:70%[,data=apart], aged_windows, pe:tlc=500, retention:30d; join
    /// several with +
    #[arg(long, default_value = wordline_run::DEFAULT_INITIAL, value_name = "STATE")]
    pub(crate) initial: String,
    /// Start with the steady state of the workload: --initial steady
    #[arg(long, conflicts_with_all = ["initial", "from_state"])]
    pub(crate) steady_state: bool,
    /// Start with the drive that --save-state wrote: its data and wear; time and counters start at zero.
    /// Device and scheme must match
    #[arg(long, value_name = "FILE", conflicts_with = "initial")]
    pub(crate) from_state: Option<String>,
    /// How to handle requests beyond the capacity: error, wrap or compact; overrides fit= of the workload
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<Fit>,
    /// Check every invariant of the drive after the run
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Where {
    /// Write the report as an HTML page, its plots and their data, and the JSON to DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the report as JSON to FILE, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Shown {
    /// Show all rows of the table, not only the decisive ones
    #[arg(long, conflicts_with = "rows")]
    pub(crate) all: bool,
    /// Show only rows whose heading or label contains one of these words, such as 'write latency,erases'
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,
}

impl Shown {
    /// The rows of the table.
    ///
    /// # Errors
    /// When no row has any of the names.
    pub(crate) fn rows(&self) -> Result<Rows, Failure> {
        let rows = match (self.all, self.rows.as_slice()) {
            (true, _) => Rows::All,
            (false, []) => Rows::Decisive("--all"),
            (false, names) => Rows::Named(names.to_vec()),
        };
        rows.check().map_err(|headings| {
            let named = self.rows.join(",");
            Failure::Input(format!("--rows {named}: no such row\n  allowed: {}", headings.join(", ")))
        })?;
        Ok(rows)
    }
}

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) what: What,
    /// Scheme (`wordline list schemes`), with optional parameters: slc-cache:static_blocks=16
    #[arg(long)]
    pub(crate) scheme: String,
    /// Write the state of the drive after the run to FILE, for --from-state
    #[arg(long, value_name = "FILE")]
    pub(crate) save_state: Option<String>,
    #[command(flatten)]
    pub(crate) to: Where,
    /// Write the results of each job of a job file in the JSON format of fio to FILE, or with - to standard
    /// output instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub(crate) fio_json: Option<String>,
    /// Write every array and bus operation as CSV during the run, for `wordline check-log`; a name in .gz or
    /// .zst compresses it
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Write one row per completed request with the parts of its latency in nanoseconds: CSV, or Parquet if
    /// the name ends in .parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) completions: Option<PathBuf>,
    /// Write a timeline of dies, buses and requests for ui.perfetto.dev or chrome://tracing; a name in .gz
    /// compresses it
    #[arg(long, value_name = "FILE.json")]
    pub(crate) timeline: Option<PathBuf>,
    /// Limit the timeline to this window of simulated time, as in 1.2s..1300ms
    #[arg(long, value_name = "FROM..TO", requires = "timeline")]
    pub(crate) window: Option<Window>,
    /// Limit the timeline to the time in which request N (counted from 0) was in the drive
    #[arg(long, value_name = "N", requires = "timeline", conflicts_with = "window")]
    pub(crate) around: Option<u64>,
}

impl RunArgs {
    /// The files that record the run.
    pub(crate) fn files(&self) -> Files {
        Files {
            log: self.log.clone(),
            completions: self.completions.clone(),
            timeline: self.timeline.clone(),
            window: self.window.or(self.around.map(Window::Around)).unwrap_or_default(),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) what: What,
    /// Scheme with optional parameters, or several separated by commas; repeatable, the baseline first.
    /// `all-compatible` selects every scheme that the device supports; the others are listed with the reason
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    pub(crate) schemes: Vec<Schemes>,
    #[command(flatten)]
    pub(crate) shown: Shown,
    #[command(flatten)]
    pub(crate) to: Where,
}

#[derive(Args, Debug)]
pub(crate) struct LifetimeArgs {
    #[command(flatten)]
    pub(crate) what: What,
    /// Scheme with optional parameters, or several separated by commas; repeatable, the baseline first
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    pub(crate) schemes: Vec<Schemes>,
    /// Count each simulated erase as K P/E cycles, where K is 1 or an even number; the first seed is rerun
    /// with K/2, and the output shows whether the results agree [default: wear.acceleration of the device, or
    /// 1]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) acceleration: Option<u32>,
    /// Power the drive off for this long after each pass of the workload, such as 30d; with an error model,
    /// retention errors grow meanwhile
    #[arg(long, value_name = "TIME")]
    pub(crate) shelf: Option<SimDuration>,
    /// When a lifetime run ends: capacity (the remaining blocks hold less than the capacity), usable:80%
    /// (less than this share of it), spare:10% (no more than this share of the spare blocks is left),
    /// uncorrectable (a host read failed) or out-of-space. A write that finds no space always ends it
    #[arg(long, value_name = "WHEN", default_value = "capacity")]
    pub(crate) end: EndOfLife,
    /// Run in Python and store each finished lifetime run in the --out folder, so that the same command
    /// resumes after a stop: N processes on this machine, or the workers of a Dask scheduler, which need no
    /// access to local files: dask://HOST:PORT
    #[arg(long, value_name = "N|dask://HOST:PORT", requires = "out", conflicts_with_all = ["threads", "json", "csv"])]
    pub(crate) on: Option<String>,
    /// Write the page, its plots and their data, the phases as CSV and the JSON to DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the JSON to FILE, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
    /// Write every phase of every lifetime run as CSV to FILE, or with - to standard output instead of the
    /// table
    #[arg(long, value_name = "FILE|-", conflicts_with = "json")]
    pub(crate) csv: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Output folder for the report
    #[arg(long, value_name = "DIR", default_value = "out/demo")]
    pub(crate) out: PathBuf,
    /// Maximum number of requests
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) requests: Option<Count>,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Args, Debug)]
pub(crate) struct RerunArgs {
    /// A report.json, a comparison.json or a report.html, of which every run is repeated; a folder with one of
    /// them; or the folder of `wordline serve --session`
    pub(crate) report: PathBuf,
    /// Path of the trace, if it has moved since the report was written
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<String>,
    /// Python class of the report's scheme (needs the wordline command that pip installs)
    #[arg(long = "class", value_name = "py:FILE#CLASS")]
    pub(crate) classes: Vec<String>,
    /// Write the new report as JSON to FILE, or with - to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct WhyArgs {
    /// A report.json, or a comparison.json with --scheme; a folder with one of them, or their page
    pub(crate) report: PathBuf,
    /// Request numbers, counted from 0, as in `run --completions`
    #[arg(value_name = "N")]
    pub(crate) numbers: Vec<u64>,
    /// Compare where the slowest reads and writes spent their time with all requests: a number such as 10, or
    /// a share such as 0.1% [default: 0.1%, unless requests are named]
    #[arg(long, value_name = "K|SHARE", conflicts_with = "numbers")]
    pub(crate) slowest: Option<Slowest>,
    /// Explain each of the N slowest requests step by step, 0 to 1000 [default: none; with --json all of
    /// --slowest K, or 3 of a share]
    #[arg(long, value_name = "N", conflicts_with = "numbers", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) stories: Option<u16>,
    /// Print the latency breakdown by cause of waiting and by part, next to that of all requests
    #[arg(long)]
    pub(crate) shares: bool,
    /// Consider only reads, writes, trims or flushes
    #[arg(long, value_name = "OP", conflicts_with = "numbers")]
    pub(crate) op: Option<HostOp>,
    /// Select a run of a comparison by its scheme, spelled as in the report
    #[arg(long)]
    pub(crate) scheme: Option<String>,
    /// Path of the trace, if it has moved since the report was written
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<String>,
    /// Python class of the report's scheme (needs the wordline command that pip installs)
    #[arg(long = "class", value_name = "py:FILE#CLASS")]
    pub(crate) classes: Vec<String>,
    /// Write a timeline, as `run --timeline` does, limited to the time in which the first of these requests was in the drive
    #[arg(long, value_name = "FILE.json")]
    pub(crate) timeline: Option<PathBuf>,
    /// Write the explanations as JSON to FILE, or with - to standard output instead of text
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct CheckLogArgs {
    /// Operation log of `wordline run --log`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Report of the same run; its counters must match the log
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}
