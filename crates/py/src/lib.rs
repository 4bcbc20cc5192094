//! Wordline for Python: conversion and exceptions, no logic. Reports are passed as JSON text; the package `wordline`
//! adds attributes and arrays. The interpreter lock is released during a run, and signals are checked regularly, so
//! that Ctrl-C works.

mod arguments;
mod columns;
mod drive;
mod error;
mod executor;
mod lifetime;
mod page;
mod pictures;
mod scheme;
mod signal;

use arguments::{FileArguments, RunArguments, Watcher, told};
use error::{Fault, Refused, UserError, raised, unfit, wrong};
use pictures::{Picture, pictures};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use signal::{MAIN, apart, is_raised};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use wordline_cli::Interpreter;
use wordline_report::{Comparison, FailedScheme, RefusedScheme, Report, Rows, TerminalStyle, decided};
use wordline_run::{Executor, Recording, Setup, Slowest, WhyAsked};
use wordline_schemes::Registry;
use wordline_units::{Bytes, HostOp, Opt};
use wordline_workload::SYNTHETICS;
use wordline_workload::twin::TWINS;

/// Schemes with their exceptions.
type Exceptions = Vec<(String, PyErr)>;

/// Run schemes on one device and workload; one report as JSON each, and the schemes that have none, each with its
/// exception. With `strict`, or where none has a report, the first exception is raised.
#[pyfunction]
fn compare(
    py: Python<'_>,
    asked: RunArguments,
    schemes: Vec<String>,
    at_once: (usize, bool),
    progress: Option<Py<PyAny>>,
) -> PyResult<(Vec<String>, Exceptions)> {
    let Some(first) = schemes.first() else {
        return Err(wrong("schemes is empty; pass at least one scheme"));
    };
    let ((spec, failed), (threads, strict)) = (asked.spec(py, first)?, at_once);
    let mut watcher = Watcher::new(progress, Arc::clone(&failed));
    let result = apart(py, || {
        let setup = Setup::resolve(&spec)?;
        if strict {
            let all = wordline_run::compare(&setup, &schemes, threads, &mut |p| watcher.see(p))?;
            return Ok((all, vec![]));
        }
        wordline_run::compare_finished(&setup, &schemes, threads, &mut |p| watcher.see(p))
    })?;
    let exceptions = match &result {
        Ok((comparison, errors)) => {
            let names = comparison.failed.iter().map(|of| of.scheme.clone());
            names.zip(errors).map(|(name, e)| (name.clone(), failed.exception(&name, e))).collect()
        }
        Err(_) => vec![],
    };
    let (comparison, _) = watcher.judge(result)?;
    let texts = comparison.reports.iter().map(|r| r.to_json().map_err(wrong)).collect::<PyResult<_>>()?;
    Ok((texts, exceptions))
}

/// Run one scheme and write down its operations, its completions, its timeline; the report as JSON.
#[pyfunction]
fn record(
    py: Python<'_>,
    asked: RunArguments,
    scheme: &str,
    files: FileArguments,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let ((spec, failed), files) = (asked.spec(py, scheme)?, files.files()?);
    let mut watcher = Watcher::new(progress, failed);
    let result = apart(py, || {
        let setup = Setup::resolve(&spec)?;
        let recording = Recording::open(&files)?;
        wordline_run::run_recorded(&setup, scheme, recording, &mut |p| watcher.see(p))
    })?;
    watcher.judge(result)?.to_json().map_err(wrong)
}

/// Everything that determines the result of a run, resolved, as JSON.
#[pyfunction]
fn identity(py: Python<'_>, asked: RunArguments, scheme: &str) -> PyResult<String> {
    let (spec, failed) = asked.spec(py, scheme)?;
    let value = told(&failed, apart(py, || Setup::identity(&spec))?)?;
    serde_json::to_string(&value).map_err(wrong)
}

/// The analytic model of a scheme on a device and workload, as JSON.
#[pyfunction]
fn model(py: Python<'_>, asked: RunArguments, scheme: &str) -> PyResult<String> {
    let (spec, failed) = asked.spec(py, scheme)?;
    let value = told(&failed, apart(py, || wordline_run::model(&spec))?)?;
    serde_json::to_string(&value).map_err(wrong)
}

/// U(u), and C_PW(u) in microseconds of flash with the costs C_PROG, C_CP and C_E and N_P pages a block.
#[pyfunction]
fn page_write_cost(u: f64, c_prog: f64, c_cp: f64, c_e: f64, n_p: f64) -> (f64, f64) {
    let costs = wordline_schemes::cost_model::Costs { c_pr: 0.0, c_prog, c_cp, c_e, n_p, e_total: 0.0 };
    (wordline_schemes::cost_model::victim_utilisation(u), costs.c_pw(u))
}

