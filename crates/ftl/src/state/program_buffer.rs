//! What waits for other data in a plane of a region until it fills a page, and a page until it fills a program.

use crate::state::op::{Op, OpId};
use serde::{Deserialize, Serialize};
use wordline_units::SimTime;

/// Units waiting for a program that writes several at once, in one plane of one region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlaneProgramBuffer {
    /// Units that do not fill a page yet, and the slots that they take, or the sectors if these are packed. Host units
    /// wait here if they share pages (`mapping.packing`).
    pub page: OpId,
    pub page_slots: u8,
    /// Pages that do not fill a program yet.
    pub group: OpId,
    pub group_pages: u8,
    /// Logical host pages in the group, if these wait without limit.
    pub group_units: u16,
    /// Counts programs, so that a timer knows whether its group is still there.
    pub generation: u32,
    /// When it is padded, if ever.
    pub pad_at: SimTime,
}

impl PlaneProgramBuffer {
    /// Whether any data wait.
    #[inline(always)]
    pub fn holds_some(&self) -> bool {
        !(self.group.is_none() && self.page.is_none())
    }

    /// Whether what waits has a place for more data: a group for pages, and a page for less than one.
    #[inline(always)]
    pub fn takes(&self, whole_page: bool) -> bool {
        !self.group.is_none() || !whole_page && !self.page.is_none()
    }
}

impl Default for PlaneProgramBuffer {
    fn default() -> PlaneProgramBuffer {
        PlaneProgramBuffer {
            page: OpId::NONE,
            page_slots: 0,
            group: OpId::NONE,
            group_pages: 0,
            generation: 0,
            group_units: 0,
            pad_at: SimTime::NEVER,
        }
    }
}

/// Data that may share a program. In a plane of a region each kind waits separately: a group may use the slots that its
/// most privileged page may use, and the reserve is for GC alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub enum WriteStream {
    /// Of the host.
    Host,
    /// Moved into the pool from another, or by a scheme's own wish: these take what is free, and give
    /// nothing back to the pool.
    Moved,
    /// Collected within the pool: these may open its reserve, which the block that they leave makes
    /// up for.
    Collected,
}

impl WriteStream {
    /// How many kinds there are.
    pub(crate) const COUNT: usize = 3;
    /// All but the host's.
    pub(crate) const WITHIN: [WriteStream; 2] = [WriteStream::Moved, WriteStream::Collected];

    pub(crate) fn of(op: &Op) -> WriteStream {
        match op {
            op if op.owner.is_host() => WriteStream::Host,
            op if op.privileged => WriteStream::Collected,
            _ => WriteStream::Moved,
        }
    }
}
