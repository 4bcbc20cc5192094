//! A running job: what it issues next, in the order of fio's main loop. It draws requests, holds them back
//! for joint submission, waits for its queue depth, rate, thinking and flow, reads back its writes, and
//! begins its next loop.

use crate::generators::jobs::control::{Control, Ended};
use crate::generators::jobs::draw::{Draw, Drawn, Next};
use crate::generators::jobs::form::Form;
use crate::generators::jobs::job::{Job, Kinds};
use crate::generators::jobs::placement::Placed;
use crate::generators::jobs::rates::Rates;
use crate::generators::jobs::readback::Readback;
use crate::generators::jobs::shared::Shared;
use crate::generators::jobs::step::{JobWindow, Step};
use crate::generators::jobs::thoughts::Thoughts;
use std::collections::VecDeque;
use wordline_trace::RandomStream;
use wordline_units::{HostOp, HostRequest, SimTime};

const READ: usize = 0;
const WRITE: usize = 1;
const TRIM: usize = 2;

/// Stage of a job's loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It draws requests.
    Drawing,
    /// Outstanding requests complete before what follows the loop.
    Draining,
    /// It reads back its writes.
    Verifying,
}

/// A running job.
pub(crate) struct Worker {
    draw: Draw,
    window: JobWindow,
    over: bool,
    started: u64,
    in_flight: u32,
    ended: u64,
    issued: u64,
    bytes_issued: u64,
    /// All bytes, including those read back.
    bytes_moved: u64,
    loop_bytes: u64,
    loops_done: u64,
    writes: u64,
    last_was_flush: bool,
    /// Whether it waits for its FLUSH.
    flushing: bool,
    stage: Stage,
    flushed_loop: bool,
    thoughts: Thoughts,
    /// The direction of the last request.
    direction: usize,
    wait_until: u64,
    /// The direction of a request that waits for its rate limit.
    chosen: Option<usize>,
    rates: Rates,
    form: Form,
    /// Requests held back for joint submission, and whether they are being submitted.
    held: VecDeque<HostRequest>,
    submitting: bool,
    /// A request that is issued once all others have completed.
    alone: Option<HostRequest>,
    /// Number of outstanding requests down to which it waits before it draws again.
    reap_to: Option<u32>,
    control: Control,
    /// Requests counted in its flow, and whether the next request has been admitted.
    asked_of_flow: u64,
    admitted: bool,
    readback: Readback,
    verified_loop: bool,
}

impl Worker {
    pub fn new(placed: Placed, number: usize, seed: u64) -> Worker {
        let job = &placed.job;
        let stream = |part: &str| RandomStream::new(seed, &format!("jobs/{number}/{}/{part}", job.seed));
        Worker {
            rates: Rates::new(stream("distance")),
            form: Form::new(stream("choice")),
            control: Control::new(job),
            readback: Readback::new(job.verify),
            window: JobWindow::of(&placed),
            over: false,
            started: 0,
            in_flight: 0,
            ended: 0,
            issued: 0,
            bytes_issued: 0,
            bytes_moved: 0,
            loop_bytes: 0,
            loops_done: 0,
            writes: 0,
            last_was_flush: false,
            flushing: false,
            stage: Stage::Drawing,
            flushed_loop: false,
            thoughts: Thoughts::default(),
            direction: READ,
            wait_until: 0,
            chosen: None,
            held: VecDeque::new(),
            alone: None,
            submitting: false,
            reap_to: None,
            asked_of_flow: 0,
            admitted: false,
            verified_loop: false,
            draw: Draw::new(placed, number, seed),
        }
    }

    pub fn job(&self) -> &Job {
        &self.draw.placed().job
    }

    #[inline]
    pub fn window(&self) -> &JobWindow {
        &self.window
    }

    pub fn report_group(&self) -> u32 {
        self.draw.placed().report_group
    }

    pub fn has_begun(&self) -> bool {
        self.window.measured_from < SimTime::NEVER
    }

