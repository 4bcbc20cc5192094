//! What is in flight: commands, their requests to the drive, and what waits for either.

use crate::engine::command::{Command, Fill, Held, Role};
use crate::pieces::Piece;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::ops::Range;

/// Commands in flight.
#[derive(Default)]
pub(crate) struct InFlight {
    commands: FxHashMap<u64, Command>,
    next_command: u64,
    /// The command and the purpose of each request of the drive, by request number.
    asked: FxHashMap<u64, (u64, Role)>,
    /// Sectors that are being completed, by their first byte, and the commands that wait for them.
    filling: Vec<u64>,
    waiting: VecDeque<u64>,
    /// Requests that wait for the end of a recovery.
    held: VecDeque<Held>,
}

impl InFlight {
    /// Add a command. Returns its number.
    pub(crate) fn add(&mut self, command: Command) -> u64 {
        let id = self.next_command;
        self.next_command += 1;
        self.commands.insert(id, command);
        id
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Command> {
        self.commands.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Command> {
        self.commands.get_mut(&id)
    }

    /// A command has ended.
    pub(crate) fn end(&mut self, id: u64) -> Option<Command> {
        self.commands.remove(&id)
    }

    /// The numbers of all commands, in order.
    pub(crate) fn ids(&self) -> Vec<u64> {
        let mut ids: Vec<u64> = self.commands.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// Note that a request was submitted to the drive.
    pub(crate) fn ask(&mut self, number: u64, id: u64, role: Role) {
        self.asked.insert(number, (id, role));
    }

    /// A request of the drive has ended. Returns its command and its purpose.
    pub(crate) fn answered(&mut self, number: u64) -> Option<(u64, Role)> {
        self.asked.remove(&number)
    }

    /// Whether the drive has requests.
    pub(crate) fn has_requests(&self) -> bool {
        !self.asked.is_empty()
    }

    /// No request of the drive will complete any more.
    pub(crate) fn forget_requests(&mut self) {
        self.asked.clear();
        self.filling.clear();
        self.waiting.clear();
    }

    /// All connections end, and their commands with them.
    pub(crate) fn disconnect(&mut self) {
        self.commands.clear();
        self.held.clear();
    }

    /// Let a request wait for the end of a recovery.
    pub(crate) fn hold(&mut self, held: Held) {
        self.held.push_back(held);
    }

    /// The requests that waited for the end of a recovery.
    pub(crate) fn take_held(&mut self) -> VecDeque<Held> {
        std::mem::take(&mut self.held)
    }

    /// Numbers of commands, and of requests that wait for the end of a recovery.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.commands.len(), self.held.len())
    }

    /// Whether a sector of a range is being completed.
    pub(crate) fn is_filling(&self, range: &Range<u64>, sector: u64) -> bool {
        self.filling.iter().any(|first| *first < range.end && range.start < *first + sector)
    }

    /// Let a piece of a command wait until another command has completed a sector.
    pub(crate) fn wait(&mut self, id: u64, piece: Piece) {
        if let Some(command) = self.commands.get_mut(&id) {
            command.waiting = Some(piece);
            self.waiting.push_back(id);
        }
    }

    /// The piece of a command that has waited.
    pub(crate) fn take_waiting(&mut self, id: u64) -> Option<Piece> {
        self.commands.get_mut(&id)?.waiting.take()
    }

    /// A command completes these sectors.
    pub(crate) fn begin_fill(&mut self, id: u64, sectors: &[u64], fill: Fill) {
        self.filling.extend(sectors);
        if let Some(command) = self.commands.get_mut(&id) {
            command.fill = Some(fill);
        }
    }

    /// The read of a sector to be completed has ended, or has failed. Returns the write if it was the last.
    pub(crate) fn end_read(&mut self, id: u64, sector: u64) -> Option<Fill> {
        let fill = &mut self.commands.get_mut(&id)?.fill;
        fill.take_if(|fill| fill.end_read(sector))
    }

    /// The sectors of a range are complete. Returns the commands that have waited.
    pub(crate) fn end_fill(&mut self, range: &Range<u64>) -> VecDeque<u64> {
        self.filling.retain(|sector| !range.contains(sector));
        std::mem::take(&mut self.waiting)
    }
}
