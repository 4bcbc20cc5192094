//! One run: build the drive, precondition it, run the workload.

use crate::ask::saved::SaveTo;
use crate::ask::setup::Setup;
use crate::begin::Start;
use crate::error::RunError;
use crate::fill::outcome::{Ended, Outcome, plane_erases};
use crate::fill::report::report;
use crate::fill::run_end::{after_last_request, holdings};
use crate::host::load::{Bounds, Driven, StreamError, drive_workload, failure, fault};
use crate::record::recorder::{Recorder, Recording};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Instant;
use wordline_ftl::BoxedMedia;
use wordline_report::Report;
use wordline_sim::{Device, NoProbe, Probe};
use wordline_units::{Opt, SimTime};

/// Progress of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Number of the run in a comparison, from 0: all replicas of the first scheme, then of the next.
    pub run: usize,
    /// Requests completed.
    pub completed: u64,
    /// Simulated time.
    pub now: SimTime,
}

/// Run one scheme once on a resolved setup; `number` is its place among the runs.
///
/// # Errors
/// As for [`run`].
pub fn run_on(
    setup: &Setup,
    scheme: &str,
    number: usize,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, RunError> {
    let begin = Instant::now();
    let spelling = setup.scheme(scheme)?;
    let save_to = SaveTo::asked(&setup.spec)?;
    let (mut device, start) = ready(setup, &spelling, NoProbe)?;
    let report = perform(setup, &spelling, number, (&mut device, start), begin, progress)?;
    if let Some(to) = save_to {
        to.write(setup.label(&spelling), setup.spec.seed, &device)?;
    }
    Ok(report)
}

/// Run one scheme and record operations, completions, a timeline, or several of them.
///
/// # Errors
/// As for [`run`], and if a file cannot be written.
pub fn run_recorded(
    setup: &Setup,
    scheme: &str,
    recording: Recording,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, RunError> {
    let begin = Instant::now();
    if setup.spec.replicas > 1 {
        let files = Opt::Log.name() + ", " + Opt::Completions.name() + " and " + Opt::Timeline.name();
        return Err((files + " record a single run; omit " + Opt::Replicas.name()).into());
    }
    let spelling = setup.spelling(scheme)?;
    let save_to = SaveTo::asked(&setup.spec)?;
    let (mut device, start) = ready(setup, &spelling, Recorder::new(recording, setup))?;
    let (probe, ftl) = device.probe_and_ftl();
    probe.begin_files(setup, &spelling, ftl);
    let broken = device.probe().broken();
    let report = perform(setup, &spelling, 0, (&mut device, start), begin, &mut |p| {
        if broken.get() { ControlFlow::Break(()) } else { progress(p) }
    });
    if let Some(e) = device.probe_mut().failure() {
        return Err(e);
    }
    let report = report?;
    if let Some(to) = save_to {
        to.write(setup.label(&spelling), setup.spec.seed, &device)?;
    }
    device.into_probe().finish()?;
    Ok(report)
}

/// A drive at time 0, and how it was brought into steady state if requested.
pub(crate) type Ready<P> = (Device<P>, Option<Start>);

/// A drive under a scheme, in its initial state or restored. Without media: requests have no bytes here, and no
/// result depends on them. A server of bytes creates the drive itself and uses everything else of this crate.
pub(crate) fn ready<P: Probe>(setup: &Setup, spelling: &str, probe: P) -> Result<Ready<P>, RunError> {
    if let Some(from) = &setup.from_state {
        return Ok((from.device(&setup.spec.registry, setup.label(spelling), &setup.geometry, probe)?, None));
    }
    crate::begin::begun_over(setup, spelling, probe, BoxedMedia::none())
}

/// Drive a drive with the workload, and report.
pub(crate) fn perform<P: Probe>(
    setup: &Setup,
    spelling: &str,
    number: usize,
    (device, start): (&mut Device<P>, Option<Start>),
    begin: Instant,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, RunError> {
    let interrupted = Cell::new(false);
    let told = |p: wordline_sim::Progress| {
        let told = progress(Progress { run: number, completed: p.completed, now: p.now });
        if told.is_break() || wordline_units::is_interrupted() {
            interrupted.set(true);
        }
    };
    let going_on = || if interrupted.get() { Err(StreamError::Interrupted) } else { Ok(()) };
    let (held, plane_erases) = (holdings(device.ftl()), plane_erases(device.ftl()));
    let live_bytes = device.ftl().inspect().live_bytes();
    let driven = drive_workload(setup, device, Bounds::Workload, &going_on, told);
    let Driven { summary, jobs, queues, first_arrival } = driven.map_err(|e| failure(setup, spelling, e))?;
    if interrupted.get() {
        return Err(RunError::Interrupted);
    }
    let wall_s = begin.elapsed().as_secs_f64();
    let ended = Ended {
        setup,
        scheme: spelling,
        summary,
        jobs,
        queues,
        first_arrival,
        wall_s,
        held,
        live_bytes,
        plane_erases,
        start,
    };
    let mut report = report(&Outcome::of(&ended, device));
    let before = device.ftl().counters().clone();
    device.drain().map_err(|e| fault(setup, spelling, e.to_string()))?;
    let rested = Outcome::of(&ended, device);
    report.after_last_request = Some(after_last_request(&rested, &before, device.now()));
    report.host.unplaced_bytes = device.ftl().inspect().unplaced_bytes();
    report.result_hash = device.metrics().result_hash(&device.ftl().counters().integers());
    // Last: it reads every page of the map, which then takes more memory than the run needed.
    if setup.spec.check {
        device.ftl_mut().tables().check().map_err(|e| fault(setup, spelling, e.to_string()))?;
    }
    Ok(report)
}
