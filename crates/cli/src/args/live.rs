//! `serve` and `ctl`: the comments are the help texts.

use crate::args::values::pair;
use clap::Args;
use std::path::PathBuf;
use wordline_live::{Address, TimeScale};
use wordline_units::{Bytes, SimDuration};
use wordline_volatile::{Atomic, PowerLoss};

#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("where").args(["nbd", "tcp", "run", "listen_fds"]).required(true).multiple(true))]
pub(crate) struct ServeArgs {
    /// Built-in device (`wordline list devices`) or device file
    #[arg(long, value_name = "DEV")]
    pub(crate) device: String,
    /// Scheme (`wordline list schemes`), with optional parameters: slc-cache:static_blocks=16
    #[arg(long)]
    pub(crate) scheme: String,
    /// Listen on a Unix socket: unix:/tmp/d.sock; repeatable
    #[arg(long, value_name = "unix:PATH")]
    pub(crate) nbd: Vec<Address>,
    /// Listen on TCP: PORT on the loopback, or HOST:PORT, as in 127.0.0.1:10809; whoever reaches the port may
    /// read and write the drive
    #[arg(long, value_name = "[HOST:]PORT", value_parser = Address::tcp)]
    pub(crate) tcp: Vec<Address>,
    /// Listen on the sockets that a supervisor passes (LISTEN_FDS, as systemd does)
    #[arg(long)]
    pub(crate) listen_fds: bool,
    /// Encrypt connections by TLS. on: those of clients that ask for it; require: refuse others
    /// [default: on with --tls-certificates, else off]
    #[arg(long, value_enum, value_name = "WHEN", requires_ifs = [("on", "tls_certificates"), ("require", "tls_certificates")])]
    pub(crate) tls: Option<Tls>,
    /// Folder with server-cert.pem, server-key.pem and, for --tls-verify-peer, ca-cert.pem and perhaps
    /// ca-crl.pem
    #[arg(long, value_name = "DIR")]
    pub(crate) tls_certificates: Option<PathBuf>,
    /// Refuse TLS clients without a certificate that ca-cert.pem has signed
    #[arg(long, requires = "tls_certificates")]
    pub(crate) tls_verify_peer: bool,
    /// Not supported: the TLS library has no pre-shared keys
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) tls_psk: Option<PathBuf>,
    /// Run COMMAND in a shell while the drive is served, then stop and end with its exit code. $uri and $unixsocket say where
    /// the drive is; without --nbd and --tcp a private socket is created
    #[arg(long, value_name = "COMMAND")]
    pub(crate) run: Option<String>,
    /// Write the process id to FILE once clients can connect
    #[arg(long, value_name = "FILE")]
    pub(crate) pidfile: Option<PathBuf>,
    /// Stop when the process that started the server ends
    #[arg(long)]
    pub(crate) exit_with_parent: bool,
    /// Name of the export [default: the name of the device]
    #[arg(long, value_name = "NAME", value_parser = export)]
    pub(crate) export: Option<String>,
    /// Serve only the first SIZE bytes of the drive
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// Write the contents of FILE to the new drive before the first request; blocks of zeroes stay unwritten
    #[arg(long, value_name = "FILE")]
    pub(crate) image: Option<PathBuf>,
    /// Limit the page data in memory; writes beyond it fail with ENOSPC. Replaced data do not count, nor does what a server
    /// with --data keeps of each page, such as its place
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<Bytes>,
    /// Maximum number of connections, each with two threads
    #[arg(long, value_name = "N", default_value = "256", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) connections: u16,
    /// Create a control socket for `wordline ctl`
    #[arg(long, value_name = "PATH")]
    pub(crate) control: Option<PathBuf>,
    /// Wall-clock seconds per simulated second: 10 runs the drive ten times slower than the model, 0.1 ten
    /// times faster; 0 disables timing
    #[arg(long, value_name = "X", default_value = "1", allow_negative_numbers = true)]
    pub(crate) time_scale: TimeScale,
    /// Share of the modelled recovery time that passes after a power cut, 0 to 1; 0 recovers immediately. Results do not
    /// depend on it
    #[arg(long, value_name = "X", default_value = "1", value_parser = share)]
    pub(crate) recovery_scale: f64,
    /// State of the drive before the first request: fresh, fill:90%[,order=seq|random][,valid=80%],
    /// aged_invalid:70%, aged_blocks:70%, pe:tlc=500, retention:30d; join several with +. The data of this
    /// state read as zeroes
    #[arg(long, default_value = "fresh", value_name = "STATE")]
    pub(crate) initial: String,
    /// Acknowledge writes without FUA from a volatile write cache of this size. A power cut may lose whatever was not flushed
    /// [default: no volatile cache; writes are acknowledged as in the device file, and survive a power cut]
    #[arg(long, value_name = "SIZE")]
    pub(crate) write_cache: Option<Bytes>,
    /// Unflushed writes that a power cut loses. any: each sector independently keeps its durable version or any later
    /// one; none: nothing acknowledged is lost; fifo: a suffix of the acknowledged writes is lost; window:N: a write may be
    /// lost only while fewer than N later ones are acknowledged; all: everything since the last FLUSH is lost
    #[arg(long, value_name = "MODEL", default_value = "any", requires = "write_cache")]
    pub(crate) power_loss: PowerLoss,
    /// A write of at most SIZE that crosses no boundary is all old or all new after a power cut (NVMe AWUPF, NABSPF);
    /// larger writes are torn at any sector [default: one sector]
    #[arg(long, value_name = "SIZE[,boundary=SIZE]", requires = "write_cache")]
    pub(crate) atomic: Option<Atomic>,
    /// Reject WRITE, TRIM and WRITE_ZEROES; forks of the drive stay writable
    #[arg(long)]
    pub(crate) read_only: bool,
    /// How long before a deadline a thread stops sleeping and spins, and how long an idle thread polls for
    /// new requests before it sleeps; 0ns disables spinning
    #[arg(long, value_name = "TIME", default_value = "50us")]
    pub(crate) spin: SimDuration,
    /// Set a key of the device (gc.trigger=free_blocks:5%) or of the scheme (scheme.when_full=wait)
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
    /// Seed of every random stream
    #[arg(long, default_value_t = wordline_run::DEFAULT_SEED, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Persist the drive in DIR (created if missing). It survives a crash of the server; the next start runs
    /// the modelled recovery
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Which replies wait until the folder is on disk: those to FLUSH and FUA writes, or all. Every other
    /// write survives a crash of the server, but not of the operating system
    #[arg(long, value_enum, value_name = "WHEN", default_value = "flush", requires = "data")]
    pub(crate) sync: Sync,
    /// Record every request, power cut and control command with its simulated time in DIR, for `wordline
    /// rerun DIR`
    #[arg(long, value_name = "DIR")]
    pub(crate) session: Option<PathBuf>,
    /// Keep the data of writes, too, in DIR/writes.log, which `wordline crash --log` reads: what the drive held at first, each write,
    /// FLUSH and mark, and what each power cut left
    #[arg(long, requires = "session")]
    pub(crate) session_data: bool,
    /// Write the final statistics as JSON to FILE, or with - to standard output instead of the table
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<String>,
}

