//! What is seen of the flash, and what a cell may be found as.

use std::collections::HashSet;
use wordline_ftl::OpKind;
use wordline_sim::{Event, Probe};
use wordline_swarm::Effort;
use wordline_units::Ppn;

/// Sees that no torn slot is read and none programmed before its block has been erased, and when
/// anything happens.
#[derive(Default)]
pub struct Watch {
    pub torn: HashSet<Ppn>,
    pub slot_shift: u32,
    pub effort: Effort,
    pub moments: Vec<u64>,
    pub wrong: Option<String>,
}

impl Probe for Watch {
    const WATCHES: bool = true;
    fn event(&mut self, event: Event) {
        self.effort.count(&event, 400_000, 10_000_000);
        match event {
            Event::Array { kind, ppn, start, end, .. } => {
                self.moments.extend([start.0, end.0]);
                if kind == OpKind::Erase {
                    // Nothing is read or programmed in the block until the erase has ended.
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

/// A request changed a cell: a logical page under a page map, which is written as a whole, or a
/// sector under a sector map.
pub struct Change {
    pub number: u64,
    pub is_trim: bool,
    pub after: Vec<u64>,
}

#[derive(Default)]
pub struct Cell {
    /// As it was found when the power last came.
    pub found: Vec<u64>,
    pub changes: Vec<Change>,
}

impl Cell {
    pub fn now(&self) -> &[u64] {
        self.changes.last().map_or(&self.found, |c| &c.after)
    }
}

/// What the cases came across, so that a suite can tell that it tried what it claims.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub cuts: u64,
    pub torn_programs: u64,
    pub torn_erases: u64,
    pub lost_requests: u64,
    pub protected: u64,
    pub undone_trims: u64,
    pub logged: u64,
    /// Pages found at another copy of the same version, programmed later than the committed one.
    pub twins: u64,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
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
