//! When the jobs of a file ask: depth, rates, thinking, delays, loops, and who waits for whom. The
//! script is asked for its next turn at a time and told what has ended; it never looks at a clock.
//! Jobs that could ask at one instant take turns in the order in which they became able to.

use crate::error::WorkloadError;
use crate::generators::jobs::draw::{Draw, Drawn};
use crate::generators::jobs::job::{Distances, Kinds, ThinkAfter};
use crate::generators::jobs::placed::Placed;
use crate::generators::jobs::spell::DIRECTIONS;
use crate::random::stream::RandomStream;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use wordline_units::{Attributes, HostOp, HostRequest, LBA_BYTES, Lba, SimTime};

const OPS: [HostOp; DIRECTIONS] = [HostOp::Read, HostOp::Write, HostOp::Trim];
const WRITE: usize = 1;

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// This request, now. Its `volume` is the number of its job.
    Issue(HostRequest),
    /// Nothing before this time, unless a request ends.
    Until(SimTime),
    /// Nothing until a request ends.
    Completion,
    /// Nothing any more; nothing is outstanding.
    End,
}

/// A job of the script as a report names it, and when it was at work.
#[derive(Clone, PartialEq, Debug)]
pub struct JobWindow {
    /// Its section's name.
    pub name: String,
    /// Which of the groups that `stonewall` parts, from 0.
    pub group: u32,
    /// Its keys, as given.
    pub options: BTreeMap<String, String>,
    /// When its figures begin: its start, and `ramp_time` behind it.
    pub measured_from: SimTime,
    /// When it ended, if it has.
    pub ended: Option<SimTime>,
}

/// A job at work.
struct Worker {
    draw: Draw,
    started: u64,
    in_flight: u32,
    ended: u64,
    issued: u64,
    bytes_issued: u64,
    loop_bytes: u64,
    loops_done: u64,
    writes: u64,
    last_was_write: bool,
    /// Waits for its FLUSH.
    flushing: bool,
    /// The loop is over and what is outstanding ends.
    draining: bool,
    flushed_loop: bool,
    over: bool,
    /// Requests at the last thought, and whether the job is about to think.
    thought_at: u64,
    thinks: bool,
    asked_since: bool,
    wait_until: u64,
    /// The direction of a request that waits for its rate.
    chosen: Option<usize>,
    rated: [u64; DIRECTIONS],
    next_at: [u64; DIRECTIONS],
    distance: RandomStream,
    parked: bool,
    window: JobWindow,
}

enum Step {
    Issue(HostRequest),
    Until(u64),
    Blocked,
    Ended,
}

impl Worker {
    fn new(placed: Placed, number: usize, seed: u64) -> Worker {
        let job = &placed.job;
        let window = JobWindow {
            name: job.name.clone(),
            group: placed.group,
            options: job.options.clone(),
            measured_from: SimTime::NEVER,
            ended: None,
        };
        Worker {
            distance: RandomStream::new(seed, &format!("jobs/{number}/{}/distance", job.seed)),
            draw: Draw::new(placed, number, seed),
            started: 0,
            in_flight: 0,
            ended: 0,
            issued: 0,
            bytes_issued: 0,
            loop_bytes: 0,
            loops_done: 0,
            writes: 0,
            last_was_write: false,
            flushing: false,
            draining: false,
            flushed_loop: false,
            over: false,
            thought_at: 0,
            thinks: false,
            asked_since: false,
            wait_until: 0,
            chosen: None,
            rated: [0; DIRECTIONS],
            next_at: [0; DIRECTIONS],
            parked: false,
            window,
        }
    }

    /// The job's start: its delay counts from the beginning of the run, not of its group.
    fn start(&mut self, now: u64) -> u64 {
        let job = &self.draw.placed.job;
        let (low, high) = job.delay;
        let delay = low + self.distance.below(high - low + 1);
        self.started = now.max(delay);
        self.next_at = [self.started; DIRECTIONS];
        self.window.measured_from = SimTime(self.started.saturating_add(job.ramp));
        self.started
    }

