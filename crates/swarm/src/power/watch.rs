//! Observes the flash, and keeps the states that a cell may be found in.

use crate::check::effort::Effort;
use std::collections::HashSet;
use std::ops::AddAssign;
use wordline_ftl::OpKind;
use wordline_sim::{Event, Probe};
use wordline_units::Ppn;

/// Checks that no torn slot is read or programmed before its block has been erased, and records when events
/// happen.
#[derive(Default)]
pub struct Watch {
    /// Slots whose program was torn by a power cut.
    pub(crate) torn: HashSet<Ppn>,
    /// Number of bits of a physical page number below its block number.
    pub(crate) slot_shift: u32,
    effort: Effort,
    /// Times of all events, in nanoseconds.
    pub moments: Vec<u64>,
    /// The first violation of the rules.
    pub(crate) wrong: Option<String>,
}

impl Watch {
    /// An observer of a drive whose physical page numbers have this many bits below the block number.
    pub(crate) fn new(slot_shift: u32) -> Watch {
        Watch { slot_shift, ..Watch::default() }
    }
}

impl Probe for Watch {
    const WATCHES: bool = true;
    fn event(&mut self, event: Event) {
        self.effort.count(&event, 400_000, 10_000_000);
        match event {
            Event::Array { kind, ppn, start, end, .. } => {
                self.moments.extend([start.0, end.0]);
                if kind == OpKind::Erase {
                    // Nothing in the block is read or programmed until the erase has ended.
                    self.torn.retain(|t| t.0 >> self.slot_shift != ppn.0 >> self.slot_shift);
                } else if self.torn.contains(&ppn) {
                    self.wrong = Some(format!("{kind:?} of the torn place {ppn}"));
                }
            }
            Event::Bus { start, end, .. } => self.moments.extend([start.0, end.0]),
            Event::Ready { at, .. } => self.moments.push(at.0),
        }
    }
}

/// A change of a cell by a request. A cell is a logical page under a page map, which is written as a whole,
/// or a sector under a sector map.
pub(crate) struct Change {
    pub number: u64,
    pub is_trim: bool,
    pub after: Vec<u64>,
}

/// The states that a cell may be found in.
#[derive(Default)]
pub(crate) struct Cell {
    /// The state found at the last power-on.
    pub found: Vec<u64>,
    /// Its changes since then.
    pub changes: Vec<Change>,
}

impl Cell {
    pub fn now(&self) -> &[u64] {
        self.changes.last().map_or(&self.found, |c| &c.after)
    }
}

/// What the cases have met, so that a test suite can check that it covers what it claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Number of power cuts.
    pub cuts: u64,
    /// Programs torn by a cut.
    pub torn_programs: u64,
    /// Erases torn by a cut.
    pub torn_erases: u64,
    /// Requests in flight lost in a cut.
    pub lost_requests: u64,
    /// Pages in protected RAM at a cut.
    pub protected: u64,
    /// Trims without a flush that a cut has undone.
    pub undone_trims: u64,
    /// Pages of the trim log at a cut.
    pub logged: u64,
    /// Pages found at another copy of the same version, programmed later than the committed one.
    pub twins: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.cuts += other.cuts;
        self.torn_programs += other.torn_programs;
        self.torn_erases += other.torn_erases;
        self.lost_requests += other.lost_requests;
        self.protected += other.protected;
        self.undone_trims += other.undone_trims;
        self.logged += other.logged;
        self.twins += other.twins;
    }
}
