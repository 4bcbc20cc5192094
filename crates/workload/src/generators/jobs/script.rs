//! When the jobs of a file issue requests, by queue depth, rates, thinking, delays, loops and dependencies. A
//! driver asks the script for its next turn at a time, and reports completions. The script has no clock of
//! its own. Jobs that could issue a request at the same time take turns in the order in which they became
//! ready.

use crate::generators::jobs::placement::Placed;
use crate::generators::jobs::policy::ExitScope;
use crate::generators::jobs::shared::Shared;
use crate::generators::jobs::steady::Seconds;
use crate::generators::jobs::step::{JobWindow, Step};
use crate::generators::jobs::worker::Worker;
use crate::generators::jobs::zones::Zones;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use wordline_trace::WorkloadError;
use wordline_units::{HostOp, HostRequest, SimTime};

/// What the script does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// Issue this request now. Its `volume` is the number of its job.
    Issue(HostRequest),
    /// Do nothing before this time, unless a request completes.
    Until(SimTime),
    /// Do nothing until a request completes.
    Completion,
    /// The script has ended, and no request is outstanding.
    End,
}

/// The jobs of a file, running on a drive.
pub struct JobScript {
    workers: Vec<Worker>,
    /// Whether each waits for one of its requests to complete.
    parked: Vec<bool>,
    ready: VecDeque<u16>,
    timers: BinaryHeap<Reverse<(u64, u16)>>,
    group: u32,
    /// Number of jobs of the group that have not ended, and the jobs that wait for others.
    at_work: usize,
    waiting: Vec<u16>,
    begun: bool,
    /// Whether a job that ends others has ended.
    exited: bool,
    shared: Shared,
    /// The rates of jobs or groups that end when steady, and which of them each job counts in.
    seconds: Vec<Seconds>,
    seconds_of: Vec<Option<usize>>,
    outstanding: u64,
    requests_left: u64,
}

