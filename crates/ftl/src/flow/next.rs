//! The steps that follow from a step, as plain data: a module returns them, and [`dispatch`](crate::flow::dispatch)
//! carries them out.

use crate::plan::decision::Move;
use crate::plan::region::RegionId;
use crate::state::op::OpId;
use wordline_units::{Lpn, PlaneId, Ppn};

/// A step in a later module.
#[must_use]
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Nothing.
    Nothing,
    /// Issue a host program that has all that it needs.
    Send(OpId),
    /// Issue the program of a page that a scheme moves.
    Launch(OpId),
    /// Start the moves of the scheme that a host program waits for.
    Moves(OpId, Vec<Move>),
    /// Flush the write buffer down to this many pages.
    EmptyTo(u64),
    /// A collected page is on flash.
    PageOver { region: RegionId, plane: PlaneId, in_window: bool },
    /// A page that a scheme moved is on flash; `waits` is the host program that waited for it, or none.
    MoveOver { lpn: Lpn, from: Ppn, idle: bool, waits: OpId },
    /// Like it, for a move that was dropped and does not pin its source.
    MoveDropped { lpn: Lpn, from: Ppn, idle: bool, waits: OpId },
    /// A program of data from RAM has ended: of the host's, the drive's own, or collected data.
    Settled(OpId),
}