    fn step(&mut self, now: u64) -> Step {
        loop {
            let job = &self.draw.placed.job;
            let until =
                job.runtime.map_or(u64::MAX, |r| self.started.saturating_add(job.ramp).saturating_add(r));
            if self.flushing {
                return Step::Blocked;
            }
            if now >= until {
                self.over = true;
            }
            if self.over {
                return if self.in_flight == 0 { Step::Ended } else { Step::Blocked };
            }
            if now < self.wait_until {
                return Step::Until(self.wait_until.min(until));
            }
            if self.draining {
                if self.in_flight > 0 {
                    return Step::Blocked;
                }
                if job.flush_at_end && !self.flushed_loop {
                    self.flushed_loop = true;
                    return self.flush(now);
                }
                self.next_loop();
                continue;
            }
            if self.wants_to_think() {
                if self.in_flight > 0 {
                    return Step::Blocked;
                }
                self.thinks = false;
                self.wait_until = now.saturating_add(self.draw.placed.job.think);
                continue;
            }
            let job = &self.draw.placed.job;
            if self.in_flight >= job.depth {
                return Step::Blocked;
            }
            if self.loop_is_over() {
                self.draining = true;
                continue;
            }
            if job.flush_every > 0 && self.last_was_write && self.writes.is_multiple_of(job.flush_every) {
                return self.flush(now);
            }
            let direction = match self.chosen.take() {
                Some(direction) => direction,
                None => {
                    let direction = self.draw.direction();
                    let (direction, at) = self.rate(direction, now);
                    if at > now {
                        self.chosen = Some(direction);
                        self.wait_until = at;
                        continue;
                    }
                    direction
                }
            };
            match self.draw.next(direction) {
                Some(drawn) => return self.issue(drawn, now),
                None => self.draining = true,
            }
        }
    }

    fn flush(&mut self, now: u64) -> Step {
        self.flushing = true;
        self.last_was_write = false;
        Step::Issue(HostRequest::new(HostOp::Flush, 0, 0).at(SimTime(now)))
    }

    fn issue(&mut self, drawn: Drawn, now: u64) -> Step {
        let Drawn { direction, at, bytes } = drawn;
        let job = &self.draw.placed.job;
        // What is trimmed and then written counts once.
        if job.kinds != Kinds::TrimWrite || direction == WRITE {
            self.bytes_issued += bytes;
            self.loop_bytes += bytes;
        }
        self.issued += 1;
        self.writes += u64::from(direction == WRITE);
        self.last_was_write = direction == WRITE;
        self.asked_since = true;
        let (rate, iops) = (job.rate[direction], job.rate_iops[direction]);
        let exact = |amount: u64, per_second: u64| {
            (amount as u128 * 1_000_000_000 / per_second as u128).min(u64::MAX as u128) as u64
        };
        if rate > 0 || iops > 0 {
            let (step, per_second) = if rate > 0 { (bytes, rate) } else { (1, iops) };
            self.next_at[direction] = match job.distances {
                Distances::Even => {
                    self.rated[direction] += step;
                    self.started.saturating_add(exact(self.rated[direction], per_second))
                }
                Distances::Poisson => {
                    let gap = -libm::log(self.distance.unit()) * step as f64 * 1e9 / per_second as f64;
                    self.next_at[direction].saturating_add(gap as u64)
                }
            };
        }
        let mut request = HostRequest::new(OPS[direction], 0, (bytes / LBA_BYTES) as u32).at(SimTime(now));
        request.lba = Lba(at / LBA_BYTES);
        let stream = if direction == WRITE { job.stream } else { 0 };
        request.attributes = Attributes::NONE.with_hint(job.hint).with_stream(stream);
        Step::Issue(request)
    }

    /// Which direction may go, and when: a mixed job that is ahead of the rate of one goes on with the
    /// other.
    fn rate(&mut self, direction: usize, now: u64) -> (usize, u64) {
        let mine = self.next_at[direction];
        if mine <= now || self.draw.placed.job.kinds != Kinds::Mixed {
            return (direction, mine);
        }
        let (other, read) = (direction ^ 1, self.draw.placed.job.mix_read);
        let theirs = self.next_at[other];
        if [read, 100 - read][other] == 0 || mine <= theirs {
            return (direction, mine);
        }
        self.draw.turn_to(other);
        (other, theirs)
    }

    fn wants_to_think(&mut self) -> bool {
        let job = &self.draw.placed.job;
        if job.think == 0 || !self.asked_since {
            return false;
        }
        let count = match job.think_after {
            ThinkAfter::Ended => self.ended,
            ThinkAfter::Issued => self.issued,
        };
        if !self.thinks && count >= self.thought_at + job.think_every {
            (self.thinks, self.thought_at) = (true, count);
        }
        if self.thinks && self.in_flight == 0 {
            self.asked_since = false;
        }
        self.thinks
    }

    fn loop_is_over(&self) -> bool {
        let (placed, job) = (&self.draw.placed, &self.draw.placed.job);
        let each = if job.kinds == Kinds::TrimWrite { 2 } else { 1 };
        let most = job.number_ios.saturating_mul(job.loops).saturating_mul(each);
        let enough = job.number_ios > 0 && self.issued >= most;
        let open = job.time_based;
        !open && (enough || self.bytes_issued >= placed.total || self.loop_bytes >= placed.each_loop)
    }

    /// After a loop: another one, or the end.
    fn next_loop(&mut self) {
        let (placed, job) = (&self.draw.placed, &self.draw.placed.job);
        self.loops_done += 1;
        let left = placed.total.saturating_sub(self.bytes_issued);
        let more = self.loops_done < job.loops || (job.io_size.is_some() && left >= job.extremes().1);
        let each = if job.kinds == Kinds::TrimWrite { 2 } else { 1 };
        let enough = job.number_ios > 0
            && self.issued >= job.number_ios.saturating_mul(job.loops).saturating_mul(each);
        if self.loop_bytes == 0 || !(job.time_based || (more && left > 0 && !enough)) {
            self.over = true;
            return;
        }
        self.loop_bytes = 0;
        (self.draining, self.flushed_loop) = (false, false);
        self.draw.begin_anew();
    }
}

