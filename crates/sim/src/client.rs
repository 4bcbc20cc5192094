//! A client that keeps requests outstanding, with think time, and rests after bursts.

use crate::completion::Completion;
use crate::driver::{Host, HostTurn, Stop};
use std::collections::VecDeque;
use std::iter::Peekable;
use wordline_units::{HostOp, HostRequest, SimDuration, SimTime};

/// When a client pauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pauses {
    /// Pause between the completion of a request and the next one in its place.
    pub think: SimDuration,
    /// Number of bytes written after which the client waits for all outstanding requests, and the length of the rest
    /// that follows.
    pub burst: Option<(u64, SimDuration)>,
}

/// A stream of requests from a client with this queue depth, with pauses.
pub struct Client<S: Iterator> {
    stream: Peekable<S>,
    pauses: Pauses,
    duration: Option<SimDuration>,
    ends_worn: bool,
    outstanding: u64,
    /// When each place in which no request is outstanding may have one, the earliest first.
    free: VecDeque<SimTime>,
    /// Bytes written since it last rested.
    burst: u64,
    last_end: SimTime,
}

impl<S: Iterator<Item = Result<HostRequest, E>>, E: std::error::Error> Client<S> {
    /// A stream, its queue depth, and when the client pauses and stops.
    pub fn new(stream: S, queue_depth: u32, pauses: Pauses, stop: Stop) -> Client<S> {
        Client {
            stream: stream.peekable(),
            pauses,
            duration: stop.duration,
            ends_worn: stop.worn_out,
            outstanding: 0,
            free: (0..queue_depth.max(1)).map(|_| SimTime(0)).collect(),
            burst: 0,
            last_end: SimTime(0),
        }
    }

    /// No request now: one must complete first, or none is outstanding, and then this.
    fn or_once_idle(&self, then: HostTurn) -> HostTurn {
        if self.outstanding > 0 { HostTurn::Completion } else { then }
    }
}

impl<S: Iterator<Item = Result<HostRequest, E>>, E: std::error::Error> Host for Client<S> {
    type Error = E;

    fn turn(&mut self, now: SimTime) -> Result<HostTurn, E> {
        if self.duration.is_some_and(|d| now.0 >= d.0) || self.stream.peek().is_none() {
            return Ok(self.or_once_idle(HostTurn::End));
        }
        if let Some((bytes, rest)) = self.pauses.burst
            && self.burst >= bytes
        {
            let over = SimTime(self.last_end.0.saturating_add(rest.0));
            if self.outstanding > 0 || now < over {
                return Ok(self.or_once_idle(HostTurn::Until(over)));
            }
            self.burst = 0;
        }
        match self.free.front() {
            Some(&at) if at <= now => {}
            Some(&at) => return Ok(HostTurn::Until(at)),
            None => return Ok(HostTurn::Completion),
        }
        let Some(request) = self.stream.next().transpose()? else {
            return Ok(self.or_once_idle(HostTurn::End));
        };
        self.free.pop_front();
        self.outstanding += 1;
        self.burst += if request.op == HostOp::Write { request.bytes() } else { 0 };
        Ok(HostTurn::Issue(HostRequest { arrival: now, ..request }))
    }

    fn completed(&mut self, completion: &Completion) {
        self.outstanding -= 1;
        self.last_end = completion.at;
        self.free.push_back(SimTime(completion.at.0.saturating_add(self.pauses.think.0)));
    }

    fn is_timed(&self) -> bool {
        self.duration.is_some()
    }

    fn ends_worn(&self) -> bool {
        self.ends_worn || self.duration.is_some()
    }
}
