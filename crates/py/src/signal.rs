//! The interpreter lock is released during a run, and signals are checked regularly, so that Ctrl-C works.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;

/// The thread that receives Python's signals, and the exception of its handler during a run.
pub(crate) static MAIN: OnceLock<ThreadId> = OnceLock::new();
pub(crate) static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);
pub(crate) static IS_RAISED: AtomicBool = AtomicBool::new(false);

/// Whether a signal handler has raised an exception: checked by the engine at coarse points.
pub(crate) fn is_raised() -> bool {
    if MAIN.get() == Some(&std::thread::current().id())
        && !IS_RAISED.load(Ordering::Relaxed)
        && let Err(e) = Python::attach(|py| py.check_signals())
    {
        *RAISED.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
        IS_RAISED.store(true, Ordering::Relaxed);
    }
    IS_RAISED.load(Ordering::Relaxed)
}

/// Execute long work without the interpreter lock; an exception of a signal handler takes precedence.
pub(crate) fn apart<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let done = py.detach(work);
    if MAIN.get() == Some(&std::thread::current().id()) && IS_RAISED.swap(false, Ordering::Relaxed) {
        let raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner).take();
        return Err(raised.unwrap_or_else(|| PyKeyboardInterrupt::new_err(())));
    }
    Ok(done)
}
