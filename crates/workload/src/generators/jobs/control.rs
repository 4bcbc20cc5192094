//! Measurements by which a job controls itself, as in fio: the queue depth that meets a latency target, the
//! rate below which the job ends, and the maximum latency of a request.

use crate::generators::jobs::job::Job;
use crate::generators::jobs::policy::{LatencyTarget, RateFloor};
use crate::generators::jobs::spell::DIRECTIONS;

const SECOND: u64 = 1_000_000_000;

/// A completed request of a job.
#[derive(Clone, Copy)]
pub(crate) struct Ended {
    pub direction: usize,
    pub bytes: u64,
    pub latency: u64,
}

/// The measurements of one job.
pub(crate) struct Control {
    depth: Option<Search>,
    floor: Option<(RateFloor, Floor)>,
    max_latency: u64,
}

impl Control {
    pub fn new(job: &Job) -> Control {
        let floor = job.floor.map(|f| (f, Floor::default()));
        Control {
            depth: job.target.map(|t| Search::new(t, job.depth.most)),
            floor,
            max_latency: job.max_latency,
        }
    }

    /// Begin a job at a time, with measurements from a later time.
    pub fn begin(&mut self, started: u64, measured_from: u64) {
        if let Some(search) = &mut self.depth {
            search.since = measured_from;
        }
        if let Some((_, floor)) = &mut self.floor {
            floor.settled = measured_from.max(started.saturating_add(2 * SECOND));
        }
    }

    /// The queue depth under test, if one is searched.
    pub fn depth(&self) -> Option<u32> {
        self.depth.as_ref().map(|s| s.depth)
    }

    /// Whether the job should drain its outstanding requests first; returned once.
    pub fn calms(&mut self) -> bool {
        self.depth.as_mut().is_some_and(|s| std::mem::take(&mut s.calms))
    }

    /// Process a completion. Returns whether the job ends.
    pub fn take(&mut self, ended: Ended, now: u64) -> bool {
        let slow = self.max_latency > 0 && ended.latency > self.max_latency;
        let below = self.floor.as_mut().is_some_and(|(rule, floor)| floor.take(*rule, ended, now));
        let found = self.depth.as_mut().is_some_and(|search| search.take(ended.latency, now));
        slow || below || found
    }
}

/// State of the check for minimum rates.
#[derive(Default)]
struct Floor {
    settled: u64,
    bytes: [u64; DIRECTIONS],
    requests: [u64; DIRECTIONS],
    /// For each direction, when it was last checked, and its bytes and requests at that time.
    last: [Option<(u64, u64, u64)>; DIRECTIONS],
}

impl Floor {
    /// Whether a rate is below its minimum.
    fn take(&mut self, rule: RateFloor, ended: Ended, now: u64) -> bool {
        self.bytes[ended.direction] += ended.bytes;
        self.requests[ended.direction] += 1;
        if now < self.settled {
            return false;
        }
        (0..DIRECTIONS).any(|d| self.is_below(rule, d, now))
    }

    fn is_below(&mut self, rule: RateFloor, d: usize, now: u64) -> bool {
        let (bytes, requests) = (self.bytes[d], self.requests[d]);
        if bytes == 0 || (rule.bytes[d] == 0 && rule.requests[d] == 0) {
            return false;
        }
        if let Some((then, bytes_then, requests_then)) = self.last[d] {
            let spent = now - then;
            if spent < rule.cycle.max(1) {
                return false;
            }
            let rate = |count: u64| (count as u128 * SECOND as u128 / spent as u128) as u64;
            let below = if rule.bytes[d] > 0 {
                rate(bytes - bytes_then) < rule.bytes[d]
            } else {
                rate(requests - requests_then) < rule.requests[d]
            };
            if below {
                return true;
            }
        }
        self.last[d] = Some((now, bytes, requests));
        false
    }
}

/// fio's search for the highest queue depth that meets a latency target. The depth is doubled until one
/// fails, then bisected between the last that passed and the first that failed.
struct Search {
    target: LatencyTarget,
    most: u32,
    depth: u32,
    low: u32,
    high: u32,
    stable: u32,
    since: u64,
    ended: u64,
    late: u64,
    last_cycle: bool,
    calms: bool,
}

impl Search {
    fn new(target: LatencyTarget, most: u32) -> Search {
        Search {
            target,
            most,
            depth: 1,
            low: 1,
            high: most,
            stable: 0,
            since: 0,
            ended: 0,
            late: 0,
            last_cycle: false,
            calms: false,
        }
    }

    /// Process a latency. Returns whether the search, and thus the job, is over.
    fn take(&mut self, latency: u64, now: u64) -> bool {
        if now < self.since {
            return false;
        }
        self.ended += 1;
        if latency > self.target.most {
            if self.target.percent >= 100.0 {
                return self.fails(now);
            }
            self.late += 1;
        }
        if now - self.since < self.target.window {
            return false;
        }
        let kept = (self.ended - self.late) as f64 / self.ended as f64 * 100.0;
        if kept >= self.target.percent {
            return self.succeeds(now);
        }
        self.fails(now);
        false
    }

    fn cycle(&mut self, now: u64) {
        (self.since, self.ended, self.late) = (now, 0, 0);
    }

    /// Note a failure. Returns whether even a single outstanding request misses the target.
    fn fails(&mut self, now: u64) -> bool {
        if self.depth == 1 {
            return true;
        }
        self.high = self.depth;
        if self.depth == self.low {
            self.low -= 1;
        }
        self.depth = (self.depth + self.low) / 2;
        self.stable = 0;
        self.calms = true;
        self.cycle(now);
        false
    }

    fn succeeds(&mut self, now: u64) -> bool {
        let before = self.depth;
        self.low = self.depth;
        if self.depth + 1 == self.high {
            self.stable += 1;
            if self.stable >= 3 {
                self.high += 1;
                self.stable = 0;
            }
        }
        self.depth = if self.high == self.most { self.depth * 2 } else { (self.depth + self.high) / 2 };
        self.depth = self.depth.min(self.most);
        let over = !self.target.again && self.depth == before && self.last_cycle;
        if !self.target.again && self.depth == before && !self.last_cycle {
            (self.last_cycle, self.calms) = (true, true);
        }
        self.cycle(now);
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_doubles_until_failure_then_bisects() {
        let target = LatencyTarget { most: 100, window: 10, percent: 90.0, again: false };
        let mut search = Search::new(target, 64);
        let (mut now, mut depths) = (0, vec![]);
        // A drive on which more than 20 outstanding requests are too slow.
        for _ in 0..100 {
            now += 10;
            depths.push(search.depth);
            if search.take(if search.depth > 20 { 200 } else { 50 }, now) {
                break;
            }
        }
        assert_eq!(depths[..8], [1, 2, 4, 8, 16, 32, 24, 20]);
        assert!(search.depth >= 20 && depths.len() < 30, "{depths:?}");
    }
}
