//! Several schemes on one device and workload, each with the requested replicas. Runs are independent and can
//! execute in parallel: the reports are the same, except for the speed of the engine. Each thread holds one
//! drive, and a replica is reduced to what its report keeps, so that memory depends on the number of threads.

use crate::ask::setup::Setup;
use crate::ask::spec::{Executor, Job, JobProgress, RunSpec};
use crate::error::{Blame, RunError};
use crate::execute::{Progress, run_on};
use crate::study::threads::join;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use wordline_report::{Comparison, FailedScheme, RefusedScheme, Report, replicas};
use wordline_sim::{Device, NoProbe};
use wordline_units::{Message, Opt};

/// Represents every compatible scheme that is not named.
pub const ALL_COMPATIBLE: &str = "all-compatible";

/// The named schemes with [`ALL_COMPATIBLE`] replaced by its schemes in registry order; and the incompatible
/// ones, with the reason.
///
/// # Errors
/// If a named scheme does not exist, the word appears twice, or no scheme supports the device.
pub fn admitted(setup: &Setup, named: &[String]) -> Result<(Vec<String>, Vec<RefusedScheme>), RunError> {
    let Some(at) = named.iter().position(|s| s == ALL_COMPATIBLE) else {
        return Ok((named.to_vec(), vec![]));
    };
    let (mut schemes, mut refused) = (named.to_vec(), vec![]);
    schemes.remove(at);
    if schemes.iter().any(|s| s == ALL_COMPATIBLE) {
        return Err((Opt::Scheme.of(ALL_COMPATIBLE) + " appears twice; name it once").into());
    }
    let mut all = vec![];
    for entry in setup.spec.registry.all().iter().filter(|e| !schemes.iter().any(|s| *s == e.name)) {
        let built = setup.spec.registry.build(&setup.scheme(&entry.name)?)?;
        match Device::<NoProbe>::new(&setup.device, &setup.geometry, built, NoProbe) {
            Ok(_) => all.push(entry.name.to_string()),
            Err(e) if e.has_failed => return Err(e.into()),
            Err(e) => refused.push(RefusedScheme { scheme: entry.name.to_string(), reason: e.reason }),
        }
    }
    schemes.splice(at..at, all);
    if schemes.is_empty() {
        let why: Vec<String> = refused.iter().map(|r| format!("{}: {}", r.scheme, r.reason)).collect();
        return Err(RunError::Input(format!("no scheme supports the device\n  {}", why.join("\n  "))));
    }
    Ok((schemes, refused))
}

/// A line for each `scheme.KEY` that some of these schemes have, and others lack and run without.
///
/// # Errors
/// If none has it, or there is no such scheme.
pub fn ignored_scheme_keys(setup: &Setup, schemes: &[String]) -> Result<Vec<String>, RunError> {
    setup.check_scheme_keys(schemes)?;
    let mut lines = vec![];
    for (key, value) in setup.scheme_set() {
        let mut lacking = vec![];
        for scheme in schemes {
            let layers = setup.spec.registry.layers(scheme)?;
            if !layers.iter().any(|(entry, _)| entry.parameters.iter().any(|p| p.key == key.as_str())) {
                lacking.push(scheme.as_str());
            }
        }
        if !lacking.is_empty() {
            let (has, runs) = if lacking.len() == 1 { ("has", "runs") } else { ("have", "run") };
            let who = lacking.join(", ");
            lines.push(format!("scheme.{key}={value}: {who} {has} no such parameter and {runs} without it"));
        }
    }
    Ok(lines)
}

