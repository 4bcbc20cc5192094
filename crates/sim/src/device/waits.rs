//! What operations wait for: kept where they are queued, and read where they end.

use super::registers::Held;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_ftl::{Behind, LatencyPart, LatencyParts, OpId, Piece};
use wordline_units::{SimDuration, SimTime};

/// What an operation found when it was queued.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Wait {
    queued: SimTime,
    /// When it first found no free page; [`SimTime::NEVER`] if it did not.
    blocked: SimTime,
    /// How long its plane had been busy, and once it is blocked or ends, how long it was so since.
    behind: Behind,
    /// How long it stood behind idle work, in its plane or at its array, ns.
    idle: u64,
}

/// What an operation of a host request does once it has its plane.
#[derive(Clone, Copy)]
pub(super) enum Work {
    /// The array, then the bus.
    Read,
    /// The bus, then the array.
    Program,
    /// The array, for what is left of a program.
    Rest,
}

/// The waits of operations that a host request waits for, by the operation's number in the slab.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waits {
    waits: Vec<Wait>,
    /// What operations that were suspended had been through by then.
    earlier: BTreeMap<u32, Piece>,
}

impl Waits {
    /// An operation is queued at a plane.
    #[inline(always)]
    pub fn queue(&mut self, id: OpId, now: SimTime, behind: Behind) {
        let wait = Wait { queued: now, blocked: SimTime::NEVER, behind, idle: 0 };
        match self.waits.get_mut(id.0 as usize) {
            Some(slot) => *slot = wait,
            None => self.waits.resize(id.0 as usize + 1, wait),
        }
    }

    /// Idle work that is over now had the array from a time on, and an operation waited for that, ready to
    /// use it since `ready`, or since it was queued.
    pub fn behind_idle(&mut self, id: OpId, from: SimTime, ready: Option<SimTime>, now: SimTime) {
        if let Some(wait) = self.waits.get_mut(id.0 as usize) {
            wait.idle += now.since(from.max(ready.unwrap_or(wait.queued))).0;
        }
    }

    /// How long an operation stood behind idle work.
    #[inline(always)]
    pub fn idle(&self, id: OpId) -> SimDuration {
        SimDuration(self.waits[id.0 as usize].idle)
    }

    /// An operation finds no free page. From the first time on, that is what it waits for.
    pub fn block(&mut self, id: OpId, now: SimTime, busy: Behind) {
        let Some(wait) = self.waits.get_mut(id.0 as usize) else { return };
        if wait.blocked == SimTime::NEVER {
            wait.blocked = now;
            wait.behind = since(busy, wait.behind);
        }
    }

    /// Whether an operation has been suspended.
    pub fn is_continued(&self, id: OpId) -> bool {
        self.earlier.contains_key(&id.0)
    }

    /// An operation is suspended after a piece: the next one begins, which waits from now on.
    pub fn continue_later(&mut self, id: OpId, piece: Piece, now: SimTime, busy: Behind) {
        let idle = self.waits[id.0 as usize].idle;
        let all = self.with_earlier(id, piece);
        self.earlier.insert(id.0, all);
        self.queue(id, now, busy);
        self.waits[id.0 as usize].idle = idle;
    }

    /// As [`Self::piece`], with what went before if it has been suspended.
    pub fn piece_of_all(&mut self, id: OpId, held: &Held, busy: Behind, now: SimTime, work: Work) -> Piece {
        let work = if self.is_continued(id) { Work::Rest } else { work };
        let piece = self.piece(id, held, busy, now, work);
        self.with_earlier(id, piece)
    }

    fn with_earlier(&mut self, id: OpId, mut piece: Piece) -> Piece {
        if let Some(earlier) = self.earlier.remove(&id.0) {
            piece.queued = earlier.queued;
            LatencyPart::ALL.into_iter().for_each(|part| piece.parts[part] += earlier.parts[part]);
        }
        piece
    }

    /// What an operation has been through that ends now, given how long its plane had been busy when it began.
    #[inline(always)]
    pub fn piece(&self, id: OpId, held: &Held, busy: Behind, now: SimTime, work: Work) -> Piece {
        let wait = &self.waits[id.0 as usize];
        let mut parts = LatencyParts::default();
        let first = held.turned.since(held.began).0;
        let needed_first = match work {
            Work::Read => {
                let again = held.again;
                parts[LatencyPart::Die] = first - again.0;
                parts[LatencyPart::Retry] = again.0 + held.sensed.since(held.turned).0;
                parts[LatencyPart::Bus] = now.since(held.sensed).0;
                LatencyPart::Die
            }
            Work::Program => {
                parts[LatencyPart::Bus] = first;
                parts[LatencyPart::Die] = now.since(held.turned).0;
                LatencyPart::Bus
            }
            Work::Rest => {
                parts[LatencyPart::Die] = now.since(held.began).0;
                LatencyPart::Die
            }
        };
        if held.began > wait.queued {
            let (looked_until, behind) = if wait.blocked == SimTime::NEVER {
                (held.began, since(busy, wait.behind))
            } else {
                (wait.blocked, wait.behind)
            };
            parts[LatencyPart::Space] = held.began.since(looked_until).0;
            let [host, gc, migration] = behind.0;
            parts[LatencyPart::BehindHost] = host;
            parts[LatencyPart::BehindGc] = gc;
            parts[LatencyPart::BehindMigration] = migration;
            // Its plane was free, and what it needed first was not.
            let other = looked_until.since(wait.queued).0 - host - gc - migration;
            parts[needed_first] += other;
        }
        Piece { queued: wait.queued, parts }
    }
}

fn since(busy: Behind, then: Behind) -> Behind {
    Behind(std::array::from_fn(|i| busy.0[i] - then.0[i]))
}
