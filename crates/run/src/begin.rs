//! A drive in its initial state, and how well a steady one was met.

use crate::ask::initial::Filled;
use crate::ask::setup::Setup;
use crate::error::RunError;
use wordline_ftl::{Begun, Law, Media, SteadyError, Updates};
use wordline_sim::{Device, Pacing, Probe};
use wordline_units::{Message, Opt};
use wordline_workload::{UpdateStream, Updates as Writes, WorkloadError};

/// How a drive was put into a steady state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Start {
    pub by: &'static str,
    pub begun: Begun,
}

/// Put a drive into the initial state of a run.
pub(crate) fn begin<P: Probe, M: Media>(
    setup: &Setup,
    device: &mut Device<P, M>,
) -> Result<Option<Start>, RunError> {
    let given = || Opt::Initial.of(&setup.spec.initial);
    let seed = setup.spec.seed;
    let Filled::Steady(_) = setup.initial.filled else {
        device.ftl.precondition(&setup.state, seed).map_err(|e| given() + format!(": {e}"))?;
        return Ok(None);
    };
    let outstanding = match setup.pacing() {
        Some(Pacing::Closed { queue_depth }) => Some(queue_depth),
        // Jobs of a job file keep the drive's queue full at most.
        None => Some(setup.device.host.queue_depth),
        Some(Pacing::Open { .. }) => None,
    };
    let mut stopped = None;
    let (by, begun) = match setup.workload.updates(setup.shape, seed)? {
        Writes::Law(law) => {
            let law = Law {
                class_of: law.class_of,
                shares: law.shares,
                lengths: law.lengths,
                aligned: law.aligned,
            };
            ("law", device.ftl.precondition_steady(&setup.state, Updates::Law(&law), outstanding, seed))
        }
        Writes::Stream(stream) => {
            let mut sound = until_error(stream, &mut stopped);
            (
                "stream",
                device.ftl.precondition_steady(&setup.state, Updates::Stream(&mut sound), outstanding, seed),
            )
        }
    };
    match stopped {
        Some(e) => Err(e.into()),
        None => Ok(Some(Start { by, begun: begun.map_err(|e| given() + format!(": {e}") + instead(&e))? })),
    }
}

/// A drive under a scheme in its initial state, and how it was put into a steady one if it was.
pub(crate) fn begun_over<P: Probe, M: Media>(
    setup: &Setup,
    spelling: &str,
    probe: P,
    media: M,
) -> Result<(Device<P, M>, Option<Start>), RunError> {
    let scheme = setup.spec.registry.build(spelling)?;
    let mut device = Device::over(&setup.device, &setup.geometry, scheme, probe, media)?;
    let start = begin(setup, &mut device)?;
    Ok((device, start))
}

/// A drive in its initial state over media that hold nothing of it yet, for whoever serves what is in them; the scheme as
/// [`Setup::spelling`] has it.
///
/// # Errors
/// When scheme and device do not go together, or the initial state is none of theirs.
pub fn device_over<P: Probe, M: Media>(
    setup: &Setup,
    spelling: &str,
    probe: P,
    media: M,
) -> Result<Device<P, M>, RunError> {
    begun_over(setup, spelling, probe, media).map(|(device, _)| device)
}

/// What to do where no steady state can be begun with.
fn instead(e: &SteadyError) -> Message {
    let filled = || Message::from("fill the drive (") + Opt::Initial.of("fill:90%,valid=80%") + ")";
    let saved = || Message::from("warm it up once with ") + Opt::SaveState.of("FILE");
    match e {
        SteadyError::Scheme { .. } => {
            let with = Message::from("; let the workload write bytes=8x, ") + saved() + ", and begin with ";
            with + Opt::FromState.of("FILE") + ", or " + filled()
        }
        SteadyError::BadBlocks => Message::from("; set wear.bad_blocks=0%, or ") + filled(),
        SteadyError::MapCache => {
            Message::from("; set dram.map_cache=off, or ") + filled() + " and " + saved()
        }
        SteadyError::Superblocks => {
            Message::from("; set parallel.superblock=off, or ") + filled() + " and " + saved()
        }
        _ => Message::default(),
    }
}

/// The runs of a stream up to its first error, which is put aside.
fn until_error(
    stream: UpdateStream,
    stopped: &mut Option<WorkloadError>,
) -> impl Iterator<Item = std::ops::Range<u32>> {
    stream.map_while(move |run| run.map_err(|e| *stopped = Some(e)).ok())
}
