//! What operations wait for: kept where they are queued, and read where they end.

use crate::state::registers::RegisterUse;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_ftl::{BusyTime, LatencyBreakdown, LatencyPart, LatencyParts, OpId, fetch};
use wordline_units::{SimDuration, SimTime};

/// What an operation found when it was queued.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct QueueDelay {
    queued: SimTime,
    /// When it first found no free page; [`SimTime::NEVER`] if it did not.
    blocked: SimTime,
    /// How long its plane had been busy, and once it is blocked or ends, how long it was so since.
    busy_before: BusyTime,
    /// How long it stood behind idle work, in its plane or at its array, ns.
    idle: u64,
}

/// What an operation of a host request does once it has its plane.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// The array, then the bus.
    Read,
    /// The bus, then the array.
    Program,
    /// The array, for what is left of a program.
    Rest,
}

/// The waits of operations that a host request waits for, by the operation's number in the slab.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct QueueDelays {
    delays: Vec<QueueDelay>,
    /// What operations that were suspended had been through by then.
    earlier: BTreeMap<u32, LatencyBreakdown>,
}

impl QueueDelays {
    /// An operation is queued at a plane.
    #[inline(always)]
    pub fn queue(&mut self, id: OpId, now: SimTime, busy_before: BusyTime) {
        let delay = QueueDelay { queued: now, blocked: SimTime::NEVER, busy_before, idle: 0 };
        match self.delays.get_mut(id.0 as usize) {
            Some(slot) => *slot = delay,
            None => self.delays.resize(id.0 as usize + 1, delay),
        }
    }

    /// Ask for the memory of an operation's waits.
    #[inline(always)]
    pub fn prefetch(&self, id: OpId) {
        fetch(&self.delays, id.0 as usize);
    }

    /// Idle work that has ended occupied the array from this time on, and an operation waited for that since `ready`,
    /// or since it was queued.
    pub fn behind_idle(&mut self, id: OpId, from: SimTime, ready: Option<SimTime>, now: SimTime) {
        if let Some(delay) = self.delays.get_mut(id.0 as usize) {
            delay.idle += now.since(from.max(ready.unwrap_or(delay.queued))).0;
        }
    }

    /// How long an operation waited for idle work.
    #[inline(always)]
    pub fn idle(&self, id: OpId) -> SimDuration {
        SimDuration(self.delays[id.0 as usize].idle)
    }

    /// An operation finds no free page. Its wait counts as waiting for space from the first such time on.
    pub fn block(&mut self, id: OpId, now: SimTime, busy: BusyTime) {
        let Some(delay) = self.delays.get_mut(id.0 as usize) else { return };
        if delay.blocked == SimTime::NEVER {
            delay.blocked = now;
            delay.busy_before = busy.since(delay.busy_before);
        }
    }

    /// Whether an operation has been suspended.
    pub fn is_continued(&self, id: OpId) -> bool {
        self.earlier.contains_key(&id.0)
    }

    /// An operation is suspended after a piece: the next piece starts and waits from now on.
    pub fn continue_later(&mut self, id: OpId, breakdown: LatencyBreakdown, now: SimTime, busy: BusyTime) {
        let idle = self.delays[id.0 as usize].idle;
        let all = self.with_earlier(id, breakdown);
        self.earlier.insert(id.0, all);
        self.queue(id, now, busy);
        self.delays[id.0 as usize].idle = idle;
    }

    /// As [`Self::breakdown`], including earlier pieces if the operation was suspended.
    pub fn breakdown_of_all(
        &mut self,
        id: OpId,
        register: &RegisterUse,
        busy: BusyTime,
        now: SimTime,
        work: Work,
    ) -> LatencyBreakdown {
        let work = if self.is_continued(id) { Work::Rest } else { work };
        let breakdown = self.breakdown(id, register, busy, now, work);
        self.with_earlier(id, breakdown)
    }

    fn with_earlier(&mut self, id: OpId, mut breakdown: LatencyBreakdown) -> LatencyBreakdown {
        if let Some(earlier) = self.earlier.remove(&id.0) {
            breakdown.queued = earlier.queued;
            LatencyPart::ALL.into_iter().for_each(|part| breakdown.parts[part] += earlier.parts[part]);
        }
        breakdown
    }

    /// Waiting times of an operation that ends now, given the busy time of its plane when it started.
    pub fn breakdown(
        &self,
        id: OpId,
        register: &RegisterUse,
        busy: BusyTime,
        now: SimTime,
        work: Work,
    ) -> LatencyBreakdown {
        let mut breakdown = LatencyBreakdown::NONE;
        self.break_down(id, register, busy, now, work, &mut breakdown);
        breakdown
    }

    /// The same, written to its final destination. Returns how long the operation waited for idle work.
    #[inline(always)]
    pub fn break_down(
        &self,
        id: OpId,
        register: &RegisterUse,
        busy: BusyTime,
        now: SimTime,
        work: Work,
        told: &mut LatencyBreakdown,
    ) -> SimDuration {
        let delay = &self.delays[id.0 as usize];
        told.queued = delay.queued;
        let parts = &mut told.parts;
        *parts = LatencyParts::default();
        let first = register.turned.since(register.began).0;
        let needed_first = match work {
            Work::Read => {
                let again = register.again;
                parts[LatencyPart::Die] = first - again.0;
                parts[LatencyPart::Retry] = again.0 + register.sensed.since(register.turned).0;
                parts[LatencyPart::Bus] = now.since(register.sensed).0;
                LatencyPart::Die
            }
            Work::Program => {
                parts[LatencyPart::Bus] = first;
                parts[LatencyPart::Die] = now.since(register.turned).0;
                LatencyPart::Bus
            }
            Work::Rest => {
                parts[LatencyPart::Die] = now.since(register.began).0;
                LatencyPart::Die
            }
        };
        if register.began > delay.queued {
            let (queued_until, busy_before) = if delay.blocked == SimTime::NEVER {
                (register.began, busy.since(delay.busy_before))
            } else {
                (delay.blocked, delay.busy_before)
            };
            parts[LatencyPart::Space] = register.began.since(queued_until).0;
            let [host, gc, migration] = busy_before.nanoseconds();
            parts[LatencyPart::BehindHost] = host;
            parts[LatencyPart::BehindGc] = gc;
            parts[LatencyPart::BehindMigration] = migration;
            // Its plane was free, and what it needed first was not.
            let other = queued_until.since(delay.queued).0 - host - gc - migration;
            parts[needed_first] += other;
        }
        SimDuration(delay.idle)
    }
}
