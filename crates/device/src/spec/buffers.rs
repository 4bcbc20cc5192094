//! What waits in the drive's RAM, and when a write is acknowledged.

use crate::tables::words::words;
use serde::{Deserialize, Serialize};
use wordline_units::{Fraction, SimDuration};

/// When a write is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ack {
    /// When its last program ends.
    Program,
    /// A part of a page when a power-protected merge buffer has taken it, except the one that makes a page of
    /// the buffer go to flash, which waits for that; a whole page when its program ends, and so all writes
    /// under schemes that have no such buffer.
    Merge,
    /// When a power-protected buffer of this many pages has taken it; with FUA, when its last program ends.
    Buffer(u32),
}

impl Ack {
    /// Whether writes are answered that are in protected RAM alone.
    pub const fn answers_from_ram(self) -> bool {
        !matches!(self, Ack::Program)
    }

    /// Whether a write buffer answers them.
    pub const fn is_buffer(self) -> bool {
        matches!(self, Ack::Buffer(_))
    }
}

/// When a write buffer empties that keeps pages back, the least recently written first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flush {
    /// The share of its pages at which it begins.
    pub high: Fraction,
    /// The share at which it stops.
    pub low: Fraction,
    /// How long the drive must have had no request before all of it goes to flash; `None` where idle time changes
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<SimDuration>,
}

/// Where pages wait for the rest of the wordline that is programmed in one shot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramBuffer {
    /// In RAM that a power cut clears: a page that is moved stays valid at its old place.
    #[default]
    Volatile,
    /// In RAM that outlives a power cut: a page that is moved has left its old place.
    Protected,
}

/// How long data that a request waits for wait for the rest of their wordline, where nothing else is said.
pub(crate) const fn pad_host_after() -> SimDuration {
    SimDuration(500_000)
}

/// The buffer in which schemes that pack parts of pages let them wait for company.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MergeBuffer {
    /// Pages that fill at a time.
    pub pages: u32,
    /// How long a page waits that a write waits for, where writes are answered when they are programmed.
    pub after: SimDuration,
    /// How long the drive must have had no request before all of them go to flash.
    pub idle: SimDuration,
}

impl MergeBuffer {
    pub(crate) fn is_usual(&self) -> bool {
        *self == MergeBuffer::default()
    }
}

impl Default for MergeBuffer {
    fn default() -> MergeBuffer {
        MergeBuffer { pages: 64, after: SimDuration(500_000), idle: SimDuration(10_000_000_000) }
    }
}

words! {
    ProgramBuffer { Volatile = "volatile", Protected = "protected" }
}
