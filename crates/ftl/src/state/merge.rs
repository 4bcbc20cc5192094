//! The open pages of the merge buffer, in the order in which they were opened.

use crate::file::saved::{Saved, saved};
use crate::state::id::OpId;
use serde::{Deserialize, Serialize};
use wordline_device::MergeBuffer as MergeSpec;
use wordline_units::{SimDuration, SimTime};

/// A page that fills.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OpenPage {
    /// Its number in the order of opening.
    pub number: u64,
    pub key: u8,
    pub parts: Vec<OpId>,
    /// Sectors in all parts.
    pub sectors: u32,
}

/// The open pages, in the order in which they were opened, and for how long they may wait.
#[derive(Clone, Debug)]
pub(crate) struct MergeBuffer {
    pub pages: Vec<OpenPage>,
    pub opened: u64,
    /// Time of the last host request.
    pub last_request: SimTime,
    /// A timer checks whether the drive is idle.
    pub watched: bool,
    /// Maximum number of open pages.
    pub most: u32,
    /// How long a page waits for parts.
    pub after: SimDuration,
    /// Idle time after which all pages are written to flash.
    pub idle: SimDuration,
}

impl Saved for MergeBuffer {
    saved! { MergeBuffer, values: [pages, opened, last_request, watched], parts: [], rebuilt: [most, after, idle] }
}

impl MergeBuffer {
    pub fn new(spec: &MergeSpec) -> MergeBuffer {
        MergeBuffer {
            pages: vec![],
            opened: 0,
            last_request: SimTime(0),
            watched: false,
            most: spec.pages,
            after: spec.after,
            idle: spec.idle,
        }
    }

    /// Parts of pages that wait.
    pub(crate) fn parts(&self) -> u64 {
        self.pages.iter().map(|p| p.parts.len() as u64).sum()
    }
}
