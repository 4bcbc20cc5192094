//! A drive in its initial state, and the accuracy of a steady one.

use crate::ask::initial::{Filled, InitialSpec};
use crate::ask::length::run_length;
use crate::ask::setup::Setup;
use crate::error::RunError;
use crate::regime::{Beginning, RegimeProbe, settle};
use wordline_device::Copies;
use wordline_ftl::{Begun, BoxedMedia, Contents, InitialError, Known, Law, SteadyError, Updates};
use wordline_sim::{Device, Pacing, Probe};
use wordline_trace::WorkloadError;
use wordline_units::{Fraction, Message, Opt};
use wordline_workload::{UpdateStream, Updates as Writes};

/// Started in steady state by the address distribution of the workload.
pub(crate) const BY_LAW: &str = "law";

/// How a drive was brought into steady state.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Start {
    pub by: &'static str,
    pub begun: Begun,
    /// Writes in simulated time before the run, in multiples of the data.
    pub timed_drive_writes: f64,
    /// WAF at their end, if there were enough.
    pub timed_waf: Option<f64>,
}

/// Put a drive into the initial state of a run.
fn begin<P: Probe>(setup: &Setup, spelling: &str, device: &mut Device<P>) -> Result<Option<Start>, RunError> {
    let Filled::Steady(_) = setup.initial.filled else {
        let given = || Opt::Initial.of(&setup.spec.initial);
        let begun = device.ftl_mut().setup().precondition(&setup.state, setup.spec.seed);
        begun.map_err(|e| given() + format!(": {e}") + would_do(setup, &e))?;
        return Ok(None);
    };
    let outstanding = match setup.pacing() {
        Some(Pacing::Closed { queue_depth }) => Some(queue_depth),
        // Jobs of a job file keep the drive's queue full at most.
        None => Some(setup.device.host.queue_depth),
        Some(Pacing::Open { .. }) => None,
    };
    let fill = device.ftl().inspect().fill_short_of_collection(Fraction::percent(90)).map(filled_spelling);
    let law = match setup.workload.updates(setup.shape, setup.spec.seed)? {
        Writes::Law(law) => Some(Law {
            class_of: law.class_of,
            shares: law.shares,
            lengths: law.lengths,
            aligned: law.aligned,
        }),
        Writes::Stream(_) => None,
    };
    let regions = device.ftl().layout().regions.len();
    let workload = SteadyWorkload { setup, law, fill, regions };
    let ran = settle(setup, spelling, outstanding, &workload)?;
    let known = ran.contents.as_ref().map_or(Known::Regime(ran.regime, &[]), Known::Contents);
    let (by, begun) = workload.steady(device, known)?;
    Ok(Some(Start { by, begun, timed_drive_writes: ran.drive_writes, timed_waf: ran.waf }))
}

/// A workload that drives are begun steady under.
struct SteadyWorkload<'a> {
    setup: &'a Setup,
    /// The address distribution of its writes, if these are independent.
    law: Option<Law>,
    /// A suggested state if no steady one is possible.
    fill: Option<String>,
    /// Number of regions of the scheme.
    regions: usize,
}

impl SteadyWorkload<'_> {
    fn told(&self, e: SteadyError) -> RunError {
        (Opt::Initial.of(&self.setup.spec.initial)
            + format!(": {e}")
            + instead(&e, self.setup, self.fill.as_deref(), self.regions))
        .into()
    }

    /// Start a drive in its predicted steady state.
    fn steady<P: Probe>(
        &self,
        device: &mut Device<P>,
        known: Known,
    ) -> Result<(&'static str, Begun), RunError> {
        let (state, seed) = (&self.setup.state, self.setup.spec.seed);
        if let Some(law) = &self.law {
            let begun = device.ftl_mut().setup().precondition_steady(state, Updates::Law(law), known, seed);
            return Ok((BY_LAW, begun.map_err(|e| self.told(e))?));
        }
        let Writes::Stream(stream) = self.setup.workload.updates(self.setup.shape, seed)? else {
            unreachable!("what is no law is a stream")
        };
        let mut stopped = None;
        let begun = {
            let mut sound = until_error(stream, &mut stopped);
            device.ftl_mut().setup().precondition_steady(state, Updates::Stream(&mut sound), known, seed)
        };
        match stopped {
            Some(e) => Err(e.into()),
            None => Ok(("stream", begun.map_err(|e| self.told(e))?)),
        }
    }
}

