//! Runs of Python classes in separate processes, because one process executes only one of them at a time.

use crate::error::{Refused, UserError, wrong};
use crate::scheme::{Failed, attached};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use wordline_run::{Blame, Executor, Job, JobProgress, OnProgress, RunError};
use wordline_units::{SimTime, is_interrupted};

/// What `wordline.subprocess_runner.Process.hear` says.
#[derive(FromPyObject)]
enum Heard {
    Done(String),
    At(Vec<f64>),
    Raised(Py<PyAny>),
}

/// The executor of runs of classes, if another process can import them.
pub(crate) fn executor(
    py: Python<'_>,
    classes: &[Py<PyAny>],
    failed: &Arc<Failed>,
) -> PyResult<Option<Executor>> {
    let importable =
        || py.import("wordline.subprocess_runner")?.call_method1("importable", (classes,))?.extract::<bool>();
    if classes.is_empty() || !importable()? {
        return Ok(None);
    }
    let names = classes.iter().map(|class| class.bind(py).call_method0("_name")?.extract::<String>());
    let names: Vec<String> = names.collect::<PyResult<_>>()?;
    let classes: Vec<Py<PyAny>> = classes.iter().map(|class| class.clone_ref(py)).collect();
    let failed = Arc::clone(failed);
    Ok(Some(Executor::new(move |job, on_progress| {
        let layers = job.spec().registry.layers(&job.spec().scheme).ok()?;
        let is_of_python = layers.iter().any(|(entry, _)| names.iter().any(|name| *name == entry.name));
        let does = |py: Python<'_>| does(py, &classes, job, on_progress).map_err(|e| error(py, e, &failed));
        is_of_python.then(|| attached(does))
    })))
}

/// The call of the native half in the process.
fn asked<'py>(py: Python<'py>, job: Job<'_>) -> PyResult<Bound<'py, PyDict>> {
    let asked = PyDict::new(py);
    if let Job::Rerun { report, workload, .. } = job {
        asked.set_item("report", report.to_json().map_err(wrong)?)?;
        asked.set_item("workload", workload)?;
        return Ok(asked);
    }
    let spec = job.spec();
    asked.set_item("device", &spec.device)?;
    asked.set_item("workload", &spec.workload)?;
    asked.set_item("set", &spec.set)?;
    asked.set_item("seed", spec.seed)?;
    asked.set_item("replicas", spec.replicas)?;
    asked.set_item("traces", &spec.traces)?;
    asked.set_item("requests", spec.requests)?;
    asked.set_item("fit", spec.fit.map(|fit| fit.to_string()))?;
    asked.set_item("initial", &spec.initial)?;
    asked.set_item("from_state", &spec.from_state)?;
    asked.set_item("save_state", &spec.save_state)?;
    asked.set_item("check", spec.check)?;
    if let Job::Life(spec) = job {
        let life = PyDict::new(py);
        life.set_item("acceleration", spec.acceleration)?;
        life.set_item("checks_acceleration", spec.checks_acceleration)?;
        life.set_item("shelf", spec.shelf.to_string())?;
        life.set_item("end", spec.end.to_string())?;
        asked.set_item("life", life)?;
    }
    Ok(asked)
}

/// Do a run or a life in a process. A stopped lifetime run can have a result nevertheless.
fn does(
    py: Python<'_>,
    classes: &[Py<PyAny>],
    job: Job<'_>,
    on_progress: OnProgress<'_>,
) -> PyResult<String> {
    let asked = asked(py, job)?;
    let scheme = &job.spec().scheme;
    let process =
        py.import("wordline.subprocess_runner")?.call_method1("Process", (asked, scheme, classes))?;
    let done = (|| {
        loop {
            let far = match process.call_method0("hear")?.extract()? {
                Heard::Done(json) => return Ok(json),
                Heard::Raised(e) => return Err(PyErr::from_value(e.into_bound(py))),
                Heard::At(far) => far,
            };
            let far = match (job, far.as_slice()) {
                (Job::Life(_), [passes, drive_writes, life_used]) => {
                    JobProgress::Life(*passes as u64, *drive_writes, *life_used)
                }
                (_, [completed, now, ..]) => {
                    JobProgress::Run(*completed as u64, SimTime((now * 1e9).round() as u64))
                }
                (_, _) => continue,
            };
            if on_progress(far).is_continue() && !is_interrupted() {
                continue;
            }
            if !matches!(job, Job::Life(_)) {
                return Err(PyKeyboardInterrupt::new_err(()));
            }
            process.call_method0("stop")?;
        }
    })();
    process.call_method0("end")?;
    done
}

/// The error of a run that was raised in its process. An exception of a scheme there is stored as if it were
/// local.
fn error(py: Python<'_>, e: PyErr, failed: &Failed) -> RunError {
    let value = e.value(py);
    let ended_by = value.getattr("ended_by").ok().filter(|led_to| !led_to.is_none());
    let ended_by = ended_by.unwrap_or_else(|| value.clone().into_any());
    let is = |kind: Bound<'_, pyo3::types::PyType>| ended_by.is_instance(&kind).unwrap_or(false);
    let blame = if is(py.get_type::<PyKeyboardInterrupt>()) {
        return RunError::Interrupted;
    } else if is(py.get_type::<UserError>()) {
        Blame::User
    } else if is(py.get_type::<Refused>()) {
        Blame::Refused
    } else if is(py.get_type::<PyOSError>()) {
        Blame::Machine
    } else {
        Blame::Fault
    };
    // What ends no run names its hook, and not its scheme, of which a comparison has several.
    let of = value.getattr("of_scheme").ok().filter(|_| ended_by.is(value));
    let of = of.map_or(String::new(), |scheme| format!("scheme {scheme}: "));
    let in_python = format!("{of}{ended_by}");
    let typed =
        ended_by.getattr("on_command_line").map_or_else(|_| in_python.clone(), |t| format!("{of}{t}"));
    if value.hasattr("traceback_there").unwrap_or(false) {
        failed.keep_raised(py, e);
    }
    RunError::Executor { blame, said: [typed, in_python] }
}
