//! One run: build the drive, precondition it, drive it.

use crate::error::RunError;
use crate::fill::{Outcome, report};
use crate::saved::SaveTo;
use crate::setup::Setup;
use crate::spec::RunSpec;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::time::Instant;
use thiserror::Error;
use wordline_ftl::{Label, NoMedia};
use wordline_report::Report;
use wordline_sim::{Device, DeviceError, DriveError, NoProbe, Pacing, Stop, drive};
use wordline_units::{HostRequest, SimTime};
use wordline_workload::WorkloadError;

/// How far a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Which run of a comparison, from 0.
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

/// Run one experiment. `progress` is called now and then, and may break the run off.
///
/// # Errors
/// What is wrong with the input, a refusal, a fault, or the interruption.
pub fn run(
    spec: &RunSpec,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Report, RunError> {
    let setup = Setup::resolve(spec)?;
    setup.check_scheme_keys(std::slice::from_ref(&spec.scheme))?;
    run_on(&setup, &spec.scheme, 0, progress)
}

/// The drive before its first request.
fn before(setup: &Setup, spelling: &str) -> Result<Device<NoProbe, NoMedia>, RunError> {
    if let Some(from) = &setup.from_state {
        return from.device(setup, spelling);
    }
    let built = wordline_schemes::build(spelling)?;
    let mut device = Device::new(&setup.device, &setup.geometry, built, NoProbe)?;
    device
        .ftl
        .precondition(&setup.state, setup.spec.seed)
        .map_err(|e| RunError::Input(format!("--initial {}: {e}", setup.spec.initial)))?;
    Ok(device)
}

/// Run one scheme on what is resolved already; `number` is its place in a comparison.
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
    let fault = |what: String| {
        let mut spec = setup.spec.with_scheme(&spelling);
        spec.set.retain(|(k, _)| !k.starts_with("workload.") && !k.starts_with("scheme."));
        RunError::Fault { what, replay: spec.command() }
    };
    let save_to = setup.spec.save_state.as_deref().map(SaveTo::open).transpose()?;
    let mut device = before(setup, &spelling)?;

    let interrupted = Cell::new(false);
    let first = Cell::new(None);
    let requests = setup.workload.open(setup.shape, setup.spec.seed)?.map(|r| {
        if interrupted.get() {
            return Err(StreamError::Interrupted);
        }
        let r: HostRequest = r?;
        if first.get().is_none() {
            first.set(Some(r.arrival));
        }
        Ok(r)
    });
    let pacing = setup.pacing();
    // The stream ends by itself at its bounds; only the driver knows the time of a closed loop.
    let closed = matches!(pacing, Pacing::Closed { .. });
    let stop = Stop { duration: setup.limit().duration.filter(|_| closed), ..Stop::default() };
    let told = |p: wordline_sim::Progress| {
        if progress(Progress { run: number, completed: p.completed, now: p.now }).is_break() {
            interrupted.set(true);
        }
    };
    let summary = match drive(&mut device, requests, pacing, stop, told) {
        Ok(summary) => summary,
        Err(DriveError::Workload(StreamError::Workload(e))) => return Err(e.into()),
        Err(DriveError::Workload(StreamError::Interrupted)) => return Err(RunError::Interrupted),
        Err(DriveError::Device(DeviceError::Request(e))) => {
            return Err(RunError::Input(format!("--workload {}: {e}", setup.spec.workload)));
        }
        Err(e @ DriveError::NoTimePasses { .. }) => return Err(RunError::Input(e.to_string())),
        Err(e) => return Err(fault(e.to_string())),
    };
    if interrupted.get() {
        return Err(RunError::Interrupted);
    }
    let wall_s = begin.elapsed().as_secs_f64();
    if setup.spec.check {
        device.ftl.check().map_err(|e| fault(e.to_string()))?;
    }
    if let Some(to) = save_to {
        let label = Label { device: &setup.device, scheme: &spelling };
        to.write(&device, label, setup.spec.seed)?;
    }
    Ok(report(&Outcome {
        setup,
        scheme: &spelling,
        device: &device,
        summary,
        first_arrival: first.get().unwrap_or_default(),
        wall_s,
    }))
}