    pub fn has_ended(&self) -> bool {
        self.window.ended.is_some() || (self.over && !self.has_begun())
    }

    /// Whether it issues no further request.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Let it issue no further request.
    pub fn stop(&mut self) {
        self.over = true;
    }

    /// Note that the run has ended, which ends a job that has begun.
    pub fn finish(&mut self, now: SimTime) {
        self.window.ended = self.window.ended.or(self.has_begun().then_some(now));
    }

    /// Start of the job. Its delay counts from the beginning of the run, not of its group.
    pub fn start(&mut self, now: u64, shared: &mut Shared) -> u64 {
        self.started = self.rates.begin(&self.draw.placed().job, now);
        self.thoughts.begin(self.started);
        self.draw.begin_zones(shared.zones.as_mut());
        let measured_from = self.started.saturating_add(self.job().ramp);
        self.window.measured_from = SimTime(measured_from);
        self.control.begin(self.started, measured_from);
        if let Some(share) = self.job().flow {
            shared.flows.join(share);
        }
        self.started
    }

    /// End the job.
    pub fn leave(&mut self, now: SimTime, shared: &mut Shared) {
        self.window.ended = Some(now);
        if let Some(share) = self.job().flow {
            shared.flows.leave(share, self.asked_of_flow);
        }
    }

    /// Submit the requests that are held back. Returns whether there are any.
    fn submit(&mut self) -> bool {
        self.submitting |= !self.held.is_empty();
        self.submitting
    }

    pub fn step(&mut self, now: u64, shared: &mut Shared) -> Step {
        loop {
            if self.submitting {
                match self.held.front().copied() {
                    Some(request) => {
                        if shared.outstanding.overlaps(self.draw.number(), self.job(), &request) {
                            return Step::Waiting;
                        }
                        self.held.pop_front();
                        self.in_flight += 1;
                        return Step::Issue(request.at(SimTime(now)));
                    }
                    None => self.submitting = false,
                }
            }
            let job = self.job();
            let until =
                job.runtime.map_or(u64::MAX, |r| self.started.saturating_add(job.ramp).saturating_add(r));
            if self.flushing {
                return Step::Blocked;
            }
            if now >= until {
                self.over = true;
            }
            if self.over {
                self.held.extend(self.alone.take());
                if self.submit() {
                    continue;
                }
                return if self.in_flight == 0 { Step::Ended } else { Step::Blocked };
            }
            if now < self.wait_until {
                if self.submit() {
                    continue;
                }
                return Step::Until(self.wait_until.min(until));
            }
            if self.control.calms() {
                self.reap_to = Some(0);
            }
            if let Some(most) = self.reap_to {
                if self.submit() {
                    continue;
                }
                if self.in_flight > most {
                    return Step::Blocked;
                }
                self.reap_to = None;
            }
            if let Some(request) = self.alone.take() {
                self.hold(request);
                continue;
            }
            if self.stage == Stage::Draining || self.wants_to_think(now) {
                if self.submit() {
                    continue;
                }
                if self.in_flight > 0 {
                    return Step::Blocked;
                }
                if self.stage == Stage::Draining {
                    match self.after_loop(now, shared) {
                        Some(step) => return step,
                        None => continue,
                    }
                }
                self.thoughts.take(now);
                let job = &self.draw.placed().job;
                self.wait_until = now.saturating_add(job.think);
                if job.think_is_free {
                    self.rates.forgive(job, self.direction, job.think);
                }
                continue;
            }
            if self.is_full() {
                continue;
            }
            if self.stage == Stage::Verifying {
                match self.readback.pop() {
                    Some((at, bytes)) => {
                        let request = self.request(READ, at, bytes);
                        self.hold(request);
                    }
                    None => (self.stage, self.verified_loop) = (Stage::Draining, true),
                }
                continue;
            }
            if let Some(step) = self.draw_one(now, shared) {
                return step;
            }
        }
    }