/// The file with the data of a report, by its path, its folder, or the page next to it.
#[pyfunction]
fn report_file(named: PathBuf) -> PyResult<PathBuf> {
    wordline_run::report_file(&named).map_err(|e| raised(&e))
}

/// Run a report again from its own configuration, with classes of Python among the schemes; the new report as JSON.
#[pyfunction]
fn rerun(
    py: Python<'_>,
    report: &str,
    workload: Option<&str>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    classes: Vec<Py<PyAny>>,
) -> PyResult<String> {
    let report = Report::from_json(report).map_err(wrong)?;
    let (registry, failed) = scheme::with_classes(py, &classes)?;
    let executor = executor::executor(py, &classes, &failed)?;
    let mut watcher = Watcher::new(progress, failed);
    let result = apart(py, || {
        let with = (&registry, executor);
        wordline_run::rerun_with(&report, workload, with, threads, &mut |p| watcher.see(p))
    })?;
    watcher.judge(result)?.report.to_json().map_err(wrong)
}

/// The selected requests, in the spelling of Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct AskedWhy {
    numbers: Vec<u64>,
    slowest: String,
    stories: Option<usize>,
    op: Option<String>,
}

impl AskedWhy {
    fn asked(self) -> PyResult<WhyAsked> {
        let op = self.op.map(|o| o.parse::<HostOp>().map_err(|e| unfit(Opt::Op, &o, e))).transpose()?;
        let summed: Slowest = self.slowest.parse().map_err(|e| unfit(Opt::Slowest, &self.slowest, e))?;
        let slowest = self.stories.unwrap_or_else(|| summed.stories());
        Ok(WhyAsked {
            numbers: self.numbers,
            slowest,
            summed: Some(summed),
            op,
            timeline: None,
            registry: Registry::standard(),
        })
    }
}

/// Explanation of slow requests of a report's run, as JSON: the named ones, or the slowest.
#[pyfunction]
fn why(
    py: Python<'_>,
    report: &str,
    asked: AskedWhy,
    workload: Option<&str>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let report = Report::from_json(report).map_err(wrong)?;
    let asked = asked.asked()?;
    let mut watcher = Watcher::new(progress, Arc::default());
    let result = apart(py, || wordline_run::why(&report, &asked, workload, &mut |p| watcher.see(p)))?;
    serde_json::to_string(&watcher.judge(result)?).map_err(wrong)
}

/// A scheme that the device does not admit, and why.
type Reason = (String, String);

/// Mean and half of the 95 % interval of at least two finite numbers.
#[pyfunction]
fn estimate(values: Vec<f64>) -> PyResult<(f64, f64)> {
    let found = wordline_report::Estimate::of(&values);
    let found = found.and_then(|of| Some((of.mean, of.half_width_95?)));
    found.ok_or_else(|| wrong("an estimate needs two finite numbers"))
}

/// What makes runs longer that end in one way: keys of `--set`, the empty one for `--requests`, with their numbers.
type Longer = Vec<(&'static str, u64)>;

/// The requests with which the runs of these reports that have no steady state may have one, none where all have; the
/// options with which they may, for each way in which they end; and in words what makes the others longer.
#[pyfunction]
fn needed(reports: Vec<String>) -> PyResult<(Option<u64>, Vec<Longer>, Vec<String>)> {
    let reports: Result<Vec<Report>, _> = reports.iter().map(|r| Report::from_json(r)).collect();
    let reports = reports.map_err(wrong)?;
    let requests = wordline_report::needed(&reports);
    let (options, ways) = wordline_report::options_by_end(reports);
    let options = options.iter().map(|of| of.iter().map(|option| (option.key, option.count)).collect());
    Ok((requests, options.collect(), ways))
}

/// The JSON schema of reports.
#[pyfunction]
fn report_schema() -> &'static str {
    wordline_report::REPORT_SCHEMA_TEXT
}

/// The schemes with `all-compatible` replaced by its schemes, and those that do not support the device.
#[pyfunction]
fn admitted(
    py: Python<'_>,
    asked: RunArguments,
    schemes: Vec<String>,
) -> PyResult<(Vec<String>, Vec<Reason>)> {
    let (spec, failed) = asked.spec(py, wordline_run::ALL_COMPATIBLE)?;
    let found = apart(py, || wordline_run::admitted(&Setup::resolve(&spec)?, &schemes))?;
    let (schemes, refused) = told(&failed, found)?;
    Ok((schemes, refused.into_iter().map(|r| (r.scheme, r.reason)).collect()))
}

