//! `serve` and `ctl`: the comments are the help texts.

use crate::args::values::pair;
use clap::Args;
use std::path::PathBuf;
use wordline_live::{Address, TimeScale};
use wordline_units::{Bytes, SimDuration};
use wordline_volatile::{Atomic, PowerLoss};

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("where").args(["nbd", "tcp"]).required(true).multiple(true))]
pub(crate) struct ServeArgs {
    /// A built-in device (`wordline list devices`) or the path of a device file
    #[arg(long, value_name = "DEV")]
    pub(crate) device: String,
    /// The scheme (`wordline list schemes`), perhaps with parameters: slc-cache:static_blocks=16
    #[arg(long)]
    pub(crate) scheme: String,
    /// Serve at a unix socket: unix:/tmp/d.sock; may be given several times
    #[arg(long, value_name = "unix:PATH")]
    pub(crate) nbd: Vec<Address>,
    /// Serve over TCP, at a port of the loopback or at HOST:PORT, as in 127.0.0.1:10809; whoever reaches it may read
    /// and write the drive
    #[arg(long, value_name = "[HOST:]PORT", value_parser = Address::tcp)]
    pub(crate) tcp: Vec<Address>,
    /// Make a socket for `wordline ctl`
    #[arg(long, value_name = "PATH")]
    pub(crate) control: Option<PathBuf>,
    /// Wall time that a second of the drive takes, in seconds: 10 is ten times slower than the model, 0.1 as much faster,
    /// 0 answers at once
    #[arg(long, value_name = "X", default_value = "1", allow_negative_numbers = true)]
    pub(crate) time_scale: TimeScale,
    /// The drive before the first request: fresh, fill:90%[,order=seq|random][,valid=80%], aged_invalid:70%,
    /// aged_blocks:70%, pe:tlc=500, retention:30d; several joined by +. What it holds then reads as zeroes
    #[arg(long, default_value = "fresh", value_name = "STATE")]
    pub(crate) initial: String,
    /// Acknowledge writes without FUA from a volatile cache of this size. A power cut may lose whatever was not flushed
    /// [default: as the device acknowledges, which a power cut does not undo]
    #[arg(long, value_name = "SIZE")]
    pub(crate) write_cache: Option<Bytes>,
    /// What a power cut leaves of what was not flushed. any: each sector, independently, its durable version or any later
    /// one; none: nothing acknowledged is lost; fifo: a suffix of the acknowledged writes is lost; window:N: a write may be
    /// lost only while fewer than N later ones are acknowledged; all: everything since the last FLUSH is lost
    #[arg(long, value_name = "MODEL", default_value = "any", requires = "write_cache")]
    pub(crate) power_loss: PowerLoss,
    /// A write of at most SIZE that crosses no boundary is all old or all new after a power cut (NVMe AWUPF, NABSPF);
    /// larger writes are torn at any sector [default: one sector]
    #[arg(long, value_name = "SIZE[,boundary=SIZE]", requires = "write_cache")]
    pub(crate) atomic: Option<Atomic>,
    /// Refuse what would change it: WRITE, TRIM and WRITE_ZEROES. Its forks can be written to
    #[arg(long)]
    pub(crate) read_only: bool,
    /// How long before an instant a thread stops sleeping and spins, so that an answer leaves in time, and for how long one
    /// that has answered everything looks for more before it sleeps; 0ns never spins
    #[arg(long, value_name = "TIME", default_value = "50us")]
    pub(crate) spin: SimDuration,
    /// Change a key of the device (gc.trigger=free_blocks:5%) or of the scheme (scheme.when_full=wait)
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
    /// The seed from which every random stream is derived
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Keep the drive in this folder, which is made where there is none: it is there when the server ends, however that is,
    /// and starts by the model's recovery when it is served again
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// What waits until the folder is on its disk: FLUSH and writes with FUA, or every reply. All else outlives the server,
    /// and not the system that it runs on
    #[arg(long, value_enum, value_name = "WHEN", default_value = "flush", requires = "data")]
    pub(crate) sync: Sync,
    /// Write every request, power cut and order of the control socket in the drive's time and order into this folder,
    /// for `wordline rerun DIR`
    #[arg(long, value_name = "DIR")]
    pub(crate) session: Option<PathBuf>,
    /// Write what clients were given as JSON to a file, or with - to standard output in place of the table
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

/// What waits until the folder is on its disk.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sync {
    /// FLUSH, and writes with FUA.
    Flush,
    /// Every reply.
    Reply,
}

#[derive(Args, Debug)]
pub(crate) struct CtlArgs {
    /// The socket of `wordline serve --control`
    pub(crate) path: PathBuf,
    /// What to do: stats; cut [seed=N], cut writes=N [seed=N], cut flushes=N [seed=N], cut seed=N within=TIME; mark TEXT; inject read-error
    /// [offset=BYTES] [length=BYTES] [count=N], inject early-flush [count=N], inject no-space [count=N],
    /// inject slow-die die=N factor=N, inject retire block=N, inject clear; set time-scale=X;
    /// snapshot NAME, drop NAME; fork [NAME] nbd=unix:PATH [control=PATH] [time-scale=X]
    #[arg(value_name = "ORDER", required = true)]
    pub(crate) order: Vec<String>,
}
