//! Drivers for recorded and generated workloads: an open loop, in which requests arrive at their own times, a closed
//! loop, in which each completion triggers the next, and a host that submits depending on completions.

use crate::completion::Completion;
use crate::device::Device;
use crate::error::DeviceError;
use crate::probe::Probe;
use crate::queues::Queues;
use std::iter::Fuse;
use thiserror::Error;
use wordline_ftl::{Ftl, Prefetch};
use wordline_units::{HostOp, HostRequest, Lpn, SimDuration, SimTime};

/// When requests arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// At their own times. At most this many are admitted at a time; the others wait, and keep their arrival
    /// times.
    Open {
        /// Requests admitted at a time.
        queue_depth: u32,
    },
    /// This many are always outstanding.
    Closed {
        /// Requests outstanding.
        queue_depth: u32,
    },
}

/// When a run ends, other than with its last request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stop {
    /// After this many requests.
    pub requests: Option<u64>,
    /// When a closed loop has run this long.
    pub duration: Option<SimDuration>,
    /// After this many bytes.
    pub bytes: Option<u64>,
    /// When the drive is worn out. A run limited by time then ends anyway, since refused requests take no
    /// time.
    pub worn_out: bool,
}

/// Progress of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Requests completed.
    pub completed: u64,
    /// Simulated time.
    pub now: SimTime,
}

/// Result of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Requests submitted.
    pub requests: u64,
    /// Requests completed.
    pub completed: u64,
    /// Time of the last completion.
    pub end: SimTime,
}

/// Why a run was stopped.
#[derive(Debug, Error)]
pub enum DriveError<E: std::error::Error> {
    /// The workload could not be read further.
    #[error(transparent)]
    Workload(E),
    /// The device could not continue.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A run is limited by time, but time does not pass.
    #[error(
        "{completed} requests completed at the same simulated time, so a run limited by time would never \
         end"
    )]
    NoTimePasses {
        /// Number of requests completed meanwhile.
        completed: u64,
    },
    /// Requests were submitted and never completed.
    #[error("{requests} requests submitted but {completed} completed; please report this")]
    Lost {
        /// Requests submitted.
        requests: u64,
        /// Requests completed.
        completed: u64,
    },
}

const REPORT_EVERY: u64 = 1 << 14;

/// The next action of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostTurn {
    /// Submit this request, which has arrived.
    Issue(HostRequest),
    /// Wait until this time, or until a request completes.
    Until(SimTime),
    /// Wait until a request completes.
    Completion,
    /// The host has no more requests, and none is outstanding.
    End,
}

/// A host that decides what to submit, and when, from completions.
pub trait Host {
    /// Why it cannot continue.
    type Error: std::error::Error;

    /// Its next action at a time, after all earlier completions.
    ///
    /// # Errors
    /// When it cannot continue.
    fn turn(&mut self, now: SimTime) -> Result<HostTurn, Self::Error>;

    /// The data of a write, from its first sector on, for media that store them. Called once for each request
    /// when the drive takes it, in the order of request numbers.
    #[inline]
    fn data(&mut self, _: &HostRequest) -> &[u8] {
        &[]
    }

    /// Process the completion of one of its requests.
    fn completed(&mut self, completion: &Completion);

    /// Whether only time ends it, so that it would never end if time does not pass.
    fn is_timed(&self) -> bool;

    /// Whether it ends when the drive is worn out.
    fn ends_worn(&self) -> bool;
}

impl<H: Host> Host for &mut H {
    type Error = H::Error;

    fn turn(&mut self, now: SimTime) -> Result<HostTurn, H::Error> {
        (**self).turn(now)
    }

    #[inline]
    fn data(&mut self, request: &HostRequest) -> &[u8] {
        (**self).data(request)
    }

    fn completed(&mut self, completion: &Completion) {
        (**self).completed(completion);
    }

    fn is_timed(&self) -> bool {
        (**self).is_timed()
    }

    fn ends_worn(&self) -> bool {
        (**self).ends_worn()
    }
}

/// A stream of requests as a host that submits each at its own time, regardless of completions.
pub struct Arrivals<S> {
    stream: Fuse<S>,
    next: Option<HostRequest>,
    outstanding: u64,
    ends_worn: bool,
}

impl<S: Iterator> Arrivals<S> {
    /// A host for a stream. `ends_worn` says whether it ends when the drive is worn out.
    pub fn new(stream: S, ends_worn: bool) -> Arrivals<S> {
        Arrivals { stream: stream.fuse(), next: None, outstanding: 0, ends_worn }
    }
}

impl<S: Iterator<Item = Result<HostRequest, E>>, E: std::error::Error> Host for Arrivals<S> {
    type Error = E;

