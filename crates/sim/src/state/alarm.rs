//! What timers of the device are for.

use serde::{Deserialize, Serialize};
use wordline_ftl::Timer;

/// What a timer of the device is for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Alarm {
    /// The translation layer asked for it.
    Layer(Timer),
    /// The drive has been idle since so many requests were submitted.
    Idle(u64),
}
