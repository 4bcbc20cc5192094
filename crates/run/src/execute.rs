//! One run: build the drive, precondition it, drive it.

use crate::ask::saved::SaveTo;
use crate::ask::setup::Setup;
use crate::begin::Start;
use crate::error::RunError;
use crate::fill::outcome::{Measured, Outcome};
use crate::fill::report::report;
use crate::fill::run_end::{finish, holdings};
use crate::host::jobs::Jobs;
use crate::host::queues::measured;
use crate::record::recorder::{Recorder, Recording};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Instant;
use thiserror::Error;
use wordline_ftl::{Media, NoMedia, RequestError};
use wordline_report::Report;
use wordline_sim::{
    Arrivals, Client, Device, DeviceError, DriveError, NoProbe, Pacing, Probe, Stop, drive, drive_host,
};
use wordline_units::{HostRequest, Message, Opt, SimTime};
use wordline_workload::WorkloadError;

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Which run of a comparison, from 0: all replicas of the first scheme, then of the next.
    pub run: usize,
    /// Requests completed.
    pub completed: u64,
    /// Simulated time.
    pub now: SimTime,
}

/// What ends the stream of requests early.
#[derive(Debug, Error)]
enum StreamError {
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    #[error("interrupted")]
    Interrupted,
}

/// Run one scheme once on what is resolved already; `number` is its place among the runs.
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

