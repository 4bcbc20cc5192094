//! The live drive: a simulated drive that serves real bytes over NBD, completes requests at the modelled times, and
//! supports power cuts.
//!
//! Only this crate reads a clock. A request arrives on the thread of its connection (`connection.rs`) and
//! enters the drive under one lock (`engine/`). Its reply is sent when the drive's time reaches the
//! completion (`shared.rs`), by the thread on watch (`pacer.rs`): the thread of the connection with the
//! latest request, if any. Bytes are stored by physical page ([`wordline_ftl::Bytes`]), so that an error in
//! the mapping table gives a client wrong data.

#![allow(clippy::disallowed_methods, reason = "a served drive answers on a wall clock")]

mod address;
mod captive;
#[cfg_attr(not(feature = "tls"), path = "no_certificates.rs")]
mod certificates;
mod client;
mod clock;
mod connection;
mod control;
mod control_command;
mod data;
mod drive;
mod engine;
#[cfg(test)]
#[path = "../tests/it/environment.rs"]
mod environment;
mod error;
#[cfg(test)]
mod exhaustive;
mod faults;
mod host;
mod image;
#[cfg(test)]
mod killed;
mod metrics;
mod pace;
mod pacer;
mod page_memory;
mod parts;
mod payload;
mod pieces;
mod protocol;
mod record;
mod reply_queue;
mod rerun;
mod server;
mod session;
mod session_data;
mod shared;
mod socket;
mod spec;
mod stall_detector;
mod statistics;
mod stats_report;
mod stream;
mod syncing;
mod through;
mod uniform;
mod volatile;
mod write_log;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use address::Address;
pub use captive::Captive;
pub use certificates::Certificates;
pub use clock::TimeScale;
pub use control::ask;
pub use control_command::{ControlCommand, Fork};
pub use drive::Cut;
pub use error::ServeError;
pub use faults::CutWhen;
pub use host::end_with_parent;
pub use protocol::fuzz_entry::{Heard, hear};
pub use record::{Recorder, Recording};
pub use rerun::{SessionRerun, rerun_session};
pub use server::Server;
pub use session::is_session;
pub use shared::Log;
pub use spec::{Encryption, ServeSpec};
pub use statistics::LATE;
pub use stats_report::StatsReport;
pub use through::{Recovered, ThroughDrive};

/// Lock a mutex, even if a thread panicked while it held the lock.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
