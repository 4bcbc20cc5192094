//! Blocks, dies and buses: a block map over time, wear at the end, and utilization. All of it is of bounded size.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A map of the drive's blocks over time. On a large drive one block represents its neighbors, so shares of the map
/// are those of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BlockMap {
    /// The rows of the map.
    pub rows: Vec<BlockRow>,
    /// Meaning of the letters in `cells`, from `A` to `Z`, then from `a` to `z`.
    pub legend: Vec<BlockKind>,
    /// The map at different times: first before the first request, last after the last completion.
    pub frames: Vec<BlockFrame>,
}

impl BlockMap {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The letter for a kind of block, by its place in the legend.
    pub fn letter(kind: usize) -> char {
        let letters = ('A'..='Z').chain('a'..='z');
        letters.into_iter().nth(kind).unwrap_or('?')
    }
}

/// A row of the map: blocks of one plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BlockRow {
    /// The plane.
    pub plane: u32,
    /// The first block.
    pub first_block: u32,
    /// Cells are this many blocks apart.
    pub every: u32,
    /// Cells in the row.
    pub cells: u32,
}

/// States of blocks in the map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BlockKind {
    /// The region that owns the block; empty without an owner.
    pub region: String,
    /// Its cell mode: `slc`, `mlc`, `tlc`, `qlc`; empty for an erased block, which gets its mode when opened.
    pub mode: String,
    /// `erased`, `open` (it has slots left), `full`, `emptied` (by collection, or it is being erased), `retired`.
    pub state: String,
}

/// The map at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BlockFrame {
    /// When, in nanoseconds of simulated time.
    pub at_ns: u64,
    /// A letter of the legend for each cell, row by row.
    pub cells: String,
    /// Share of valid data of each block in tenths: one digit per cell, `9` from nine tenths up.
    pub live: String,
}

/// Erase counts of blocks of one mode, in classes of equal width.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct WearHistogram {
    /// Cycles at which the first class begins.
    pub from: u64,
    /// Cycles in a class.
    pub width: u64,
    /// Blocks in each.
    pub blocks: Vec<u64>,
}

/// Busy share of each resource from time 0 to the last completion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Utilisation {
    /// Mean over the dies, or over the planes if these operate independently; a fraction.
    pub dies_mean: f64,
    /// Mean over all channel buses.
    pub buses_mean: f64,
    /// Each die, or plane; empty for more than 1024.
    pub dies: Vec<f64>,
    /// Each of the buses, likewise.
    pub buses: Vec<f64>,
}

/// Conditions that must be equal for a fair comparison of schemes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Conditions {
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Bytes of flash in the scheme's layout, by the densest mode of its blocks: `slc`, `mlc`, `tlc`, `qlc`; empty
    /// in reports of older versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flash_bytes: BTreeMap<String, u64>,
    /// (physical - logical) / logical, a fraction, of the blocks of the scheme's layout for data at rest.
    pub over_provisioning: f64,
    /// RAM for a page map with entries of 4 bytes, for further tables of the scheme, and for write and merge
    /// buffers, in bytes.
    pub ram_bytes: u64,
    /// The drive before the first request, spelled as for `--initial`, or its saved state.
    pub initial: String,
}