/// The jobs of a file at work on a drive.
pub struct JobScript {
    workers: Vec<Worker>,
    ready: VecDeque<u16>,
    timers: BinaryHeap<Reverse<(u64, u16)>>,
    group: u32,
    /// Jobs of the group that have not ended.
    at_work: usize,
    begun: bool,
    outstanding: u64,
    requests_left: u64,
}

impl JobScript {
    pub(crate) fn new(
        placed: Vec<Placed>,
        seed: u64,
        requests: Option<u64>,
    ) -> Result<JobScript, WorkloadError> {
        let workers = placed.into_iter().enumerate().map(|(n, p)| Worker::new(p, n, seed)).collect();
        Ok(JobScript {
            workers,
            ready: VecDeque::new(),
            timers: BinaryHeap::new(),
            group: 0,
            at_work: 0,
            begun: false,
            outstanding: 0,
            requests_left: requests.unwrap_or(u64::MAX),
        })
    }

    /// The jobs, in the order of their numbers.
    pub fn windows(&self) -> impl Iterator<Item = &JobWindow> {
        self.workers.iter().map(|w| &w.window)
    }

    /// From when on the requests of a job are measured.
    #[inline]
    pub fn measured_from(&self, job: u16) -> SimTime {
        self.workers.get(job as usize).map_or(SimTime::NEVER, |w| w.window.measured_from)
    }

    fn begin_group(&mut self, now: u64) {
        for (n, worker) in self.workers.iter_mut().enumerate() {
            if worker.window.group == self.group {
                self.timers.push(Reverse((worker.start(now), n as u16)));
                self.at_work += 1;
            }
        }
    }

    /// What comes next at a time that is not before the last one asked for.
    pub fn next(&mut self, now: SimTime) -> Turn {
        if !self.begun {
            self.begun = true;
            self.begin_group(now.0);
        }
        loop {
            while let Some(Reverse((at, job))) = self.timers.peek().copied() {
                if at > now.0 {
                    break;
                }
                self.timers.pop();
                self.ready.push_back(job);
            }
            if self.requests_left == 0 {
                self.workers.iter_mut().for_each(|w| w.over = true);
                let end = if self.outstanding == 0 { Turn::End } else { Turn::Completion };
                if end == Turn::End {
                    let open = self.workers.iter_mut().filter(|w| w.window.measured_from < SimTime::NEVER);
                    open.for_each(|w| w.window.ended = w.window.ended.or(Some(now)));
                }
                return end;
            }
            let Some(job) = self.ready.pop_front() else {
                if let Some(Reverse((at, _))) = self.timers.peek() {
                    return Turn::Until(SimTime(*at));
                }
                if self.outstanding > 0 {
                    return Turn::Completion;
                }
                return Turn::End;
            };
            let worker = &mut self.workers[job as usize];
            match worker.step(now.0) {
                Step::Issue(mut request) => {
                    request.volume = job;
                    worker.in_flight += 1;
                    self.outstanding += 1;
                    self.requests_left -= 1;
                    self.ready.push_back(job);
                    return Turn::Issue(request);
                }
                Step::Until(at) => self.timers.push(Reverse((at, job))),
                Step::Blocked => worker.parked = true,
                Step::Ended => {
                    worker.window.ended = Some(now);
                    self.at_work -= 1;
                    if self.at_work == 0 {
                        self.group += 1;
                        self.begin_group(now.0);
                    }
                }
            }
        }
    }

    /// A request of the script has ended.
    pub fn completed(&mut self, request: &HostRequest) {
        let Some(worker) = self.workers.get_mut(request.volume as usize) else { return };
        worker.in_flight -= 1;
        self.outstanding -= 1;
        if request.op == HostOp::Flush {
            worker.flushing = false;
        } else {
            worker.ended += 1;
        }
        if std::mem::take(&mut worker.parked) {
            self.ready.push_back(request.volume);
        }
    }
}

/// A script against a drive that takes no time.
pub(crate) struct AtOnce {
    script: JobScript,
    now: SimTime,
}

impl AtOnce {
    pub fn new(script: JobScript) -> AtOnce {
        AtOnce { script, now: SimTime(0) }
    }
}

impl Iterator for AtOnce {
    type Item = Result<HostRequest, WorkloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.script.next(self.now) {
                Turn::Issue(request) => {
                    self.script.completed(&request);
                    return Some(Ok(request));
                }
                Turn::Until(at) => self.now = at,
                // Nothing is ever outstanding.
                Turn::Completion | Turn::End => return None,
            }
        }
    }
}
