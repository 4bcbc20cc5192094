//! The open pages of the merge buffer, in the order in which they were opened.

use crate::state::op::OpId;
use serde::{Deserialize, Serialize};
use wordline_units::SimTime;

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

/// The open pages, in the order in which they were opened.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Open {
    pub pages: Vec<OpenPage>,
    pub opened: u64,
    /// When the host asked last.
    pub last_request: SimTime,
    /// A timer looks whether the drive is idle.
    pub watched: bool,
}

impl Open {
    /// Parts of pages that wait.
    pub(crate) fn parts(&self) -> u64 {
        self.pages.iter().map(|p| p.parts.len() as u64).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }
}
