//! An operation of the host.

use crate::address::{LBA_BYTES, Lba};
use crate::time::SimTime;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The kind of a host request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum HostOp {
    /// Read a range.
    Read = 0,
    /// Write a range.
    Write = 1,
    /// Discard a range; the data need not be kept.
    Trim = 2,
    /// Complete once every earlier write is durable. Has no range.
    Flush = 3,
}

impl HostOp {
    /// The key that files and reports use.
    pub const fn key(self) -> &'static str {
        ["read", "write", "trim", "flush"][self as usize]
    }
}

impl FromStr for HostOp {
    type Err = String;

    fn from_str(word: &str) -> Result<HostOp, String> {
        let all = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];
        let found = all.into_iter().find(|op| op.key() == word);
        found.ok_or_else(|| format!("{word:?} is not a request type\n  allowed: read, write, trim, flush"))
    }
}

/// The host's latency hint (NVMe's access latency attribute).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum LatencyHint {
    /// Nothing said.
    #[default]
    None = 0,
    /// As short as possible.
    Short = 1,
    /// In between.
    Medium = 2,
    /// May be long.
    Long = 3,
}

impl LatencyHint {
    /// All hints, by number.
    pub const ALL: [LatencyHint; 4] =
        [LatencyHint::None, LatencyHint::Short, LatencyHint::Medium, LatencyHint::Long];
}

/// The priority of a submission queue (NVM Express Base Specification 2.0, section 3.4.4.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum QueueClass {
    /// Before all others.
    Urgent = 0,
    /// By the first weight.
    High = 1,
    /// By the second weight.
    #[default]
    Medium = 2,
    /// By the third weight.
    Low = 3,
}

impl QueueClass {
    /// How many there are.
    pub const COUNT: usize = 4;

    /// All of them with their words, by number.
    pub const WORDS: [(&str, QueueClass); QueueClass::COUNT] = [
        ("urgent", QueueClass::Urgent),
        ("high", QueueClass::High),
        ("medium", QueueClass::Medium),
        ("low", QueueClass::Low),
    ];

    /// The word that files and reports use.
    pub const fn key(self) -> &'static str {
        QueueClass::WORDS[self as usize].0
    }
}

/// Further attributes of a request in one byte: its latency hint, FUA of a write, and its stream (NVMe streams).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(from = "u8", into = "u8")]
pub struct Attributes(u8);

impl Attributes {
    /// Nothing said.
    pub const NONE: Attributes = Attributes(0);
    /// A write with force unit access.
    pub const FUA: Attributes = Attributes(4);

    /// The same with FUA, if it is `given`.
    #[inline]
    pub const fn with_fua(self, given: bool) -> Attributes {
        Attributes(self.0 & !4 | if given { 4 } else { 0 })
    }

    /// The largest number of a stream.
    pub const MOST_STREAMS: u8 = 31;

    /// The same as part of a stream, up to [`Self::MOST_STREAMS`]; 0 is none.
    #[inline]
    pub const fn with_stream(self, stream: u8) -> Attributes {
        Attributes(self.0 & 7 | stream << 3)
    }

    /// The stream that it is part of; 0 for none.
    #[inline]
    pub const fn stream(self) -> u8 {
        self.0 >> 3
    }

    /// The same with this hint.
    #[inline]
    pub const fn with_hint(self, hint: LatencyHint) -> Attributes {
        Attributes(self.0 & !3 | hint as u8)
    }

    /// Whether the request completes only when its data are on flash.
    #[inline]
    pub const fn is_fua(self) -> bool {
        self.0 & 4 != 0
    }

    /// The latency hint of the host.
    #[inline]
    pub const fn hint(self) -> LatencyHint {
        LatencyHint::ALL[(self.0 & 3) as usize]
    }
}

/// The lowest two bits are the hint by number, the third is FUA, the others are the stream.
impl From<Attributes> for u8 {
    #[inline]
    fn from(a: Attributes) -> u8 {
        a.0
    }
}

impl From<u8> for Attributes {
    #[inline]
    fn from(bits: u8) -> Attributes {
        Attributes(bits)
    }
}

/// One request of the host. `blocks` counts units of 512 bytes and is 0 only for a flush.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HostRequest {
    /// When it reaches the drive. A closed loop sets it when it submits.
    pub arrival: SimTime,
    /// First address.
    pub lba: Lba,
    /// Length in units of 512 bytes.
    pub blocks: u32,
    /// What is asked.
    pub op: HostOp,
    /// Attributes from the host. In a saved state it has the size of the former latency hint, and a request
    /// without FUA has the same bytes.
    pub attributes: Attributes,
    /// The volume of a trace with several, or the job of a job file; 0 otherwise.
    pub volume: u16,
}

impl HostRequest {
    /// A request that arrives at time 0, with default attributes.
    pub const fn new(op: HostOp, lba: u64, blocks: u32) -> HostRequest {
        HostRequest {
            arrival: SimTime(0),
            lba: Lba(lba),
            blocks,
            op,
            attributes: Attributes::NONE,
            volume: 0,
        }
    }

    /// The same request at another time.
    pub const fn at(mut self, arrival: SimTime) -> HostRequest {
        self.arrival = arrival;
        self
    }

    /// Length in bytes.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.blocks as u64 * LBA_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_of_attributes_separates_hint_fua_and_stream() {
        for n in 0..=u8::MAX {
            let a = Attributes::from(n);
            assert_eq!(u8::from(a), n);
            assert_eq!((a.stream(), a.with_stream(n >> 3)), (n >> 3, a));
            assert_eq!(a.with_stream(Attributes::MOST_STREAMS).with_fua(true).stream(), 31);
            assert_eq!((a.hint() as u8, a.is_fua()), (n & 3, n & 4 != 0));
            assert_eq!(a.with_fua(true).with_hint(LatencyHint::Long).hint(), LatencyHint::Long);
            assert!(a.with_hint(LatencyHint::None).with_fua(true).is_fua());
            assert_eq!(a.with_fua(false).hint(), a.hint());
        }
        assert_eq!(size_of::<HostRequest>(), 24);
    }
}
