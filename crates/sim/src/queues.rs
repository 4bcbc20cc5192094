//! Several submission queues in front of a drive, and whose turn it is (NVM Express Base Specification 2.0, section
//! 3.4.4). The drive takes requests while it has fewer than it can work on; those that nobody has taken wait in the
//! queue of their source.
//!
//! Round robin: up to a burst from each queue that has something to give, one after the other. Weighted: queues of
//! class urgent first, always. The others are of three classes with a weight each, the number of requests that are
//! taken from the class in a round; a round ends when no class has both a request and credit left. Within a class it
//! is round robin.

use std::collections::VecDeque;
use wordline_device::ArbitrationOrder;
use wordline_units::{HostRequest, QueueClass};

/// A submission queue.
#[derive(Debug)]
struct Queue {
    class: usize,
    depth: u32,
    waiting: VecDeque<HostRequest>,
    /// Requests that the drive works on.
    taken: u32,
    /// Whether it is in the turns of its class.
    in_turn: bool,
}

impl Queue {
    fn can_give(&self) -> bool {
        !self.waiting.is_empty() && self.taken < self.depth
    }
}

/// Queues of one class.
#[derive(Debug, Default)]
struct Turns {
    /// Those that can give a request, the next first.
    order: VecDeque<u16>,
    /// What is left of the burst of the first.
    burst: u32,
    /// What is left of the round's weight.
    credit: u32,
}

/// The queues of a drive's host. A request goes into the queue of its `volume`.
#[derive(Debug)]
pub struct Queues {
    order: ArbitrationOrder,
    burst: u32,
    queues: Vec<Queue>,
    classes: [Turns; QueueClass::COUNT],
}

impl Queues {
    /// Empty queues by source number, each with its class and its maximum number of requests in progress.
    pub fn new(
        order: ArbitrationOrder,
        burst: u32,
        queues: impl IntoIterator<Item = (QueueClass, u32)>,
    ) -> Queues {
        let queue = |(class, depth)| Queue {
            // Without weights all are alike.
            class: if order == ArbitrationOrder::RoundRobin { 0 } else { class as usize },
            depth,
            waiting: VecDeque::new(),
            taken: 0,
            in_turn: false,
        };
        let queues = queues.into_iter().map(queue).collect();
        Queues { order, burst: burst.max(1), queues, classes: Default::default() }
    }

    /// Enqueue a request.
    pub fn add(&mut self, request: HostRequest) {
        let number = request.volume as usize;
        while self.queues.len() <= number {
            let (class, depth) = (QueueClass::default() as usize, u32::MAX);
            let class = if self.order == ArbitrationOrder::RoundRobin { 0 } else { class };
            self.queues.push(Queue { class, depth, waiting: VecDeque::new(), taken: 0, in_turn: false });
        }
        self.queues[number].waiting.push_back(request);
        self.give_turn(request.volume);
    }

    /// A taken request has completed.
    pub fn ended(&mut self, request: &HostRequest) {
        if let Some(queue) = self.queues.get_mut(request.volume as usize) {
            queue.taken -= 1;
            self.give_turn(request.volume);
        }
    }

    fn give_turn(&mut self, number: u16) {
        let queue = &mut self.queues[number as usize];
        if queue.can_give() && !queue.in_turn {
            queue.in_turn = true;
            let turns = &mut self.classes[queue.class];
            if turns.order.is_empty() {
                turns.burst = self.burst;
            }
            turns.order.push_back(number);
        }
    }

    /// Take the request whose turn it is.
    pub fn take(&mut self) -> Option<HostRequest> {
        let class = self.class_in_turn()?;
        let turns = &mut self.classes[class];
        let number = turns.order.pop_front()?;
        let queue = &mut self.queues[number as usize];
        let request = queue.waiting.pop_front()?;
        queue.taken += 1;
        turns.burst -= 1;
        queue.in_turn = queue.can_give();
        match (queue.in_turn, turns.burst) {
            (true, 0) => turns.order.push_back(number),
            (true, _) => turns.order.push_front(number),
            (false, _) => turns.burst = 0,
        }
        if turns.burst == 0 {
            turns.burst = self.burst;
        }
        Some(request)
    }

