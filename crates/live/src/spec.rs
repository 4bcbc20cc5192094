//! How a drive is served.

use crate::address::Address;
use crate::certificates::Certificates;
use crate::clock::TimeScale;
use std::path::PathBuf;
use std::time::Duration;
use wordline_run::RunSpec;
use wordline_volatile::{Atomic, PowerLoss};

/// Whether connections are encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Encryption {
    /// None is.
    #[default]
    Off,
    /// Those of clients that ask for it.
    On,
    /// All: a client that does not ask for it is refused.
    Require,
}

/// How a drive is served.
#[derive(Clone, Debug)]
pub struct ServeSpec {
    /// The drive: device, scheme, settings, seed, initial state. Its workload says nothing.
    pub run: RunSpec,
    /// Where clients find it; at least one.
    pub addresses: Vec<Address>,
    /// Whether connections are encrypted, which takes certificates.
    pub encryption: Encryption,
    /// The server's certificate, and whose clients it takes.
    pub certificates: Option<Certificates>,
    /// Listen on the sockets that a supervisor has passed, too.
    pub activated: bool,
    /// The path of the control socket.
    pub control: Option<PathBuf>,
    /// How fast time goes on.
    pub time_scale: TimeScale,
    /// How long before an instant a thread stops sleeping and spins; zero never spins.
    pub spin: Duration,
    /// Bytes of a volatile cache that answers writes before they are on flash; 0 for none.
    pub write_cache: u64,
    /// What a power cut leaves of that cache.
    pub power_loss: PowerLoss,
    /// The atomic write unit at a power cut, if it is larger than a sector.
    pub atomic: Option<Atomic>,
    /// Nobody may write to it. Forks of it may be written to.
    pub read_only: bool,
    /// A folder for the drive's bytes, which else are in RAM alone.
    pub data: Option<PathBuf>,
    /// With it, whether every answer waits until the system has written the drive to its disk, and not only those to a
    /// FLUSH and to writes with FUA.
    pub always_sync: bool,
    /// How much of the modelled time of a recovery passes after a power cut.
    pub recovery_scale: f64,
    /// The name of the export; that of the device if none is given.
    pub export: Option<String>,
    /// How many bytes of the drive are served; all if none are given.
    pub size: Option<u64>,
    /// A file whose contents the drive has at the beginning.
    pub image: Option<PathBuf>,
    /// Bytes of data in RAM, at most.
    pub memory: Option<u64>,
    /// A folder for the session.
    pub session: Option<PathBuf>,
}