impl Beginning for SteadyWorkload<'_> {
    fn begin(&self, device: &mut Device<RegimeProbe>, known: Known) -> Result<Begun, RunError> {
        Ok(self.steady(device, known)?.1)
    }

    fn contents(
        &self,
        device: &mut Device<RegimeProbe>,
        begun: Begun,
        is_uneven: bool,
    ) -> Result<Option<Contents>, RunError> {
        let Some(law) = &self.law else { return Ok(None) };
        let contents = device.ftl_mut().setup().contents(&self.setup.state, law, begun, is_uneven);
        Ok(Some(contents.map_err(|e| self.told(e))?))
    }

    fn replaced(&self, drive_writes: f64) -> Option<f64> {
        self.law.as_ref().map(|law| law.replaced(&self.setup.state.mapped, drive_writes))
    }
}

/// A drive under a scheme in its initial state, and how it was brought into a steady one if requested.
pub(crate) fn begun_over<P: Probe>(
    setup: &Setup,
    spelling: &str,
    probe: P,
    media: BoxedMedia,
) -> Result<(Device<P>, Option<Start>), RunError> {
    let scheme = setup.spec.registry.build(spelling)?;
    let mut device = Device::over(&setup.device, &setup.geometry, scheme, probe, media)?;
    let start = begin(setup, spelling, &mut device)?;
    Ok((device, start))
}

/// A drive in its initial state over empty media, for a server of their contents; the scheme as spelled in
/// [`Setup::spelling`].
///
/// # Errors
/// If the scheme does not support the device or the initial state.
pub fn device_over<P: Probe>(
    setup: &Setup,
    spelling: &str,
    probe: P,
    media: impl Into<BoxedMedia>,
) -> Result<Device<P>, RunError> {
    begun_over(setup, spelling, probe, media.into()).map(|(device, _)| device)
}

/// The closest possible initial state with another share of valid pages.
fn would_do(setup: &Setup, e: &InitialError) -> Message {
    match e {
        InitialError::TooMuch { would_do: Some(valid), .. } => {
            let fits = InitialSpec { valid: *valid, ..setup.initial.clone() };
            Message::from("\n  hint: ") + Opt::Initial.of(fits)
        }
        _ => Message::default(),
    }
}

/// The spelling of a state in which that share of the pages holds data, with that share of valid pages in their
/// blocks.
pub(crate) fn filled_spelling((share, valid): (Fraction, Fraction)) -> String {
    format!("fill:{share},valid={valid}")
}

/// The scheme that keeps copied pages apart as `gc.copies` says.
pub(crate) const KEEPS_COPIES_APART: &str = "conventional";

/// Drive writes after which a drive has mostly come to its steady state.
const SETTLED: f64 = 8.0;

/// The option with which a workload writes [`SETTLED`] drives: a trace is repeated, any other workload has no end.
fn long_enough(setup: &Setup) -> String {
    let Some(passes) = setup.workload.passes() else { return format!("bytes={SETTLED}x") };
    let written = run_length(setup).map_or(0, |length| length.write_bytes).max(1) as f64;
    let drives = written / setup.shape.logical_bytes.max(1) as f64;
    format!("loops={}", (SETTLED / drives * passes as f64).ceil() as u64)
}

