//! Requests of the host: how many came, and those that have ended.

use crate::completion::Completion;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_units::SimTime;

/// How many requests came, and those that have ended until they are taken.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Admission {
    ended: VecDeque<Completion>,
    submitted: u64,
}

impl Admission {
    /// A drive that has had so many requests, of which these have ended and were not yet taken.
    pub fn after(submitted: u64, ended: Vec<Completion>) -> Admission {
        Admission { ended: ended.into(), submitted }
    }

    /// Requests submitted so far: the number of the next one.
    #[inline(always)]
    pub fn submitted(&self) -> u64 {
        self.submitted
    }

    /// One more has been submitted.
    #[inline(always)]
    pub fn count(&mut self) {
        self.submitted += 1;
    }

    /// One has ended.
    #[inline(always)]
    pub fn end(&mut self, completion: Completion) {
        self.ended.push_back(completion);
    }

    /// Whether one has ended and was not yet taken.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Take the first of those that have ended.
    #[inline(always)]
    pub fn take_ended(&mut self) -> Option<Completion> {
        self.ended.pop_front()
    }

    /// When the first of those that have ended did so, of which nothing else is asked.
    #[inline(always)]
    pub fn forget_ended(&mut self) -> Option<SimTime> {
        let at = self.ended.front()?.at;
        drop(self.ended.pop_front());
        Some(at)
    }

    /// All that have ended and were not yet taken.
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
    fn those_that_have_ended_are_taken_in_the_order_of_their_ends() {
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
}
