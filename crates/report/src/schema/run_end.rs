//! What lies outside the run: the work that a drive had left at the last completion, and what it owes
//! there against the start. No other figure of a report contains it.

use crate::schema::activity::Flash;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Work between the last completion and the moment at which the drive had nothing left to do: it lets collections end,
/// pads partly filled wordlines, and runs the idle work of the scheme until that has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AfterLastRequest {
    /// How long it took, in simulated seconds.
    pub simulated_s: f64,
    /// Bytes programmed, by cause: `host` (what the write buffer held), `gc`, `migration`, `pad`, `metadata`.
    pub program_bytes: BTreeMap<String, u64>,
    /// Pages copied by collection and migration.
    pub copied_pages: u64,
    /// Blocks erased, in all modes.
    pub erases: u64,
    /// All that the flash did from the first request until the drive had nothing left to do, the run included: what an
    /// operation log holds.
    pub flash_total: Flash,
}

/// What a drive holds that a run can use up or leave behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Holdings {
    /// Erased blocks, over all planes.
    pub free_blocks: u64,
    /// Valid data in blocks in SLC mode, in bytes; 0 where the scheme keeps all data in SLC for good.
    pub slc_bytes: u64,
    /// Acknowledged host data that only the write buffer holds, in bytes.
    pub buffered_bytes: u64,
}

/// What a drive held before the first request and at the last completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Balance {
    /// Before the first request.
    pub start: Holdings,
    /// At the last completion.
    pub end: Holdings,
}

impl Balance {
    /// The change of a holding from start to end.
    pub fn change(&self, of: fn(&Holdings) -> u64) -> f64 {
        of(&self.end) as f64 - of(&self.start) as f64
    }
}