/// Advice if a steady start is not possible.
fn instead(e: &SteadyError, setup: &Setup, fill: Option<&str>, regions: usize) -> Message {
    let filled = || Message::from("fill the drive (") + Opt::Initial.of(fill.unwrap_or("fill:90%")) + ")";
    let saved = || Message::from("precondition it once with ") + Opt::SaveState.of("FILE");
    match e {
        SteadyError::Scheme { scheme, .. } => {
            // The only further region of the scheme is then that of the copies.
            let is_theirs =
                setup.device.gc.copies == Copies::Apart && regions == 2 && scheme == KEEPS_COPIES_APART;
            let together = match is_theirs {
                true => {
                    Message::from("; try ")
                        + Opt::Set.of("gc.copies=together")
                        + ", which costs about the same where all data are written alike"
                }
                false => Message::default(),
            };
            let with = format!("; let the workload write {SETTLED} drives ({}), ", long_enough(setup));
            let with = together + with + saved() + ", and start with ";
            with + Opt::FromState.of("FILE") + ", or " + filled()
        }
        SteadyError::BadBlocks => Message::from("; set wear.bad_blocks=0%, or ") + filled(),
        SteadyError::MapCache => {
            Message::from("; set dram.map_cache=off, or ") + filled() + " and " + saved()
        }
        SteadyError::Superblocks => {
            Message::from("; set parallel.superblock=off, or ") + filled() + " and " + saved()
        }
        SteadyError::Unreachable { total, reachable, .. } => {
            // Half of what can be free, so that the load has some room.
            let share = (50 * reachable / total.max(&1)).max(1);
            Message::from("; try ") + Opt::Set.of(format!("gc.trigger=free_blocks:{share}%"))
        }
        _ => Message::default(),
    }
}

/// The runs of a stream up to its first error, which is stored separately.
fn until_error(
    stream: UpdateStream,
    stopped: &mut Option<WorkloadError>,
) -> impl Iterator<Item = std::ops::Range<u32>> {
    stream.map_while(move |run| run.map_err(|e| *stopped = Some(e)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::spec::RunSpec;
    use crate::regime::parted_shares;

    /// A workload whose drive has no room for planes that hold this much more than an equal share.
    struct Cramped<'a>(SteadyWorkload<'a>, f64);

    impl Beginning for Cramped<'_> {
        fn begin(&self, device: &mut Device<RegimeProbe>, known: Known) -> Result<Begun, RunError> {
            let (Known::Regime(_, shares) | Known::Outstanding(_, shares)) = known else {
                return self.0.begin(device, known);
            };
            match shares.iter().any(|share| *share > self.1) {
                true => Err(Message::from("no room").into()),
                false => self.0.begin(device, known),
            }
        }

        fn contents(
            &self,
            device: &mut Device<RegimeProbe>,
            begun: Begun,
            is_uneven: bool,
        ) -> Result<Option<Contents>, RunError> {
            self.0.contents(device, begun, is_uneven)
        }

        fn replaced(&self, drive_writes: f64) -> Option<f64> {
            self.0.replaced(drive_writes)
        }
    }

    #[test]
    fn planes_part_as_far_as_there_is_room() {
        let mut spec = RunSpec::new("hyssd-slc", "conventional", "uniform:read=0%,bs=16KiB,qd=1,bytes=0.11x");
        spec.initial = "steady".into();
        for (key, value) in [("medium.slc.blocks_per_plane", "576"), ("capacity.logical", "2GiB")] {
            spec.set.push((key.into(), value.into()));
        }
        let setup = Setup::resolve(&spec).unwrap();
        let parted = |most: f64| {
            let Writes::Law(law) = setup.workload.updates(setup.shape, spec.seed).unwrap() else {
                unreachable!("uniform writes are a law")
            };
            let law = Law {
                class_of: law.class_of,
                shares: law.shares,
                lengths: law.lengths,
                aligned: law.aligned,
            };
            let workload = SteadyWorkload { setup: &setup, law: Some(law), fill: None, regions: 1 };
            parted_shares(&setup, "conventional", Some(1), &Cramped(workload, most)).unwrap()
        };
        let most = |shares: Vec<f64>| shares.into_iter().fold(0.0, f64::max);
        let free = most(parted(f64::INFINITY).unwrap());
        let bound = (1.0 + free) / 2.0;
        let cramped = most(parted(bound).unwrap());
        assert!(1.0 < cramped && cramped <= bound, "{cramped} of {bound}, {free} with room");
    }
}
