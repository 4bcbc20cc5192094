//! What leaves the running drive: replies to clients, and lines for the log.

use crate::data::not_written::NotWritten;
use crate::engine::command::Delivery;

/// Lines for the log. Those on damaged data are separate, since a client can cause any number of them.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub lines: Vec<String>,
    pub of_damage: Vec<String>,
}

/// Replies and lines that have not left yet.
#[derive(Default)]
pub(crate) struct Outbox {
    replies: Vec<Delivery>,
    notes: Notes,
}

impl Outbox {
    pub(crate) fn is_empty(&self) -> bool {
        self.replies.is_empty() && self.notes.lines.is_empty() && self.notes.of_damage.is_empty()
    }

    /// Send a reply.
    pub(crate) fn send(&mut self, reply: Delivery) {
        self.replies.push(reply);
    }

    /// Add lines to the log.
    pub(crate) fn note(&mut self, lines: impl IntoIterator<Item = String>) {
        self.notes.lines.extend(lines);
    }

    /// Add lines about damaged data to the log.
    pub(crate) fn note_damage(&mut self, lines: Vec<String>) {
        self.notes.of_damage.extend(lines);
    }

    /// Whether a reply guarantees something for later.
    pub(crate) fn has_promise(&self) -> bool {
        self.replies.iter().any(Delivery::is_promise)
    }

    /// Turn replies whose guarantee could not be kept into errors.
    pub(crate) fn fail_promises(&mut self, failed: &NotWritten) {
        self.replies.iter_mut().for_each(|reply| reply.fail(failed));
    }

    /// Take all that leaves now.
    pub(crate) fn take(&mut self) -> (Vec<Delivery>, Notes) {
        let Outbox { replies, notes } = std::mem::take(self);
        (replies, notes)
    }
}
