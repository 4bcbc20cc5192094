//! `twin` and what it takes: the comments are the help texts.

use crate::args::values::pair;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use wordline_trace::Fit;
use wordline_units::Count;

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
    /// Fit what traces of one kind of workload have in common in when they ask and where within a page
    ///
    /// Fitted to the first half of the time of each trace, and judged on the second: the lines for a twin's file, then
    /// each second half beside a twin that has them.
    Class(TwinClassArgs),
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
pub(crate) struct TwinClassArgs {
    /// Traces of one class of workload, as `--workload` takes them
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<String>,
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
