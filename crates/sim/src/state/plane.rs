//! A plane: its queue, its registers, and what its first operation waits for.

use crate::state::queue::Queue;
use crate::state::registers::Registers;
use serde::{Deserialize, Serialize};
use wordline_units::DieId;

/// A plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plane {
    pub queue: Queue,
    pub registers: Registers,
    pub place: Place,
    /// What its first operation waits for.
    pub wants: Want,
}

/// Where a plane is: its array, its channel, its die, the medium that it is of.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    pub array: u32,
    pub channel: u32,
    pub die: DieId,
    pub medium: u32,
}

/// What the first operation of a plane's queue has been noted to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Want {
    Nothing,
    Array,
    Bus,
}