    /// Whether the queue depth is used up. If so, submit the requests held back, or else note down to which
    /// number the job waits.
    fn is_full(&mut self) -> bool {
        let depth = self.job().depth;
        let most = self.control.depth().unwrap_or(depth.most);
        if self.in_flight + (self.held.len() as u32) < most {
            return false;
        }
        if !self.submit() {
            self.reap_to = Some((most - depth.reap.min(most)).min(depth.low));
        }
        true
    }

    /// Draw the next request. `None` if something else comes first.
    fn draw_one(&mut self, now: u64, shared: &mut Shared) -> Option<Step> {
        if let Some(share) = self.job().flow.filter(|_| !self.admitted) {
            if !shared.flows.admit(share, &mut self.asked_of_flow) {
                if share.sleep == 0 {
                    return if self.submit() { None } else { Some(Step::Behind) };
                }
                if self.in_flight > 0 || self.submit() {
                    self.reap_to = Some(0);
                } else {
                    self.wait_until = now.saturating_add(share.sleep);
                }
                return None;
            }
            self.admitted = true;
        }
        if let Some(request) = self.trim() {
            self.admitted = false;
            self.hold(request);
            return None;
        }
        if self.loop_is_over() {
            self.stage = Stage::Draining;
            return None;
        }
        if let Some(request) = self.backlog() {
            self.admitted = false;
            self.hold(request);
            return None;
        }
        let job = self.job();
        if job.flush_every > 0
            && !self.last_was_flush
            && self.writes > 0
            && self.writes.is_multiple_of(job.flush_every)
        {
            return if self.submit() { None } else { Some(self.flush(now)) };
        }
        let direction = match self.chosen.take() {
            Some(direction) => direction,
            None => {
                let direction = self.draw.direction();
                let (direction, at) = self.rates.next(&mut self.draw, direction, now);
                if at > now {
                    self.chosen = Some(direction);
                    self.wait_until = at;
                    return None;
                }
                direction
            }
        };
        self.admitted = false;
        let busy = self.in_flight > 0 || !self.held.is_empty();
        match self.draw.next(direction, shared.zones.as_mut(), busy) {
            Next::Request(drawn) => {
                let request = self.take(drawn)?;
                if drawn.alone && busy {
                    (self.alone, self.reap_to) = (Some(request), Some(0));
                } else {
                    self.hold(request);
                }
            }
            Next::Wait => {
                (self.chosen, self.admitted) = (Some(direction), true);
                if !busy {
                    return Some(Step::Waiting);
                }
                self.reap_to = Some(0);
            }
            Next::Over => self.stage = Stage::Draining,
        }
        None
    }

    fn flush(&mut self, now: u64) -> Step {
        self.flushing = true;
        self.last_was_flush = true;
        self.in_flight += 1;
        Step::Issue(HostRequest::new(HostOp::Flush, 0, 0).at(SimTime(now)))
    }

    /// Submit a request, or hold it back for joint submission.
    fn hold(&mut self, request: HostRequest) {
        self.held.push_back(request);
        if self.held.len() as u32 >= self.job().depth.batch {
            self.submitting = true;
        }
    }

    /// The next trim of a write, if a backlog requires one.
    fn trim(&mut self) -> Option<HostRequest> {
        let (at, bytes) = self.readback.trim(self.direction)?;
        (self.direction, self.last_was_flush) = (TRIM, false);
        Some(self.request(TRIM, at, bytes))
    }

    /// The next read of a write, if a backlog requires one.
    fn backlog(&mut self) -> Option<HostRequest> {
        let (at, bytes) = self.readback.read(self.direction)?;
        (self.direction, self.last_was_flush) = (READ, false);
        if self.job().kinds == Kinds::Mixed {
            self.bytes_issued += bytes;
            self.draw.note_read();
        }
        Some(self.request(READ, at, bytes))
    }

