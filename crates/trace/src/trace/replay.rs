//! Replays a trace: time starts at 0, volumes are concatenated, and addresses fit the drive.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::reading::record::Position;
use crate::requests::fit::Placement;
use crate::requests::pace::Ratio;
use crate::trace::cursor::{Cursor, Step};
use wordline_units::{HostOp, HostRequest, LBA_BYTES, Lba, SimTime};

/// How the requests of a trace reach a drive.
pub(crate) struct Replay {
    /// Start of each volume in blocks.
    pub(crate) bases: Vec<u64>,
    pub(crate) placement: Placement,
    /// Blocks of the drive.
    pub(crate) capacity: u64,
    pub(crate) skip_bad: bool,
    /// Time of the first request by the file's clock, in nanoseconds.
    pub(crate) first_time: u64,
    pub(crate) speedup: Ratio,
    pub(crate) open_loop: bool,
    /// End of a pass in nanoseconds.
    pub(crate) until: Option<u64>,
    /// Limit of the bytes of `bounding`, over all passes.
    pub(crate) bytes: u64,
    pub(crate) bounding: HostOp,
}

/// A trace being replayed.
pub(crate) struct TraceStream {
    how: Replay,
    cursor: Cursor,
    /// Latest time so far by the file's clock, in nanoseconds.
    latest: u64,
    /// Remaining requests of the pass.
    left: u64,
    /// Remaining passes, and how to begin one.
    loops: Loops,
}

/// The remaining passes over a trace.
pub(crate) struct Loops {
    pub(crate) left: u64,
    /// Opens the trace again.
    pub(crate) open: Box<dyn Fn() -> Result<Cursor, WorkloadError> + Send>,
    /// Number of requests in a pass.
    pub(crate) requests: u64,
    /// Time from the start of a pass to the start of the next.
    pub(crate) period_ns: u64,
    /// Start of the current pass.
    pub(crate) begun_ns: u64,
}

impl TraceStream {
    /// The first pass; `loops` has the further ones.
    pub(crate) fn new(how: Replay, cursor: Cursor, loops: Loops) -> TraceStream {
        TraceStream { latest: how.first_time, left: loops.requests, how, cursor, loops }
    }

    /// The position of the last request.
    pub(crate) fn position(&self) -> Position {
        self.cursor.position()
    }

    /// Begins the next pass, if there is one.
    #[cold]
    fn again(&mut self) -> Result<bool, WorkloadError> {
        if self.loops.left == 0 {
            return Ok(false);
        }
        self.loops.left -= 1;
        self.loops.begun_ns = self.loops.begun_ns.saturating_add(self.loops.period_ns);
        self.cursor = (self.loops.open)()?;
        self.latest = self.how.first_time;
        self.left = self.loops.requests;
        Ok(true)
    }

    #[cold]
    fn end(&mut self) {
        (self.left, self.loops.left) = (0, 0);
    }

    #[cold]
    fn fail(&mut self, what: &str) -> WorkloadError {
        self.end();
        Problem::new(ErrorKind::Content, self.cursor.place(), what)
            .hint("the file has changed since it was first read")
            .into()
    }

    #[inline]
    fn step(&mut self) -> Result<Option<HostRequest>, WorkloadError> {
        while self.how.bytes > 0 {
            let next = if self.left > 0 { self.cursor.next()? } else { None };
            let found = match next {
                Some(Step::Request(found)) => found,
                Some(Step::Unusable(_)) if self.how.skip_bad => continue,
                Some(Step::Unusable(reason)) => return Err(self.fail(&reason)),
                None if self.again()? => continue,
                None => return Ok(None),
            };
            self.latest = self.latest.max(found.time);
            let arrival = self.how.speedup.divide(self.latest - self.how.first_time);
            if self.how.until.is_some_and(|until| arrival >= until) {
                self.left = 0;
                continue;
            }
            let arrival = arrival.saturating_add(self.loops.begun_ns);
            self.left -= 1;
            let Some(base) = self.how.bases.get(found.volume as usize) else {
                return Err(self.fail("a new volume appeared"));
            };
            let Some((lba, blocks)) = self.how.placement.place(base + found.lba, found.blocks, found.op)
            else {
                continue;
            };
            if lba + blocks as u64 > self.how.capacity {
                return Err(self.fail("a request ends beyond the drive"));
            }
            if found.op == self.how.bounding {
                self.how.bytes = self.how.bytes.saturating_sub(blocks as u64 * LBA_BYTES);
            }
            return Ok(Some(HostRequest {
                arrival: SimTime(if self.how.open_loop { arrival } else { 0 }),
                lba: Lba(lba),
                blocks,
                op: found.op,
                attributes: found.attributes,
                volume: found.volume,
            }));
        }
        Ok(None)
    }
}

impl Iterator for TraceStream {
    type Item = Result<HostRequest, WorkloadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.end();
        }
        step.transpose()
    }
}
