//! The interpreter is free while a device runs, and is asked for signals now and then, so that Ctrl-C works.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;

/// The thread that Python tells of signals, and what its handler raised while the engine was at work.
pub(crate) static MAIN: OnceLock<ThreadId> = OnceLock::new();
pub(crate) static RAISED: Mutex<Option<PyErr>> = Mutex::new(None);
pub(crate) static IS_RAISED: AtomicBool = AtomicBool::new(false);

/// Whether a handler of signals has raised something: asked by the engine at coarse points.
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

/// Does what takes long without the interpreter; what a handler of signals raised meanwhile comes first.
pub(crate) fn apart<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let done = py.detach(work);
    if MAIN.get() == Some(&std::thread::current().id()) && IS_RAISED.swap(false, Ordering::Relaxed) {
        let raised = RAISED.lock().unwrap_or_else(PoisonError::into_inner).take();
        return Err(raised.unwrap_or_else(|| PyKeyboardInterrupt::new_err(())));
    }
    Ok(done)
}
