//! The tree of commands. The comments are the help texts.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use wordline_units::Count;
use wordline_workload::Fit;

/// An open laboratory for hybrid-flash SSDs: replay a workload on a drive under a scheme, and see
/// latency, write amplification and wear.
#[derive(Parser, Debug)]
#[command(
    name = "wordline",
    bin_name = "wordline",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Run several schemes on one device and workload, and show them side by side
    Compare(CompareArgs),
    /// Run one scheme
    Run(RunArgs),
    /// Repeat a run from its report alone, and say whether the result is the same
    Rerun(RerunArgs),
    /// Compare conventional and slc-cache on a small drive under a bursty workload
    Demo(DemoArgs),
    /// Check an operation log by the rules of flash, with a program apart from the engine
    CheckLog(CheckLogArgs),
    /// Synthetic twins of traces: hold them to their tables, or make one of a trace
    Twin {
        #[command(subcommand)]
        command: TwinCommand,
    },
    /// Look at traces
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// List what there is by name
    List(ListArgs),
    /// Explain a device, scheme, workload or trace format
    Explain(ExplainArgs),
    /// Hold the engine to theory and to recorded figures of another simulator
    ///
    /// Prints each quantity with their figure, ours, and how far apart the two may be. Ends with exit
    /// code 0 only if every row is within its tolerance or has its reason beside it. Needs Python:
    /// pip install 'wordline[validate]'.
    Validate(ValidateArgs),
}

#[derive(Subcommand, Debug)]
pub(crate) enum TwinCommand {
    /// Make the requests of twins and print their figures beside the tables that they are made from
    ///
    /// Ends with exit code 1 if a figure is outside its criterion.
    Check(TwinCheckArgs),
    /// Make a twin of a trace, to be passed on without its data, and print how near it comes
    Fit(TwinFitArgs),
}

#[derive(Args, Debug)]
pub(crate) struct TwinCheckArgs {
    /// Names of twins (`wordline list workloads`), files of twins, or all
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Make only so many requests of each, and none of the curves [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<Count>,
    /// Write the tables as Markdown and the pictures with their data into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the figures as JSON to a file, or with - to standard output in place of the tables
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct TwinFitArgs {
    /// A trace, perhaps with options as for --workload
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Insist on a trace format, as for --workload
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Write the twin to this file, for --workload
    #[arg(long, value_name = "TWIN.toml")]
    pub(crate) out: Option<String>,
    /// What the twin is called
    #[arg(long, value_name = "TEXT", default_value = "fitted to a trace")]
    pub(crate) title: String,
    /// The drive on which trace and twin are run: a built-in device or the path of a device file
    #[arg(long, value_name = "DEV", default_value = "demo-8gb")]
    pub(crate) device: String,
    /// The scheme under which they are run
    #[arg(long, default_value = "slc-cache")]
    pub(crate) scheme: String,
    /// Change a key of the device
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum TraceCommand {
    /// Say what a trace is, why, and what is in it; show the lines that cannot be used
    Inspect(InspectArgs),
}

#[derive(Args, Debug)]
pub(crate) struct What {
    /// A built-in device (`wordline list devices`) or the path of a device file
    #[arg(long, value_name = "DEV")]
    pub(crate) device: String,
    /// A trace file, a folder or tar archive of them, several joined by +, - for standard input, or a
    /// built-in workload or a twin (`wordline list workloads`), or a twin's own file;
    /// options follow a colon: zipf:theta=1.1,read=70% or trace.csv:speedup=10
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
    /// The most requests to issue, such as 100000 or 1M
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<Count>,
    /// The drive before the first request: fresh, preload, fill:90%[,order=seq|random][,valid=80%],
    /// aged_invalid:70%, pe:tlc=500; several joined by +
    #[arg(long, default_value = wordline_run::DEFAULT_INITIAL, value_name = "STATE")]
    pub(crate) initial: String,
    /// Begin with the drive that --save-state wrote: what it holds and its wear; time and counts begin
    /// at zero. Device and scheme must be those it was saved with
    #[arg(long, value_name = "FILE", conflicts_with = "initial")]
    pub(crate) from_state: Option<String>,
    /// What to do with requests beyond the drive: error, wrap or compact
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
    /// Write every use of an array and a bus as CSV while running, for `wordline check-log`; names
    /// in .gz and .zst are compressed
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Write a line of CSV for every request that ends
    #[arg(long, value_name = "FILE")]
    pub(crate) completions: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) what: What,
    /// A scheme, perhaps with parameters; give it several times, the baseline first
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    pub(crate) schemes: Vec<String>,
    #[command(flatten)]
    pub(crate) to: Where,
}

#[derive(Args, Debug)]
pub(crate) struct DemoArgs {
    /// Where the report goes
    #[arg(long, value_name = "DIR", default_value = "out/demo")]
    pub(crate) out: PathBuf,
    /// The most requests to issue
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<Count>,
}

#[derive(Args, Debug)]
pub(crate) struct RerunArgs {
    /// A report.json, or a comparison.json, of which every run is repeated
    pub(crate) report: PathBuf,
    /// Where the trace is now, if it is not where the report found it
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<String>,
    /// Write the new report as JSON to a file, or with - to standard output
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

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// A trace, perhaps with options as for --workload; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Insist on a format (`wordline list formats`), perhaps with options of its own; csv reads any
    /// table: 'csv:time=Start (s),offset=Offset:hex,size=Length,op=Type'
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Write what was found as JSON to a file, or with - to standard output in place of the page
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Kind {
    /// Drives that come with Wordline
    Devices,
    /// What decides where data go
    Schemes,
    /// Built-in workloads
    Workloads,
    /// Trace formats that are recognised
    Formats,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// What to list
    pub(crate) kind: Kind,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainArgs {
    /// The name of a device, scheme, workload or format, or the path of a device file
    pub(crate) name: String,
}

#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    /// Fewer and smaller rows, in about a minute
    #[arg(long)]
    pub(crate) quick: bool,
    /// Only rows whose id matches, such as latency or 'waf-greedy-*'
    #[arg(long, value_name = "PATTERN")]
    pub(crate) only: Option<String>,
    /// Write the page, its picture and the data into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Hold it to the claims in this file instead of the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) claims: Option<PathBuf>,
}

/// `KEY=VALUE`.
fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => {
            Ok((key.trim().to_string(), value.trim().to_string()))
        }
        _ => Err("this is not KEY=VALUE, as in gc.victim=fifo".to_string()),
    }
}