/// A size such as `8KiB` in bytes.
#[pyfunction]
fn size(text: &str) -> PyResult<u64> {
    text.parse::<Bytes>().map(|bytes| bytes.0).map_err(wrong)
}

/// Bytes as a size is spelled, such as `8KiB`.
#[pyfunction]
fn spelled_size(bytes: u64) -> String {
    Bytes(bytes).to_string()
}

/// The schemes without a report: those that the device does not admit, and those that failed.
type Without = (Vec<Reason>, Vec<Reason>);

fn comparison(reports: &[String], (refused, failed): Without) -> PyResult<Comparison> {
    let reports: Result<Vec<Report>, _> = reports.iter().map(|r| Report::from_json(r)).collect();
    let refused = refused.into_iter().map(|(scheme, reason)| RefusedScheme { scheme, reason }).collect();
    let failed = failed.into_iter().map(|(scheme, reason)| FailedScheme { scheme, reason }).collect();
    Ok(Comparison { refused, failed, ..reports.map(Comparison::new).map_err(wrong)? })
}

/// Reports as the terminal shows them: one whole, several side by side.
#[pyfunction]
fn table(reports: Vec<String>, without: Without, all: bool, width: usize) -> PyResult<String> {
    let rows = if all { Rows::All } else { Rows::Decisive("table(all=True)") };
    let style = TerminalStyle { colour: false, width };
    let comparison = comparison(&reports, without)?;
    Ok(match comparison.reports.as_slice() {
        [one] if comparison.refused.is_empty() && comparison.failed.is_empty() => {
            wordline_report::summary(one, style)
        }
        _ => wordline_report::table(&comparison, &rows, style),
    })
}

/// Reports as one page for a browser.
#[pyfunction]
fn html(reports: Vec<String>, without: Without) -> PyResult<String> {
    Ok(wordline_report::html(&comparison(&reports, without)?))
}

/// Reports as JSON of a comparison.
#[pyfunction]
fn comparison_json(reports: Vec<String>, without: Without) -> PyResult<String> {
    decided(comparison(&reports, without)?).to_json().map_err(wrong)
}

/// The reports in a JSON text of a report or comparison, and the schemes in it that have none.
#[pyfunction]
fn reports(json: &str) -> PyResult<(Vec<String>, Without)> {
    let (all, refused, failed) = match Comparison::from_json(json) {
        Ok(c) => (c.reports, c.refused, c.failed),
        Err(_) => (vec![Report::from_json(json).map_err(wrong)?], vec![], vec![]),
    };
    let texts = all.iter().map(|r| r.to_json().map_err(wrong)).collect::<PyResult<_>>()?;
    let refused = refused.into_iter().map(|r| (r.scheme, r.reason)).collect();
    Ok((texts, (refused, failed.into_iter().map(|f| (f.scheme, f.reason)).collect())))
}

/// Every picture.
#[pyfunction]
fn figures(reports: Vec<String>) -> PyResult<Vec<Picture>> {
    Ok(pictures(wordline_report::figures(&comparison(&reports, Without::default())?)))
}

/// Inspection of a trace, as JSON.
#[pyfunction]
fn inspect(py: Python<'_>, file: &str) -> PyResult<String> {
    let inspected = || wordline_workload::check_is_trace(file).and_then(|()| wordline_trace::inspect(file));
    let found = apart(py, inspected)?.map_err(|e| raised(&e.into()))?;
    serde_json::to_string(&found).map_err(wrong)
}

/// Built-in devices as (name, description).
#[pyfunction]
fn devices() -> Vec<(&'static str, String)> {
    wordline_device::builtin().iter().map(|d| (d.name, d.description())).collect()
}

/// Values of the device of a run that no real part has, a line each.
#[pyfunction]
fn implausible(device: &str, set: Vec<(String, String)>) -> PyResult<Vec<String>> {
    let device = wordline_run::device_of_run(device, &set).map_err(|e| raised(&e))?;
    Ok(wordline_device::implausible(&device))
}

/// Schemes as (name, title).
#[pyfunction]
fn schemes() -> Vec<(String, String)> {
    Registry::standard().all().iter().map(|s| (s.name.to_string(), s.title.to_string())).collect()
}

