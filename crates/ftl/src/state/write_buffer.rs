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
    high: u64,
    low: u64,
    /// How long the drive must have had no request before all of it goes to flash.
    idle: Option<SimDuration>,
    /// Waiting pages, by the order of their last write.
    programs: BTreeMap<u64, OpId>,
    /// By staging entry, the waiting program with the newest data of its page, and its position in the order.
    pages: BTreeMap<u32, (OpId, u64)>,
    /// Pages of all waiting programs.
    waiting: u64,
    turn: u64,
    /// By staging entry, the version of the newest data of its page.
    newest: BTreeMap<u32, u64>,
    /// Marks of requests that are not placed yet, by the first operation of their program.
    tags: BTreeMap<u32, Tag>,
}

/// A part of a program that begins to wait.
pub(crate) struct Part {
    pub op: OpId,
    pub stage: u32,
    /// That of its data, and that of the newest commit or trim of its page.
    pub version: u64,
    pub committed: u64,
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

    /// Whether enough pages wait for flushing to start.
    pub fn is_high(&self) -> bool {
        self.waiting >= self.high
    }

    /// Waiting pages at which no more go.
    pub fn low(&self) -> u64 {
        self.low
    }

    /// Add a program at the end of the queue, given its parts.
    pub fn add(&mut self, lead: OpId, parts: &[Part]) {
        self.turn += 1;
        self.programs.insert(self.turn, lead);
        self.waiting += parts.len() as u64;
        for Part { op, stage, version, committed } in parts {
            // A program may have waited for the missing sectors of another of its pages while this one was rewritten by
            // a program of its own: only to the newest data may newer ones be added.
            if self.newest.get(stage) == Some(version) && version >= committed {
                self.pages.insert(*stage, (*op, self.turn));
            }
        }
    }

    /// The program at a position in the order.
    pub fn at(&self, turn: u64) -> Option<OpId> {
        self.programs.get(&turn).copied()
    }

    /// The program at a position waits no more. These are the staging entries of its pages.
    pub fn take(&mut self, turn: u64, stages: &[u32]) {
        self.programs.remove(&turn);
        self.waiting -= stages.len() as u64;
        for stage in stages {
            if self.pages.get(stage).is_some_and(|(_, of)| *of == turn) {
                self.pages.remove(stage);
            }
        }
    }

    /// The mark of a program, once it is placed.
    pub fn take_tag(&mut self, lead: OpId) -> Tag {
        self.tags.remove(&lead.0).unwrap_or_default()
    }

    /// The position of the program with the newest data of a staging entry's page.
    pub fn turn_of(&self, stage: u32) -> Option<u64> {
        self.pages.get(&stage).map(|(_, turn)| *turn)
    }

    /// Each version that it keeps.
    pub fn each_version(&mut self, note: impl FnMut(&mut u64)) {
        self.newest.values_mut().for_each(note);
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
