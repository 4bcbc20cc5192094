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
    /// A built-in device (`wordline list devices`) or the path of a device file
    #[arg(long, value_name = "DEV")]
    pub(crate) device: String,
    /// A trace file, a folder or tar archive of them, several joined by +, - for standard input, a fio
    /// job file (`wordline explain fio`), a built-in workload or a twin (`wordline list workloads`), or a
    /// twin's own file;
    /// options follow a colon: zipf:theta=1.1,read=70%, trace.csv:speedup=10 or job.fio:section=NAME
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) workload: String,
    /// Insist on a trace format (`wordline list formats`), perhaps with options of its own; csv reads
    /// any table: 'csv:time=Start (s),offset=Offset:hex,size=Length,op=Type'
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Change a key of the device (gc.trigger=free_blocks:5%), of the workload
    /// (workload.speedup=10) or of the schemes that know it (scheme.when_full=wait)
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
    /// A folder with original traces: one that is named as a twin's original goes before the twin
    /// [default: the environment's WORDLINE_TRACES]
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    /// Run twice more with the locality of the twin shifted, by 3 points of LRU write hits down and up, and
    /// say how the result moves
    #[arg(long)]
    pub(crate) twin_sensitivity: bool,
    /// The seed from which every random stream is derived
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Run so many times, with seeds counted on from --seed, and show means with their 95 %
    /// intervals; the first is the run without this option
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=wordline_run::REPLICAS_MAX as i64))]
    pub(crate) replicas: u32,
    /// Runs that go at once; the results are the same [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    /// Issue so many requests, such as 100000 or 1M, in place of the workload's own requests=; a trace may end
    /// before
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<Count>,
    /// The drive before the first request: fresh, preload, fill:90%[,order=seq|random][,valid=80%], steady,
    /// aged_invalid:70%, aged_blocks:70%[,data=apart], aged_windows, pe:tlc=500; several joined by +
    #[arg(long, default_value = wordline_run::DEFAULT_INITIAL, value_name = "STATE")]
    pub(crate) initial: String,
    /// Begin with the drive as the workload leaves it in the long run: --initial steady
    #[arg(long, conflicts_with_all = ["initial", "from_state"])]
    pub(crate) steady_state: bool,
    /// Begin with the drive that --save-state wrote: what it holds and its wear; time and counts begin
    /// at zero. Device and scheme must be those it was saved with
    #[arg(long, value_name = "FILE", conflicts_with = "initial")]
    pub(crate) from_state: Option<String>,
    /// What to do with requests beyond the drive: error, wrap or compact; replaces the workload's own fit=
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<Fit>,
    /// Recount every invariant of the drive after the run
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Args, Debug)]
pub(crate) struct Where {
    /// Write the report as a page, its pictures and their data, and the JSON into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the report as JSON to a file, or with - to standard output in place of the table
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct Shown {
    /// Show all rows of the table, not only those that decide
    #[arg(long, conflicts_with = "rows")]
    pub(crate) all: bool,
    /// Show the rows whose heading or label contains one of these, such as 'write latency,erases'
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
    /// The scheme (`wordline list schemes`), perhaps with parameters: slc-cache:static_blocks=16
    #[arg(long)]
    pub(crate) scheme: String,
    /// Write the state of the drive after the run, for --from-state
    #[arg(long, value_name = "FILE")]
    pub(crate) save_state: Option<String>,
    #[command(flatten)]
    pub(crate) to: Where,
    /// Write what each job of a job file asked and was given in the JSON form of fio, or with - to
    /// standard output in place of the table
    #[arg(long, value_name = "FILE|-")]
    pub(crate) fio_json: Option<String>,
    /// Write every use of an array and a bus as CSV while running, for `wordline check-log`; names
    /// in .gz and .zst are compressed
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Write a row for every request that ends, with the parts of its latency in nanoseconds: CSV, or
    /// Parquet if the name ends in .parquet
    #[arg(long, value_name = "FILE")]
    pub(crate) completions: Option<PathBuf>,
    /// Write a timeline of dies, buses and requests for ui.perfetto.dev or chrome://tracing; names in .gz
    /// are compressed
    #[arg(long, value_name = "FILE.json")]
    pub(crate) timeline: Option<PathBuf>,
    /// Let the timeline show only this part of simulated time, as in 1.2s..1300ms
    #[arg(long, value_name = "FROM..TO", requires = "timeline")]
    pub(crate) window: Option<Window>,
    /// Let the timeline show what happened while a request was in the drive; by its number, from 0
    #[arg(long, value_name = "N", requires = "timeline", conflicts_with = "window")]
    pub(crate) around: Option<u64>,
}

impl RunArgs {
    /// What the run is to be recorded in.
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
    /// A scheme, perhaps with parameters, or several parted by commas; give it several times, the baseline first. `all-compatible` stands
    /// for every one that the device admits, and those that it refuses are named with the reason
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
    /// A scheme, perhaps with parameters, or several parted by commas; give it several times, the baseline first
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    pub(crate) schemes: Vec<Schemes>,
    /// Let each simulated erase stand for so many cycles, 1 or an even number: the first seed is run again
    /// with half of it, and the output says whether that gives the same [default: the device's
    /// wear.acceleration, or 1]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) acceleration: Option<u32>,
    /// Leave the drive on the shelf so long after each pass of the workload, such as 30d: where errors are
    /// modelled data grow older by it
    #[arg(long, value_name = "TIME")]
    pub(crate) shelf: Option<SimDuration>,
    /// What ends a life: capacity (the blocks left hold less than the drive's capacity), usable:80% (less than this
    /// share of it), spare:10% (no more of the built spare is left), uncorrectable (the host could not read a page)
    /// or out-of-space. A write that finds no place ends it in any case
    #[arg(long, value_name = "WHEN", default_value = "capacity")]
    pub(crate) end: EndOfLife,
    /// Live in Python, each life kept under --out as soon as it has ended, so that the same command goes on with
    /// the others after a stop: so many at once on this machine, or by the workers of a Dask scheduler,
    /// which need no folder of this machine: dask://HOST:PORT
    #[arg(long, value_name = "N|dask://HOST:PORT", requires = "out", conflicts_with_all = ["threads", "json", "csv"])]
    pub(crate) on: Option<String>,
    /// Write the page, its pictures and their data, the phases as CSV and the JSON into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the JSON to a file, or with - to standard output in place of the table
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
    /// Write every phase of every life as CSV to a file, or with - to standard output in place of the table
    #[arg(long, value_name = "FILE|-", conflicts_with = "json")]
    pub(crate) csv: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Where the report goes
    #[arg(long, value_name = "DIR", default_value = "out/demo")]
    pub(crate) out: PathBuf,
    /// Issue at most so many requests
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<Count>,
    #[command(flatten)]
    pub(crate) shown: Shown,
}

#[derive(Args, Debug)]
pub(crate) struct RerunArgs {
    /// A report.json, a comparison.json or a report.html, of which every run is repeated; a folder with one of
    /// them; or the folder of `wordline serve --session`
    pub(crate) report: PathBuf,
    /// Where the trace is now, if it is not where the report found it
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<String>,
    /// A class of Python that the report's scheme is of; of the wordline command that pip installs
    #[arg(long = "class", value_name = "py:FILE#CLASS")]
    pub(crate) classes: Vec<String>,
    /// Write the new report as JSON to a file, or with - to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct WhyArgs {
    /// A report.json, or a comparison.json with --scheme; a folder with one of them, or their page
    pub(crate) report: PathBuf,
    /// Numbers of requests, counted from 0, as `run --completions` has them
    #[arg(value_name = "N")]
    pub(crate) numbers: Vec<u64>,
    /// Sum up what so many of the slowest reads and writes waited for, beside all of them: 10, or 0.1%
    /// [default: 0.1%, where none is named]
    #[arg(long, value_name = "K|SHARE", conflicts_with = "numbers")]
    pub(crate) slowest: Option<Slowest>,
    /// Tell the stories of N of the slowest, 0 to 1000 [default: none; with --json K, or 3 of a share]
    #[arg(long, value_name = "N", conflicts_with = "numbers", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) stories: Option<u16>,
    /// Print the shares of the latency by what was in the way and by part, beside those of all requests
    #[arg(long)]
    pub(crate) shares: bool,
    /// Of the slowest, only reads, writes, trims or flushes
    #[arg(long, value_name = "OP", conflicts_with = "numbers")]
    pub(crate) op: Option<HostOp>,
    /// Which run of a comparison, by its scheme as the report spells it
    #[arg(long)]
    pub(crate) scheme: Option<String>,
    /// Where the trace is now, if it is not where the report found it
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<String>,
    /// A class of Python that the report's scheme is of; of the wordline command that pip installs
    #[arg(long = "class", value_name = "py:FILE#CLASS")]
    pub(crate) classes: Vec<String>,
    /// Write a timeline of what happened while the first of them was in the drive, as `run --timeline` does
    #[arg(long, value_name = "FILE.json")]
    pub(crate) timeline: Option<PathBuf>,
    /// Write the stories as JSON to a file, or with - to standard output in place of the words
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct CheckLogArgs {
    /// A log of `wordline run --log`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The report of the same run, whose counts must agree
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}