/// The parameters of a scheme, by its spelling and the Python classes in it.
#[pyfunction]
fn parameters(py: Python<'_>, scheme: &str, classes: Vec<Py<PyAny>>) -> PyResult<Vec<String>> {
    let (registry, _) = scheme::with_classes(py, &classes)?;
    let layers = registry.layers(scheme).map_err(|e| raised(&e.into()))?;
    Ok(layers.iter().flat_map(|(entry, _)| &entry.parameters).map(|p| p.key.to_string()).collect())
}

/// Built-in workloads and twins as (name, title).
#[pyfunction]
fn workloads() -> Vec<(String, String)> {
    let twins = TWINS.iter().map(|t| (format!("twin:{}", t.name), t.title()));
    SYNTHETICS.iter().map(|w| (w.name.to_string(), w.title.to_string())).chain(twins).collect()
}

/// The text of a built-in file, by its path: devices/NAME.toml, devices/measured/NAME.csv, twins/NAME.toml.
#[pyfunction]
fn builtin_file(path: &str) -> Option<&'static str> {
    if let Some(table) = path.strip_prefix("devices/measured/") {
        return wordline_device::measured(table.strip_suffix(".csv")?);
    }
    let (folder, file) = path.split_once('/')?;
    let name = file.strip_suffix(".toml")?;
    match folder {
        "devices" => wordline_device::builtin().iter().find(|d| d.name == name).map(|d| d.text),
        "twins" => TWINS.iter().find(|t| t.name == name).and_then(|t| t.text()),
        _ => None,
    }
}

/// Trace formats as (name, title).
#[pyfunction]
fn formats() -> Vec<(&'static str, &'static str)> {
    wordline_trace::FORMATS.iter().map(|f| (f.name, f.title)).collect()
}

/// Stored text of a report, with its options spelled as keyword arguments.
#[pyfunction]
fn in_python(text: &str) -> String {
    wordline_units::Message::typed(text).on(wordline_units::Face::Python)
}

/// Print the error of a command, as all errors are printed.
#[pyfunction]
fn show_error(args: Vec<OsString>, text: &str) {
    wordline_cli::show_error(&args, text);
}

/// The command line; returns its exit code. A scheme in it can be a Python class.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<OsString>) -> PyResult<i32> {
    if !args.iter().any(|arg| arg.to_str().is_some_and(|text| text.contains("py:"))) {
        return Ok(py.detach(|| command(args, None, Registry::standard(), None)));
    }
    let typed = args.clone();
    let resolved = py.import("wordline.spelling")?.call_method1("in_arguments", (args,))?;
    let (args, classes): (Vec<OsString>, Vec<Py<PyAny>>) = resolved.extract()?;
    let (registry, failed) = scheme::with_classes(py, &classes)?;
    let executor = executor::executor(py, &classes, &failed)?;
    let code = py.detach(|| command(args, Some(typed), registry, executor));
    // Tracebacks of hooks, below the command's error lines.
    for e in failed.take_all() {
        py.import("wordline.subprocess_runner")?.call_method1("show", (e.into_value(py),))?;
    }
    Ok(code)
}

fn command(
    args: Vec<OsString>,
    typed: Option<Vec<OsString>>,
    registry: Registry,
    executor: Option<Executor>,
) -> i32 {
    let python = Interpreter { call: &call, executor, typed };
    wordline_cli::main_with_schemes(args.into_iter(), registry, Some(python))
}

/// Execute a command implemented in Python; returns its exit code, or `None` if a dependency is not installed.
fn call(command: &wordline_cli::Call) -> Option<i32> {
    Python::attach(|py| {
        let called = || -> PyResult<Option<i32>> {
            let function = match command.callee {
                wordline_cli::Callee::Module { name, .. } => py.import(name)?.getattr("main")?,
                wordline_cli::Callee::Laboratory(name) => {
                    py.import("wordline.commands")?.call_method1("provided", (name,))?
                }
            };
            if function.is_none() {
                return Ok(None);
            }
            let arguments = py.import("json")?.call_method1("loads", (&command.arguments,))?;
            let arguments: Bound<'_, PyDict> = arguments.extract()?;
            function.call((), Some(&arguments))?.extract().map(Some)
        };
        called().unwrap_or_else(|e| {
            e.print(py);
            Some(1)
        })
    })
}

