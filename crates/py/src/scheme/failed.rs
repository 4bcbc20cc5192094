//! What is raised in a scheme of Python, kept for the caller.

use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wordline_units::SimTime;

/// What a hook has raised: the first thing, since all that follows may come of it.
#[derive(Default)]
pub(crate) struct Failed(Mutex<Option<PyErr>>);

impl Failed {
    /// Keep an exception with a note of where it was raised; says in short what it is.
    pub(crate) fn keep(&self, py: Python<'_>, e: PyErr, scheme: &str, hook: &str, now: SimTime) -> String {
        let said = e.to_string();
        let note = format!("raised in {hook} of the scheme {scheme} at {} ns of simulated time", now.0);
        // Python 3.10 has no notes; there the message of the run says it.
        let _ = e.value(py).call_method1("add_note", (note,));
        self.first().get_or_insert(e);
        said
    }

    /// Why a layout was refused: a refusal of the scheme's own, or an exception, which is kept.
    pub(crate) fn refusal(&self, py: Python<'_>, e: PyErr) -> String {
        if e.is_instance_of::<crate::error::Refused>(py) {
            return e.value(py).to_string();
        }
        let said = e.to_string();
        self.first().get_or_insert(e);
        said
    }

    /// Keep what was raised elsewhere.
    pub(crate) fn first_of(&self, e: PyErr) {
        self.first().get_or_insert(e);
    }

    /// What was raised.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.first().take()
    }

    fn first(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