    fn turn(&mut self, now: SimTime) -> Result<HostTurn, E> {
        if self.next.is_none() {
            self.next = self.stream.next().transpose()?;
        }
        Ok(match self.next {
            Some(request) if request.arrival <= now => {
                self.next = None;
                self.outstanding += 1;
                HostTurn::Issue(request)
            }
            Some(request) => HostTurn::Until(request.arrival),
            None if self.outstanding > 0 => HostTurn::Completion,
            None => HostTurn::End,
        })
    }

    fn completed(&mut self, _: &Completion) {
        self.outstanding -= 1;
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn ends_worn(&self) -> bool {
        self.ends_worn
    }
}

/// Drive a device with a host until the host ends or the device is worn out, and all requests have completed.
/// If the host has several queues, its requests wait there until the device takes them; the device processes
/// at most `queue_depth` in parallel. The device may have work left, such as garbage collection, which
/// [`Device::drain`] completes.
///
/// # Errors
/// When the host or the device fails, or a request is lost.
pub fn drive_host<P: Probe, H: Host>(
    device: &mut Device<P>,
    host: &mut H,
    mut queues: Option<(Queues, u32)>,
    mut progress: impl FnMut(Progress),
) -> Result<Summary, DriveError<H::Error>> {
    let duration = host.is_timed().then_some(SimDuration(u64::MAX));
    let stop = Stop { duration, ..Stop::default() };
    let mut run = Run { stop, requests: 0, bytes: 0, completed: 0, last_progress: (SimTime(0), 0) };
    device.begin_measurement();
    loop {
        while let Some(completion) = device.poll() {
            host.completed(&completion);
            if let Some((queues, _)) = &mut queues {
                queues.ended(&completion.request);
            }
            run.count(completion.at, false, &mut progress)?;
        }
        let now = device.now();
        if host.ends_worn() && device.is_over() {
            // The host submits nothing more.
            if device.outstanding() == 0 || !device.await_completion(SimTime::NEVER)? {
                break;
            }
            continue;
        }
        let mut turn = host.turn(now).map_err(DriveError::Workload)?;
        if let Some((queues, most)) = &mut queues {
            if let HostTurn::Issue(request) = turn {
                queues.add(request);
                continue;
            }
            // All requests that arrive at this time have arrived.
            if device.outstanding() < *most
                && let Some(request) = queues.take()
            {
                turn = HostTurn::Issue(request);
            }
        }
        match turn {
            HostTurn::Issue(request) => {
                run.requests += 1;
                device.submit_with(request, now, host.data(&request))?;
            }
            HostTurn::Until(time) => {
                if !device.await_completion(time)? {
                    device.advance_to(time)?;
                }
            }
            HostTurn::Completion if device.await_completion(SimTime::NEVER)? => {}
            HostTurn::Completion | HostTurn::End => break,
        }
    }
    run.end(device, &mut progress)
}

/// Drive a device with a stream of requests until it ends and all of them have completed. The device may have
/// work left, such as garbage collection, which [`Device::drain`] completes.
///
/// # Errors
/// When the stream or the device fails, or a request is lost.
pub fn drive<P: Probe, E: std::error::Error>(
    device: &mut Device<P>,
    stream: impl Iterator<Item = Result<HostRequest, E>>,
    pacing: Pacing,
    stop: Stop,
    progress: impl FnMut(Progress),
) -> Result<Summary, DriveError<E>> {
    device.keep_times_alone(true);
    let summary = drive_on(device, stream, pacing, stop, progress);
    device.keep_times_alone(false);
    summary
}

/// The same for a device that records only the completion times of requests.
fn drive_on<P: Probe, E: std::error::Error>(
    device: &mut Device<P>,
    stream: impl Iterator<Item = Result<HostRequest, E>>,
    pacing: Pacing,
    stop: Stop,
    mut progress: impl FnMut(Progress),
) -> Result<Summary, DriveError<E>> {
    let mut run = Run { stop, requests: 0, bytes: 0, completed: 0, last_progress: (SimTime(0), 0) };
    let mut stream = ReadAhead::new(stream, stop.requests);
    device.begin_measurement();
    let (depth, open) = match pacing {
        Pacing::Open { queue_depth } => (queue_depth.max(1), true),
        Pacing::Closed { queue_depth } => (queue_depth.max(1), false),
    };
    loop {
        while let Some(at) = device.forget_completion() {
            run.count(at, open, &mut progress)?;
        }
        let full = device.outstanding() >= depth;
        let goes_on = !full && !run.is_over(device.now(), open) && !run.ends_worn(device, open);
        let next = if goes_on { stream.next(device.ftl()) } else { None };
        let Some(request) = next else {
            let ended = device.outstanding() == 0;
            if ended && !full {
                break;
            }
            device.await_completion(SimTime::NEVER)?;
            continue;
        };
        let mut request = request.map_err(DriveError::Workload)?;
        if open {
            while device.now() <= request.arrival && device.await_completion(request.arrival)? {
                while let Some(at) = device.forget_completion() {
                    run.count(at, open, &mut progress)?;
                }
            }
        } else {
            request.arrival = device.now();
        }
        let at = device.now().max(request.arrival);
        run.requests += 1;
        run.bytes += if request.op == HostOp::Flush { 0 } else { request.bytes() };
        device.submit(request, at)?;
    }
    run.end(device, &mut progress)
}

/// Number of requests read ahead: a power of two that covers the three steps of a lookup.
const READ_AHEAD: usize = 8;

/// A stream that is read a few requests ahead, so that what they need is in the cache when they are issued.
/// No more are read than the run may issue.
struct ReadAhead<S, E> {
    stream: S,
    ring: [HostRequest; READ_AHEAD],
    /// The first and last page of each request.
    pages: [(Lpn, Lpn); READ_AHEAD],
    /// Number of requests read, and of requests handed out.
    read: usize,
    given: usize,
    left: u64,
    /// Why no more could be read: the stream's error, after its requests.
    error: Option<E>,
}

impl<S: Iterator<Item = Result<HostRequest, E>>, E> ReadAhead<S, E> {
    fn new(stream: S, most: Option<u64>) -> ReadAhead<S, E> {
        let ring = [HostRequest::new(HostOp::Flush, 0, 0); READ_AHEAD];
        let pages = [(Lpn(0), Lpn(0)); READ_AHEAD];
        ReadAhead { stream, ring, pages, read: 0, given: 0, left: most.unwrap_or(u64::MAX), error: None }
    }