/// Run each replica of each scheme on a resolved setup, on up to this many threads. The first scheme is the
/// baseline. The n-th replica has the same seed under every scheme, and so the same host requests.
///
/// # Errors
/// The first error in the order of schemes and seeds.
pub fn compare(
    setup: &Setup,
    schemes: &[String],
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Comparison, RunError> {
    let (comparison, mut failed) = run_all(setup, schemes, (threads, IfFailed::Stop), progress)?;
    if failed.is_empty() { Ok(comparison) } else { Err(failed.swap_remove(0)) }
}

/// The same, where a scheme that fails or refuses the device costs the others nothing: the comparison is of those that
/// have a report, and names the others. Their errors are in the same order.
///
/// # Errors
/// The first error, if no scheme has a report; any that concerns all schemes.
pub fn compare_finished(
    setup: &Setup,
    schemes: &[String],
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Comparison, Vec<RunError>), RunError> {
    let (comparison, mut failed) = run_all(setup, schemes, (threads, IfFailed::GoOn), progress)?;
    if comparison.reports.is_empty() && !failed.is_empty() {
        return Err(failed.swap_remove(0));
    }
    Ok((comparison, failed))
}

/// What becomes of the other schemes if one fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IfFailed {
    Stop,
    GoOn,
}

/// Whether an error is that of a scheme, and others may have none.
fn is_of_scheme(e: &RunError) -> bool {
    matches!(e.blame(), Blame::Fault | Blame::Refused)
}

fn run_all(
    setup: &Setup,
    schemes: &[String],
    (threads, if_failed): (usize, IfFailed),
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(Comparison, Vec<RunError>), RunError> {
    // Every scheme is built once before any runs, so that a mistake in the last costs no time.
    setup.check_scheme_keys(schemes)?;
    if let Some(file) = &setup.spec.save_state {
        let refuse = |what| Err((Opt::SaveState.of(file) + ": " + what).into());
        if schemes.len() > 1 {
            let what = format!("{} schemes would write one state each; run a single scheme", schemes.len());
            return refuse(Message::from(what));
        }
        if setup.spec.replicas > 1 {
            let what = format!("{} replicas would write one state each; omit ", setup.spec.replicas);
            return refuse(Message::from(what) + Opt::Replicas.name());
        }
    }
    for scheme in schemes {
        setup.spec.registry.build(&setup.scheme(scheme)?)?;
    }
    let stop = AtomicBool::new(false);
    // Further replicas of a scheme that has failed are not begun.
    let given_up: Vec<AtomicBool> = schemes.iter().map(|_| AtomicBool::new(false)).collect();
    let next = AtomicUsize::new(0);
    let replicas = setup.spec.replicas as usize;
    let runs = schemes.len() * replicas;
    let executor =
        setup.spec.executor.as_ref().filter(|_| runs > 1 && threads > 1 && setup.workload.is_in_files());
    let mut results: Vec<Option<Result<Report, RunError>>> = (0..runs).map(|_| None).collect();
    std::thread::scope(|scope| {
        enum Word {
            Progress(Progress),
            Done(usize, Box<Result<Report, RunError>>),
        }
        let (say, hear) = mpsc::channel();
        let mut at_work = vec![];
        for _ in 0..threads.clamp(1, runs.max(1)) {
            let (say, stop, next, given_up) = (say.clone(), &stop, &next, &given_up);
            at_work.push(scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= runs || stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let (scheme, replica) = (&schemes[number / replicas], (number % replicas) as u32);
                    if given_up[number / replicas].load(Ordering::Relaxed) {
                        continue;
                    }
                    let mut said = |p| {
                        // A listener that has gone away is not a reason to stop.
                        let _ = say.send(Word::Progress(p));
                        if stop.load(Ordering::Relaxed) {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        }
                    };
                    let away = executor.and_then(|e| away(setup, e, (scheme, replica), number, &mut said));
                    let here = || setup.replica(replica).and_then(|s| run_on(&s, scheme, number, &mut said));
                    let result = away.unwrap_or_else(here);
                    // The first is the report of its scheme, and kept whole.
                    let result = if replica == 0 { result } else { result.map(|r| r.in_brief()) };
                    match &result {
                        Err(e) if if_failed == IfFailed::GoOn && is_of_scheme(e) => {
                            given_up[number / replicas].store(true, Ordering::Relaxed);
                        }
                        Err(_) => stop.store(true, Ordering::Relaxed),
                        Ok(_) => {}
                    }
                    let _ = say.send(Word::Done(number, Box::new(result)));
                }
            }));
        }
        drop(say);
        for word in hear {
            match word {
                Word::Progress(p) => {
                    if progress(p).is_break() {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                Word::Done(number, result) => results[number] = Some(*result),
            }
        }
        join(at_work);
    });
    let (mut of_schemes, mut failed, mut errors) = (vec![], vec![], vec![]);
    for (scheme, own) in schemes.iter().zip(results.chunks_mut(replicas)) {
        // A run that another's error interrupted is not to blame.
        let is_cause = |r: &Option<Result<Report, RunError>>| matches!(r, Some(Err(e)) if !matches!(e, RunError::Interrupted));
        if let Some(Err(e)) = own.iter().position(is_cause).and_then(|at| own[at].take()) {
            if if_failed == IfFailed::Stop || !is_of_scheme(&e) {
                return Err(e);
            }
            failed.push(FailedScheme { scheme: scheme.clone(), reason: first_line(&e, scheme) });
            errors.push(e);
            continue;
        }
        let reports: Option<Result<Vec<Report>, RunError>> = own.iter_mut().map(Option::take).collect();
        of_schemes.push(reports.unwrap_or(Err(RunError::Interrupted)));
    }
    let finished = of_schemes.into_iter().map(|reports| {
        let mut reports = reports?.into_iter();
        let first = reports.next().ok_or(RunError::Interrupted)?;
        Ok(replicated(&setup.spec, first, reports))
    });
    let finished: Vec<Report> = finished.collect::<Result<_, RunError>>()?;
    Ok((Comparison { failed, ..Comparison::new(finished) }, errors))
}

