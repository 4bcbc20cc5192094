//! Options of serving a drive.

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
    /// Addresses for clients; at least one.
    pub addresses: Vec<Address>,
    /// Whether connections are encrypted, which takes certificates.
    pub encryption: Encryption,
    /// The server's certificate, and whose clients it takes.
    pub certificates: Option<Certificates>,
    /// Listen on the sockets that a supervisor has passed, too.
    pub activated: bool,
    /// The path of the control socket.
    pub control: Option<PathBuf>,
    /// Time scale.
    pub time_scale: TimeScale,
    /// How long before an instant a thread stops sleeping and spins; zero never spins.
    pub spin: Duration,
    /// Size in bytes of a volatile cache that acknowledges writes before they are on flash; 0 for none.
    pub write_cache: u64,
    /// Data of that cache that survive a power cut.
    pub power_loss: PowerLoss,
    /// The atomic write unit at a power cut, if it is larger than a sector.
    pub atomic: Option<Atomic>,
    /// Nobody may write to it. Forks of it may be written to.
    pub read_only: bool,
    /// A folder for the drive's bytes; by default they are in RAM only.
    pub data: Option<PathBuf>,
    /// With a folder, whether every reply waits for a sync of the folder, and not only those to FLUSH and to writes
    /// with FUA.
    pub always_sync: bool,
    /// Share of the modelled recovery time that passes after a power cut.
    pub recovery_scale: f64,
    /// Name of the export; by default that of the device.
    pub export: Option<String>,
    /// Number of served bytes; by default the whole drive.
    pub size: Option<u64>,
    /// A file with the initial contents of the drive.
    pub image: Option<PathBuf>,
    /// Bytes of data in RAM, at most.
    pub memory: Option<u64>,
    /// A folder for the session.
    pub session: Option<PathBuf>,
}