    /// The class that the next request comes from, whose credit is one less then.
    fn class_in_turn(&mut self) -> Option<usize> {
        let ArbitrationOrder::Weighted(weights) = self.order else { return Some(0) };
        let can_give = |class: &usize| !self.classes[*class].order.is_empty();
        let first = (0..QueueClass::COUNT).find(can_give)?;
        if first == QueueClass::Urgent as usize {
            return Some(first);
        }
        let in_round = (first..QueueClass::COUNT).filter(can_give).find(|c| self.classes[*c].credit > 0);
        let class = in_round.unwrap_or_else(|| {
            self.classes[1..].iter_mut().zip(weights).for_each(|(turns, weight)| turns.credit = weight);
            first
        });
        self.classes[class].credit -= 1;
        Some(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::HostOp;

    /// From which queues requests come, if the drive has room for all and none ends.
    fn taken(queues: &mut Queues, count: usize) -> Vec<u16> {
        (0..count).filter_map(|_| queues.take()).map(|r| r.volume).collect()
    }

    fn add(queues: &mut Queues, volume: u16, count: u64) {
        (0..count)
            .for_each(|lba| queues.add(HostRequest { volume, ..HostRequest::new(HostOp::Read, lba, 1) }));
    }

    #[test]
    fn round_robin_takes_a_burst_from_each_busy_queue() {
        let plain = [(QueueClass::Medium, 100); 3];
        let mut queues = Queues::new(ArbitrationOrder::RoundRobin, 1, plain);
        for (volume, count) in [(0, 4), (1, 2), (2, 1)] {
            add(&mut queues, volume, count);
        }
        assert_eq!(taken(&mut queues, 9), [0, 1, 2, 0, 1, 0, 0]);
        let mut queues = Queues::new(ArbitrationOrder::RoundRobin, 3, plain);
        for (volume, count) in [(0, 5), (1, 2), (2, 4)] {
            add(&mut queues, volume, count);
        }
        assert_eq!(taken(&mut queues, 20), [0, 0, 0, 1, 1, 2, 2, 2, 0, 0, 2]);
    }

    #[test]
    fn weights_are_requests_per_round_after_urgent_ones() {
        let classes = [QueueClass::Low, QueueClass::Medium, QueueClass::High, QueueClass::Urgent];
        let mut queues =
            Queues::new(ArbitrationOrder::Weighted([4, 2, 1]), 1, classes.map(|class| (class, 100)));
        (0..3).for_each(|volume| add(&mut queues, volume, 20));
        assert_eq!(taken(&mut queues, 9), [2, 2, 2, 2, 1, 1, 0, 2, 2]);
        // It goes first, and takes nothing of the round.
        add(&mut queues, 3, 2);
        assert_eq!(taken(&mut queues, 8), [3, 3, 2, 2, 1, 1, 0, 2]);
    }

    #[test]
    fn queues_of_one_class_share_its_weight() {
        let classes = [QueueClass::High, QueueClass::High, QueueClass::Low];
        let mut queues =
            Queues::new(ArbitrationOrder::Weighted([3, 1, 1]), 1, classes.map(|class| (class, 100)));
        (0..3).for_each(|volume| add(&mut queues, volume, 10));
        assert_eq!(taken(&mut queues, 8), [0, 1, 0, 2, 1, 0, 1, 2]);
    }

    #[test]
    fn what_a_class_leaves_of_its_weight_goes_to_others() {
        let classes = [QueueClass::High, QueueClass::Low];
        let mut queues =
            Queues::new(ArbitrationOrder::Weighted([200, 1, 1]), 1, classes.map(|class| (class, 100)));
        add(&mut queues, 0, 2);
        add(&mut queues, 1, 4);
        assert_eq!(taken(&mut queues, 9), [0, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn queue_at_its_depth_waits_for_a_completion() {
        let mut queues =
            Queues::new(ArbitrationOrder::RoundRobin, 1, [(QueueClass::Medium, 2), (QueueClass::Medium, 9)]);
        add(&mut queues, 0, 4);
        add(&mut queues, 1, 4);
        assert_eq!(taken(&mut queues, 9), [0, 1, 0, 1, 1, 1]);
        queues.ended(&HostRequest::new(HostOp::Read, 0, 1));
        assert_eq!(taken(&mut queues, 9), [0]);
    }
}
