//! `trace` and what it takes: the comments are the help texts.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use wordline_trace::{NumberRange, Scale, Share};
use wordline_units::{Bytes, SimDuration};

#[derive(Subcommand, Debug)]
pub(crate) enum TraceCommand {
    /// Detect the format of a trace, summarize its contents and list the lines that cannot be used
    Inspect(InspectArgs),
    /// Convert a trace to another format, or to Wordline's own, which keeps everything and reads fastest
    Convert(ConvertArgs),
    /// Cut out a part of a trace: a time range, some requests, one volume
    Cut(CutArgs),
    /// Scale the times or the addresses of a trace
    Scale(ScaleArgs),
    /// Repeat a trace several times in a row
    Loop(LoopArgs),
    /// Shift a trace to a later time or a higher address
    Shift(ShiftArgs),
    /// Merge traces by time; volumes of different traces stay separate
    Merge(MergeArgs),
    /// Sample a trace at random, by request or by page
    Sample(SampleArgs),
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// Trace, with optional options as for --workload; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Force the trace format (`wordline list formats`), with optional options; csv reads any table:
    /// 'csv:time=Start (s),offset=Offset:hex,size=Length,op=Type'
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Write the result as JSON to FILE, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
    /// Write an HTML page with plots of footprint, reuse, LRU hit curve, sizes, arrivals and hot spots to
    /// DIR, with each plot as SVG, its data as CSV, and the JSON
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// A trace to convert.
#[derive(Args, Debug)]
pub(crate) struct From {
    /// Trace file, folder or tar archive of traces (join several with +), or - for standard input; options
    /// follow a colon: trace.csv:volume=usr.1,skip=bad
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Force the format of the input (`wordline list formats`), with optional options
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
}

/// The converted trace.
#[derive(Args, Debug)]
pub(crate) struct To {
    /// File to write, or - for standard output; .gz, .zst, .bz2, .xz and .lz4 compress it
    #[arg(value_name = "OUT")]
    pub(crate) out: String,
    /// Output format, with optional options: 'five-columns:time=us', 'csv:time=When:us,offset=LBA:sector'
    /// [default: by the extension of OUT, such as .wl, .msr, .blkparse]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<String>,
    /// Drop what the output format cannot represent, and list it; without this option nothing is written
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Overwrite OUT if it exists
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
#[command(group = clap::ArgGroup::new("part").args(["from_time", "until", "requests", "volume"]).required(true).multiple(true))]
pub(crate) struct CutArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// Start at this time, counted from the first request, such as 10min
    #[arg(long = "from", value_name = "TIME", id = "from_time")]
    pub(crate) from_time: Option<SimDuration>,
    /// Stop before this time, counted from the first request
    #[arg(long = "until", value_name = "TIME")]
    pub(crate) until: Option<SimDuration>,
    /// Keep requests by number, counted from 0, the end excluded: 0..1000, 1M.., ..500k
    #[arg(long, value_name = "A..B")]
    pub(crate) requests: Option<NumberRange>,
    /// Keep one volume; --requests then counts the requests of that volume
    #[arg(long, value_name = "LABEL")]
    pub(crate) volume: Option<String>,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("by").args(["time", "footprint"]).required(true).multiple(true))]
pub(crate) struct ScaleArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// Multiply the time since the first request: 2 doubles the duration, 0.5 halves it
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub(crate) time: Scale,
    /// Multiply addresses in units of 1 MiB extents; offsets within an extent and lengths do not change. 0.5
    /// maps two neighboring extents onto one, 2 leaves every second extent empty
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub(crate) footprint: Scale,
}

#[derive(Args, Debug)]
pub(crate) struct LoopArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// Number of repetitions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) times: u32,
    /// Gap between the last request of a repetition and the first of the next [default: mean interarrival
    /// time]
    #[arg(long, value_name = "TIME")]
    pub(crate) gap: Option<SimDuration>,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("by").args(["time", "offset"]).required(true).multiple(true))]
pub(crate) struct ShiftArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// Offset to add to every time, such as 5s
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<SimDuration>,
    /// Offset to add to every address, such as 1GiB; a multiple of 512 B
    #[arg(long, value_name = "SIZE")]
    pub(crate) offset: Option<Bytes>,
}

#[derive(Args, Debug)]
pub(crate) struct MergeArgs {
    /// Two or more traces, each with optional options
    #[arg(value_name = "FILE", required = true, num_args = 2..)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) to: To,
    /// Clock alignment of the traces
    #[arg(long, value_name = "HOW", value_enum, default_value = "clocks")]
    pub(crate) align: AlignArg,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum AlignArg {
    /// Keep the times of the traces
    Clocks,
    /// Start every trace at 0
    Starts,
}

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("of").required(true))]
pub(crate) struct SampleArgs {
    #[command(flatten)]
    pub(crate) from: From,
    #[command(flatten)]
    pub(crate) to: To,
    /// Keep this share of the requests, chosen at random, such as 10%
    #[arg(long, value_name = "SHARE", group = "of")]
    pub(crate) requests: Option<Share>,
    /// Keep this share of the 4 KiB pages, chosen by hash as in SHARDS, and their requests; a cache scaled by
    /// the same share sees the hit rate of the full trace
    #[arg(long, value_name = "SHARE", group = "of")]
    pub(crate) pages: Option<Share>,
    /// Seed of the sample
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED)]
    pub(crate) seed: u64,
}
