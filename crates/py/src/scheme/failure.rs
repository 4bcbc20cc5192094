//! An exception of a Python scheme, stored for the caller; and the number of calls of its hooks, if counted.

use crate::error::{ended_by, raised};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use wordline_run::RunError;
use wordline_units::SimTime;

/// The first exception of a hook of each scheme, since later ones may be its consequences.
#[derive(Default)]
pub(crate) struct Failed {
    by_scheme: Mutex<Vec<(String, PyErr)>>,
    /// Number of calls of each hook, if counted.
    asked: OnceLock<Mutex<BTreeMap<&'static str, u64>>>,
}

impl Failed {
    /// Store an exception with a note of its place; returns its short description. `now` is the time that the hook was
    /// given, if any.
    pub(crate) fn keep(
        &self,
        py: Python<'_>,
        e: PyErr,
        [scheme, hook]: [&str; 2],
        now: Option<SimTime>,
    ) -> String {
        let said = e.to_string();
        let at = now.map_or(String::new(), |now| format!(" at {now} of simulated time"));
        let note = format!("raised in {hook} of the scheme {scheme}{at}");
        // Python 3.10 has no notes; there the message of the run says it.
        let _ = e.value(py).call_method1("add_note", (note,));
        // An exception of a class with slots only keeps no name.
        let _ = e.value(py).setattr("of_scheme", scheme);
        self.insert(scheme.to_string(), e);
        said
    }

    /// Why there is no layout: the scheme refuses the device, or an exception, which is stored; and whether it is that.
    pub(crate) fn refusal(&self, py: Python<'_>, e: PyErr, scheme: &str) -> (String, bool) {
        let is_ours = e.is_instance_of::<crate::error::UserError>(py);
        let told = e.value(py).to_string();
        if e.is_instance_of::<crate::error::Refused>(py) {
            return (told, false);
        }
        let said = self.keep(py, e, [scheme, "layout"], None);
        (if is_ours { told } else { said }, true)
    }

    /// Keep what was raised elsewhere.
    pub(crate) fn keep_raised(&self, py: Python<'_>, e: PyErr) {
        let of = e.value(py).getattr("of_scheme").and_then(|of| of.extract::<String>());
        self.insert(of.unwrap_or_default(), e);
    }

    fn insert(&self, scheme: String, e: PyErr) {
        let mut all = self.all();
        if !all.iter().any(|(of, _)| *of == scheme) {
            all.push((scheme, e));
        }
    }

    /// Start to count the calls of each hook.
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

    /// Number of calls of each hook since counting started.
    pub(crate) fn asked(&self) -> BTreeMap<&'static str, u64> {
        let asked =
            self.asked.get().map(|asked| asked.lock().unwrap_or_else(PoisonError::into_inner).clone());
        asked.unwrap_or_default()
    }

    /// What was raised first.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.take_all().into_iter().next()
    }

    /// The exception of a scheme that ended with this error: its own, if it raised one.
    pub(crate) fn exception(&self, spelling: &str, led_to: &RunError) -> PyErr {
        let is_part = |of: &str| spelling.split('+').any(|part| part.split(':').next() == Some(of));
        let mut all = self.all();
        match all.iter().position(|(of, _)| is_part(of)) {
            Some(at) => ended_by(all.remove(at).1, led_to),
            None => raised(led_to),
        }
    }

    /// What was raised, by scheme.
    pub(crate) fn take_all(&self) -> Vec<PyErr> {
        std::mem::take(&mut *self.all()).into_iter().map(|(_, e)| e).collect()
    }

    fn all(&self) -> MutexGuard<'_, Vec<(String, PyErr)>> {
        self.by_scheme.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
