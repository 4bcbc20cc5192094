//! Write buffers, and when a write is acknowledged.

use crate::tables::words::words;
use serde::{Deserialize, Serialize};
use wordline_units::{Fraction, SimDuration};

/// When a write is complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ack {
    /// When its last program ends.
    Program,
    /// A partial page when it is in a power-protected merge buffer, unless it forces a page of the buffer to
    /// flash, for which it waits; a whole page after its program, as all writes under schemes without such a
    /// buffer.
    Merge,
    /// When it is in a power-protected buffer of this many pages; with FUA, after its last program.
    Buffer(u32),
}

impl Ack {
    /// Whether writes are acknowledged in protected RAM.
    pub const fn answers_from_ram(self) -> bool {
        !matches!(self, Ack::Program)
    }

    /// Whether writes are acknowledged in a write buffer.
    pub const fn is_buffer(self) -> bool {
        matches!(self, Ack::Buffer(_))
    }
}

/// When a delayed write buffer writes to flash, least recently written pages first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Flush {
    /// The share of its pages at which it begins.
    pub high: Fraction,
    /// The share at which it stops.
    pub low: Fraction,
    /// Idle time before the whole buffer is written to flash; `None` where idle time changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<SimDuration>,
}

/// Where pages wait for the rest of a one-shot wordline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramBuffer {
    /// In volatile RAM: a moved page stays valid at its old place.
    #[default]
    Volatile,
    /// In protected RAM: a moved page leaves its old place.
    Protected,
}

/// Default time that data wait for the rest of their wordline while a request waits for them.
pub(crate) const fn pad_host_after() -> SimDuration {
    SimDuration(500_000)
}

/// The buffer in which schemes that pack partial pages let them wait for others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MergeBuffer {
    /// Pages that fill at a time.
    pub pages: u32,
    /// How long a page waits while a write waits for it, if writes are acknowledged after the program.
    pub after: SimDuration,
    /// Idle time before all of them are written to flash.
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
