//! `trace` and what it takes: the comments are the help texts.

use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use wordline_trace::{NumberRange, Scale, Share};
use wordline_units::{Bytes, SimDuration};

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
