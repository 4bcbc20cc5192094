//! The tree of commands. The comments are the help texts.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use wordline_device::Interface;
use wordline_run::{EndOfLife, Files, Slowest, Window};
use wordline_units::{Bytes, CellMode, Count, Fraction, HostOp, Rate, SimDuration};
use wordline_workload::{Fit, NumberRange, Scale, Share};

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
    /// Run every combination of devices, workloads, schemes and settings, and show them in one table
    ///
    /// Runs go at once on all cores. Each that has ended is kept under the hash of its configuration, so
    /// that a sweep that was broken off goes on, and one with further values does only those. Needs
    /// Python: pip install 'wordline[sweep]'.
    Sweep(SweepArgs),
    /// Run the evaluation of a paper: its figures, its tables, and what came of each of its claims
    ///
    /// At full scale unless told otherwise. Runs that have ended are kept, as with sweep. Needs Python:
    /// pip install 'wordline[reproduce]'.
    Reproduce(ReproduceArgs),
    /// Draw the analytic model of a scheme on a device and workload, without a simulation
    ///
    /// The model of HySSD: what a page access costs at each utilisation of the faster medium, the hit rates
    /// that this rests on, and the utilisations of least cost and longest life. With --simulate, runs of fixed
    /// utilisations stand beside it. Needs Python: pip install 'wordline[reproduce]'.
    Model(ModelArgs),
    /// Repeat a workload on a drive until it wears out, under one scheme or several
    ///
    /// Blocks retire when their lives are used up, and the drive is over at the end that --end names. While it runs
    /// it says where each life heads and how long it may take; Ctrl-C stops it, and what was lived until then is
    /// written. Gives what can be written until then, drive writes a day, years, and how latency, retries, write
    /// amplification and capacity change as the drive ages. The device file must know the endurance of its
    /// flash.
    Lifetime(LifetimeArgs),
    /// Repeat a run from its report alone, and say whether the result is the same
    Rerun(RerunArgs),
    /// Tell why requests of a report's run took so long, in words, by doing the run again with a watcher
    ///
    /// Where each request's time went, from arrival to completion: what its plane, array or bus was at, since
    /// when and why. Every time in it is one of the operation log and of the timeline, to the nanosecond.
    Why(WhyArgs),
    /// Compare conventional and slc-cache on a small drive under a bursty workload
    Demo(DemoArgs),
    /// Check an operation log by the rules of flash, with a program apart from the engine
    CheckLog(CheckLogArgs),
    /// Synthetic twins of traces: hold them to their tables, or make one of a trace
    Twin {
        #[command(subcommand)]
        command: TwinCommand,
    },
    /// A drive of one's own: from a data sheet, from a file of MQSim or SSDSim, and a look at it
    Device {
        #[command(subcommand)]
        command: DeviceCommand,
    },
    /// Look at traces, convert them, and cut, scale, loop, shift, merge and sample them
    Trace {
        #[command(subcommand)]
        command: TraceCommand,
    },
    /// List what there is by name
    List(ListArgs),
    /// Explain a device, scheme, workload, trace format or key of a device file
    Explain(ExplainArgs),
    /// Hold the engine to theory and to recorded figures of another simulator
    ///
    /// Prints each quantity with their figure, ours, and how far apart the two may be. Ends with exit
    /// code 0 only if every row is within its tolerance or has its reason beside it. Needs Python:
    /// pip install 'wordline[validate]'.
    Validate(ValidateArgs),
    /// Print what a shell reads to complete commands, options and names
    ///
    /// For bash: wordline completions bash > ~/.local/share/bash-completion/completions/wordline. For zsh: to a file
    /// _wordline in a folder of $fpath. For fish: to ~/.config/fish/completions/wordline.fish.
    Completions(CompletionsArgs),
    /// Write a manual page of each command into a folder, for man -M or a package
    Man(ManArgs),
}

#[derive(Subcommand, Debug)]
pub(crate) enum TwinCommand {
    /// Make the requests of twins and print their figures beside the tables that they are made from
    ///
    /// Ends with exit code 1 if a figure is outside its criterion.
    Check(TwinCheckArgs),
    /// Make a twin of a trace, to be passed on without its data, and print how near it comes
    ///
    /// Any trace that can be read has one; what of it cannot be fitted is named, in the output and in the file.
    /// Each figure of trace and twin is held to a bound, of the requests and on a drive, and the last
    /// sentence says what the twin may stand for.
    Fit(TwinFitArgs),
}

