//! `run`, `compare`, `demo` and `rerun`.

use crate::args::run::{CheckLogArgs, CompareArgs, DemoArgs, RerunArgs, RunArgs, What, Where};
use crate::args::values::Schemes;
use crate::commands::forecast::forecast;
use crate::console::{Bar, Console};
use crate::error::Failure;
use crate::output::{Folder, Sink};
use std::path::Path;
use wordline_report::{COMPARISON_SCHEMA, Comparison, Report, Rows, decided, summary, table};
use wordline_run::{ALL_COMPATIBLE, Recording, RunSpec, Setup};
use wordline_trace::{Fit, Overrides, with_format};
use wordline_workload::Workload;

/// Where results go, opened before the run.
struct Outputs {
    folder: Option<Folder>,
    json: Option<Sink>,
}

impl Outputs {
    fn open(to: &Where) -> Result<Outputs, Failure> {
        Ok(Outputs {
            folder: to.out.as_deref().map(Folder::open).transpose()?,
            json: to.json.as_deref().map(Sink::open).transpose()?,
        })
    }

    /// Text for people unless JSON takes its place, then files.
    fn write(
        self,
        text: &str,
        json: (&str, &str),
        comparison: &Comparison,
        console: &Console,
    ) -> Result<(), Failure> {
        if !self.json.as_ref().is_some_and(Sink::is_stdout) {
            console.say(text)?;
        }
        console.advised(&comparison.reports);
        if let Some(folder) = self.folder {
            folder.fill(json, comparison, console)?;
        }
        match self.json {
            Some(sink) => sink.write(json.1, console),
            None => Ok(()),
        }
    }
}

pub(crate) fn spec(what: &What, scheme: &str, console: &Console) -> RunSpec {
    RunSpec {
        device: what.device.clone(),
        scheme: scheme.to_string(),
        workload: match &what.format {
            Some(format) => with_format(&what.workload, format),
            None => what.workload.clone(),
        },
        set: what.set.clone(),
        seed: what.seed,
        replicas: what.replicas,
        traces: traces(what.traces.clone()),
        requests: what.requests.map(|n| n.0),
        fit: what.fit,
        initial: if what.steady_state { "steady".to_string() } else { what.initial.clone() },
        from_state: what.from_state.clone(),
        save_state: None,
        check: what.check,
        registry: console.registry().clone(),
        executor: console.executor().cloned(),
    }
}

/// The folder of originals that was named, or that of the environment.
pub(crate) fn traces(named: Option<String>) -> Option<String> {
    let set = || std::env::var("WORDLINE_TRACES").ok().filter(|folder| !folder.is_empty());
    named.or_else(set)
}

/// JSON of a report cannot fail: its numbers are finite, or it says null.
pub(crate) fn json_of(text: Result<String, serde_json::Error>) -> Result<String, Failure> {
    text.map_err(|e| Failure::Output(format!("the report cannot be written as JSON: {e}")))
}

pub(crate) fn run(args: &RunArgs, console: &Console) -> Result<(), Failure> {
    let outputs = Outputs::open(&args.to)?;
    let fio = args.fio_json.as_deref().map(Sink::open).transpose()?;
    let spec = RunSpec { save_state: args.save_state.clone(), ..spec(&args.what, &args.scheme, console) };
    let setup = Setup::resolve(&spec)?;
    if fio.is_some() && setup.pacing().is_some() {
        return Err(Failure::Input(format!(
            "--fio-json: {} has no fio jobs\n  allowed: a fio job file as the workload\n  hint: --json {} \
             writes the report of any run",
            args.what.workload,
            args.fio_json.as_deref().unwrap_or("-")
        )));
    }
    setup.spelling(&args.scheme)?;
    console.warn_of(&setup.device);
    let begins = forecast(&setup, &args.scheme, threads(args.what.threads));
    let comparison = if !args.files().any() {
        let scheme = std::slice::from_ref(&args.scheme);
        let bar = console.bar(&setup, setup.spec.replicas as usize).begins_with(console, begins);
        let comparison = compared(&setup, scheme, threads(args.what.threads), bar)?;
        shifted(comparison, (&setup, &spec), scheme, &args.what, console)?
    } else if args.what.twin_sensitivity {
        let what = "--log, --completions and --timeline record one run; leave --twin-sensitivity out";
        return Err(Failure::Input(what.to_string()));
    } else {
        let recording = Recording::open(&args.files())?;
        let mut bar = console.bar(&setup, 1).begins_with(console, begins);
        let update = &mut |p| bar.update(p);
        Comparison::new(vec![wordline_run::run_recorded(&setup, &args.scheme, recording, update)?])
    };
    let report = &comparison.reports[0];
    let json = json_of(report.to_json())?;
    if let (Some(sink), Some(value)) = (fio, wordline_report::fio_json(report)) {
        let text = json_of(serde_json::to_string_pretty(&value))? + "\n";
        if sink.is_stdout() {
            return sink.write(&text, console);
        }
        sink.write(&text, console)?;
    }
    outputs.write(&summary(report, console.style()), ("report.json", &json), &comparison, console)
}