impl JobScript {
    pub(crate) fn new(
        placed: Vec<Placed>,
        seed: u64,
        requests: Option<u64>,
    ) -> Result<JobScript, WorkloadError> {
        let zones = placed.iter().find_map(|p| Some(Zones::new(p.job.zones.as_ref()?, p.reach)));
        let shared = Shared { zones, ..Shared::default() };
        let workers: Vec<Worker> =
            placed.into_iter().enumerate().map(|(n, p)| Worker::new(p, n, seed)).collect();
        Ok(JobScript {
            waiting: vec![],
            exited: false,
            shared,
            seconds: vec![],
            seconds_of: vec![None; workers.len()],
            parked: vec![false; workers.len()],
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

    /// The jobs, in order of their numbers.
    pub fn windows(&self) -> impl Iterator<Item = &JobWindow> {
        self.workers.iter().map(Worker::window)
    }

    /// When measurement of a job's requests begins.
    #[inline]
    pub fn measured_from(&self, job: u16) -> SimTime {
        self.workers.get(job as usize).map_or(SimTime::NEVER, |w| w.window().measured_from)
    }

    fn begin_group(&mut self, now: u64) {
        for n in 0..self.workers.len() {
            if self.workers[n].window().group == self.group && !self.workers[n].is_over() {
                self.at_work += 1;
                self.waiting.push(n as u16);
            }
        }
        self.begin_waiting(now);
    }

    /// Start the waiting jobs of the group whose predecessors have ended.
    fn begin_waiting(&mut self, now: u64) {
        for job in std::mem::take(&mut self.waiting) {
            let awaited = self.workers[job as usize].job().wait_for.clone();
            let unfinished =
                |w: &Worker| awaited.as_ref().is_some_and(|name| w.window().name == *name && !w.has_ended());
            if self.workers.iter().any(unfinished) {
                self.waiting.push(job);
                continue;
            }
            let started = self.workers[job as usize].start(now, &mut self.shared);
            self.count_seconds(job, started);
            self.timers.push(Reverse((started, job)));
        }
    }

    /// Determine in which rate a job that has begun counts.
    fn count_seconds(&mut self, job: u16, started: u64) {
        let worker = &self.workers[job as usize];
        let Some(rule) = worker.job().steady else { return };
        let group = worker.report_group();
        let shared = |n: &usize| {
            let other = &self.workers[*n];
            other.job().group_reporting && other.report_group() == group
        };
        let with = (0..self.workers.len()).filter(shared).find_map(|n| self.seconds_of[n]);
        let number = with.filter(|_| worker.job().group_reporting).unwrap_or_else(|| {
            self.seconds.push(Seconds::new(rule, started));
            self.seconds.len() - 1
        });
        self.seconds_of[job as usize] = Some(number);
    }

    /// Note that a job has ended: start the jobs that wait for it, and end the jobs that end with it.
    fn ended(&mut self, job: u16, now: SimTime) {
        let worker = &mut self.workers[job as usize];
        worker.leave(now, &mut self.shared);
        let (exits, group) = (worker.job().exits, worker.report_group());
        self.at_work -= 1;
        self.ready.extend(self.shared.outstanding.woken());
        self.ready.extend(self.shared.flows.woken());
        if let Some(scope) = exits.filter(|_| !self.exited) {
            self.exited = true;
            for other in &mut self.workers {
                let exits = match scope {
                    ExitScope::Group => other.report_group() == group,
                    ExitScope::Begun => other.has_begun(),
                    ExitScope::All => true,
                };
                if exits {
                    other.stop();
                }
            }
            let stopped = self.waiting.iter().filter(|n| self.workers[**n as usize].is_over()).count();
            self.waiting.retain(|n| !self.workers[*n as usize].is_over());
            self.at_work -= stopped;
            self.wake_all(now.0);
        }
        self.begin_waiting(now.0);
        while self.at_work == 0 && self.workers.iter().any(|w| w.window().group > self.group) {
            self.group += 1;
            self.begin_group(now.0);
        }
    }

    /// Wake up all jobs that must end, whatever they wait for.
    fn wake_all(&mut self, now: u64) {
        let timers = std::mem::take(&mut self.timers);
        for Reverse((at, job)) in timers {
            let at = if self.workers[job as usize].is_over() { now } else { at };
            self.timers.push(Reverse((at, job)));
        }
        for (n, (worker, parked)) in self.workers.iter().zip(&mut self.parked).enumerate() {
            if worker.is_over() && std::mem::take(parked) {
                self.ready.push_back(n as u16);
            }
        }
    }

    /// The next turn at a time, which must not be before the last one.
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
                self.workers.iter_mut().for_each(Worker::stop);
                let end = if self.outstanding == 0 { Turn::End } else { Turn::Completion };
                if end == Turn::End {
                    self.workers.iter_mut().for_each(|w| w.finish(now));
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
            match worker.step(now.0, &mut self.shared) {
                Step::Issue(mut request) => {
                    request.volume = job;
                    self.ready.extend(self.shared.flows.woken());
                    self.outstanding += 1;
                    self.requests_left -= 1;
                    self.ready.push_back(job);
                    return Turn::Issue(request);
                }
                Step::Until(at) => self.timers.push(Reverse((at, job))),
                Step::Blocked => self.parked[job as usize] = true,
                Step::Behind => self.shared.flows.wait(job),
                Step::Waiting => self.shared.outstanding.wait(job),
                Step::Ended => self.ended(job, now),
            }
        }
    }

    /// Note that a request of the script has completed.
    pub fn completed(&mut self, request: &HostRequest, at: SimTime) {
        let job = request.volume;
        let Some(worker) = self.workers.get_mut(job as usize) else { return };
        worker.completed(request, at.0, &mut self.shared);
        self.ready.extend(self.shared.outstanding.woken());
        self.outstanding -= 1;
        if std::mem::take(&mut self.parked[job as usize]) {
            self.ready.push_back(job);
        }
        let Some(number) = self.seconds_of[job as usize].filter(|_| request.op != HostOp::Flush) else {
            return;
        };
        if self.seconds[number].take(request.bytes(), at.0) {
            for (worker, counted) in self.workers.iter_mut().zip(&self.seconds_of) {
                if *counted == Some(number) {
                    worker.stop();
                }
            }
            self.wake_all(at.0);
        }
    }
}

/// A script on a drive that takes no time.
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
                    self.script.completed(&request, self.now);
                    return Some(Ok(request));
                }
                Turn::Until(at) => self.now = at,
                // No request is ever outstanding.
                Turn::Completion | Turn::End => return None,
            }
        }
    }
}
