//! Power cuts that find bugs: a client is run once on a drive that records what it sends, and a check is run on what a power cut
//! may leave of that, state after state.

#![allow(clippy::disallowed_methods, reason = "programs are waited for on a wall clock")]

mod check;
mod command;
mod error;
mod flushes;
mod queue;
mod recording;
mod report;
mod search;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use check::{Check, Verdict};
pub use command::Template;
pub use error::CrashError;
pub use flushes::{Dropped, drop_flushes};
pub use recording::{RecordSpec, Recorded, record};
pub use report::{Coverage, Failing, Found};
pub use search::{SearchSpec, replay_state, search};

/// Locked, whatever happened to those who held it before.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
