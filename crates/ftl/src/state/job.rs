//! The collection of a block as plain data, and why blocks are emptied and pages moved.

use crate::plan::decision::Grain;
use crate::state::op::OpId;
use serde::{Deserialize, Serialize};
use wordline_units::{BlockId, SimTime};

/// The collection of one block.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub block: BlockId,
    /// Next slot to look at.
    pub cursor: u32,
    /// Pages read or moved and not yet committed.
    pub inflight: u32,
    /// Those of them that delay further reads.
    pub window: u32,
    pub exhausted: bool,
    pub erasing: bool,
    /// Started in idle time, and not yet taken over by a region that runs short.
    pub idle: bool,
    /// May continue. A job of idle time rests after each page until it is called again.
    pub granted: bool,
    pub held: bool,
    /// Its pages find no space: it ends as soon as none is in transit, and its block remains.
    pub given_up: bool,
    pub why: GcReason,
    /// Whether the pacing of host writes depends on the job.
    pub paces: Option<Paces>,
}

/// What the pace of host writes learns from a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Paces {
    /// Its start time.
    pub began: SimTime,
    /// Slots that it frees.
    pub frees: u32,
}

impl Job {
    /// Whether it waits for the drive to be idle again.
    #[inline(always)]
    pub fn is_paused(&self) -> bool {
        self.idle && !self.granted
    }

    /// Whether it has nothing left to read, and nothing in flight.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        self.exhausted && self.inflight == 0
    }

    /// What it does next, on a die of this many planes.
    #[inline(always)]
    pub fn step(&self, planes: u32) -> Step {
        if self.erasing {
            return Step::Rests;
        }
        if self.given_up {
            return if self.inflight == 0 { Step::GivesUp } else { Step::Rests };
        }
        if self.is_paused() {
            return Step::Rests;
        }
        let depth = if self.idle && !self.held { 1 } else { 2 * planes };
        if self.window < depth && !self.exhausted {
            return Step::Reads { depth };
        }
        if self.has_ended() { Step::Ends } else { Step::Rests }
    }
}

/// What a job does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// It waits for pages in flight, or to be called.
    Rests,
    /// It reads on, so that this many pages are in flight.
    Reads { depth: u32 },
    /// Its block is erased.
    Ends,
    /// Its block stays.
    GivesUp,
}

/// The reason for emptying a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum GcReason {
    /// Its region runs short.
    Shortage,
    /// The drive has nothing else to do.
    Idleness(Grain),
    /// It shall wear like the others.
    Levelling,
    /// Its data are to be rewritten.
    Due,
    /// No block frees a slot, and scattered pages take more slots than they need.
    Joining,
}

/// The reason for a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MoveReason {
    /// The scheme wants it elsewhere.
    Scheme,
    /// The drive has nothing else to do.
    Idleness,
    /// It makes room for a host program, which waits for it.
    Program(OpId),
}
