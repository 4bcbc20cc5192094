//! A plane: its queue, its registers, and what its first operation waits for.

use crate::state::registers::{CacheRegisterUse, RegisterUse};
use serde::{Deserialize, Serialize};
use wordline_flash::CacheRegister;
use wordline_ftl::{BusyTime, Class, OpId};
use wordline_units::DieId;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plane {
    pub head: [OpId; Class::COUNT],
    pub tail: [OpId; Class::COUNT],
    /// A bit for each class with an operation waiting.
    pub queued: u8,
    /// The operation that has the plane, or of two the one that has the page register.
    pub current: RegisterUse,
    /// What the cache register is used for.
    pub cache: CacheRegister,
    /// How long the plane has been busy with operations that have ended; where it has two registers, how long
    /// a read could not have begun, until `counted`.
    pub busy: BusyTime,
    /// What planes of one register do without: apart, since most have one, and each operation touches its plane.
    pub cache_register: Box<CacheRegisterUse>,
    pub array: u32,
    pub channel: u32,
    pub die: DieId,
    pub medium: u32,
    /// What its first operation waits for.
    pub wants: Want,
}

/// What the first operation of a plane's queue has been noted to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Want {
    Nothing,
    Array,
    Bus,
}

impl Plane {
    /// The register that an operation has.
    #[inline(always)]
    pub fn of(&mut self, id: OpId) -> &mut RegisterUse {
        if !self.cache.is_off() && self.cache_register.cached.op == id {
            &mut self.cache_register.cached
        } else {
            &mut self.current
        }
    }

    /// The operation whose data move next, if the plane has begun one.
    #[inline(always)]
    pub fn at_bus(&self) -> OpId {
        let by_cache = !self.cache.is_off() && !self.cache_register.cached.op.is_none();
        if by_cache { self.cache_register.cached.op } else { self.current.op }
    }
}
