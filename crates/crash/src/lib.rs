//! Crash tests by power cuts. A client runs once on a drive that records its requests. A check then runs on
//! every state that a power cut could have left.

#![allow(clippy::disallowed_methods, reason = "programs are waited for by the wall clock")]

mod check;
mod command;
mod error;
mod flushes;
mod mount;
mod persistent;
mod queue;
mod recording;
mod report;
mod search;
mod sessions;
mod spec;
mod unread;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use check::{Check, Verdict};
pub use command::Template;
pub use error::CrashError;
pub use flushes::{Dropped, drop_flushes};
pub use mount::FileSystem;
pub use recording::{RecordSpec, Recorded, record};
pub use report::{Coverage, Failing, Found};
pub use search::{replay_state, search};
pub use sessions::{Session, SessionSpec, sessions};
pub use spec::SearchSpec;

/// Lock a mutex, even if a thread panicked while it held the lock.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
