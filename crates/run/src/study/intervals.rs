//! The time of a request, cut into stretches.

use wordline_report::{Busy, Spent, Stretch, Work};
use wordline_units::SimTime;

/// Consecutive intervals of a request's time.
pub(crate) struct Intervals {
    stretches: Vec<Stretch>,
    at: SimTime,
    /// The operation that waits or works.
    op: Option<u64>,
}

impl Intervals {
    /// None yet, from an instant on.
    pub fn from(at: SimTime) -> Intervals {
        Intervals { stretches: vec![], at, op: None }
    }

    /// The end of the last one.
    pub fn at(&self) -> SimTime {
        self.at
    }

    /// From now on this operation waits or works; or none is known.
    pub fn follow(&mut self, op: Option<u64>) {
        self.op = op;
    }

    /// All of them.
    pub fn into_stretches(self) -> Vec<Stretch> {
        self.stretches
    }

    /// A stretch until an instant, behind other work.
    pub fn until(&mut self, to: SimTime, spent: Spent, behind: Vec<Work>) {
        self.beside(to, spent, behind, vec![]);
    }

    /// The same, with what the planes did meanwhile.
    pub fn beside(&mut self, to: SimTime, spent: Spent, mut behind: Vec<Work>, meanwhile: Vec<Busy>) {
        if to > self.at {
            behind.sort_by_key(|work| (work.start_ns, work.op));
            let (from_ns, to_ns) = (self.at.0, to.0);
            self.stretches.push(Stretch { spent, op: self.op, from_ns, to_ns, behind, meanwhile });
            self.at = to;
        }
    }
}
