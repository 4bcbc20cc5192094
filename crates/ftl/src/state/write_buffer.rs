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
    /// Pages at which it begins to empty, and at which it stops.
    pub high: u64,
    pub low: u64,
    /// How long the drive must have had no request before all of it goes to flash.
    idle: Option<SimDuration>,
    /// Those that wait, by the turn in which they were last written.
    pub programs: BTreeMap<u64, OpId>,
    /// By staging entry, the program that waits with the newest data of its page, and the turn of the whole.
    pub pages: BTreeMap<u32, (OpId, u64)>,
    /// Pages of all programs that wait.
    pub waiting: u64,
    pub turn: u64,
    /// By staging entry, the version of the newest data of its page.
    pub newest: BTreeMap<u32, u64>,
    /// What requests that are not placed yet are marked with, by the first operation of their program.
    pub tags: BTreeMap<u32, Tag>,
}

impl WriteBuffer {
    /// The buffer of a drive, if it keeps writes back.
    pub fn of(flush: Option<Flush>, ack: Ack) -> Option<Box<WriteBuffer>> {
        let (Some(Flush { high, low, idle }), Ack::Buffer(pages)) = (flush, ack) else { return None };
        let (high, low) = (high.of_ceil(pages as u64).max(1), low.of(pages as u64));
        Some(Box::new(WriteBuffer { high, low, idle, ..WriteBuffer::default() }))
    }

    /// A program has come that is not placed yet.
    pub fn note(&mut self, lead: OpId, tag: Tag) {
        self.tags.insert(lead.0, tag);
    }

    /// A page has been written.
    pub fn written(&mut self, stage: u32, version: u64) {
        self.newest.insert(stage, version);
    }

    /// No program of a page is on its way any more.
    pub fn remove(&mut self, stage: u32) {
        self.newest.remove(&stage);
    }

    /// The program of a staging entry's page that waits.
    pub fn program(&self, stage: u32) -> Option<OpId> {
        self.pages.get(&stage).map(|(program, _)| *program)
    }

    /// How long the drive must be idle for what waits to go, if anything waits and goes then.
    pub fn idle(&self) -> Option<SimDuration> {
        self.idle.filter(|_| !self.programs.is_empty())
    }

    /// The first turn, while more pages wait than this many.
    pub(crate) fn beyond(&self, pages: u64) -> Option<u64> {
        self.programs.keys().next().copied().filter(|_| self.waiting > pages)
    }
}
