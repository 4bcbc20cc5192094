//! When a job pauses for thinking: after a number of requests, or after some time.

use crate::generators::jobs::job::{Job, ThinkAfter};

/// The thinking pauses of a job.
#[derive(Default)]
pub(crate) struct Thoughts {
    /// Number of requests at the last pause, and its time.
    count: u64,
    last: u64,
    /// Whether the job is about to pause.
    due: bool,
    asked_since: bool,
}

impl Thoughts {
    pub fn begin(&mut self, now: u64) {
        self.last = now;
    }

    /// Note that a request was drawn.
    pub fn note(&mut self) {
        self.asked_since = true;
    }

    /// Whether the job pauses next. It does so when no request is outstanding.
    pub fn are_due(&mut self, job: &Job, now: u64, ended: u64, issued: u64, is_idle: bool) -> bool {
        if job.think == 0 || !self.asked_since {
            return false;
        }
        let count = match job.think_after {
            ThinkAfter::Ended => ended,
            ThinkAfter::Issued => issued,
        };
        let due = job.think_time > 0 && now >= self.last.saturating_add(job.think_time);
        if !self.due && (due || count >= self.count.saturating_add(job.think_every)) {
            (self.due, self.count) = (true, count);
        }
        if self.due && is_idle {
            self.asked_since = false;
        }
        self.due
    }

    /// Note that the job pauses now.
    pub fn take(&mut self, now: u64) {
        (self.due, self.last) = (false, now);
    }
}
