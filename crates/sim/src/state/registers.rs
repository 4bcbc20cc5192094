//! What has a register of a plane, and how far it is.

use serde::{Deserialize, Serialize};
use wordline_ftl::{BusyTime, OpId};
use wordline_units::{SimDuration, SimTime};

/// What has a register, and how far it is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct RegisterUse {
    pub op: OpId,
    /// Since when the operation has the plane.
    pub began: SimTime,
    /// When its data had moved and the array was next, or the other way round for the first time.
    pub turned: SimTime,
    /// When a read was sensed for the last time, and of its array's time before that, what went into reading
    /// again.
    pub sensed: SimTime,
    pub again: SimDuration,
    /// Whether its data wait for the other register.
    pub waits: bool,
    /// Where the plane has two registers, how long it had been busy when the operation began.
    pub busy_before: BusyTime,
}

impl RegisterUse {
    pub const NOTHING: RegisterUse = RegisterUse {
        op: OpId::NONE,
        began: SimTime(0),
        turned: SimTime(0),
        sensed: SimTime(0),
        again: SimDuration::ZERO,
        waits: false,
        busy_before: BusyTime::NOTHING,
    };
}

/// What a plane with a cache register has besides.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CacheRegisterUse {
    /// What has the cache register.
    pub cached: RegisterUse,
    /// How long a program could not have begun, as `busy` has it for reads.
    pub busy_for_programs: BusyTime,
    /// Until when both are counted.
    pub counted: SimTime,
}

impl Default for RegisterUse {
    fn default() -> RegisterUse {
        RegisterUse::NOTHING
    }
}
