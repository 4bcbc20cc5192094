//! Options of a served drive.

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
    /// No connection is encrypted.
    #[default]
    Off,
    /// Connections of clients that request it are encrypted.
    On,
    /// All connections are encrypted; clients that do not request it are refused.
    Require,
}

/// How a drive is served.
#[derive(Clone, Debug)]
pub struct ServeSpec {
    /// The drive: device, scheme, settings, seed, initial state. Its workload is ignored.
    pub run: RunSpec,
    /// Addresses for clients; at least one.
    pub addresses: Vec<Address>,
    /// Whether connections are encrypted, which requires certificates.
    pub encryption: Encryption,
    /// The server's certificate, and the authority whose clients it accepts.
    pub certificates: Option<Certificates>,
    /// Also listen on the sockets that a supervisor has passed.
    pub activated: bool,
    /// The path of the control socket.
    pub control: Option<PathBuf>,
    /// Seconds of wall time per second of drive time.
    pub time_scale: TimeScale,
    /// How long before an instant a thread stops sleeping and spins. At zero it never spins.
    pub spin: Duration,
    /// Size in bytes of a volatile cache that acknowledges writes before they are on flash; 0 for none.
    pub write_cache: u64,
    /// Data of that cache that survive a power cut.
    pub power_loss: PowerLoss,
    /// The atomic write unit at a power cut, if it is larger than a sector.
    pub atomic: Option<Atomic>,
    /// Clients cannot write to the drive. Its forks are writable.
    pub read_only: bool,
    /// A folder for the drive's data. By default they are only in RAM.
    pub data: Option<PathBuf>,
    /// For a drive in a folder: sync the folder before every reply, instead of only before replies to FLUSH
    /// and to writes with FUA.
    pub always_sync: bool,
    /// Share of the modelled recovery time that passes after a power cut.
    pub recovery_scale: f64,
    /// Name of the export; by default that of the device.
    pub export: Option<String>,
    /// Size of the export in bytes; by default the whole drive.
    pub size: Option<u64>,
    /// A file with the initial contents of the drive.
    pub image: Option<PathBuf>,
    /// Maximum bytes of data in RAM.
    pub memory: Option<u64>,
    /// A folder for the session.
    pub session: Option<PathBuf>,
    /// Keep the data of writes in the session, too.
    pub session_data: bool,
    /// Maximum number of connections.
    pub connections: usize,
}
