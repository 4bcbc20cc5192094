//! What follows from a step of a room, as plain data: it returns it, and [`dispatch`](crate::flow::dispatch) carries it out.

use crate::plan::region::RegionId;
use crate::state::op::OpId;
use wordline_units::{Lpn, PlaneId, Ppn};

/// What follows in a room below.
#[must_use]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Nothing.
    Nothing,
    /// A host program goes on its way, which has all that it needs.
    Send(OpId),
    /// A page that a scheme moves goes on its way.
    Launch(OpId),
    /// The moves that the scheme has left begin, for which a host program waits.
    Moves(OpId),
    /// The write buffer is emptied to this many pages.
    EmptyTo(u64),
    /// A collected page is on flash.
    PageOver { region: RegionId, plane: PlaneId, in_window: bool },
    /// A page that a scheme moved is on flash; `waits` is the host program that waited for it, or none.
    MoveOver { lpn: Lpn, from: Ppn, idle: bool, waits: OpId },
    /// The same of one that was dropped, and has no hold on its source.
    MoveDropped { lpn: Lpn, from: Ppn, idle: bool, waits: OpId },
    /// A program of data from RAM is on flash: of the host's, the drive's own, or what collection brought there.
    Settled(OpId),
}
