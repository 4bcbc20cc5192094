//! The clock: at most one pending event for each resource, in a tournament tree.
//!
//! Events are ordered by (time, sequence number) and nothing else. A resource's event is set,
//! replaced or taken back in O(log n) without allocation, and the next event stands at the root.

use wordline_units::SimTime;

const IDLE: u64 = u64::MAX;

/// The pending events of n resources.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// Time and sequence number of each resource's event; [`IDLE`] for none.
    times: Vec<u64>,
    sequences: Vec<u64>,
    /// A complete binary tree of winners; node i has children 2i and 2i + 1, and the leaves are the
    /// resources themselves, from `times.len()` on.
    winners: Vec<u32>,
    sequence: u64,
}

impl Clock {
    pub fn new(resources: usize) -> Clock {
        let leaves = resources.next_power_of_two().max(2);
        let mut winners: Vec<u32> = vec![0; 2 * leaves];
        for (i, w) in winners[leaves..].iter_mut().enumerate() {
            *w = i as u32;
        }
        for node in (1..leaves).rev() {
            winners[node] = winners[2 * node];
        }
        Clock { times: vec![IDLE; leaves], sequences: vec![0; leaves], winners, sequence: 0 }
    }

    /// The earliest event, its time and resource.
    #[inline(always)]
    pub fn next(&self) -> Option<(SimTime, usize)> {
        let winner = self.winners[1] as usize;
        let time = self.times[winner];
        (time != IDLE).then_some((SimTime(time), winner))
    }

    /// A sequence number for an event that is set now, whenever its resource comes to it.
    #[inline]
    pub fn turn(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Set the event of a resource.
    #[inline]
    pub fn set(&mut self, resource: usize, at: SimTime) {
        let turn = self.turn();
        self.set_in_turn(resource, at, turn);
    }

    /// Set the event of a resource that got its sequence number before.
    #[inline]
    pub fn set_in_turn(&mut self, resource: usize, at: SimTime, turn: u64) {
        self.sequences[resource] = turn;
        self.times[resource] = at.0;
        self.replay(resource as u32);
    }

    /// Take the event of a resource back.
    #[inline]
    pub fn clear(&mut self, resource: usize) {
        self.times[resource] = IDLE;
        self.replay(resource as u32);
    }

    /// Play the matches on a resource's way to the root again, up to where it changes nothing.
    #[inline(always)]
    fn replay(&mut self, resource: u32) {
        let Clock { times, sequences, winners, .. } = self;
        let leaves = times.len();
        let mut node = leaves + resource as usize;
        let mut champion = resource;
        while node > 1 {
            let rival = winners[node ^ 1];
            let (a, b) = (times[champion as usize], times[rival as usize]);
            let wins = if a == b { sequences[champion as usize] < sequences[rival as usize] } else { a < b };
            champion = if wins { champion } else { rival };
            node /= 2;
            if winners[node] == champion && champion != resource {
                return;
            }
            winners[node] = champion;
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

    #[test]
    fn an_event_keeps_its_turn_when_its_resource_is_set_again() {
        let mut c = Clock::new(2);
        let early = c.turn();
        c.set(1, SimTime(10));
        c.set_in_turn(0, SimTime(10), early);
        assert_eq!(c.next(), Some((SimTime(10), 0)));
    }
}
