//! A completed run: the source of its report.

use crate::ask::setup::Setup;
use crate::begin::Start;
use std::ops::Deref;
use wordline_ftl::Ftl;
use wordline_report::{Holdings, JobActivity, QueueActivity};
use wordline_sim::{Device, Metrics, Probe, Summary};
use wordline_units::{BlockId, SimTime};

/// The part of a drive that goes into its report, independent of its probe.
pub(crate) struct Measured<'a> {
    pub ftl: &'a Ftl,
    pub metrics: &'a Metrics,
}

/// A completed run with its drive: at its last completion, or idle after that.
pub(crate) struct Outcome<'a> {
    pub ended: &'a Ended<'a>,
    pub device: Measured<'a>,
}

impl<'a> Outcome<'a> {
    pub(crate) fn of<P: Probe>(ended: &'a Ended, device: &'a Device<P>) -> Outcome<'a> {
        Outcome { ended, device: Measured { ftl: device.ftl(), metrics: device.metrics() } }
    }
}

impl<'a> Deref for Outcome<'a> {
    type Target = Ended<'a>;

    fn deref(&self) -> &Ended<'a> {
        self.ended
    }
}

/// Everything about a completed run except its drive.
pub(crate) struct Ended<'a> {
    pub setup: &'a Setup,
    pub scheme: &'a str,
    pub summary: Summary,
    pub jobs: Vec<JobActivity>,
    pub queues: Vec<QueueActivity>,
    pub first_arrival: SimTime,
    pub wall_s: f64,
    /// Contents of the drive before the first request.
    pub held: Holdings,
    /// Bytes of data that it held then.
    pub live_bytes: u64,
    /// Erases of each plane before it, in all modes.
    pub plane_erases: Vec<u64>,
    /// How the drive was brought into steady state, if requested.
    pub start: Option<Start>,
}

/// Erases of each plane's blocks, in all modes.
pub(crate) fn plane_erases(ftl: &Ftl) -> Vec<u64> {
    let view = ftl.view();
    let geometry = view.geometry();
    let mut sums = vec![0; geometry.planes as usize];
    for (block, (_, erases)) in (0..).map(BlockId).zip(ftl.inspect().wear()) {
        sums[geometry.plane_of(block).index()] += u64::from(erases);
    }
    sums
}