/// The native half of the package `wordline`.
#[pymodule]
fn _wordline(m: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = m.py();
    let threading = py.import("threading")?;
    let first = threading.call_method0("main_thread")?.getattr("ident")?;
    if first.eq(threading.call_method0("get_ident")?)? {
        let _ = MAIN.set(std::thread::current().id());
    }
    wordline_units::stop_when(is_raised);
    m.add("__version__", wordline_run::VERSION)?;
    m.add("DEFAULT_SEED", wordline_run::DEFAULT_SEED)?;
    m.add("REPLICAS_MAX", wordline_run::REPLICAS_MAX)?;
    m.add("DEFAULT_INITIAL", wordline_run::DEFAULT_INITIAL)?;
    m.add("ALL_COMPATIBLE", wordline_run::ALL_COMPATIBLE)?;
    m.add("UserError", py.get_type::<UserError>())?;
    m.add("Refused", py.get_type::<Refused>())?;
    m.add("Fault", py.get_type::<Fault>())?;
    m.add_function(wrap_pyfunction!(compare, m)?)?;
    m.add_function(wrap_pyfunction!(identity, m)?)?;
    m.add_function(wrap_pyfunction!(in_python, m)?)?;
    m.add_function(wrap_pyfunction!(show_error, m)?)?;
    m.add_function(wrap_pyfunction!(implausible, m)?)?;
    m.add_function(wrap_pyfunction!(model, m)?)?;
    m.add_function(wrap_pyfunction!(page_write_cost, m)?)?;
    m.add_function(wrap_pyfunction!(record, m)?)?;
    m.add_function(wrap_pyfunction!(rerun, m)?)?;
    m.add_function(wrap_pyfunction!(report_file, m)?)?;
    m.add_function(wrap_pyfunction!(why, m)?)?;
    m.add_function(wrap_pyfunction!(table, m)?)?;
    m.add_function(wrap_pyfunction!(html, m)?)?;
    m.add_function(wrap_pyfunction!(page::page, m)?)?;
    m.add_function(wrap_pyfunction!(page::parts, m)?)?;
    m.add_function(wrap_pyfunction!(page::colours, m)?)?;
    m.add_function(wrap_pyfunction!(page::cause_colour, m)?)?;
    m.add_function(wrap_pyfunction!(admitted, m)?)?;
    m.add_function(wrap_pyfunction!(estimate, m)?)?;
    m.add_function(wrap_pyfunction!(size, m)?)?;
    m.add_function(wrap_pyfunction!(spelled_size, m)?)?;
    m.add_function(wrap_pyfunction!(needed, m)?)?;
    m.add_function(wrap_pyfunction!(report_schema, m)?)?;
    m.add_function(wrap_pyfunction!(comparison_json, m)?)?;
    m.add_function(wrap_pyfunction!(reports, m)?)?;
    m.add_function(wrap_pyfunction!(figures, m)?)?;
    m.add_function(wrap_pyfunction!(lifetime::lifetime, m)?)?;
    m.add_function(wrap_pyfunction!(lifetime::lives, m)?)?;
    m.add_function(wrap_pyfunction!(lifetime::one_life, m)?)?;
    m.add_function(wrap_pyfunction!(lifetime::lives_together, m)?)?;
    m.add_function(wrap_pyfunction!(lifetime::lifetime_table, m)?)?;
    m.add_function(wrap_pyfunction!(lifetime::lifetime_html, m)?)?;
    m.add_function(wrap_pyfunction!(lifetime::lifetime_csv, m)?)?;
    m.add_function(wrap_pyfunction!(lifetime::lifetime_figures, m)?)?;
    m.add_function(wrap_pyfunction!(inspect, m)?)?;
    m.add_function(wrap_pyfunction!(devices, m)?)?;
    m.add_function(wrap_pyfunction!(builtin_file, m)?)?;
    m.add_function(wrap_pyfunction!(schemes, m)?)?;
    m.add_function(wrap_pyfunction!(workloads, m)?)?;
    m.add_function(wrap_pyfunction!(parameters, m)?)?;
    m.add_function(wrap_pyfunction!(formats, m)?)?;
    m.add_function(wrap_pyfunction!(main, m)?)?;
    m.add_function(wrap_pyfunction!(scheme::answers::to, m)?)?;
    m.add_function(wrap_pyfunction!(scheme::answers::into_buffer, m)?)?;
    m.add_function(wrap_pyfunction!(scheme::check::check, m)?)?;
    m.add_function(wrap_pyfunction!(drive::requests, m)?)?;
    m.add_class::<drive::Stepped>()?;
    m.add_class::<drive::Feeding>()?;
    m.add_class::<columns::Columns>()?;
    m.add_class::<scheme::Decision>()?;
    m.add_class::<scheme::ViewHandle>()?;
    m.add_class::<scheme::Numbering>()?;
    m.add_class::<scheme::Parcel>()?;
    Ok(())
}