#[derive(Subcommand, Debug)]
pub(crate) enum DeviceCommand {
    /// Write a device file from a few facts of a data sheet
    ///
    /// What is not given of capacity, cell, channels and interface is asked on a terminal. What a data sheet does
    /// not say is assumed: the file says so beside each value, and any of them can be changed in it.
    New(DeviceNewArgs),
    /// Make a device file of MQSim's ssdconfig.xml or SSDSim's page.parameters, and name what is not carried over
    Import(DeviceImportArgs),
    /// Draw the geometry of a device, and print what follows from its file: capacities, rates, latencies, tables
    Show(DeviceShowArgs),
}

#[derive(Args, Debug)]
pub(crate) struct DeviceNewArgs {
    /// The device file to write, or - for standard output; its name is the drive's
    #[arg(value_name = "FILE|-")]
    pub(crate) file: String,
    /// What the host sees: 1TB, 512GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) capacity: Option<Bytes>,
    /// Bits a cell holds: slc, mlc, tlc or qlc
    #[arg(long, value_parser = crate::device::cell)]
    pub(crate) cell: Option<CellMode>,
    /// Channels of the controller
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) channels: Option<u32>,
    /// The link to the host: sata3, pcie3x2, pcie3x4, pcie4x4, pcie5x4, or a rate such as 2000MB/s
    #[arg(long)]
    pub(crate) interface: Option<Interface>,
    /// Flash beyond what the host sees, as a share of that [assumed: 7%]
    #[arg(long, value_name = "SHARE")]
    pub(crate) over_provisioning: Option<Fraction>,
    /// Bytes of a page [assumed: 16KiB]
    #[arg(long, value_name = "SIZE")]
    pub(crate) page: Option<Bytes>,
    /// Rate of a channel, such as 1600MT/s [assumed: 1200MT/s]
    #[arg(long, value_name = "RATE")]
    pub(crate) bus: Option<Rate>,
    /// Time to sense a page [assumed: usual for the cell]
    #[arg(long, value_name = "TIME")]
    pub(crate) read: Option<SimDuration>,
    /// Time to program all pages of a wordline [assumed: usual for the cell]
    #[arg(long, value_name = "TIME")]
    pub(crate) program: Option<SimDuration>,
    /// Sequential writes past any cache, from which the time of a program follows
    #[arg(long, value_name = "RATE", conflicts_with = "program")]
    pub(crate) write_rate: Option<Rate>,
    /// Time to erase a block [assumed: usual for the cell]
    #[arg(long, value_name = "TIME")]
    pub(crate) erase: Option<SimDuration>,
    /// Cycles that a block endures [assumed: usual for the cell]
    #[arg(long, value_name = "CYCLES")]
    pub(crate) endurance: Option<u32>,
    /// A static SLC cache of so much data
    #[arg(long, value_name = "SIZE")]
    pub(crate) slc_cache: Option<Bytes>,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DeviceImportArgs {
    /// ssdconfig.xml of MQSim or page.parameters of SSDSim, told apart by what is in it
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// The device file to write; its name is the drive's
    #[arg(value_name = "DEVICE.toml|-", default_value = "-")]
    pub(crate) to: String,
    /// Replace a file that is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct DeviceShowArgs {
    /// A built-in device (`wordline list devices`) or the path of a device file
    #[arg(value_name = "DEV")]
    pub(crate) device: String,
    /// Change a key of the device before it is shown
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
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
    /// The drive on which trace and twin are run: a built-in device or the path of a device file [default:
    /// demo-8gb, made as large as they need]
    #[arg(long, value_name = "DEV")]
    pub(crate) device: Option<String>,
    /// What to do with requests beyond the drive: compact renumbers the pages that the trace touches, wrap
    /// lays addresses over one another [default: compact]
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<Fit>,
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
    /// Write a trace in another format, or in Wordline's own, which keeps everything and reads fastest
    Convert(ConvertArgs),
    /// Keep a part of a trace: a stretch of time, some requests, one volume
    Cut(CutArgs),
    /// Stretch or squeeze the times of a trace, and its addresses
    Scale(ScaleArgs),
    /// Repeat a trace, one round behind the other
    Loop(LoopArgs),
    /// Let a trace begin later, and at a higher address
    Shift(ShiftArgs),
    /// Merge traces by time; volumes of different traces stay apart
    Merge(MergeArgs),
    /// Keep a random sample of a trace: of its requests, or of the pages that they touch
    Sample(SampleArgs),
}

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
    /// The most requests to issue, such as 100000 or 1M
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<Count>,
    /// The drive before the first request: fresh, preload, fill:90%[,order=seq|random][,valid=80%], steady,
    /// aged_invalid:70%, aged_blocks:70%, aged_windows, pe:tlc=500; several joined by +
    #[arg(long, default_value = wordline_run::DEFAULT_INITIAL, value_name = "STATE")]
    pub(crate) initial: String,
    /// Begin with the drive as the workload leaves it in the long run: --initial steady
    #[arg(long, conflicts_with_all = ["initial", "from_state"])]
    pub(crate) steady_state: bool,
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
    /// A scheme, perhaps with parameters; give it several times, the baseline first. `all-compatible` stands
    /// for every one that the device admits, and those that it refuses are named with the reason
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    pub(crate) schemes: Vec<String>,
    #[command(flatten)]
    pub(crate) to: Where,
}

