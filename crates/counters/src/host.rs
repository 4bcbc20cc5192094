//! Counters of host requests.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wordline_units::HostOp;

/// A count for each kind of request: read, write, trim, flush.
pub type ByOp = [u64; 4];

counters! {
    /// Requests that ended, as the simulator counts them (`Metrics`).
    pub struct RequestCounts => RequestFigures {
        /// Requests.
        ended: ByOp => Requests = Requests::of [flatten],
        /// Bytes of those that succeeded.
        bytes: ByOp => Bytes = Bytes::of [flatten],
    }

    /// What the host writes, as the translation layer counts it (`Ftl::counters`).
    pub struct HostCounts => HostFigures {
        /// Bytes of the mapping pages that completed writes touched: the denominator of WAF.
        write_page_bytes: u64,
        /// Writes that touch more than one mapping unit.
        multi_page_writes: u64 [default],
        /// Writes that waited for garbage collection to free pages at their pace; absent unless writes are paced.
        writes_paced: Option<u64> [default, skip_serializing_if = "Option::is_none"],
    }
}

impl RequestCounts {
    /// Bytes of reads and of writes.
    pub fn moved(&self) -> [u64; 2] {
        [HostOp::Read, HostOp::Write].map(|op| self.bytes[op as usize])
    }

    /// Bytes of trims.
    pub fn trimmed(&self) -> u64 {
        self.bytes[HostOp::Trim as usize]
    }
}

/// Requests by kind.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Requests {
    /// Reads that went in.
    pub read_requests: u64,
    /// Writes that went in.
    pub write_requests: u64,
    /// Trims that went in.
    pub trim_requests: u64,
    /// Flushes that went in.
    pub flush_requests: u64,
}

impl Requests {
    fn of(ended: &ByOp) -> Requests {
        let [read_requests, write_requests, trim_requests, flush_requests] = *ended;
        Requests { read_requests, write_requests, trim_requests, flush_requests }
    }
}

/// Bytes by kind.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Bytes {
    /// Bytes of completed reads.
    pub read_bytes: u64,
    /// Bytes of completed writes, as requested.
    pub write_bytes: u64,
}

impl Bytes {
    fn of(bytes: &ByOp) -> Bytes {
        let [read_bytes, write_bytes, ..] = *bytes;
        Bytes { read_bytes, write_bytes }
    }
}
