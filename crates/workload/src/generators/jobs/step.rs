//! The next step of a job, and when the job ran.

use crate::generators::jobs::placement::Placed;
use std::collections::BTreeMap;
use wordline_units::{HostRequest, SimTime};

/// A job of the script as a report names it, and when it ran.
#[derive(Clone, PartialEq, Debug)]
pub struct JobWindow {
    /// Its section's name.
    pub name: String,
    /// Number of its group, from 0; `stonewall` begins a new one.
    pub group: u32,
    /// Its keys, as given.
    pub options: BTreeMap<String, String>,
    /// When its measurement begins: `ramp_time` after its start.
    pub measured_from: SimTime,
    /// When it ended, if it has ended.
    pub ended: Option<SimTime>,
}

impl JobWindow {
    /// Of a job that has not begun.
    pub(crate) fn of(placed: &Placed) -> JobWindow {
        JobWindow {
            name: placed.job.name.clone(),
            group: placed.group,
            options: placed.job.options.clone(),
            measured_from: SimTime::NEVER,
            ended: None,
        }
    }
}

/// The next step of a job.
pub(crate) enum Step {
    Issue(HostRequest),
    Until(u64),
    Blocked,
    /// Wait for the other jobs of its flow.
    Behind,
    /// Wait for a request of any job to complete.
    Waiting,
    Ended,
}