/// The checker shares no code with the engine, so it is not part of this binary; the script that pip installs
/// passes the command to Python.
pub(crate) fn check_log(args: &CheckLogArgs) -> Result<(), Failure> {
    let mut command = format!("python -m wordline.replay {}", args.file.display());
    if let Some(report) = &args.report {
        command += &format!(" --report {}", report.display());
    }
    Err(Failure::Input(format!(
        "check-log: the checker is a Python program, independent of the engine, and not part of this \
         binary\n  hint: `pip install .` in a checkout, then `{command}`"
    )))
}

pub(crate) fn compare(args: &CompareArgs, console: &Console) -> Result<(), Failure> {
    let rows = args.shown.rows()?;
    let outputs = Outputs::open(&args.to)?;
    let mut schemes = Schemes::all(&args.schemes);
    let mut spec = spec(&args.what, &schemes[0], console);
    let mut refused = vec![];
    if schemes.iter().any(|s| s == ALL_COMPATIBLE) {
        (schemes, refused) = wordline_run::admitted(&Setup::resolve(&spec)?, &schemes)?;
        spec = spec.with_scheme(&schemes[0]);
    }
    let setup = Setup::resolve(&spec)?;
    console.warn_of(&setup.device);
    wordline_run::ignored_scheme_keys(&setup, &schemes)?.iter().for_each(|line| console.note(line));
    let (comparison, failed) = {
        let mut bar = console.bar(&setup, schemes.len() * spec.replicas as usize);
        wordline_run::compare_finished(&setup, &schemes, threads(args.what.threads), &mut |p| bar.update(p))?
    };
    schemes.retain(|scheme| comparison.failed.iter().all(|f| f.scheme != *scheme));
    let comparison = shifted(comparison, (&setup, &spec), &schemes, &args.what, console)?;
    side_by_side(Comparison { refused, ..comparison }, &rows, outputs, console)?;
    // The results of the others are there; the errors follow them, and the last ends the command.
    let mut failed: Vec<Failure> = failed.into_iter().map(Failure::from).collect();
    let last = failed.pop();
    failed.iter().for_each(|e| console.error(e));
    last.map_or(Ok(()), Err)
}

/// Bursts that fit into the SLC cache, with rests in which it empties; six drive writes, so that blocks are
/// collected and the drive is steady.
const DEMO_WORKLOAD: &str =
    "bursty:bursts=300,burst=2%,long=0%,quiet=1s,write_rate=100MB/s,sequential=30%,hot=60%,read_rate=200";

pub(crate) fn demo(args: &DemoArgs, console: &Console) -> Result<(), Failure> {
    let rows = args.shown.rows()?;
    let outputs = Outputs::open(&Where { out: Some(args.out.clone()), json: None })?;
    let spec = RunSpec {
        requests: args.requests.map(|n| n.0),
        ..RunSpec::new("fair-tlc", "conventional", DEMO_WORKLOAD)
    };
    let schemes = ["conventional", "slc-cache", "sector"].map(str::to_string);
    let setup = Setup::resolve(&spec)?;
    let bar = console.bar(&setup, schemes.len());
    let comparison = compared(&setup, &schemes, threads(None), bar)?;
    side_by_side(comparison, &rows, outputs, console)
}

/// Runs in parallel: as requested, or one per core.
pub(crate) fn threads(asked: Option<u16>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, |n| n.get());
    asked.map_or_else(cores, |n| n as usize)
}

/// A comparison with the runs on the shifted twin, if requested.
fn shifted(
    mut comparison: Comparison,
    (setup, spec): (&Setup, &RunSpec),
    schemes: &[String],
    what: &What,
    console: &Console,
) -> Result<Comparison, Failure> {
    if what.twin_sensitivity {
        let mut bar = console.bar(setup, schemes.len() * spec.replicas as usize);
        let update = &mut |p| bar.update(p);
        wordline_run::sensitivity(spec, schemes, threads(what.threads), &mut comparison, update)?;
    }
    Ok(comparison)
}

