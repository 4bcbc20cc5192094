//! Of an array that can be interrupted, what it is at.

use serde::{Deserialize, Serialize};
use wordline_ftl::OpId;
use wordline_units::{SimDuration, SimTime};

/// Of an array that can be interrupted, what it is at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Interrupted {
    /// Since when it has been at this.
    pub since: SimTime,
    /// Whether it is about to set aside what it is at.
    pub stops: bool,
    /// What has been set aside, the first of those that go together.
    pub suspended: Option<OpId>,
    /// What that takes once more, or will.
    pub left: SimDuration,
    /// How often what is aside has been suspended; where nothing is, what the array is at.
    pub times: u32,
}

impl Interrupted {
    pub const NOTHING: Interrupted =
        Interrupted { since: SimTime(0), stops: false, suspended: None, left: SimDuration::ZERO, times: 0 };

    /// What has been set aside; then only reads of the host may begin there.
    #[inline(always)]
    pub fn suspended(&self) -> Option<OpId> {
        self.suspended
    }
}
