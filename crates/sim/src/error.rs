//! Why a device cannot continue, restart or be restored.

use thiserror::Error;
use wordline_ftl::{Fault, MediaError, Refusal, RequestError, StateError};
use wordline_units::SimTime;

/// Why a device cannot continue.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DeviceError {
    /// A request that it cannot take.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A request submitted for a time that has passed.
    #[error("request {number} is submitted at t = {at}, but the device is already at {now}")]
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
    #[error(
        "{outstanding} requests can never complete: no event is pending at t = {now}; left: {left}; \
             please report this"
    )]
    Stuck {
        /// How many.
        outstanding: u32,
        /// Since when.
        now: SimTime,
        /// Operations in progress, and what they wait for.
        left: String,
    },
}

/// Why a device could not be restored.
#[derive(Debug, Error)]
pub enum RestoreError {
    /// The state does not suit it.
    #[error(transparent)]
    State(#[from] StateError),
    /// Scheme and device do not fit.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The media cannot be forked.
    #[error(transparent)]
    Media(#[from] MediaError),
}

/// A device that cannot begin at time 0, because it is busy.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "{outstanding} requests are outstanding at t = {now}, other work is pending, or completions were \
         not taken; drain the device and take its completions first"
)]
pub struct Busy {
    /// Requests not yet complete.
    pub outstanding: u32,
    /// The current time of the device.
    pub now: SimTime,
}
