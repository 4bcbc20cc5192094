//! The clock: at most one pending event for each resource, in a tournament tree.
//!
//! Events are ordered by (time, sequence number) and nothing else. A resource's event is set,
//! replaced or taken back in O(log n) without allocation, and the next event stands at the root.

use wordline_units::SimTime;

const IDLE: u128 = u128::MAX;

/// The pending events of n resources.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// A complete binary tree; node i has children 2i and 2i + 1, leaves begin at `leaves`. A key is
    /// time, sequence number and resource, so that the winner names itself.
    tree: Vec<u128>,
    leaves: usize,
    sequence: u64,
}

impl Clock {
    pub fn new(resources: usize) -> Clock {
        let leaves = resources.next_power_of_two().max(2);
        assert!(resources < 1 << 24, "at most 16,777,216 resources");
        Clock { tree: vec![IDLE; 2 * leaves], leaves, sequence: 0 }
    }

    /// The earliest event, its time and resource.
    #[inline(always)]
    pub fn next(&self) -> Option<(SimTime, usize)> {
        let key = self.tree[1];
        (key != IDLE).then_some((SimTime((key >> 64) as u64), key as usize & 0xff_ffff))
    }

    /// Set the event of a resource.
    #[inline]
    pub fn set(&mut self, resource: usize, at: SimTime) {
        self.sequence += 1;
        self.store(resource, (at.0 as u128) << 64 | (self.sequence as u128) << 24 | resource as u128);
    }

    /// Take the event of a resource back.
    #[inline]
    pub fn clear(&mut self, resource: usize) {
        self.store(resource, IDLE);
    }

    #[inline(always)]
    fn store(&mut self, resource: usize, key: u128) {
        let mut at = self.leaves + resource;
        self.tree[at] = key;
        while at > 1 {
            let winner = self.tree[at].min(self.tree[at ^ 1]);
            at /= 2;
            self.tree[at] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_by_time_and_then_by_the_order_they_were_set() {
        let mut c = Clock::new(5);
        for (resource, time) in [(3, 20), (0, 10), (4, 10), (1, 5)] {
            c.set(resource, SimTime(time));
        }
        c.set(1, SimTime(30));
        let mut order = vec![];
        while let Some((time, resource)) = c.next() {
            order.push((time.0, resource));
            c.clear(resource);
        }
        assert_eq!(order, [(10, 0), (10, 4), (20, 3), (30, 1)]);
    }
}
