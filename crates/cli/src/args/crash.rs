//! `crash`: the comments are the help texts.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use wordline_units::{Bytes, SimDuration};
use wordline_volatile::{Atomic, Broken};

#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    group = clap::ArgGroup::new("writes").args(["run", "log"]).required(true)
)]
pub(crate) struct CrashArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CrashCommand>,
    /// Run CMD once on an empty drive in RAM and record what it sends. {uri} is the drive's NBD address, {socket} the path of
    /// its unix socket. Each line that CMD prints is a mark: what it claims to be durable by then
    #[arg(long, value_name = "CMD")]
    pub(crate) run: Option<String>,
    /// Take the writes from FILE instead: a log of --save, or one of dm-log-writes
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Check one crash state with CMD, which exits with 0 if all is well. {image} is the drive as a sparse file, {uri} and
    /// {socket} the same drive over NBD, {acked} a file with the marks before the cut, a line each
    #[arg(long, value_name = "CMD", required = true)]
    pub(crate) check: Option<String>,
    /// The most states to check. Equal states count once
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) states: u64,
    /// The seed from which states are drawn when all others are checked
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Check one state by the name that a failure has printed, and print its story
    #[arg(long, value_name = "NAME", conflicts_with_all = ["drop_flushes", "broken", "run"])]
    pub(crate) state: Option<String>,
    /// Ignore each FLUSH and FUA of the log in turn. One that the check does not notice costs time for nothing; a check that
    /// notices none of them tests nothing
    #[arg(long)]
    pub(crate) drop_flushes: bool,
    /// Check states of broken drives instead, which no standard permits: shorn, garbage, rollback, misdirected, phantom;
    /// several joined by commas
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(crate) broken: Vec<Broken>,
    /// Contents of the drive before --run, which no cut undoes, as of mkfs on a file [default: zeroes]
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    pub(crate) image: Option<PathBuf>,
    /// Size of the drive that --run sees
    #[arg(long, value_name = "SIZE", default_value = "64MiB", conflicts_with = "log")]
    pub(crate) size: Bytes,
    /// Sector of that drive, which is never torn
    #[arg(long, value_name = "SIZE", default_value = "512B", conflicts_with = "log")]
    pub(crate) sector: Bytes,
    /// A write of at most SIZE that crosses no boundary is all old or all new after a power cut (NVMe AWUPF, NABSPF); larger
    /// writes are torn at any sector [default: one sector]
    #[arg(long, value_name = "SIZE[,boundary=SIZE]")]
    pub(crate) atomic: Option<Atomic>,
    /// How long --run, and each --check, may take
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) timeout: SimDuration,
    /// Number of checks in parallel [default: the number of cores]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Write the log of --run to FILE [default: wordline-crash.log, if a state fails]
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    pub(crate) save: Option<PathBuf>,
    /// Write the result as JSON to a file, or with - to standard output in place of the text
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum CrashCommand {
    /// Convert a log of `wordline crash --save` to the format of dm-log-writes, or one of that format to ours
    ///
    /// The format of dm-log-writes has no connections and no time in flight: a FLUSH that no client waited for, and
    /// writes that were in flight when a FLUSH arrived, are lost on the way.
    Convert(ConvertArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ConvertArgs {
    /// The log to read
    #[arg(value_name = "FILE")]
    pub(crate) from: PathBuf,
    /// The log to write, in the other format
    #[arg(value_name = "OUT")]
    pub(crate) to: PathBuf,
    /// Size of the drive, for a log of dm-log-writes, which does not have it [default: up to the last sector written]
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
}
