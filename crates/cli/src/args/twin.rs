//! `twin` and what it takes: the comments are the help texts.

use crate::args::values::pair;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use wordline_trace::Fit;
use wordline_units::Count;

#[derive(Subcommand, Debug)]
pub(crate) enum TwinCommand {
    /// Generate twins and compare their statistics with the tables that they are made from
    ///
    /// Exits with 1 if a statistic misses its criterion.
    Check(TwinCheckArgs),
    /// Fit a twin to a trace, so that it can be shared without the data, and report how close it is
    ///
    /// Works for any readable trace; the output and the file list what could not be fitted. Compares each
    /// figure of trace and twin, of the requests and on a drive, with a bound, and states what the twin can
    /// be used for.
    Fit(TwinFitArgs),
    /// Fit the common arrival times and sector alignment of traces of one workload class
    ///
    /// Fits the first half of each trace and tests on the second half: prints the lines for a twin file, then
    /// compares each second half with a twin that uses them.
    Class(TwinClassArgs),
}

#[derive(Args, Debug)]
pub(crate) struct TwinCheckArgs {
    /// Twin names (`wordline list workloads`), twin files, or all
    #[arg(value_name = "NAME", required = true)]
    pub(crate) names: Vec<String>,
    /// Generate only N requests per twin and omit the curves [default: all]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) requests: Option<Count>,
    /// Write the tables as Markdown and the plots with their data to DIR
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write the figures as JSON to FILE, or with - to standard output instead of the tables
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Args, Debug)]
pub(crate) struct TwinClassArgs {
    /// Traces of one workload class, as for --workload
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct TwinFitArgs {
    /// Trace, with optional options as for --workload
    #[arg(value_name = "FILE")]
    pub(crate) file: String,
    /// Force the trace format, as for --workload
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Write the twin to this file, for --workload
    #[arg(long, value_name = "TWIN.toml")]
    pub(crate) out: Option<String>,
    /// Overwrite an existing file
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Name of the twin
    #[arg(long, value_name = "TEXT", default_value = "fitted to a trace")]
    pub(crate) title: String,
    /// Drive on which trace and twin run: built-in device or device file [default: demo-8gb, enlarged as
    /// needed]
    #[arg(long, value_name = "DEV")]
    pub(crate) device: Option<String>,
    /// How to handle requests beyond the capacity: compact renumbers the pages that the trace touches, wrap
    /// takes addresses modulo the capacity [default: compact]
    #[arg(long, value_name = "HOW")]
    pub(crate) fit: Option<Fit>,
    /// Scheme for both runs
    #[arg(long, default_value = "slc-cache")]
    pub(crate) scheme: String,
    /// Set a key of the device
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}
