//! What is raised in a scheme of Python, kept for the caller; and how often its hooks were asked, where that is counted.

use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use wordline_units::SimTime;

/// What a hook has raised: the first thing, since all that follows may come of it.
#[derive(Default)]
pub(crate) struct Failed {
    first: Mutex<Option<PyErr>>,
    /// How often each hook was asked, once that is counted.
    asked: OnceLock<Mutex<BTreeMap<&'static str, u64>>>,
}

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

    /// Count from now on how often each hook is asked.
    pub(crate) fn count(&self) {
        self.asked.get_or_init(Mutex::default);
    }

    /// A hook is asked.
    #[inline]
    pub(crate) fn note(&self, hook: &'static str) {
        if let Some(asked) = self.asked.get() {
            *asked.lock().unwrap_or_else(PoisonError::into_inner).entry(hook).or_default() += 1;
        }
    }

    /// How often each hook was asked since that is counted.
    pub(crate) fn asked(&self) -> BTreeMap<&'static str, u64> {
        let asked =
            self.asked.get().map(|asked| asked.lock().unwrap_or_else(PoisonError::into_inner).clone());
        asked.unwrap_or_default()
    }

    /// What was raised.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.first().take()
    }

    fn first(&self) -> MutexGuard<'_, Option<PyErr>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
