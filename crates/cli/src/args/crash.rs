//! `crash`: the comments are the help texts.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use wordline_crash::FileSystem;
use wordline_units::{Bytes, SimDuration};
use wordline_volatile::{Atomic, BrokenKind};

#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    group = clap::ArgGroup::new("writes").args(["run", "log"]).required(true)
)]
pub(crate) struct CrashArgs {
    #[command(subcommand)]
    pub(crate) command: Option<CrashCommand>,
    /// Run CMD once on an empty drive in RAM and record its requests. {uri} is the drive's NBD address, {socket} the path of
    /// its unix socket, {image} the drive as a file (by nbdfuse), {mnt} the folder of --mount. Each line that CMD prints is a
    /// mark: it claims that what the line names is durable by then
    #[arg(long, value_name = "CMD")]
    pub(crate) run: Option<String>,
    /// Take the writes from FILE instead: a log of --save, or one of dm-log-writes
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Check one crash state with CMD, which exits with 0 if all is well. {image} is the drive as a sparse file, {uri} and
    /// {socket} the same drive over NBD, {mnt} its file system mounted, {acked} a file with the marks before the cut, a line
    /// each
    #[arg(long, value_name = "CMD", required = true)]
    pub(crate) check: Option<String>,
    /// Run CMD of --check once per thread instead of once per state. For each state it reads a line from standard input and
    /// writes a line to standard output: ok, or what is wrong. The placeholders keep their paths; each state replaces the files
    #[arg(long)]
    pub(crate) persistent: bool,
    /// Maximum number of states to check. Equal states count once; over NBD, so do states that differ only in sectors that the
    /// check does not read
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub(crate) states: u64,
    /// The seed from which states are drawn when all others are checked
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Check one state by the name that a failure has printed, and print its story
    #[arg(long, value_name = "NAME", conflicts_with_all = ["drop_flushes", "broken", "run"])]
    pub(crate) state: Option<String>,
    /// Ignore each FLUSH and FUA of the log in turn. If the check still passes, that one may be unnecessary; a check that
    /// passes without any of them tests nothing
    #[arg(long)]
    pub(crate) drop_flushes: bool,
    /// Check states of broken drives, which no standard permits; several kinds joined by commas. After a power cut: shorn,
    /// garbage, rollback[:SECTORS], misdirected, phantom, dropped-flush. Faults to inject, each in P % of the requests that it can hit
    /// (default 10): read-error[:P%], half-write, failed-flush, latent-error, slow, corrupt; each session runs CMD of --run
    /// again
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub(crate) broken: Vec<BrokenKind>,
    /// Maximum number of sessions with faults injected while the drive serves
    #[arg(long, value_name = "N", default_value_t = 24)]
    pub(crate) sessions: u64,
    /// As root, make a file system on the drive (or take that of --image) and mount it by nbdfuse and a loop device, before the
    /// recording: ext4 or xfs, with options of mount
    #[arg(long, value_name = "FS[,OPTION]")]
    pub(crate) mount: Option<FileSystem>,
    /// Option of mkfs for --mount; repeatable
    #[arg(
        long,
        value_name = "OPTION",
        allow_hyphen_values = true,
        requires = "mount",
        conflicts_with = "image"
    )]
    pub(crate) mkfs: Vec<String>,
    /// For each state, send the log to a simulated drive, cut its power and let it recover: --device and --scheme. A state
    /// fails, too, if durable sectors have changed
    #[arg(long, requires = "device", conflicts_with_all = ["drop_flushes", "broken"])]
    pub(crate) through_drive: bool,
    /// Built-in device (`wordline list devices`) or device file of that drive
    #[arg(long, value_name = "DEV", requires = "through_drive")]
    pub(crate) device: Option<String>,
    /// Scheme of that drive (`wordline list schemes`)
    #[arg(long, default_value = "slc-cache", requires = "through_drive")]
    pub(crate) scheme: String,
    /// File with the contents of the drive before --run, such as an empty file system; no cut undoes them [default: zeroes]
    #[arg(long, value_name = "FILE", conflicts_with = "log")]
    pub(crate) image: Option<PathBuf>,
    /// Size of the drive that --run sees [default: 64MiB, or the least that mkfs of --mount takes]
    #[arg(long, value_name = "SIZE", conflicts_with = "log")]
    pub(crate) size: Option<Bytes>,
    /// Sector size of that drive; no sector is ever torn [default: 512B, with --mount 4KiB]
    #[arg(long, value_name = "SIZE", conflicts_with = "log")]
    pub(crate) sector: Option<Bytes>,
    /// A write of at most SIZE that crosses no boundary is all old or all new after a power cut (NVMe AWUPF, NABSPF); larger
    /// writes are torn at any sector [default: one sector]
    #[arg(long, value_name = "SIZE[,boundary=SIZE]")]
    pub(crate) atomic: Option<Atomic>,
    /// Time limit of --run, and of each --check
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) timeout: SimDuration,
    /// Number of checks in parallel [default: the number of cores, and three times that with a check of {mnt}, which waits for
    /// the kernel]
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
    /// Convert a log of `wordline crash --save` to the format of dm-log-writes, or back
    ///
    /// The format of dm-log-writes has no connections and no time in flight: a FLUSH that no client waited for, and
    /// writes that were in flight when a FLUSH arrived, are lost in the conversion.
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
