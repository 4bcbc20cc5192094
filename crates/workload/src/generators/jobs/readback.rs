//! Which writes a job reads back, and which of them it trims first: after each loop, or during a loop by a
//! backlog.

use crate::generators::jobs::history::History;
use crate::generators::jobs::policy::Verify;
use wordline_units::{HostOp, HostRequest, LBA_BYTES};

const READ: usize = 0;

/// Writes of a job to be read back.
pub(crate) struct Readback {
    rule: Option<Verify>,
    history: History,
    /// Addresses of writes in flight.
    writing: Vec<u64>,
    /// Reads and trims left in the batch of a backlog.
    to_verify: u64,
    to_trim: u64,
}

impl Readback {
    pub fn new(rule: Option<Verify>) -> Readback {
        let history = History::new(rule.is_some_and(|v| v.sorted));
        Readback { rule, history, writing: vec![], to_verify: 0, to_trim: 0 }
    }

    pub fn is_wanted(&self) -> bool {
        self.rule.is_some()
    }

    /// Whether writes are drawn but not issued.
    pub fn is_all(&self) -> bool {
        self.rule.is_some_and(|v| v.only)
    }

    pub fn is_empty(&self) -> bool {
        self.history.len() == 0
    }

    /// Note that a write was drawn. `draws` returns true with a probability of this many percent.
    pub fn note(&mut self, at: u64, bytes: u64, draws: impl FnOnce(u64) -> bool) {
        let Some(rule) = self.rule else { return };
        self.history.push(at, bytes, rule.trims.is_some_and(|t| draws(t.percent)));
        if !rule.only {
            self.writing.push(at);
        }
    }

    /// Note that a request has completed.
    pub fn ended(&mut self, request: &HostRequest) {
        if request.op == HostOp::Write && !self.writing.is_empty() {
            let first = request.lba.0 * LBA_BYTES;
            let found = self.writing.iter().position(|w| (first..first + request.bytes()).contains(w));
            if let Some(n) = found {
                self.writing.swap_remove(n);
            }
        }
    }

    /// The next write to read back after a loop.
    pub fn pop(&mut self) -> Option<(u64, u64)> {
        self.history.pop(&[])
    }

    /// The next write to trim during a loop, if a backlog requires one. `last` is the direction of the
    /// previous request.
    pub fn trim(&mut self, last: usize) -> Option<(u64, u64)> {
        let rule = self.rule?.trims?;
        if !self.history.has_trims() {
            return None;
        }
        if self.to_trim == 0 {
            if !self.history.len().is_multiple_of(rule.every) || last == READ {
                return None;
            }
            // As in fio, the first of a batch does not count.
            self.to_trim = rule.batch + 1;
        }
        self.to_trim -= 1;
        self.history.pop_trim(rule.keeps)
    }

    /// The next write to read back during a loop.
    pub fn read(&mut self, last: usize) -> Option<(u64, u64)> {
        let rule = self.rule?;
        if rule.backlog == 0 || self.is_empty() {
            return None;
        }
        if self.to_verify == 0 {
            if !self.history.len().is_multiple_of(rule.backlog) || last == READ {
                return None;
            }
            self.to_verify = rule.batch;
        }
        let next = self.history.pop(&self.writing)?;
        self.to_verify -= 1;
        Some(next)
    }
}
