//! Pending work of planes, and of their shared resources: the array of their die and the bus of their channel.

use crate::file::saved::{Saved, saved};
use wordline_counters::OpKind;
use wordline_device::ParallelUnit;
use wordline_flash::{Geometry, Medium};
use wordline_units::PlaneId;

/// Operations not yet done: how many by plane, what they take by array, and how many of them move data by channel.
#[derive(Clone)]
pub(crate) struct Backlog {
    planes: Vec<u32>,
    /// In nanoseconds, each operation with the mean of its kind in the medium's densest mode.
    arrays: Vec<u64>,
    channels: Vec<u32>,
    shares: Vec<Share>,
}

/// Shared resources of a plane, and the time of each kind of operation there.
#[derive(Clone, Copy)]
struct Share {
    array: u32,
    channel: u32,
    takes: [u64; OpKind::ALL.len()],
}

impl Saved for Backlog {
    saved! { Backlog, values: [planes, arrays, channels], parts: [], rebuilt: [shares] }
}

impl Backlog {
    pub fn new(geometry: &Geometry, unit: ParallelUnit) -> Backlog {
        let shares = (0..geometry.planes).map(|plane| {
            let die = geometry.die_of(PlaneId(plane));
            Share {
                array: if unit == ParallelUnit::Die { die.0 } else { plane },
                channel: geometry.channel_of(die).0,
                takes: mean_times(geometry.medium_of(PlaneId(plane))),
            }
        });
        Backlog {
            planes: vec![0; geometry.planes as usize],
            arrays: vec![0; geometry.planes as usize],
            channels: vec![0; geometry.channels as usize],
            shares: shares.collect(),
        }
    }

    /// An operation is queued at a plane.
    #[inline(always)]
    pub fn add(&mut self, plane: PlaneId, kind: OpKind) {
        let share = &self.shares[plane.index()];
        self.planes[plane.index()] += 1;
        self.arrays[share.array as usize] += share.takes[kind as usize];
        self.channels[share.channel as usize] += (kind != OpKind::Erase) as u32;
    }

    /// An operation of a plane has ended or left it.
    #[inline(always)]
    pub fn take(&mut self, plane: PlaneId, kind: OpKind) {
        let share = &self.shares[plane.index()];
        self.planes[plane.index()] -= 1;
        self.arrays[share.array as usize] -= share.takes[kind as usize];
        self.channels[share.channel as usize] -= (kind != OpKind::Erase) as u32;
    }

    /// Operations of a plane.
    #[inline(always)]
    pub fn of(&self, plane: PlaneId) -> u32 {
        self.planes[plane.index()]
    }

    /// Work ahead of a new operation of a plane, for comparison: first that of its array, then the transfers of its
    /// channel, then its own operations.
    #[inline(always)]
    pub fn before(&self, plane: PlaneId) -> (u64, u32, u32) {
        let share = &self.shares[plane.index()];
        (self.arrays[share.array as usize], self.channels[share.channel as usize], self.planes[plane.index()])
    }
}

/// What each kind of operation takes the array in a medium's densest mode, over its page types, ns.
fn mean_times(medium: &Medium) -> [u64; OpKind::ALL.len()] {
    let densest = medium.densest();
    medium.mode(densest).map_or([1; OpKind::ALL.len()], |times| {
        let bits = densest.bits() as usize;
        let mean = |of: &[wordline_units::SimDuration]| {
            of[..bits].iter().map(|time| time.0).sum::<u64>() / bits as u64
        };
        [mean(&times.read), mean(&times.program), times.erase.0]
    })
}