    /// Account for a drawn request. `None` if it is only drawn to be read back.
    #[inline(always)]
    fn take(&mut self, drawn: Drawn) -> Option<HostRequest> {
        let Drawn { direction, at, bytes, .. } = drawn;
        self.direction = direction;
        let job = self.job();
        // A range that is trimmed and then written counts once.
        if job.kinds != Kinds::TrimWrite || direction == WRITE {
            self.bytes_issued += bytes;
            self.loop_bytes += bytes;
        }
        self.issued += 1;
        self.writes += u64::from(direction == WRITE);
        self.last_was_flush = false;
        self.thoughts.note();
        self.rates.note(&self.draw.placed().job, direction, bytes);
        if direction == WRITE {
            self.readback.note(at, bytes, |percent| self.form.draws(percent));
        }
        if self.readback.is_all() { None } else { Some(self.request(direction, at, bytes)) }
    }

    /// A request as the drive receives it.
    fn request(&mut self, direction: usize, at: u64, bytes: u64) -> HostRequest {
        self.bytes_moved += bytes;
        self.form.request(&self.draw.placed().job, direction, at, bytes)
    }

    fn wants_to_think(&mut self, now: u64) -> bool {
        let (job, idle) = (&self.draw.placed().job, self.in_flight == 0 && self.held.is_empty());
        self.stage != Stage::Verifying && self.thoughts.are_due(job, now, self.ended, self.issued, idle)
    }

    /// Whether it has issued as many requests as `number_ios` asks for.
    fn has_number_ios(&self) -> bool {
        let job = self.job();
        let each = if job.kinds == Kinds::TrimWrite { 2 } else { 1 };
        job.number_ios > 0 && self.issued >= job.number_ios.saturating_mul(job.loops).saturating_mul(each)
    }

    fn loop_is_over(&self) -> bool {
        let (placed, job) = (self.draw.placed(), self.job());
        let loop_bytes = self.loop_bytes >= placed.each_loop;
        if job.time_based {
            // Between loops a job reads back its writes, even if only time ends it.
            return self.readback.is_wanted() && loop_bytes;
        }
        self.has_number_ios() || self.bytes_issued >= placed.total || loop_bytes
    }

    /// What follows when all requests of a loop have completed: a FLUSH, reads of its writes, another loop,
    /// or the end.
    fn after_loop(&mut self, now: u64, shared: &mut Shared) -> Option<Step> {
        if self.job().flush_at_end && !self.flushed_loop {
            self.flushed_loop = true;
            return Some(self.flush(now));
        }
        if !self.readback.is_empty() && !self.verified_loop {
            self.stage = Stage::Verifying;
            return None;
        }
        self.next_loop(shared);
        None
    }

    /// Begin another loop, or end the job.
    fn next_loop(&mut self, shared: &mut Shared) {
        let (placed, job) = (self.draw.placed(), &self.draw.placed().job);
        self.loops_done += 1;
        // After its loops, a job with io_size continues until all bytes, including those read back, add up to
        // it.
        let left = placed.each.saturating_sub(self.bytes_moved);
        let more = self.loops_done < job.loops || (job.io_size.is_some() && left >= job.extremes().1);
        let open = self.bytes_issued < placed.total;
        if self.loop_bytes == 0 || !(job.time_based || (more && open && !self.has_number_ios())) {
            self.over = true;
            return;
        }
        self.loop_bytes = 0;
        (self.flushed_loop, self.verified_loop) = (false, false);
        self.stage = Stage::Drawing;
        self.draw.begin_anew();
        self.draw.begin_zones(shared.zones.as_mut());
    }

    /// Note that a request of the job has completed.
    pub fn completed(&mut self, request: &HostRequest, at: u64, shared: &mut Shared) {
        self.in_flight -= 1;
        shared.outstanding.ended(self.draw.number(), self.job(), request);
        if request.op == HostOp::Flush {
            self.flushing = false;
            return;
        }
        self.ended += 1;
        self.draw.ended(request, shared.zones.as_mut());
        self.readback.ended(request);
        let ended = Ended {
            direction: request.op as usize,
            bytes: request.bytes(),
            latency: at.saturating_sub(request.arrival.0),
        };
        if at >= self.window.measured_from.0 && self.control.take(ended, at) {
            self.over = true;
        }
    }
}
