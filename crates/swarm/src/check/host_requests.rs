//! Requests of the host, and their completions.

use crate::case::Case;
use crate::check::model::{Expected, Model};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use wordline_ftl::{Counters, Initial, Outcome};
use wordline_sim::{Arrivals, Completion, Host, HostTurn};
use wordline_units::{HostOp, HostRequest, SimTime};

/// Requests of the host, and their expected results.
pub(crate) struct Asked<'a> {
    case: &'a Case,
    model: Model,
    /// Expected data of each outstanding read.
    expected: HashMap<u64, Expected>,
    /// Each completed read: its number, its expected data, and the stamp that it found in each sector.
    reads: Vec<(u64, Expected, Vec<u64>)>,
    asked: u64,
    ended: u64,
    open_writes: HashSet<u64>,
    last_end: SimTime,
    /// Requests and bytes of each kind.
    counts: HashMap<HostOp, (u64, u64)>,
    /// Bytes of the units that were written.
    page_bytes: u64,
    stamp: u64,
}

impl<'a> Asked<'a> {
    /// No requests yet, on a drive in this initial state.
    pub(crate) fn new(case: &'a Case, initial: &Initial) -> Asked<'a> {
        Asked {
            case,
            model: Model::new(case, initial),
            expected: HashMap::new(),
            reads: vec![],
            asked: 0,
            ended: 0,
            open_writes: HashSet::new(),
            last_end: SimTime(0),
            counts: HashMap::new(),
            page_bytes: 0,
            stamp: 0,
        }
    }

    pub(crate) fn case(&self) -> &'a Case {
        self.case
    }

    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// Number of requests that the drive has taken.
    pub(crate) fn taken(&self) -> u64 {
        self.asked
    }

    /// Number of completed requests.
    pub(crate) fn completed(&self) -> u64 {
        self.ended
    }

    /// Bytes of the units that were written.
    pub(crate) fn page_bytes(&self) -> u64 {
        self.page_bytes
    }

    /// Expect data that no request has written. Returns what is expected.
    #[cfg(test)]
    pub(crate) fn forge(&mut self) -> u64 {
        self.model.forge()
    }

    /// Note that the drive takes a request. Returns the data of a write.
    pub(crate) fn ask(&mut self, r: &HostRequest) -> Vec<u8> {
        let number = self.asked;
        self.asked += 1;
        let mut data = vec![];
        match r.op {
            HostOp::Write => {
                self.stamp += 1;
                data = self.model.write(r, number, self.stamp, self.case.drive.spec.sector.0 as usize);
                self.open_writes.insert(number);
                let unit = self.case.drive.spec.unit.0;
                let units = (r.lba.0 + r.blocks as u64).div_ceil(unit / 512) - r.lba.0 / (unit / 512);
                self.page_bytes += units * unit;
            }
            HostOp::Trim => self.model.trim(r, number),
            HostOp::Read => _ = self.expected.insert(number, self.model.expect(r)),
            HostOp::Flush => {}
        }
        let count = self.counts.entry(r.op).or_default();
        *count = (count.0 + 1, count.1 + r.bytes());
        data
    }

    /// Note that a request has completed.
    pub(crate) fn ended(&mut self, c: &Completion) -> Result<(), String> {
        self.ended += 1;
        if c.at < self.last_end || c.at < c.request.arrival {
            return Err(format!(
                "request {} completes at {} ns, although it is already {} ns",
                c.number, c.at.0, self.last_end.0
            ));
        }
        self.last_end = c.at;
        self.outcome(c)?;
        self.open_writes.remove(&c.number);
        if c.request.op == HostOp::Flush
            && let Some(write) = self.open_writes.iter().find(|write| **write < c.number)
        {
            return Err(format!("flush {} completes before the earlier write {write}", c.number));
        }
        match self.expected.remove(&c.number) {
            Some(expected) => self.returned(c, expected),
            None => Ok(()),
        }
    }

    fn outcome(&mut self, c: &Completion) -> Result<(), String> {
        let has_errors = self.case.drive.spec.errors.is_some();
        let needs_a_place = matches!(c.request.op, HostOp::Write | HostOp::Flush);
        match c.outcome {
            Outcome::Done => {}
            // The drive cannot correct the data, but they are visible here.
            Outcome::Uncorrectable if c.request.op == HostOp::Read && has_errors => {}
            // A full drive has no space for a write, nor for the trims that a flush would log.
            _ if needs_a_place && !self.case.drive.roomy => self.model.fail(c.number),
            outcome => return Err(format!("request {} ends {outcome:?}", c.number)),
        }
        Ok(())
    }

    fn returned(&mut self, c: &Completion, expected: Expected) -> Result<(), String> {
        let found = stamps(&c.data, self.case.drive.spec.sector.0 as usize);
        if found.len() != expected.values.len() {
            return Err(format!("read {} returns {} sectors", c.number, found.len()));
        }
        self.reads.push((c.number, expected, found));
        Ok(())
    }

    /// Whether every read has found expected data. This is checked at the end, when it is known which writes
    /// have failed.
    pub(crate) fn judge(&self) -> Result<(), String> {
        if !self.expected.is_empty() {
            return Err("a read never ended".into());
        }
        for (number, expected, found) in &self.reads {
            self.model.judge(expected, found).map_err(|e| format!("read {number}: {e}"))?;
        }
        Ok(())
    }

    /// Whether the drive's counters match the requests.
    pub(crate) fn agrees(&self, counters: &Counters) -> Result<(), String> {
        for op in [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush] {
            let counted = (counters.host_requests[op as usize], counters.host_bytes[op as usize]);
            let asked = self.counts.get(&op).copied().unwrap_or_default();
            if counted != asked {
                return Err(format!(
                    "{op:?}: {counted:?} requests and bytes are counted, {asked:?} were asked"
                ));
            }
        }
        Ok(())
    }
}

/// The stamp at the beginning of each sector.
fn stamps(data: &[u8], sector: usize) -> Vec<u64> {
    let begins = data.chunks(sector).filter_map(|sector| sector.first_chunk());
    begins.map(|stamp| u64::from_le_bytes(*stamp)).collect()
}

/// The same host with queues: which requests it submits when, and which the drive takes and completes.
pub(crate) struct InQueues<'a, 'b, I> {
    next: Arrivals<I>,
    asked: &'a mut Asked<'b>,
    data: Vec<u8>,
    wrong: Result<(), String>,
}

impl<'a, 'b, I> InQueues<'a, 'b, I> {
    pub(crate) fn new(next: Arrivals<I>, asked: &'a mut Asked<'b>) -> InQueues<'a, 'b, I> {
        InQueues { next, asked, data: vec![], wrong: Ok(()) }
    }

    /// The first error found.
    pub(crate) fn finish(self) -> Result<(), String> {
        self.wrong
    }
}

impl<I: Iterator<Item = Result<HostRequest, Infallible>>> Host for InQueues<'_, '_, I> {
    type Error = Infallible;

    fn turn(&mut self, now: SimTime) -> Result<HostTurn, Infallible> {
        self.next.turn(now)
    }

    fn data(&mut self, request: &HostRequest) -> &[u8] {
        self.data = self.asked.ask(request);
        &self.data
    }

    fn completed(&mut self, completion: &Completion) {
        self.next.completed(completion);
        if self.wrong.is_ok() {
            self.wrong = self.asked.ended(completion);
        }
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn ends_worn(&self) -> bool {
        false
    }
}
