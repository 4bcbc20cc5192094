//! Several schemes on one device and workload. Runs are independent, so they may go side by side:
//! the reports are the same as one after the other, but for the speed of the engine.

use crate::error::RunError;
use crate::execute::{Progress, run_on};
use crate::setup::Setup;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use wordline_report::{Comparison, Report};

/// Run each scheme on what is resolved already, on up to so many threads. The first scheme is the
/// baseline.
///
/// # Errors
/// The error of the first scheme, in the order given, that has one.
pub fn compare(
    setup: &Setup,
    schemes: &[String],
    threads: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Comparison, RunError> {
    // Every scheme is built once before any runs, so that a mistake in the last costs no time.
    setup.check_scheme_keys(schemes)?;
    if let (Some(file), [_, _, ..]) = (&setup.spec.save_state, schemes) {
        return Err(RunError::Input(format!(
            "--save-state {file}: {} schemes would leave as many states; run one of them",
            schemes.len()
        )));
    }
    for scheme in schemes {
        wordline_schemes::build(&setup.scheme(scheme)?)?;
    }
    let stop = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let mut results: Vec<Option<Result<Report, RunError>>> = schemes.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        enum Word {
            Progress(Progress),
            Done(usize, Box<Result<Report, RunError>>),
        }
        let (say, hear) = mpsc::channel();
        for _ in 0..threads.clamp(1, schemes.len().max(1)) {
            let (say, stop, next) = (say.clone(), &stop, &next);
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(scheme) = schemes.get(number).filter(|_| !stop.load(Ordering::Relaxed)) else {
                        return;
                    };
                    let result = run_on(setup, scheme, number, &mut |p| {
                        // A listener that has gone away is no reason to stop.
                        let _ = say.send(Word::Progress(p));
                        if stop.load(Ordering::Relaxed) {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(())
                        }
                    });
                    if result.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    let _ = say.send(Word::Done(number, Box::new(result)));
                }
            });
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
    });
    // A run that another's error interrupted is not to blame.
    let is_cause = |r: &Option<Result<Report, RunError>>| matches!(r, Some(Err(e)) if !matches!(e, RunError::Interrupted));
    if let Some(at) = results.iter().position(is_cause)
        && let Some(Err(e)) = results.swap_remove(at)
    {
        return Err(e);
    }
    let reports: Option<Result<Vec<Report>, RunError>> = results.into_iter().collect();
    reports.unwrap_or(Err(RunError::Interrupted)).map(Comparison::new)
}
