//! The programs that wait in the write buffer, and at which marks it empties.

use crate::plan::decision::Tag;
use crate::state::op::OpId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_device::{Ack, Flush};
use wordline_units::SimDuration;

/// Programs that wait in the write buffer.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct WriteBuffer {
    /// Number of pages at which flushing starts, and at which it stops.
    pub high: u64,
    pub low: u64,
    /// How long the drive must have had no request before all of it goes to flash.
    idle: Option<SimDuration>,
    /// Waiting pages, by the order of their last write.
    pub programs: BTreeMap<u64, OpId>,
    /// By staging entry, the waiting program with the newest data of its page, and its position in the order.
    pub pages: BTreeMap<u32, (OpId, u64)>,
    /// Pages of all waiting programs.
    pub waiting: u64,
    pub turn: u64,
    /// By staging entry, the version of the newest data of its page.
    pub newest: BTreeMap<u32, u64>,
    /// Marks of requests that are not placed yet, by the first operation of their program.
    pub tags: BTreeMap<u32, Tag>,
}

impl WriteBuffer {
    /// The buffer of a drive, if it delays writes.
    pub fn of(flush: Option<Flush>, ack: Ack) -> Option<Box<WriteBuffer>> {
        let (Some(Flush { high, low, idle }), Ack::Buffer(pages)) = (flush, ack) else { return None };
        let (high, low) = (high.of_ceil(pages as u64).max(1), low.of(pages as u64));
        Some(Box::new(WriteBuffer { high, low, idle, ..WriteBuffer::default() }))
    }

    /// Add a program that is not placed yet.
    pub fn note(&mut self, lead: OpId, tag: Tag) {
        self.tags.insert(lead.0, tag);
    }

    /// A page has been written.
    pub fn written(&mut self, stage: u32, version: u64) {
        self.newest.insert(stage, version);
    }

    /// A page has no program in progress any more.
    pub fn remove(&mut self, stage: u32) {
        self.newest.remove(&stage);
    }

    /// The waiting program of a staging entry's page.
    pub fn program(&self, stage: u32) -> Option<OpId> {
        self.pages.get(&stage).map(|(program, _)| *program)
    }

    /// Idle time after which waiting pages are written, if any wait and the drive does so.
    pub fn idle(&self) -> Option<SimDuration> {
        self.idle.filter(|_| !self.programs.is_empty())
    }

    /// The first turn, while more pages wait than this many.
    pub(crate) fn beyond(&self, pages: u64) -> Option<u64> {
        self.programs.keys().next().copied().filter(|_| self.waiting > pages)
    }
}
