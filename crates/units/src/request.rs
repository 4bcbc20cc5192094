//! What a host asks of the drive.

use crate::{LBA_BYTES, Lba, SimTime};
use serde::{Deserialize, Serialize};

/// The kind of a host request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum HostOp {
    /// Read a range.
    Read = 0,
    /// Write a range.
    Write = 1,
    /// Forget a range; the data need not be kept.
    Trim = 2,
    /// Complete once every earlier write is durable. Has no range.
    Flush = 3,
}

/// The host's wish for a request's latency (NVMe's access-latency attribute).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum LatencyHint {
    /// Nothing said.
    #[default]
    None = 0,
    /// As short as can be.
    Short = 1,
    /// In between.
    Medium = 2,
    /// May be long.
    Long = 3,
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
    /// How urgent the host says it is.
    pub hint: LatencyHint,
    /// The volume of a trace that holds several, or the job of a job file; 0 otherwise.
    pub volume: u16,
}

impl HostRequest {
    /// A request that arrives at time 0 with no hint.
    pub const fn new(op: HostOp, lba: u64, blocks: u32) -> HostRequest {
        HostRequest { arrival: SimTime(0), lba: Lba(lba), blocks, op, hint: LatencyHint::None, volume: 0 }
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
