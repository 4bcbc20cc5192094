//! What is seen of the flash, and what a cell may be found as.

use crate::check::effort::Effort;
use std::collections::HashSet;
use wordline_ftl::OpKind;
use wordline_sim::{Event, Probe};
use wordline_units::Ppn;

/// Sees that no torn slot is read and none programmed before its block has been erased, and when
/// anything happens.
#[derive(Default)]
pub struct Watch {
    /// Slots whose program a cut has torn.
    pub(crate) torn: HashSet<Ppn>,
    /// Bits of a place on flash below its block's.
    pub(crate) slot_shift: u32,
    effort: Effort,
    /// When anything has happened, in nanoseconds.
    pub moments: Vec<u64>,
    /// What is against the rules, if anything has been.
    pub(crate) wrong: Option<String>,
}

impl Watch {
    /// What sees a drive whose blocks have this many bits of a place.
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
pub(crate) struct Change {
    pub number: u64,
    pub is_trim: bool,
    pub after: Vec<u64>,
}

/// What the host may expect of a cell.
#[derive(Default)]
pub(crate) struct Cell {
    /// As it was found when the power last came.
    pub found: Vec<u64>,
    /// What has changed it since.
    pub changes: Vec<Change>,
}

impl Cell {
    pub fn now(&self) -> &[u64] {
        self.changes.last().map_or(&self.found, |c| &c.after)
    }
}

/// What the cases came across, so that a suite can tell that it tried what it claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Times that the power was cut.
    pub cuts: u64,
    /// Programs that a cut tore.
    pub torn_programs: u64,
    /// Erases that a cut tore.
    pub torn_erases: u64,
    /// Requests under way that a cut lost.
    pub lost_requests: u64,
    /// Pages in protected RAM at a cut.
    pub protected: u64,
    /// Trims, not flushed, that a cut undid.
    pub undone_trims: u64,
    /// Pages of the log of trims at a cut.
    pub logged: u64,
    /// Pages found at another copy of the same version, programmed later than the committed one.
    pub twins: u64,
}

impl Tally {
    /// Count another's too.
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