/// What an error of a scheme says, without its name, the command that leads to it, and advice.
fn first_line(e: &RunError, scheme: &str) -> String {
    if let RunError::Refused(refusal) = e
        && !refusal.has_failed
    {
        return format!("it does not support the device: {}", refusal.reason);
    }
    let text = e.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix(&format!("scheme {scheme}: ")).unwrap_or(line).to_string()
}

/// A replica of a scheme in another process, if it executes there.
fn away(
    setup: &Setup,
    executor: &Executor,
    (scheme, replica): (&str, u32),
    number: usize,
    said: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Option<Result<Report, RunError>> {
    let spelling = match setup.scheme(scheme) {
        Ok(spelling) => spelling,
        Err(e) => return Some(Err(e)),
    };
    let spec = setup.spec.replica(replica).with_scheme(&spelling);
    let done = executor.perform(Job::Run(&spec), &mut |at| match at {
        JobProgress::Run(completed, now) => said(Progress { run: number, completed, now }),
        JobProgress::Life(..) => ControlFlow::Continue(()),
    })?;
    let read = |text: String| Report::from_json(&text).map_err(|e| RunError::Input(e.to_string()));
    Some(done.and_then(read))
}

/// The report of a run with replicas: that of the first, with the results of all.
fn replicated(spec: &RunSpec, first: Report, others: impl Iterator<Item = Report>) -> Report {
    if spec.replicas <= 1 {
        return first;
    }
    let in_brief = std::iter::once(first.in_brief()).chain(others.map(|other| other.in_brief()));
    let replicas = Some(replicas(in_brief.collect()));
    Report { command: spec.with_scheme(&first.scheme.name).command(), replicas, ..first }
}

/// Run one experiment. `progress` is called regularly, and can stop the run.
///
/// # Errors
/// Invalid input, a refusal, a fault, or the interruption.
pub fn run(
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, RunError> {
    let setup = Setup::resolve(spec)?;
    let one = compare(&setup, std::slice::from_ref(&spec.scheme), 1, progress)?;
    one.reports.into_iter().next().ok_or(RunError::Interrupted)
}
