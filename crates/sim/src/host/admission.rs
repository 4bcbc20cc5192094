//! Host requests: their number, and completions.

use crate::completion::Completion;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_units::SimTime;

/// How many requests came, and those that have ended until they are taken.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Admission {
    ended: VecDeque<Completion>,
    submitted: u64,
    /// Whether nothing is asked of what ends but when it did, and those times until they are taken: never in a drive
    /// at rest.
    #[serde(skip)]
    keeps_times_alone: bool,
    #[serde(skip)]
    times: Vec<SimTime>,
    /// How many of them have been taken; none once all have.
    #[serde(skip)]
    times_taken: usize,
}

impl Admission {
    /// The admission of a drive that has seen this many requests, with completions that were not yet taken.
    pub fn after(submitted: u64, ended: Vec<Completion>) -> Admission {
        Admission { ended: ended.into(), submitted, ..Admission::default() }
    }

    /// Requests submitted so far: the number of the next one.
    #[inline(always)]
    pub fn submitted(&self) -> u64 {
        self.submitted
    }

    /// Count a submitted request.
    #[inline(always)]
    pub fn count(&mut self) {
        self.submitted += 1;
    }

    /// Set whether completions keep their times only.
    pub fn keep_times_alone(&mut self, alone: bool) {
        self.keeps_times_alone = alone;
        self.times.clear();
        self.times_taken = 0;
    }

    /// Whether completions keep their times only.
    #[inline(always)]
    pub fn keeps_times_alone(&self) -> bool {
        self.keeps_times_alone
    }

    /// Record a completion, or only its time.
    pub fn end(&mut self, completion: Completion) {
        if self.keeps_times_alone {
            self.end_at(completion.at);
        } else {
            self.ended.push_back(completion);
        }
    }

    /// Record a completion of which only the time is kept.
    #[inline(always)]
    pub fn end_at(&mut self, at: SimTime) {
        self.times.push(at);
    }

    /// Whether a completion was not yet taken.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        !self.times.is_empty() || !self.ended.is_empty()
    }

    /// Take the first completion.
    #[inline(always)]
    pub fn take_ended(&mut self) -> Option<Completion> {
        self.ended.pop_front()
    }

    /// Take the first completion of which only the time was kept.
    #[inline(always)]
    pub fn forget_ended(&mut self) -> Option<SimTime> {
        if self.ended.is_empty() { self.take_time() } else { self.forget_completion() }
    }

    #[inline(always)]
    fn take_time(&mut self) -> Option<SimTime> {
        let time = *self.times.get(self.times_taken)?;
        self.times_taken += 1;
        if self.times_taken == self.times.len() {
            self.times.clear();
            self.times_taken = 0;
        }
        Some(time)
    }

    /// The same of one that ended before only times were kept.
    #[cold]
    fn forget_completion(&mut self) -> Option<SimTime> {
        self.ended.pop_front().map(|completion| completion.at)
    }

    /// All completions not yet taken.
    pub fn into_ended(self) -> Vec<Completion> {
        self.ended.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_ftl::{LatencyParts, Outcome};
    use wordline_units::{HostOp, HostRequest};

    fn completion(number: u64) -> Completion {
        let request = HostRequest::new(HostOp::Read, 0, 1);
        let (at, parts) = (SimTime(10 * number), LatencyParts::default());
        Completion { number, request, at, outcome: Outcome::Done, parts, data: vec![] }
    }

    #[test]
    fn ended_requests_are_taken_in_order_of_their_ends() {
        let mut admission = Admission::after(4, vec![completion(1)]);
        admission.end(completion(2));
        admission.end(completion(3));
        assert_eq!(admission.take_ended().map(|c| c.number), Some(1));
        assert_eq!(admission.forget_ended(), Some(SimTime(20)));
        assert!(admission.has_ended());
        admission.count();
        assert_eq!(admission.submitted(), 5);
        assert_eq!(admission.into_ended().len(), 1);
    }

    #[test]
    fn times_alone_are_kept_behind_what_had_ended_before() {
        let mut admission = Admission::after(4, vec![completion(1)]);
        admission.keep_times_alone(true);
        admission.end_at(SimTime(15));
        let times: Vec<_> = std::iter::from_fn(|| admission.forget_ended()).collect();
        assert_eq!((times, admission.has_ended()), (vec![SimTime(10), SimTime(15)], false));
        admission.end_at(SimTime(20));
        assert!(admission.has_ended());
        admission.keep_times_alone(false);
        assert!(!admission.has_ended() && !admission.keeps_times_alone());
    }
}
