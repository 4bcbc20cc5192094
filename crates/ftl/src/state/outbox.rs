//! Effects for the device after a call.

use crate::state::id::{OpId, RequestId};
use crate::state::request::{Effect, Fault};
use serde::{Deserialize, Serialize};
use wordline_units::SimTime;

/// Effects that calls have left for the device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outbox {
    /// What it has to do, in order.
    effects: Vec<Effect>,
    /// Requests whose last part has ended.
    completed: Vec<RequestId>,
    /// An operation that continues in its plane with the register contents, before anything else. Taken
    /// before the call that left it returns to the driver.
    #[serde(skip)]
    continuation: Option<OpId>,
    /// When a write first found no place, and how full the drive was.
    #[serde(skip)]
    first_full: Option<Box<str>>,
    /// Why the run is over, if so.
    #[serde(skip)]
    fault: Option<Box<Fault>>,
}

/// Forget what has been dealt with, mostly all of it.
#[inline(always)]
fn drop_first<T>(list: &mut Vec<T>, n: usize) {
    if list.len() == n {
        list.clear();
    } else {
        list.drain(..n);
    }
}

impl Outbox {
    /// Add an effect for the device, after all earlier ones.
    #[inline(always)]
    pub fn ask(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Number of pending effects.
    #[inline(always)]
    pub fn asked(&self) -> usize {
        self.effects.len()
    }

    /// One of the effects.
    #[inline(always)]
    pub fn effect(&self, at: usize) -> Effect {
        self.effects[at]
    }

    /// Remove this many effects, which are done.
    #[inline(always)]
    pub fn drop_effects(&mut self, n: usize) {
        drop_first(&mut self.effects, n);
    }

    /// A request's last part has ended.
    #[inline(always)]
    pub fn complete(&mut self, id: RequestId) {
        self.completed.push(id);
    }

    /// The requests whose last part has ended.
    #[inline(always)]
    pub fn completed(&self) -> &[RequestId] {
        &self.completed
    }

    /// Remove this many of them.
    #[inline(always)]
    pub fn drop_completed(&mut self, n: usize) {
        drop_first(&mut self.completed, n);
    }

    /// Whether no effect and no ended request is pending.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty() && self.completed.is_empty()
    }

    /// The plane whose operation has just ended continues with another immediately.
    pub fn go_on_with(&mut self, id: OpId) {
        self.continuation = Some(id);
    }

    /// Whether it does.
    pub fn goes_on(&self) -> bool {
        self.continuation.is_some()
    }

    /// The operation with which it continues.
    #[inline(always)]
    pub fn take_continuation(&mut self) -> Option<OpId> {
        if self.continuation.is_some() { self.continuation.take() } else { None }
    }

    /// Record that a write found no space, and the utilization then. The first record counts.
    pub fn note_full(&mut self, how_full: String) {
        self.first_full.get_or_insert(how_full.into());
    }

    /// When a write first found no space, and the utilization then.
    pub fn first_full(&self) -> Option<&str> {
        self.first_full.as_deref()
    }

    /// Why the run has ended, if it has.
    #[inline(always)]
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }

    /// End the run; the first reason counts.
    pub fn fail(&mut self, fault: impl FnOnce() -> Fault) {
        if self.fault.is_none() {
            self.fault = Some(Box::new(fault()));
        }
    }

    /// End the run because of an internal error of Wordline.
    pub fn internal(&mut self, what: String, time: SimTime) {
        self.fail(|| Fault::Internal { what, time });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fault_is_the_one_that_is_told() {
        let mut out = Outbox::default();
        out.internal("first".into(), SimTime(1));
        out.internal("second".into(), SimTime(2));
        assert_eq!(
            out.fault().unwrap().to_string().split(':').nth(1),
            Some(" first; please report the command")
        );
    }

    #[test]
    fn what_is_asked_while_the_first_are_done_stays() {
        let mut out = Outbox::default();
        let wake = |plane| Effect::Wake(wordline_units::PlaneId(plane));
        (0..3).for_each(|plane| out.ask(wake(plane)));
        out.drop_effects(2);
        assert_eq!((out.asked(), out.effect(0)), (1, wake(2)));
        out.drop_effects(1);
        out.complete(RequestId(5));
        assert!(!out.is_empty());
        out.drop_completed(1);
        assert!(out.is_empty());
    }

    #[test]
    fn continuation_is_taken_once() {
        let mut out = Outbox::default();
        out.go_on_with(OpId(3));
        assert!(out.goes_on());
        assert_eq!((out.take_continuation(), out.take_continuation()), (Some(OpId(3)), None));
    }
}
