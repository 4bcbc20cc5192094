//! Rerun of a report from its own configuration, to verify it.

use crate::ask::setup::Setup;
use crate::ask::spec::{DEFAULT_INITIAL, Executor, RunSpec};
use crate::error::RunError;
use crate::execute::Progress;
use crate::study::compare::compare;
use serde_json::Value;
use std::ops::ControlFlow;
use wordline_device::DeviceSpec;
use wordline_report::Report;
use wordline_schemes::Registry;
use wordline_trace::{ErrorKind, Fit};
use wordline_units::{Message, Opt};

/// Result of a rerun.
#[derive(Clone, PartialEq, Debug)]
pub struct Rerun {
    /// The report of the second run.
    pub report: Report,
    /// The hash of the first.
    pub recorded: String,
    /// Seeds of the replicas that did something else.
    pub differing_seeds: Vec<u64>,
    /// The version that made the first.
    pub version: String,
}

impl Rerun {
    /// Whether both runs have the same result, for each replica.
    pub fn is_same(&self) -> bool {
        self.report.result_hash == self.recorded && self.differing_seeds.is_empty()
    }
}

/// Rerun a report, its replicas on up to this many threads. `workload` stands in for the recorded path where
/// the file has moved.
///
/// # Errors
/// If the configuration is incomplete, the input is not the recorded one, or the run fails.
pub fn rerun(
    report: &Report,
    workload: Option<&str>,
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Rerun, RunError> {
    rerun_with(report, workload, (&Registry::standard(), None), threads, progress)
}

/// The same with the schemes of a registry, and optionally an executor.
///
/// # Errors
/// As [`rerun`].
pub fn rerun_with(
    report: &Report,
    workload: Option<&str>,
    (registry, executor): (&Registry, Option<Executor>),
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Rerun, RunError> {
    let mut setup = setup_of(report, workload, registry)?;
    setup.spec.executor = executor.map(|e| e.again(report, workload));
    let again = compare(&setup, std::slice::from_ref(&setup.spec.scheme), threads, progress)?;
    let again = again.reports.into_iter().next().ok_or(RunError::Interrupted)?;
    let hashes = |r: &Report| -> Vec<(u64, String)> {
        let runs = r.replicas.iter().flat_map(|r| &r.runs);
        runs.map(|r| (r.seed, r.result_hash.clone())).collect()
    };
    let pairs = hashes(report).into_iter().zip(hashes(&again));
    Ok(Rerun {
        differing_seeds: pairs.filter(|(was, is)| was != is).map(|(was, _)| was.0).collect(),
        recorded: report.result_hash.clone(),
        version: report.version.clone(),
        report: again,
    })
}

/// A rerun with another result: nothing can be concluded about the report.
pub(crate) fn came_out_otherwise(report: &Report, again: &Report) -> RunError {
    RunError::Input(format!(
        "the rerun differs from the report: {} instead of {}; the report was written by version {}, this \
         is version {}\n  hint: run it again and use the new report",
        again.result_hash,
        report.result_hash,
        report.version,
        crate::ask::spec::VERSION
    ))
}

/// All parts of a report's run, from its configuration alone.
pub(crate) fn setup_of(
    report: &Report,
    workload: Option<&str>,
    registry: &Registry,
) -> Result<Setup, RunError> {
    let config = &report.config;
    let lacks = |what: &str| RunError::Input(format!("config.{what} is missing or malformed"));
    let text = |pointer: &str, what: &str| {
        config.pointer(pointer).and_then(Value::as_str).map(str::to_string).ok_or_else(|| lacks(what))
    };
    let recorded = config.get("device").ok_or_else(|| lacks("device"))?;
    let device: DeviceSpec = serde_json::from_value(recorded.clone())
        .map_err(|e| RunError::Input(format!("config.device: {e}")))?;
    let device = wordline_device::checked(&device, "config.device")?;
    let fit = match config.get("fit").and_then(Value::as_str) {
        None => None,
        Some(word) => Some(word.parse::<Fit>().map_err(|e| RunError::Input(format!("config.fit: {e}")))?),
    };
    let recorded_workload = text("/workload/text", "workload.text")?;
    let from_state = match config.pointer("/initial/state") {
        Some(_) => Some(text("/initial/state/file", "initial.state.file")?),
        None => None,
    };
    let scheme = text("/scheme/spelling", "scheme.spelling")?;
    if config.pointer("/scheme/sources").is_some()
        && let Err(e) = registry.layers(&scheme)
    {
        // Python has found its classes before it comes here.
        let hint = "it is a Python class; pass it with --class py:FILE#CLASS (needs the wordline command \
                    that pip installs)";
        return Err(RunError::Input(format!("{e}\n  hint: {hint}")));
    }
    let spec = RunSpec {
        device: if report.device.spelling.is_empty() { &device.name } else { &report.device.spelling }
            .clone(),
        scheme,
        workload: moved(&recorded_workload, config, workload),
        // Worked into the recorded device already: they only say how it was asked for.
        set: changes(report),
        seed: config.get("seed").and_then(Value::as_u64).ok_or_else(|| lacks("seed"))?,
        replicas: report.replicas.as_ref().map_or(1, |r| r.runs.len() as u32),
        // The recorded text names the original, if it was one.
        traces: None,
        requests: config.get("requests").and_then(Value::as_u64),
        fit,
        initial: match from_state {
            Some(_) => DEFAULT_INITIAL.to_string(),
            None => text("/initial/spelling", "initial.spelling")?,
        },
        from_state,
        save_state: None,
        check: false,
        executor: None,
        registry: registry.clone(),
    };
    let setup = Setup::on(&spec, device, &[], vec![]).map_err(|e| match e {
        // The report may have come from another folder, or from another machine.
        RunError::Workload(e) if workload.is_none() && e.kind() == ErrorKind::Io => {
            let hint = Opt::Workload.of("FILE") + " gives the current path of the workload";
            RunError::Option(Message::from(format!("{e}\n  hint: ")) + hint)
        }
        e => e,
    })?;
    let hash = |v: &Value| v.get("sha256").and_then(Value::as_str).map(str::to_string);
    let (was, is) = (config.get("workload").and_then(hash), hash(&setup.workload.resolved()));
    if was != is {
        let (is, was) = (is.unwrap_or_default(), was.unwrap_or_default());
        let what = format!(": not the input of the report: SHA-256 {is}, expected {was}; ");
        let where_is = Opt::Workload.of("FILE") + " gives its current path";
        return Err((Opt::Workload.of(&spec.workload) + what + where_is).into());
    }
    if let Some(from) = &setup.from_state {
        from.is_recorded(&text("/initial/state/checksum", "initial.state.checksum")?)?;
    }
    Ok(setup)
}

/// The changes to the device file, as keys and values.
fn changes(report: &Report) -> Vec<(String, String)> {
    let pairs = report.device.changes.iter().filter_map(|change| change.split_once('='));
    pairs.map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// The recorded workload with another file.
fn moved(recorded: &str, config: &Value, workload: Option<&str>) -> String {
    let Some(file) = workload else { return recorded.to_string() };
    let name = config.pointer("/workload/name").and_then(Value::as_str).unwrap_or_default();
    match recorded.strip_prefix(name) {
        Some(options) => format!("{file}{options}"),
        None => file.to_string(),
    }
}
