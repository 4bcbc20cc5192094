//! Why a device cannot continue.

use thiserror::Error;
use wordline_ftl::{Fault, RequestError};
use wordline_units::SimTime;

/// Why a device cannot continue.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// A request that it cannot take.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A request submitted for a time that has passed.
    #[error("request {number} is submitted at t = {} ns, but the device is already at {} ns", at.0, now.0)]
    Late {
        /// Its number.
        number: u64,
        /// The time given.
        at: SimTime,
        /// The device's time.
        now: SimTime,
    },
    /// An illegal decision, media that failed, or an internal fault. The drive has stopped: every request gets this
    /// error, none completes, and earlier completions can still be polled.
    #[error(transparent)]
    Fault(Fault),
    /// Requests are outstanding and nothing can happen any more.
    #[error("{outstanding} requests can never complete: no event is pending at t = {} ns; left: {left}; \
             please report this", now.0)]
    Stuck {
        /// How many.
        outstanding: u32,
        /// Since when.
        now: SimTime,
        /// Operations in progress, and what they wait for.
        left: String,
    },
}