#[derive(Args, Debug)]
pub(crate) struct LifetimeArgs {
    #[command(flatten)]
    pub(crate) what: What,
    /// A scheme, perhaps with parameters; give it several times, the baseline first
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    pub(crate) schemes: Vec<String>,
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
    /// The most requests to issue
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<Count>,
}

#[derive(Args, Debug)]
pub(crate) struct RerunArgs {
    /// A report.json, or a comparison.json, of which every run is repeated; a folder with one of them, or the
    /// page beside it
    pub(crate) report: PathBuf,
    /// Where the trace is now, if it is not where the report found it
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<String>,
    /// Write the new report as JSON to a file, or with - to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct WhyArgs {
    /// A report.json, or a comparison.json with --scheme; a folder with one of them, or the page beside it
    pub(crate) report: PathBuf,
    /// Numbers of requests, counted from 0, as `run --completions` has them
    #[arg(value_name = "N")]
    pub(crate) numbers: Vec<u64>,
    /// Sum up what so many of the slowest reads and writes waited for, beside all of them: 10, or 0.1%
    /// [default: 0.1%, where none is named]
    #[arg(long, value_name = "K|SHARE", conflicts_with = "numbers")]
    pub(crate) slowest: Option<Slowest>,
    /// Tell the stories of so many of the slowest, 0 to 1000 [default: K, or 3 of a share]
    #[arg(long, value_name = "N", conflicts_with = "numbers", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub(crate) stories: Option<u16>,
    /// Of the slowest, only reads, writes, trims or flushes
    #[arg(long, value_name = "OP", conflicts_with = "numbers")]
    pub(crate) op: Option<HostOp>,
    /// Which run of a comparison, by its scheme as the report spells it
    #[arg(long)]
    pub(crate) scheme: Option<String>,
    /// Where the trace is now, if it is not where the report found it
    #[arg(long, value_name = "FILE")]
    pub(crate) workload: Option<String>,
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
    /// Write a page with pictures of footprint, reuse, LRU hit curve, sizes, arrivals and hot spots into
    /// this folder, each as SVG with its data as CSV beside it, and the JSON
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// A trace that is read to be written.
#[derive(Args, Debug)]
pub(crate) struct From {
    /// A trace file, a folder or tar archive of them, several joined by +, or - for standard input;
    /// options follow a colon: trace.csv:volume=usr.1,skip=bad
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Insist on a format to read (`wordline list formats`), perhaps with options of its own
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
}

/// A trace that is written.
#[derive(Args, Debug)]
pub(crate) struct To {
    /// The file to write, or - for standard output; .gz, .zst, .bz2, .xz and .lz4 compress it
    #[arg(value_name = "OUT")]
    pub(crate) out: String,
    /// The format to write, perhaps with options of its own: 'five-columns:time=us',
    /// 'csv:time=When:us,offset=LBA:sector' [default: as OUT ends, such as .wl, .msr, .blkparse]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<String>,
    /// Leave out what the format cannot keep, and say what that was; without this nothing is written
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Replace OUT if it is there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
}

#[derive(Args, Debug)]
pub(crate) struct CutArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// Begin at this time after the first request, such as 10min
    #[arg(long = "from", value_name = "TIME", id = "from_time")]
    pub(crate) from_time: Option<SimDuration>,
    /// End before this time after the first request
    #[arg(long = "until", value_name = "TIME")]
    pub(crate) until: Option<SimDuration>,
    /// Keep requests by number, counted from 0; the second is not among them: 0..1000, 1M.., ..500k
    #[arg(long, value_name = "A..B")]
    pub(crate) requests: Option<NumberRange>,
    /// Keep one volume; --requests then counts its requests
    #[arg(long, value_name = "LABEL")]
    pub(crate) volume: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct ScaleArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// Multiply the times since the first request: 2 takes twice as long, 0.5 half
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub(crate) time: Scale,
    /// Multiply addresses, in extents of 1 MiB: what lies within an extent stays as it is, lengths too.
    /// With 0.5 each two neighbours come to lie on one another, with 2 every second one is empty
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub(crate) footprint: Scale,
}

