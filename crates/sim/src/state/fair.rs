//! What arrays have given to each kind of work, in virtual time.

use crate::state::plane::Plane;
use serde::{Deserialize, Serialize};
use wordline_device::{DeviceSpec, Shares};
use wordline_units::SimDuration;

/// Fractions of a nanosecond that virtual time knows.
const FINE: u64 = 1 << 10;

/// The virtual time of an array.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Account {
    now: u64,
    /// When each kind's last operation is over by its share.
    over: [u64; Shares::COUNT],
}

impl Account {
    /// When the next operation of a rank would start; rank 0 is what holds its die.
    pub fn start(&self, rank: usize) -> u64 {
        if rank == 0 { 0 } else { self.now.max(self.over[rank - 1]) }
    }
}

/// What arrays have given to each kind of work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fair {
    pub shares: [u32; Shares::COUNT],
    pub accounts: Vec<Account>,
    /// The planes of each array and of each channel.
    pub of_array: Vec<Vec<u32>>,
    pub of_channel: Vec<Vec<u32>>,
}

impl Fair {
    /// For a drive whose planes each have an array and a channel, if it serves by shares.
    pub fn asked(spec: &DeviceSpec, planes: &[Plane]) -> Option<Box<Fair>> {
        let shares = spec.service.shares?.0;
        let planes_of = |resource: fn(&Plane) -> u32| {
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

    pub fn charge(&mut self, array: usize, rank: usize, time: SimDuration) {
        if rank > 0 {
            let account = &mut self.accounts[array];
            account.now = account.start(rank);
            account.over[rank - 1] = account.now + time.0 * FINE / self.shares[rank - 1] as u64;
        }
    }
}
