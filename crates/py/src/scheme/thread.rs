//! The interpreter on the threads of the engine, which it did not start.

use pyo3::{Python, ffi};
use std::cell::OnceCell;

/// Python's state of a thread, kept between calls: creating it again costs more than most calls.
struct Known {
    state: ffi::PyGILState_STATE,
    thread: *mut ffi::PyThreadState,
}

impl Known {
    /// Of an engine thread; none if the thread belongs to Python.
    fn new() -> Option<Known> {
        // SAFETY: the thread does not hold the interpreter (it has no state there), takes it, and lets go of it again,
        // which `drop` undoes in the same order on the same thread.
        unsafe {
            if !ffi::PyGILState_GetThisThreadState().is_null() {
                return None;
            }
            let state = ffi::PyGILState_Ensure();
            Some(Known { state, thread: ffi::PyEval_SaveThread() })
        }
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        // SAFETY: as above; the engine's threads end before the call of Python that has begun them.
        unsafe {
            ffi::PyEval_RestoreThread(self.thread);
            ffi::PyGILState_Release(self.state);
        }
    }
}

thread_local! {
    static KNOWN: OnceCell<Option<Known>> = const { OnceCell::new() };
}

/// Like `Python::attach`, but fast on engine threads.
pub(crate) fn attached<T>(call: impl FnOnce(Python<'_>) -> T) -> T {
    KNOWN.with(|known| {
        known.get_or_init(Known::new);
    });
    Python::attach(call)
}
