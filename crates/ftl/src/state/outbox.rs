//! What the device has to take after a call.

use crate::state::id::{OpId, RequestId};
use crate::state::request::{Effect, Fault};
use serde::{Deserialize, Serialize};
use wordline_units::SimTime;

/// What calls have left for the device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outbox {
    /// What it has to do, in order.
    pub effects: Vec<Effect>,
    /// Requests whose last part has ended.
    pub completed: Vec<RequestId>,
    /// An operation that goes on in its plane with what the register holds, which nothing may come before. Taken
    /// before the call that left it returns to the driver.
    #[serde(skip)]
    pub continuation: Option<OpId>,
    /// When a write first found no place, and how full the drive was.
    #[serde(skip)]
    pub first_full: Option<Box<str>>,
    /// Why the run is over, if it is.
    #[serde(skip)]
    pub fault: Option<Box<Fault>>,
}

impl Outbox {
    /// The run is over; the first reason counts.
    pub fn fail(&mut self, fault: impl FnOnce() -> Fault) {
        if self.fault.is_none() {
            self.fault = Some(Box::new(fault()));
        }
    }

    /// Wordline itself is at fault.
    pub fn internal(&mut self, what: String, time: SimTime) {
        self.fail(|| Fault::Internal { what, time });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fault_is_the_one_that_is_told() {
        let mut out = Outbox::default();
        out.internal("first".into(), SimTime(1));
        out.internal("second".into(), SimTime(2));
        assert_eq!(
            out.fault.unwrap().to_string().split(':').nth(1),
            Some(" first; please report it with the command that led here")
        );
    }
}
