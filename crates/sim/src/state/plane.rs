//! A plane: its queue, its registers, and what its first operation waits for.

use crate::state::array::Arrays;
use crate::state::queue::Queue;
use crate::state::registers::Registers;
use serde::{Deserialize, Serialize};
use wordline_device::DeviceSpec;
use wordline_flash::Geometry;
use wordline_units::{DieId, PlaneId};

/// A plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plane {
    pub queue: Queue,
    pub registers: Registers,
    pub place: Place,
    /// What its first operation waits for.
    pub wants: Want,
}

impl Plane {
    /// An idle plane.
    pub fn new(spec: &DeviceSpec, geometry: &Geometry, plane: PlaneId) -> Plane {
        let die = geometry.die_of(plane);
        let place = Place {
            array: Arrays::of(spec, geometry, plane),
            channel: geometry.channel_of(die).0,
            die,
            medium: geometry.medium_index(plane) as u32,
        };
        let registers = Registers::new(geometry.medium_of(plane).cache_register);
        Plane { queue: Queue::EMPTY, registers, place, wants: Want::Nothing }
    }

    /// Whether it has a single, free register, and an empty queue.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        self.registers.is_one()
            && self.registers.may_begin()
            && self.queue.queued() == 0
            && self.wants == Want::Nothing
    }
}

/// Where a plane is: its array, its channel, its die, the medium that it is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
