//! Requests at the door of the drive: those that a full buffer holds up, and those that have ended.

use crate::completion::Completion;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_units::{HostRequest, SimTime};

/// A request that is held up, with its number and the bytes that it writes.
pub(crate) type HeldUp = (HostRequest, u64, Vec<u8>);

/// Requests at the door. They go in in the order in which they came: while one is held up, so is each that comes after it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Admission {
    held_up: VecDeque<HeldUp>,
    /// Those that have ended, until they are taken.
    ended: VecDeque<Completion>,
    submitted: u64,
}

impl Admission {
    /// A drive that has had so many requests, of which these have ended and were not yet taken.
    pub fn after(submitted: u64, ended: Vec<Completion>) -> Admission {
        Admission { held_up: VecDeque::new(), ended: ended.into(), submitted }
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

    /// Whether none is held up.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.held_up.is_empty()
    }

    /// How many are held up.
    #[inline(always)]
    pub fn waiting(&self) -> u32 {
        self.held_up.len() as u32
    }

    /// Hold one up.
    pub fn hold_up(&mut self, held_up: HeldUp) {
        self.held_up.push_back(held_up);
    }

    /// The one that goes in next.
    #[inline(always)]
    pub fn first(&self) -> Option<&HeldUp> {
        self.held_up.front()
    }

    /// The first goes in, or is refused.
    pub fn take_first(&mut self) -> Option<HeldUp> {
        self.held_up.pop_front()
    }

    /// The numbers of those that are held up.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.held_up.iter().map(|(_, number, _)| *number)
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
    use wordline_units::HostOp;

    fn completion(number: u64) -> Completion {
        let request = HostRequest::new(HostOp::Read, 0, 1);
        let (at, parts) = (SimTime(10 * number), LatencyParts::default());
        Completion { number, request, at, outcome: Outcome::Done, parts, data: vec![] }
    }

    #[test]
    fn requests_go_in_in_the_order_in_which_they_came() {
        let mut admission = Admission::default();
        for number in 0..3 {
            assert_eq!(admission.submitted(), number);
            admission.hold_up((HostRequest::new(HostOp::Write, number, 1), number, vec![]));
            admission.count();
        }
        assert_eq!(admission.numbers().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(admission.first().map(|(_, number, _)| *number), Some(0));
        assert_eq!(admission.take_first().map(|(_, number, _)| number), Some(0));
        assert_eq!((admission.waiting(), admission.is_open()), (2, false));
    }

    #[test]
    fn those_that_have_ended_are_taken_in_the_order_of_their_ends() {
        let mut admission = Admission::after(4, vec![completion(1)]);
        admission.end(completion(2));
        admission.end(completion(3));
        assert_eq!(admission.take_ended().map(|c| c.number), Some(1));
        assert_eq!(admission.forget_ended(), Some(SimTime(20)));
        assert!(admission.has_ended());
        assert_eq!((admission.submitted(), admission.is_open()), (4, true));
        assert_eq!(admission.into_ended().len(), 1);
    }
}
