//! Arguments of `run`, `compare` and `record`, in the spelling of Python.

use crate::error::{ended_by, raised, unfit, wrong};
use crate::executor::executor;
use crate::scheme::{Failed, with_classes};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use wordline_run::{Files, Progress, RunError, RunSpec, Window};
use wordline_trace::Fit;
use wordline_units::Opt;

/// Arguments of `run` and `compare`, in the spelling of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RunArguments {
    device: String,
    workload: String,
    set: Vec<(String, String)>,
    seed: u64,
    replicas: u32,
    traces: Option<String>,
    requests: Option<u64>,
    fit: Option<String>,
    initial: String,
    from_state: Option<String>,
    save_state: Option<String>,
    check: bool,
    classes: Vec<Py<PyAny>>,
}

impl RunArguments {
    /// The run, with the Python classes among its schemes, and their exceptions.
    pub(crate) fn spec(self, py: Python<'_>, scheme: &str) -> PyResult<(RunSpec, Arc<Failed>)> {
        let (registry, failed) = with_classes(py, &self.classes)?;
        let fit = |f: &String| f.parse::<Fit>().map_err(|e| unfit(Opt::Fit, f, e));
        let fit = self.fit.as_ref().map(fit).transpose()?;
        let spec = RunSpec {
            device: self.device,
            scheme: scheme.to_string(),
            workload: self.workload,
            set: self.set,
            seed: self.seed,
            replicas: self.replicas,
            traces: self.traces,
            requests: self.requests,
            fit,
            initial: self.initial,
            from_state: self.from_state,
            save_state: self.save_state,
            check: self.check,
            registry,
            executor: executor(py, &self.classes, &failed)?,
        };
        Ok((spec, failed))
    }
}

/// The result; an exception of a Python scheme precedes the error that it caused, which is in its attribute `ended_by`.
pub(crate) fn told<T>(failed: &Failed, result: Result<T, RunError>) -> PyResult<T> {
    match (failed.take(), result) {
        (Some(e), Err(led_to)) => Err(ended_by(e, &led_to)),
        (Some(e), Ok(_)) => Err(e),
        (None, result) => result.map_err(|e| raised(&e)),
    }
}

/// Callbacks into Python between requests; an exception in them ends the run.
pub(crate) struct Watcher {
    callback: Option<Py<PyAny>>,
    raised: Option<PyErr>,
    failed: Arc<Failed>,
}

impl Watcher {
    pub(crate) fn new(callback: Option<Py<PyAny>>, failed: Arc<Failed>) -> Watcher {
        Watcher { callback, raised: None, failed }
    }

    pub(crate) fn see(&mut self, p: Progress) -> ControlFlow<()> {
        self.call((p.run as u64, p.completed, p.now.0 as f64 / 1e9))
    }

    pub(crate) fn call(&mut self, arguments: (u64, u64, f64)) -> ControlFlow<()> {
        let seen = Python::attach(|py| {
            py.check_signals()?;
            match &self.callback {
                Some(f) => f.call1(py, arguments).map(drop),
                None => Ok(()),
            }
        });
        match seen {
            Ok(()) => ControlFlow::Continue(()),
            Err(e) => {
                self.raised.get_or_insert(e);
                ControlFlow::Break(())
            }
        }
    }

    /// The Python error precedes the interruption that it caused.
    pub(crate) fn judge<T>(self, result: Result<T, RunError>) -> PyResult<T> {
        match self.raised {
            Some(e) => Err(e),
            None => told(&self.failed, result),
        }
    }
}

/// The files that a run is to be recorded in, as the Python side spells them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FileArguments {
    log: Option<PathBuf>,
    completions: Option<PathBuf>,
    timeline: Option<PathBuf>,
    window: Option<String>,
    around: Option<u64>,
}

impl FileArguments {
    pub(crate) fn files(self) -> PyResult<Files> {
        let window = match (self.window, self.around) {
            (Some(window), None) => window.parse().map_err(|e| unfit(Opt::Window, &window, e))?,
            (None, Some(number)) => Window::Around(number),
            (None, None) => Window::Whole,
            (Some(_), Some(_)) => return Err(wrong("window and around exclude each other; use one of them")),
        };
        Ok(Files { log: self.log, completions: self.completions, timeline: self.timeline, window })
    }
}
