//! What arrays have given to each kind of work, in virtual time: start-time fair queueing (P. Goyal, H. Vin, H. Cheng,
//! "Start-time Fair Queuing", SIGCOMM 1996) over the time of each array.
//!
//! Each array has a virtual time, and each kind of work a time at which its next operation would start: when its last
//! one was over by its share, or now if that was earlier. Planes offer, and arrays serve, what would start first. An
//! operation puts its kind off by its time on the array over the kind's share. So kinds that always have something
//! waiting get the array's time by their shares, one that has nothing gives its time to the others and saves up none,
//! and none waits for ever. Buses serve whoever came first: what moves there has been chosen already. What holds its
//! die goes first, and costs nobody's share.

use serde::{Deserialize, Serialize};
use wordline_device::{DeviceSpec, Shares};
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

fn rank(key: u64) -> usize {
    (key >> 56) as usize
}

/// What arrays have given to each kind of work.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fair {
    shares: [u32; Shares::COUNT],
    accounts: Vec<Account>,
    /// The planes of each array and of each channel.
    of_array: Vec<Vec<u32>>,
    of_channel: Vec<Vec<u32>>,
}

impl Fair {
    /// For a drive whose planes have these arrays and channels, if it serves by shares.
    pub fn asked(spec: &DeviceSpec, planes: impl Iterator<Item = (u32, u32)>) -> Option<Box<Fair>> {
        let shares = spec.service.shares?.0;
        let (mut of_array, mut of_channel): (Vec<Vec<u32>>, Vec<Vec<u32>>) = (vec![], vec![]);
        for (plane, (array, channel)) in (0..).zip(planes) {
            for (of, index) in [(&mut of_array, array as usize), (&mut of_channel, channel as usize)] {
                of.resize(of.len().max(index + 1), vec![]);
                of[index].push(plane);
            }
        }
        let accounts = vec![Account::default(); of_array.len()];
        Some(Box::new(Fair { shares, accounts, of_array, of_channel }))
    }

    /// Restart at time 0.
    pub fn start_anew(&mut self) {
        self.accounts.fill(Account::default());
    }

    /// The planes of an array.
    pub fn planes_of_array(&self, array: usize) -> &[u32] {
        &self.of_array[array]
    }

    /// The planes of a channel.
    pub fn planes_of_channel(&self, channel: usize) -> &[u32] {
        &self.of_channel[channel]
    }

    /// Turn the keys of an array into their order of service: the earliest virtual start first.
    pub fn order_at(&self, array: usize) -> impl Fn(u64) -> (u64, u64) + use<> {
        let account = self.accounts[array];
        move |key| (account.start(rank(key)), key)
    }

    /// Turn the keys of a bus into their order of service: first come first served, after the operation that holds its
    /// die.
    pub fn order_of_arrival(key: u64) -> (bool, u64) {
        (rank(key) > 0, key & (u64::MAX >> 8))
    }

    /// Of the ranks with waiting operations, one bit each, the one whose operation has the earliest virtual start.
    pub fn rank(&self, array: u32, queued: u8) -> usize {
        let account = &self.accounts[array as usize];
        let queued = (0..=Shares::COUNT).filter(|rank| queued & 1 << rank != 0);
        queued.min_by_key(|rank| (account.start(*rank), *rank)).unwrap_or(0)
    }

    /// An array has started an operation of this key with this duration, which delays its kind.
    pub fn charge(&mut self, array: usize, key: u64, time: SimDuration) {
        let rank = rank(key);
        if rank > 0 {
            let account = &mut self.accounts[array];
            account.now = account.start(rank);
            account.over[rank - 1] = account.now + time.0 * FINE / self.shares[rank - 1] as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_shares(shares: [u32; Shares::COUNT]) -> Fair {
        Fair {
            shares,
            accounts: vec![Account::default()],
            of_array: vec![vec![0]],
            of_channel: vec![vec![0]],
        }
    }

    #[test]
    fn waiting_kinds_share_time_by_their_weights() {
        let mut fair = by_shares([1, 3, 1, 1]);
        let mut given = [0; 3];
        for _ in 0..400 {
            let rank = fair.rank(0, 0b110);
            fair.charge(0, (rank as u64) << 56, SimDuration(100));
            given[rank] += 1;
        }
        assert_eq!(given, [0, 100, 300]);
    }

    #[test]
    fn kind_that_had_nothing_saves_up_no_time() {
        let mut fair = by_shares([1; Shares::COUNT]);
        (0..100).for_each(|_| fair.charge(0, 1 << 56, SimDuration(100)));
        let mut next = || {
            let rank = fair.rank(0, 0b110);
            fair.charge(0, (rank as u64) << 56, SimDuration(100));
            rank
        };
        // The one that comes now goes first, and then they take turns.
        assert_eq!([next(), next(), next(), next()], [2, 1, 2, 1]);
    }

    #[test]
    fn what_holds_its_die_goes_first_and_costs_no_share() {
        let mut fair = by_shares([1; Shares::COUNT]);
        fair.charge(0, 5, SimDuration(1_000));
        assert_eq!((fair.rank(0, 0b11), fair.order_at(0)(7)), (0, (0, 7)));
        assert!(Fair::order_of_arrival(9) < Fair::order_of_arrival(1 << 56 | 1));
        assert!(Fair::order_of_arrival(2 << 56 | 1) < Fair::order_of_arrival(1 << 56 | 2));
    }
}
