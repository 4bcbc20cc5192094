//! Outside the run: the work left at the last completion, and the drive's contents against the start. No other figure
//! of a report contains it.

use crate::schema::activity::Flash;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Work from the last completion until the drive is idle: GC ends, incomplete wordlines are padded, and the scheme's
/// idle work runs until none is left.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AfterLastRequest {
    /// Its duration, in simulated seconds.
    pub simulated_s: f64,
    /// Bytes programmed, by cause: `host` (what the write buffer held), `gc`, `migration`, `pad`, `metadata`, `parity`.
    pub program_bytes: BTreeMap<String, u64>,
    /// Pages copied by collection and migration.
    pub copied_pages: u64,
    /// Blocks erased, in all modes.
    pub erases: u64,
    /// All flash operations from the first request until the drive is idle, including the run: the contents of an
    /// operation log.
    pub flash_total: Flash,
}

/// Holdings of a drive that a run can use up or leave behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Holdings {
    /// Erased blocks, over all planes.
    pub free_blocks: u64,
    /// Valid data in SLC blocks, in bytes; 0 if the scheme keeps all data in SLC permanently.
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
    /// Change of a holding from start to end.
    pub fn change(&self, of: fn(&Holdings) -> u64) -> f64 {
        of(&self.end) as f64 - of(&self.start) as f64
    }
}
