//! Service by shares: start-time fair queueing (P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queuing", SIGCOMM 1996)
//! over the time of each array.
//!
//! Each array has a virtual time, and each kind of work a time at which its next operation would start: when its last
//! one was over by its share, or now if that was earlier. Planes offer, and arrays serve, what would start first. An
//! operation puts its kind off by its time on the array over the kind's share. So kinds that always have something
//! waiting get the array's time by their shares, one that has nothing gives its time to the others and saves up none,
//! and none waits for ever. Buses serve whoever came first: what moves there has been chosen already. What holds its
//! die goes first, and costs nobody's share.

use crate::device::Device;
use crate::probe::Probe;
use crate::state::resources::{NOTHING, Resources};
use wordline_ftl::{Class, OpId};
use wordline_units::SimDuration;

fn rank(key: u64) -> usize {
    (key >> 56) as usize
}

/// Among planes that want a resource, the one whose operation is least by an order; its want is taken.
fn take<O: Ord>(
    resources: &mut Resources,
    index: usize,
    planes: &[u32],
    order: impl Fn(u64) -> O,
) -> Option<(usize, u64)> {
    let wants = planes.iter().map(|plane| (*plane as usize, resources.wants[*plane as usize]));
    let (plane, key) = wants.filter(|(_, key)| *key != NOTHING).min_by_key(|(_, key)| order(*key))?;
    resources.withdraw(index, plane);
    Some((plane, key))
}

impl<P: Probe> Device<P> {
    /// The plane that an array serves next, if it is free.
    pub(crate) fn next_at_array(&mut self, array: usize) -> Option<(usize, u64)> {
        if self.serves_reads_alone(array) {
            return self.arrays.next_of(array, Class::Read);
        }
        let Some(fair) = &self.fair else { return self.arrays.next(array) };
        if !self.arrays.is_due(array) {
            return None;
        }
        let account = fair.accounts[array];
        take(&mut self.arrays, array, &fair.of_array[array], |key| (account.start(rank(key)), key))
    }

    /// The plane that a bus serves next, if it is free.
    pub(crate) fn next_at_bus(&mut self, channel: usize) -> Option<(usize, u64)> {
        let Some(fair) = &self.fair else { return self.buses.next(channel) };
        if !self.buses.is_due(channel) {
            return None;
        }
        take(&mut self.buses, channel, &fair.of_channel[channel], |key| {
            (rank(key) > 0, key & (u64::MAX >> 8))
        })
    }

    /// An array has begun an operation: that puts its kind off, and planes may offer another.
    #[cold]
    pub(crate) fn charge(&mut self, array: usize, id: OpId, time: SimDuration) {
        let rank = rank(self.ftl.op(id).key);
        let Some(fair) = &mut self.fair else { return };
        fair.charge(array, rank, time);
        for i in 0..fair.of_array[array].len() {
            let Some(plane) = self.fair.as_ref().map(|fair| fair.of_array[array][i] as usize) else { return };
            if self.may_begin(plane) {
                self.offer(plane);
            }
        }
    }
}
