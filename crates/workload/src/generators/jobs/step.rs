//! What a job does next, and when it was at work.

use std::collections::BTreeMap;
use wordline_units::{HostRequest, SimTime};

/// A job of the script as a report names it, and when it was at work.
#[derive(Clone, PartialEq, Debug)]
pub struct JobWindow {
    /// Its section's name.
    pub name: String,
    /// Which of the groups that `stonewall` parts, from 0.
    pub group: u32,
    /// Its keys, as given.
    pub options: BTreeMap<String, String>,
    /// When its figures begin: its start, and `ramp_time` behind it.
    pub measured_from: SimTime,
    /// When it ended, if it has.
    pub ended: Option<SimTime>,
}

/// What a job does next.
pub(crate) enum Step {
    Issue(HostRequest),
    Until(u64),
    Blocked,
    /// It waits for the others of its flow.
    Behind,
    /// It waits for a request of any job to end.
    Waiting,
    Ended,
}
