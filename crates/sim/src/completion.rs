//! A request that has ended, as the host sees it.

use serde::{Deserialize, Serialize};
use wordline_ftl::{LatencyParts, Outcome};
use wordline_units::{HostRequest, SimTime};

/// A completed request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Completion {
    /// Its number, counted from 0 in the order of submission.
    pub number: u64,
    /// The request, with its arrival.
    pub request: HostRequest,
    /// Time of completion.
    pub at: SimTime,
    /// Outcome.
    pub outcome: Outcome,
    /// Its latency breakdown; the parts add up to the time since its arrival.
    pub parts: LatencyParts,
    /// Contents of a read, sector by sector, if media keep bytes.
    pub data: Vec<u8>,
}
