//! Rate limits of a job: when the next request of each direction may be issued.

use crate::generators::jobs::draw::Draw;
use crate::generators::jobs::job::{Distances, Job, Kinds};
use crate::generators::jobs::spell::DIRECTIONS;
use wordline_trace::RandomStream;

pub(crate) struct Rates {
    started: u64,
    /// Bytes or requests so far, and when the next request may be issued.
    rated: [u64; DIRECTIONS],
    next_at: [u64; DIRECTIONS],
    /// Time that is not caught up.
    free: [u64; DIRECTIONS],
    distance: RandomStream,
}

impl Rates {
    pub fn new(distance: RandomStream) -> Rates {
        Rates {
            started: 0,
            rated: [0; DIRECTIONS],
            next_at: [0; DIRECTIONS],
            free: [0; DIRECTIONS],
            distance,
        }
    }

    /// Start of the job. Its delay counts from the beginning of the run, not of its group.
    pub fn begin(&mut self, job: &Job, now: u64) -> u64 {
        let (low, high) = job.delay;
        let delay = low + self.distance.below(high - low + 1);
        self.started = now.max(delay);
        self.next_at = [self.started; DIRECTIONS];
        self.started
    }

    /// Note that a request of a direction was drawn.
    pub fn note(&mut self, job: &Job, direction: usize, bytes: u64) {
        let (rate, iops) = (job.rate[direction], job.rate_iops[direction]);
        if rate == 0 && iops == 0 {
            return;
        }
        let exact = |amount: u64, per_second: u64| {
            (amount as u128 * 1_000_000_000 / per_second as u128).min(u64::MAX as u128) as u64
        };
        let (step, per_second) = if rate > 0 { (bytes, rate) } else { (1, iops) };
        self.next_at[direction] = match job.distances {
            Distances::Even => {
                self.rated[direction] += step;
                let since = self.started.saturating_add(self.free[direction]);
                since.saturating_add(exact(self.rated[direction], per_second))
            }
            Distances::Poisson => {
                let gap = -libm::log(self.distance.unit()) * step as f64 * 1e9 / per_second as f64;
                let free = std::mem::take(&mut self.free[direction]);
                self.next_at[direction].saturating_add(free).saturating_add(gap as u64)
            }
        };
    }

    /// Note that the job has paused for a time after a request of a direction. As in fio, it does not catch
    /// up the requests of that time, except for one.
    pub fn forgive(&mut self, job: &Job, direction: usize, time: u64) {
        let (rate, iops) = (job.rate[direction], job.rate_iops[direction]);
        let one = match (rate, iops) {
            (0, 0) => return,
            (0, iops) => 1_000_000_000 / iops,
            (rate, _) => (job.sizes[direction].min as u128 * 1_000_000_000 / rate as u128) as u64,
        };
        let caught_up = if job.distances == Distances::Even && one <= time { one } else { 0 };
        self.free[direction] = self.free[direction].saturating_add(time - caught_up);
    }

    /// The direction that may issue next, and when. A mixed job that is ahead of its rate in one direction
    /// continues with the other.
    pub fn next(&self, draw: &mut Draw, direction: usize, now: u64) -> (usize, u64) {
        let mine = self.next_at[direction];
        if mine <= now || draw.placed().job.kinds != Kinds::Mixed {
            return (direction, mine);
        }
        let (other, read) = (direction ^ 1, draw.placed().job.mix_read);
        let theirs = self.next_at[other];
        if [read, 100 - read][other] == 0 || mine <= theirs {
            return (direction, mine);
        }
        draw.turn_to(other);
        (other, theirs)
    }
}
