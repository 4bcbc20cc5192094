//! Replays a trace: time starts at 0, volumes are concatenated, and addresses fit the drive.

use crate::error::{ErrorKind, Problem, WorkloadError};
use crate::requests::fit::Placement;
use crate::requests::pace::Ratio;
use crate::trace::cursor::{Cursor, Step};
use wordline_units::{HostOp, HostRequest, LBA_BYTES, Lba, SimTime};

/// A trace being replayed.
pub(crate) struct TraceStream {
    pub(crate) cursor: Cursor,
    pub(crate) bases: Vec<u64>,
    pub(crate) placement: Placement,
    pub(crate) capacity: u64,
    pub(crate) skip_bad: bool,
    pub(crate) first_time: u64,
    pub(crate) latest: u64,
    pub(crate) speedup: Ratio,
    pub(crate) open_loop: bool,
    pub(crate) until: Option<u64>,
    pub(crate) left: u64,
    /// Remaining passes, and how to begin one.
    pub(crate) loops: Loops,
    pub(crate) bytes_left: u64,
    pub(crate) bounding: HostOp,
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
    /// Begins the next pass, if there is one.
    #[cold]
    fn again(&mut self) -> Result<bool, WorkloadError> {
        if self.loops.left == 0 {
            return Ok(false);
        }
        self.loops.left -= 1;
        self.loops.begun_ns = self.loops.begun_ns.saturating_add(self.loops.period_ns);
        self.cursor = (self.loops.open)()?;
        self.latest = self.first_time;
        self.left = self.loops.requests;
        Ok(true)
    }

    #[cold]
    fn end(&mut self) {
        (self.left, self.loops.left) = (0, 0);
    }

    #[cold]
    pub(crate) fn fail(&mut self, what: &str) -> WorkloadError {
        self.end();
        Problem::new(ErrorKind::Content, self.cursor.place(), what)
            .hint("the file has changed since it was first read")
            .into()
    }

    #[inline]
    pub(crate) fn step(&mut self) -> Result<Option<HostRequest>, WorkloadError> {
        while self.bytes_left > 0 {
            let next = if self.left > 0 { self.cursor.next()? } else { None };
            let found = match next {
                Some(Step::Request(found)) => found,
                Some(Step::Unusable(_)) if self.skip_bad => continue,
                Some(Step::Unusable(reason)) => return Err(self.fail(&reason)),
                None if self.again()? => continue,
                None => return Ok(None),
            };
            self.latest = self.latest.max(found.time);
            let arrival = self.speedup.divide(self.latest - self.first_time);
            if self.until.is_some_and(|until| arrival >= until) {
                self.left = 0;
                continue;
            }
            let arrival = arrival.saturating_add(self.loops.begun_ns);
            self.left -= 1;
            let Some(base) = self.bases.get(found.volume as usize) else {
                return Err(self.fail("a new volume appeared"));
            };
            let Some((lba, blocks)) = self.placement.place(base + found.lba, found.blocks, found.op) else {
                continue;
            };
            if lba + blocks as u64 > self.capacity {
                return Err(self.fail("a request ends beyond the drive"));
            }
            if found.op == self.bounding {
                self.bytes_left = self.bytes_left.saturating_sub(blocks as u64 * LBA_BYTES);
            }
            return Ok(Some(HostRequest {
                arrival: SimTime(if self.open_loop { arrival } else { 0 }),
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
