//! The time of a request, cut into stretches.

use wordline_report::{Busy, Spent, Stretch, Work};
use wordline_units::SimTime;

/// Consecutive intervals of a request's time.
pub(crate) struct Intervals {
    pub stretches: Vec<Stretch>,
    pub at: SimTime,
    /// The operation that waits or works.
    pub op: Option<u64>,
}

impl Intervals {
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