#[derive(Args, Debug)]
pub(crate) struct LoopArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// How often the trace goes round
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) times: u32,
    /// From the last request of a round to the first of the next [default: the mean time between
    /// requests]
    #[arg(long, value_name = "TIME")]
    pub(crate) gap: Option<SimDuration>,
}

#[derive(Args, Debug)]
pub(crate) struct ShiftArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// Add this to every time, such as 5s
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<SimDuration>,
    /// Add this to every address, such as 1GiB; a multiple of 512 B
    #[arg(long, value_name = "SIZE")]
    pub(crate) offset: Option<Bytes>,
}

#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Two traces or more, perhaps each with options
    #[arg(value_name = "FILE", required = true, num_args = 2..)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) to: To,
    /// How the clocks of the traces are set
    #[arg(long, value_name = "HOW", value_enum, default_value = "clocks")]
    pub(crate) align: AlignArg,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum AlignArg {
    /// As the traces have them
    Clocks,
    /// Every trace begins at 0
    Starts,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("of").required(true))]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// Keep so many of the requests, each by chance, such as 10%
    #[arg(long, value_name = "SHARE", group = "of")]
    pub(crate) requests: Option<Share>,
    /// Keep so many of all 4 KiB pages, chosen by a hash as in SHARDS, and what goes to them: the
    /// sample is to a cache of that share of the size what the trace is to the whole
    #[arg(long, value_name = "SHARE", group = "of")]
    pub(crate) pages: Option<Share>,
    /// The seed of the choice
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
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
    /// The name of a device, scheme, workload or format, a table or key of a device file (gc, gc.victim,
    /// device-files for all), or the path of a device file
    pub(crate) name: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Shell {
    /// Bash, 4.4 or newer
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The folder, which is made if need be: wordline.1, wordline-run.1, ...
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    /// A built-in device or the path of a device file; give it several times to compare
    #[arg(long = "device", value_name = "DEV", required = true)]
    pub(crate) devices: Vec<String>,
    /// A workload, as for run; give it several times
    #[arg(long = "workload", value_name = "FILE|NAME", required = true)]
    pub(crate) workloads: Vec<String>,
    /// A scheme, perhaps with parameters; give it several times. `all-compatible` stands for every one; those
    /// that a device refuses are rows with the reason
    #[arg(long = "scheme", value_name = "SCHEME", required = true)]
    pub(crate) schemes: Vec<String>,
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
    /// The most requests to issue in each run, such as 100000 or 1M
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<Count>,
    /// What to do with requests beyond the drive: error, wrap or compact
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<String>,
    /// A folder with original traces, as for run
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    /// Recount every invariant of the drive after each run
    #[arg(long)]
    pub(crate) check: bool,
    /// Runs that go at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Where the page, the tables, the picture and the reports of all runs go
    #[arg(long, value_name = "DIR", default_value = "out/sweep")]
    pub(crate) out: PathBuf,
}

#[derive(Args, Debug)]
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
    pub(crate) requests: Option<Count>,
    /// What to do with requests beyond the drive: error, wrap or compact
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<String>,
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
    pub(crate) out: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ReproduceArgs {
    /// The paper: hierarchy, hyssd, ips, pa-ssd or raro; `all` for one after the other and an overview of
    /// their claims; `overview` for that alone, of the pages that there are; `fair` for the table of all schemes
    /// on two common drives
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
    /// Divide the drive, the footprint and the length of the workloads by this
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) scale: u32,
    /// A folder with real traces: those that belong to the paper are run, too, and stand beside their twins
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<String>,
    /// Runs that go at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Where the page, the figures, claims.json and the reports of all runs go; with `all` and `overview` the
    /// folder of the papers' folders [default: out/PAPER, or out]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
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
