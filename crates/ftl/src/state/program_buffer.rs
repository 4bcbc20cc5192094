//! What waits for other data in a plane of a region until it fills a page, and a page until it fills a program.

use crate::state::op::{Op, OpId};
use serde::{Deserialize, Serialize};
use wordline_units::SimTime;

/// Units waiting for a program that writes several at once, in one plane of one region.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlaneProgramBuffer {
    /// Units that do not fill a page yet, and how many slots they take, or sectors where these are packed. Those of the
    /// host are here where they share pages (`mapping.packing`).
    pub page: OpId,
    pub page_slots: u8,
    /// Pages that do not fill a program yet.
    pub group: OpId,
    pub group_pages: u8,
    /// Logical pages of the host in the group, where these wait for as long as it takes.
    pub group_units: u16,
    /// Counts programs, so that a timer knows whether its group is still there.
    pub generation: u32,
    /// When it is padded, if at all.
    pub pad_at: SimTime,
}

impl PlaneProgramBuffer {
    /// Whether anything waits.
    #[inline(always)]
    pub fn holds_some(&self) -> bool {
        !(self.group.is_none() && self.page.is_none())
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

/// Data that may share a program. Each kind waits apart in a plane of a region: a group takes slots
/// as its most privileged page may, and what is kept in reserve must go to collection alone.
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