fn compared(
    setup: &Setup,
    schemes: &[String],
    threads: usize,
    mut bar: Bar<'_>,
) -> Result<Comparison, Failure> {
    Ok(wordline_run::compare(setup, schemes, threads, &mut |p| bar.update(p))?)
}

fn side_by_side(
    comparison: Comparison,
    rows: &Rows,
    outputs: Outputs,
    console: &Console,
) -> Result<(), Failure> {
    let comparison = decided(comparison);
    let json = json_of(comparison.to_json())?;
    let text = table(&comparison, rows, console.style());
    outputs.write(&text, ("comparison.json", &json), &comparison, console)
}

pub(crate) fn rerun(args: &RerunArgs, console: &Console) -> Result<(), Failure> {
    let sink = args.json.as_deref().map(Sink::open).transpose()?;
    let reports = reports_of(&args.report)?;
    let (mut again, mut differ) = (vec![], vec![]);
    for report in &reports.0 {
        let done = {
            let runs = report.replicas.as_ref().map_or(1, |r| r.runs.len());
            let mut bar = console.bar_of_runs(runs, Some(report.host.requests));
            let update = &mut |p| bar.update(p);
            wordline_run::rerun_with(
                report,
                args.workload.as_deref(),
                (console.registry(), console.executor().cloned()),
                threads(None),
                update,
            )?
        };
        let (name, now) = (&report.scheme.name, &done.report.result_hash);
        if done.is_same() {
            let others = match report.replicas.as_ref().map_or(0, |r| r.runs.len()) {
                0 => String::new(),
                2 => ", identical in both replicas".to_string(),
                n => format!(", identical in all {n} replicas"),
            };
            console.note(&format!("{name}: identical result, {now}{others}"));
        } else {
            let version = if done.version == wordline_run::VERSION {
                String::new()
            } else {
                format!(
                    "; the report was written by version {}, this is version {}",
                    done.version,
                    wordline_run::VERSION
                )
            };
            let what = match done.differing_seeds.as_slice() {
                [] => format!("{now} instead of {}", done.recorded),
                seeds => {
                    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
                    format!("in the replicas with seed {}", seeds.join(", "))
                }
            };
            differ.push(format!("{name}: result differs, {what}{version}"));
        }
        again.push(done.report);
    }
    let comparison = Comparison::new(again);
    let single = comparison.reports.first().filter(|_| !reports.1);
    let text = single.map_or_else(
        || table(&comparison, &Rows::All, console.style()),
        |report| summary(report, console.style()),
    );
    if !sink.as_ref().is_some_and(Sink::is_stdout) {
        console.say(&text)?;
    }
    if let Some(sink) = sink {
        let json = single.map_or_else(|| comparison.to_json(), Report::to_json);
        sink.write(&json_of(json)?, console)?;
    }
    if differ.is_empty() { Ok(()) } else { Err(Failure::Differs(differ.join("\n"))) }
}

/// The reports in a file, in a folder or next to a page, and whether they are a comparison.
pub(crate) fn reports_of(named: &Path) -> Result<(Vec<Report>, bool), Failure> {
    let (path, text) = wordline_run::report_text(named)?;
    let wrong = |what: String| Failure::Input(format!("{}: {what}", path.display()));
    let value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| wrong(format!("invalid JSON: {e}")))?;
    let schema = value.get("schema").and_then(|s| s.as_str()).unwrap_or_default();
    let unfit = |e: serde_json::Error| wrong(format!("not a Wordline report: {e}"));
    if schema == COMPARISON_SCHEMA {
        Comparison::from_json(&text).map(|c| (c.reports, true)).map_err(unfit)
    } else {
        Report::from_json(&text).map(|r| (vec![r], false)).map_err(unfit)
    }
}

/// Report workload options that the command overrides, as the reports of a run do.
pub(crate) fn replaced(workloads: &[String], requests: Option<u64>, fit: Option<Fit>, console: &Console) {
    let over = Overrides { requests, fit };
    let remarks = workloads.iter().flat_map(|text| Workload::replaced_in(text, over));
    let mut said: Vec<String> = vec![];
    for remark in remarks {
        if !said.contains(&remark) {
            console.note(&remark);
            said.push(remark);
        }
    }
}
