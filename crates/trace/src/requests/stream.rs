//! A stream of requests, and its interface.

use crate::error::WorkloadError;
use crate::requests::fit::Fit;
use std::ops::Range;
use wordline_units::{HostRequest, QueueClass};

/// Requests in the order in which they are issued. The stream ends after an error.
pub type RequestStream = Box<dyn Iterator<Item = Result<HostRequest, WorkloadError>> + Send>;

/// Settings of the command line. They take precedence over the options of the workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Overrides {
    /// How to fit a trace to the drive.
    pub fit: Option<Fit>,
    /// Maximum number of requests.
    pub requests: Option<u64>,
}

/// Selection among the pages that a workload touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touched {
    /// All that it reads or writes.
    AtAll,
    /// Those that it reads before writing any part of them.
    ReadFirst,
    /// Those of which it reads a sector before writing it, with only these sectors.
    SectorsReadFirst,
    /// Those that it reads or writes, with only the touched sectors.
    Sectors,
    /// Those that it reads before writing any part of them, with only the sectors of the first read.
    SectorsOfFirstRead,
}

/// Logical pages that a workload reads or writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Footprint {
    /// Ascending runs of page numbers, with gaps between them.
    pub runs: Vec<Range<u32>>,
    /// Excluded sectors of these pages: ascending page numbers, each with a bit per excluded sector.
    pub lacking: Vec<(u32, u32)>,
    /// Whether exactly these pages are touched. A closed loop that is ended by time may touch fewer.
    pub exact: bool,
}

impl Footprint {
    /// Number of pages.
    pub fn count(&self) -> u64 {
        self.runs.iter().map(|r| (r.end - r.start) as u64).sum()
    }

    /// The pages, ascending.
    pub fn pages(&self) -> Vec<u32> {
        self.runs.iter().cloned().flatten().collect()
    }
}

/// A source of requests: a volume of a trace, or a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its name. Copies of a job share a name.
    pub name: String,
    /// The priority that it requests.
    pub class: QueueClass,
}
