//! Service by shares: start-time fair queueing (P. Goyal, H. Vin, H. Cheng, "Start-time Fair Queuing", SIGCOMM 1996)
//! over the time of each array.
//!
//! Each array has a virtual time, and each kind of work a time at which its next operation would start: when its last
//! one was over by its share, or now if that was earlier. Planes offer, and arrays serve, what would start first. An
//! operation puts its kind off by its time on the array over the kind's share. So kinds that always have something
//! waiting get the array's time by their shares, one that has nothing gives its time to the others and saves up none,
//! and none waits for ever. Buses serve whoever came first: what moves there has been chosen already. What holds its
//! die goes first, and costs nobody's share.

use super::resources::NOTHING;
use super::{Device, Resources};
use crate::probe::Probe;
use serde::{Deserialize, Serialize};
use wordline_device::{DeviceSpec, Shares};
use wordline_ftl::{Media, OpId};
use wordline_units::SimDuration;

/// Fractions of a nanosecond that virtual time knows.
const FINE: u64 = 1 << 10;

/// The virtual time of an array.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Account {
    now: u64,
    /// When each kind's last operation is over by its share.
    over: [u64; Shares::COUNT],
}

impl Account {
    /// When the next operation of a rank would start; rank 0 is what holds its die.
    fn start(&self, rank: usize) -> u64 {
        if rank == 0 { 0 } else { self.now.max(self.over[rank - 1]) }
    }
}

/// What arrays have given to each kind of work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fair {
    shares: [u32; Shares::COUNT],
    accounts: Vec<Account>,
    /// The planes of each array and of each channel.
    of_array: Vec<Vec<u32>>,
    of_channel: Vec<Vec<u32>>,
}

impl Fair {
    /// For a drive whose planes each have an array and a channel, if it serves by shares.
    pub fn asked(spec: &DeviceSpec, planes: &[super::Plane]) -> Option<Box<Fair>> {
        let shares = spec.service.shares?.0;
        let planes_of = |resource: fn(&super::Plane) -> u32| {
            let mut of: Vec<Vec<u32>> = vec![];
            for (plane, index) in (0..).zip(planes.iter().map(|p| resource(p) as usize)) {
                of.resize(of.len().max(index + 1), vec![]);
                of[index].push(plane);
            }
            of
        };
        let (of_array, of_channel) = (planes_of(|p| p.array), planes_of(|p| p.channel));
        let accounts = vec![Account::default(); of_array.len()];
        Some(Box::new(Fair { shares, accounts, of_array, of_channel }))
    }

    /// Begin at time 0.
    pub fn start_anew(&mut self) {
        self.accounts.fill(Account::default());
    }

    /// Of the ranks that have something waiting, a bit each, the one whose operation would start first.
    pub fn rank(&self, array: u32, queued: u8) -> usize {
        let account = &self.accounts[array as usize];
        let queued = (0..=Shares::COUNT).filter(|rank| queued & 1 << rank != 0);
        queued.min_by_key(|rank| (account.start(*rank), *rank)).unwrap_or(0)
    }

    fn charge(&mut self, array: usize, rank: usize, time: SimDuration) {
        if rank > 0 {
            let account = &mut self.accounts[array];
            account.now = account.start(rank);
            account.over[rank - 1] = account.now + time.0 * FINE / self.shares[rank - 1] as u64;
        }
    }
}

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

impl<P: Probe, M: Media> Device<P, M> {
    /// The plane that an array serves next, if it is free.
    pub(super) fn next_at_array(&mut self, array: usize) -> Option<(usize, u64)> {
        let Some(fair) = &self.fair else { return self.arrays.next(array) };
        if !self.arrays.is_due(array) {
            return None;
        }
        let account = fair.accounts[array];
        take(&mut self.arrays, array, &fair.of_array[array], |key| (account.start(rank(key)), key))
    }

    /// The plane that a bus serves next, if it is free.
    pub(super) fn next_at_bus(&mut self, channel: usize) -> Option<(usize, u64)> {
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
    pub(super) fn charge(&mut self, array: usize, id: OpId, time: SimDuration) {
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