/// Run one scheme and write down every operation, every completion, a timeline, or several of them.
///
/// # Errors
/// As for [`run`], and when a file cannot be written.
pub fn run_recorded(
    setup: &Setup,
    scheme: &str,
    recording: Recording,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, RunError> {
    let begin = Instant::now();
    if setup.spec.replicas > 1 {
        let files = Opt::Log.name() + ", " + Opt::Completions.name() + " and " + Opt::Timeline.name();
        return Err((files + " record one run; leave " + Opt::Replicas.name() + " out").into());
    }
    let spelling = setup.spelling(scheme)?;
    let save_to = SaveTo::asked(&setup.spec)?;
    let (mut device, start) = ready(setup, &spelling, Recorder::new(recording, setup))?;
    device.probe.begin_files(setup, &spelling, &device.ftl);
    let broken = device.probe.broken();
    let report = perform(setup, &spelling, 0, (&mut device, start), begin, &mut |p| {
        if broken.get() { ControlFlow::Break(()) } else { progress(p) }
    });
    if let Some(e) = device.probe.failure() {
        return Err(e);
    }
    let report = report?;
    if let Some(to) = save_to {
        to.write(setup.label(&spelling), setup.spec.seed, &device)?;
    }
    device.probe.finish()?;
    Ok(report)
}

/// A drive at time 0, and how it was put into a steady state if it was.
pub(crate) type Ready<P> = (Device<P, NoMedia>, Option<Start>);

/// A drive under a scheme, in its initial state or as it was saved. Without media: what is asked here has no bytes, and
/// no result depends on them. Whoever serves bytes makes the drive, and all else of this crate takes it.
pub(crate) fn ready<P: Probe>(setup: &Setup, spelling: &str, probe: P) -> Result<Ready<P>, RunError> {
    if let Some(from) = &setup.from_state {
        return Ok((from.device(&setup.spec.registry, setup.label(spelling), &setup.geometry, probe)?, None));
    }
    crate::begin::begun_over(setup, spelling, probe, NoMedia)
}

/// Drive a drive with the workload, and report.
pub(crate) fn perform<P: Probe, M: Media>(
    setup: &Setup,
    spelling: &str,
    number: usize,
    (device, start): (&mut Device<P, M>, Option<Start>),
    begin: Instant,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, RunError> {
    let fault =
        |what: String| RunError::Fault { what, replay: setup.spec.with_scheme(spelling).shell_command() };
    let interrupted = Cell::new(false);
    let first = Cell::new(None);
    let told = |p: wordline_sim::Progress| {
        let told = progress(Progress { run: number, completed: p.completed, now: p.now });
        if told.is_break() || wordline_units::is_interrupted() {
            interrupted.set(true);
        }
    };
    let going_on = || if interrupted.get() { Err(StreamError::Interrupted) } else { Ok(()) };
    let (mut jobs, mut queues) = (vec![], vec![]);
    let in_queues = crate::host::queues::of(setup);
    let script = setup.workload.script(setup.shape, setup.spec.seed)?;
    let held = holdings(&device.ftl);
    let driven = match (setup.pacing(), script) {
        (None, Some(script)) => {
            let mut host = Jobs::new(script, setup.workload.is_timed(), going_on);
            let driven = match in_queues {
                None => drive_host(device, &mut host, None, told),
                some => drive_host(device, &mut measured(&mut host, &mut queues), some, told),
            };
            jobs = host.activity();
            driven
        }
        (pacing, _) => {
            let requests = setup.workload.open(setup.shape, setup.spec.seed)?.map(|r| {
                going_on()?;
                let r: HostRequest = r?;
                if first.get().is_none() {
                    first.set(Some(r.arrival));
                }
                Ok(r)
            });
            let pacing = pacing.unwrap_or(Pacing::Open { queue_depth: setup.device.host.queue_depth });
            // The stream ends by itself at its bounds; only the driver knows the time of a closed loop.
            let closed = matches!(pacing, Pacing::Closed { .. });
            let duration = setup.limit().duration.filter(|_| closed);
            let stop = Stop { duration, worn_out: setup.to_wear_out, ..Stop::default() };
            match (pacing, &in_queues, setup.pauses()) {
                (Pacing::Open { .. }, Some(_), _) => {
                    let host = Arrivals::new(requests, setup.to_wear_out);
                    drive_host(device, &mut measured(host, &mut queues), in_queues, told)
                }
                (Pacing::Closed { queue_depth }, _, Some(pauses)) => {
                    drive_host(device, &mut Client::new(requests, queue_depth, pauses, stop), None, told)
                }
                _ => drive(device, requests, pacing, stop, told),
            }
        }
    };
    let summary = match driven {
        Ok(summary) => summary,
        Err(DriveError::Workload(StreamError::Workload(e))) => return Err(e.into()),
        Err(DriveError::Workload(StreamError::Interrupted)) => return Err(RunError::Interrupted),
        Err(DriveError::Device(DeviceError::Request(e))) => {
            return Err(unfit(&setup.spec.workload, &e).into());
        }
        Err(e @ DriveError::NoTimePasses { .. }) => {
            let bound = format!("{e}; bound it by requests, or map the pages it reads with ");
            return Err((Message::from(bound) + Opt::Initial.of("preload")).into());
        }
        Err(e) => return Err(fault(e.to_string())),
    };
    if interrupted.get() {
        return Err(RunError::Interrupted);
    }
    let wall_s = begin.elapsed().as_secs_f64();
    let mut report = report(&Outcome {
        setup,
        scheme: spelling,
        device: Measured { ftl: &device.ftl, metrics: &device.metrics },
        summary,
        jobs,
        queues: crate::host::queues::activity(setup, &queues),
        first_arrival: first.get().unwrap_or_default(),
        wall_s,
        held,
        start,
    });
    finish(&mut report, device, summary.end).map_err(|e| fault(e.to_string()))?;
    // Last: it reads every page of the map, which then takes more memory than the run needed.
    if setup.spec.check {
        device.ftl.check().map_err(|e| fault(e.to_string()))?;
    }
    Ok(report)
}

/// A request that the drive cannot take, and what to do about it.
fn unfit(workload: &str, e: &RequestError) -> Message {
    let what = Opt::Workload.of(workload) + format!(": {e}");
    match e {
        RequestError::BeyondDrive { .. } => {
            let fit = what + "; choose a larger drive, or fit the workload with ";
            fit + Opt::Fit.of("wrap") + " or " + Opt::Fit.of("compact")
        }
        RequestError::Empty { .. } => what,
    }
}