/// Which connections are encrypted.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tls {
    /// No TLS.
    Off,
    /// TLS for clients that request it.
    On,
    /// TLS for all clients; others are refused.
    Require,
}

/// Which replies wait until the folder is on disk.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sync {
    /// Replies to FLUSH and FUA writes.
    Flush,
    /// All replies.
    Reply,
}

/// A name that clients can ask for.
fn export(text: &str) -> Result<String, String> {
    if (1..=4096).contains(&text.len()) && !text.chars().any(char::is_control) {
        return Ok(text.to_string());
    }
    Err("cannot be the name of an export\n  allowed: 1 to 4096 bytes without control characters; the empty name always means the drive".to_string())
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| format!("{text:?} is not a share\n  allowed: 0 to 1"))
}

#[derive(Args, Debug)]
pub(crate) struct CtlArgs {
    /// Control socket of `wordline serve --control`
    pub(crate) path: PathBuf,
    /// Control command: stats; metrics; cut [seed=N], cut writes=N [seed=N], cut flushes=N [seed=N], cut seed=N within=TIME; reset
    /// [seed=N] [down=TIME]; armed; disarm [NUMBER]; mark TEXT; inject read-error
    /// [offset=BYTES] [length=BYTES] [count=N], inject early-flush [count=N], inject no-space [count=N],
    /// inject slow-die die=N factor=N, inject retire block=N, inject clear; set time-scale=X; snapshot NAME,
    /// drop NAME; fork [NAME] nbd=unix:PATH [control=PATH] [time-scale=X]; forks; end nbd=unix:PATH
    #[arg(value_name = "COMMAND", required = true)]
    pub(crate) order: Vec<String>,
}