    #[inline]
    fn next(&mut self, ftl: &Ftl) -> Option<Result<HostRequest, E>> {
        while self.read - self.given < READ_AHEAD && self.left > 0 {
            let request = match self.stream.next() {
                Some(Ok(request)) => request,
                ended => {
                    self.error = ended.and_then(Result::err);
                    self.left = 0;
                    break;
                }
            };
            self.left -= 1;
            self.ring[self.read % READ_AHEAD] = request;
            self.pages[self.read % READ_AHEAD] = ftl.pages_of(&request);
            let (first, last) = self.pages_before(6);
            ftl.prefetch(Prefetch::Leaf(self.pages_before(0).0));
            ftl.prefetch(Prefetch::Place(self.pages_before(3).0));
            ftl.prefetch(Prefetch::Blocks(first, last));
            self.read += 1;
        }
        if self.given == self.read {
            return self.error.take().map(Err);
        }
        self.given += 1;
        Some(Ok(self.ring[(self.given - 1) % READ_AHEAD]))
    }

    /// The pages of the request that was read this many before the last.
    #[inline(always)]
    fn pages_before(&self, back: usize) -> (Lpn, Lpn) {
        self.pages[self.read.wrapping_sub(back) % READ_AHEAD]
    }
}

struct Run {
    stop: Stop,
    requests: u64,
    bytes: u64,
    completed: u64,
    last_progress: (SimTime, u64),
}

impl Run {
    fn is_over(&self, now: SimTime, open: bool) -> bool {
        self.stop.requests.is_some_and(|n| self.requests >= n)
            || self.stop.bytes.is_some_and(|n| self.bytes >= n)
            || (!open && self.stop.duration.is_some_and(|d| now.0 >= d.0))
    }

    fn ends_worn<P: Probe>(&self, device: &mut Device<P>, open: bool) -> bool {
        let timed = !open && self.stop.duration.is_some();
        (self.stop.worn_out || timed) && device.is_over()
    }

    /// Close the measurement at the last completion, and check that no request was lost.
    fn end<P: Probe, E: std::error::Error>(
        self,
        device: &mut Device<P>,
        progress: &mut impl FnMut(Progress),
    ) -> Result<Summary, DriveError<E>> {
        let end = device.metrics().last;
        device.close_measurement();
        progress(Progress { completed: self.completed, now: end });
        if self.completed != self.requests {
            return Err(DriveError::Lost { requests: self.requests, completed: self.completed });
        }
        Ok(Summary { requests: self.requests, completed: self.completed, end })
    }

    fn count<E: std::error::Error>(
        &mut self,
        at: SimTime,
        open: bool,
        progress: &mut impl FnMut(Progress),
    ) -> Result<(), DriveError<E>> {
        self.completed += 1;
        if !self.completed.is_multiple_of(REPORT_EVERY) {
            return Ok(());
        }
        progress(Progress { completed: self.completed, now: at });
        if at > self.last_progress.0 {
            self.last_progress = (at, self.completed);
        } else if !open && self.stop.duration.is_some() && self.completed - self.last_progress.1 > 1 << 22 {
            return Err(DriveError::NoTimePasses { completed: self.completed });
        }
        Ok(())
    }
}
