//! What a power cut leaves of a drive.

use crate::completion::Completion;
use crate::metrics::Metrics;
use crate::probe::Probe;
use wordline_ftl::PowerLossImage;
use wordline_units::SimTime;

/// A drive without power.
pub struct PoweredOff<P: Probe> {
    /// Flash, and protected RAM.
    pub image: PowerLossImage,
    /// Completed requests that were not yet taken.
    pub completed: Vec<Completion>,
    /// Numbers of the requests that will never complete.
    pub lost: Vec<u64>,
    /// Time of the power cut.
    pub at: SimTime,
    /// The probe.
    pub probe: P,
    pub(crate) metrics: Metrics,
    pub(crate) submitted: u64,
}
