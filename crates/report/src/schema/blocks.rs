//! What became of the blocks: a map of them over time, their wear at the end, and how busy dies and buses
//! were. All of it is of bounded size.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A map of the drive's blocks over time. On a large drive one block in every so many stands for its
/// neighbours, so that shares of the map are those of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BlockMap {
    /// The rows of the map.
    pub rows: Vec<BlockRow>,
    /// What a letter of `cells` means, from `A` to `Z`, then from `a` to `z`.
    pub legend: Vec<BlockKind>,
    /// The map at different times, the first before the first request, the last when all had ended.
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

/// What blocks of the map may be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BlockKind {
    /// The region that owns the block; empty where none does.
    pub region: String,
    /// The mode in which it is: `slc`, `mlc`, `tlc`, `qlc`; empty for one that is erased, which takes its mode
    /// when it is opened.
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
    /// How much of each block is live, in whole tenths: a digit a cell, and `9` from nine tenths up.
    pub live: String,
}

/// How often blocks of one mode have been erased, counted in classes of one width.
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

/// The share of its time for which each resource was busy, from time 0 until the last request had ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Utilisation {
    /// The mean over the dies, or over the planes where each works by itself; a fraction.
    pub dies_mean: f64,
    /// Mean over all channel buses.
    pub buses_mean: f64,
    /// Each of the dies, or planes; empty where there are more than 1024.
    pub dies: Vec<f64>,
    /// Each of the buses, likewise.
    pub buses: Vec<f64>,
}

/// What schemes must have alike for a comparison of them to be fair.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Conditions {
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Bytes of the flash that the scheme's layout uses, by the mode with the most bits that its blocks take: `slc`,
    /// `mlc`, `tlc`, `qlc`; empty in reports of older versions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flash_bytes: BTreeMap<String, u64>,
    /// (physical - logical) / logical, a fraction: of the blocks of the scheme's layout in which data lie at rest.
    pub over_provisioning: f64,
    /// RAM for a page map of 4 bytes an entry, for the tables that the scheme holds beside it, and for write and
    /// merge buffers, in bytes.
    pub ram_bytes: u64,
    /// The drive before the first request, as `--initial` spells it, or the saved state that it was.
    pub initial: String,
}
