//! A drive under the workload of a run: the choice of the driver, and the results of jobs and queues.

use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::host::jobs::Jobs;
use crate::host::queues::{activity, measured, of};
use std::cell::Cell;
use thiserror::Error;
use wordline_ftl::RequestError;
use wordline_report::{JobActivity, QueueActivity};
use wordline_sim::{
    Arrivals, Client, Device, DeviceError, DriveError, Pacing, Probe, Progress, Stop, Summary, drive,
    drive_host,
};
use wordline_trace::WorkloadError;
use wordline_units::{HostRequest, Message, Opt, SimTime};

/// What ends the stream of requests early.
#[derive(Debug, Error)]
pub(crate) enum StreamError {
    #[error(transparent)]
    Workload(#[from] WorkloadError),
    #[error("interrupted")]
    Interrupted,
}

/// The end of the requests of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bounds {
    /// At the end of the workload.
    Workload,
    /// At a limit of the caller; jobs, traces and other workloads with an end still end themselves.
    Caller,
}

/// Result of a workload.
pub(crate) struct Driven {
    pub summary: Summary,
    pub jobs: Vec<JobActivity>,
    pub queues: Vec<QueueActivity>,
    pub first_arrival: SimTime,
}

/// Run a device under the workload of a run until all of its requests have completed. `going_on` is asked before each.
///
/// # Errors
/// If the workload or the device fails, or `going_on` ends the run.
pub(crate) fn drive_workload<P: Probe>(
    setup: &Setup,
    device: &mut Device<P>,
    bounds: Bounds,
    going_on: &dyn Fn() -> Result<(), StreamError>,
    progress: impl FnMut(Progress),
) -> Result<Driven, DriveError<StreamError>> {
    let failed = |e: WorkloadError| DriveError::Workload(e.into());
    let seed = setup.spec.seed;
    let (mut jobs, mut given) = (vec![], vec![]);
    let first = Cell::new(None);
    let in_queues = of(setup);
    let script = setup.workload.script(setup.shape, seed).map_err(failed)?;
    let driven = match (setup.pacing(), script) {
        (None, Some(script)) => {
            let mut host = Jobs::new(script, setup.workload.is_timed(), going_on);
            let driven = match in_queues {
                None => drive_host(device, &mut host, None, progress),
                some => drive_host(device, &mut measured(&mut host, &mut given), some, progress),
            };
            jobs = host.activity();
            driven
        }
        (pacing, _) => {
            let requests = match bounds {
                Bounds::Workload => setup.workload.pass(setup.shape, seed, setup.pass),
                Bounds::Caller => setup.workload.unbounded(setup.shape, seed),
            };
            let requests = requests.map_err(failed)?.map(|r| {
                going_on()?;
                let r: HostRequest = r?;
                if first.get().is_none() {
                    first.set(Some(r.arrival));
                }
                Ok(r)
            });
            let pacing = pacing.unwrap_or(Pacing::Open { queue_depth: setup.device.host.queue_depth });
            // The stream ends by itself at its bounds; only the driver knows the time of a closed loop.
            let closed = matches!(pacing, Pacing::Closed { .. }) && bounds == Bounds::Workload;
            let duration = setup.limit().duration.filter(|_| closed);
            let stop = Stop { duration, worn_out: setup.to_wear_out, ..Stop::default() };
            match (pacing, &in_queues, setup.pauses()) {
                (Pacing::Open { .. }, Some(_), _) => {
                    let host = Arrivals::new(requests, setup.to_wear_out);
                    drive_host(device, &mut measured(host, &mut given), in_queues, progress)
                }
                (Pacing::Closed { queue_depth }, _, Some(pauses)) => {
                    let mut client = Client::new(requests, queue_depth, pauses, stop);
                    drive_host(device, &mut client, None, progress)
                }
                _ => drive(device, requests, pacing, stop, progress),
            }
        }
    };
    let summary = driven?;
    let queues = activity(setup, &given);
    Ok(Driven { summary, jobs, queues, first_arrival: first.get().unwrap_or_default() })
}

/// The message for a workload that could not be completed.
pub(crate) fn failure(setup: &Setup, spelling: &str, e: DriveError<StreamError>) -> RunError {
    match e {
        DriveError::Workload(StreamError::Workload(e)) => e.into(),
        DriveError::Workload(StreamError::Interrupted) => RunError::Interrupted,
        DriveError::Device(DeviceError::Request(e)) => unfit(&setup.spec.workload, &e).into(),
        DriveError::NoTimePasses { .. } => {
            let bound = format!("{e}; limit it by requests, or map the pages that it reads with ");
            (Message::from(bound) + Opt::Initial.of("preload")).into()
        }
        e => fault(setup, spelling, e.to_string()),
    }
}

/// A fault of a scheme or of Wordline, with the command that reproduces it.
pub(crate) fn fault(setup: &Setup, spelling: &str, what: String) -> RunError {
    RunError::Fault { what, replay: setup.spec.with_scheme(spelling).shell_command() }
}

/// A request that the drive rejects, and the remedy.
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
