//! A block map over time, of bounded size: one block represents its neighbors, and its state is sampled some
//! dozens of times, evenly over the requests of a run.

use serde::{Deserialize, Serialize};
use wordline_flash::Geometry;
use wordline_ftl::BlockStatus;
use wordline_units::{BlockId, PlaneId, SimTime};

/// Maximum number of sampled blocks.
pub const MAP_CELLS_MAX: u32 = 768;
/// The most planes of them.
const ROWS_MAX: u32 = 24;
/// With this many frames, every other one is dropped.
pub const MAP_FRAMES_MAX: usize = 32;

/// A row of the map: blocks of one plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapRow {
    /// The plane.
    pub plane: PlaneId,
    /// Its first block.
    pub first: BlockId,
    /// Sampling distance: the first of each group of this many blocks is sampled.
    pub every: u32,
    /// Number of sampled blocks in the row.
    pub cells: u32,
}

impl MapRow {
    /// The sampled blocks.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        let MapRow { first, every, cells, .. } = *self;
        (0..cells).map(move |i| BlockId(first.0 + i * every))
    }
}

/// The rows of a drive's map.
pub fn map_rows(geometry: &Geometry) -> Vec<MapRow> {
    let step = geometry.planes.div_ceil(ROWS_MAX).max(1);
    let planes = (0..geometry.planes).step_by(step as usize);
    let most = MAP_CELLS_MAX / planes.len().max(1) as u32;
    planes
        .map(|plane| {
            let blocks = geometry.blocks_of(PlaneId(plane));
            let (first, count) = (BlockId(blocks.start), blocks.len() as u32);
            let every = count.div_ceil(most.max(1)).max(1);
            MapRow { plane: PlaneId(plane), first, every, cells: count.div_ceil(every) }
        })
        .collect()
}

/// States of the sampled blocks at one time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// When.
    pub at: SimTime,
    /// By row, then by column.
    pub cells: Vec<BlockStatus>,
}

/// Frames after every so many requests; the distance doubles as the run grows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Frames {
    every: u64,
    next: u64,
    taken: Vec<Frame>,
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { every: 256, next: 256, taken: vec![] }
    }
}

impl Frames {
    /// The frames so far.
    pub fn taken(&self) -> &[Frame] {
        &self.taken
    }

    pub fn is_due(&self, ended: u64) -> bool {
        ended >= self.next
    }

    pub fn add(&mut self, frame: Frame, ended: u64) {
        if self.taken.last().is_some_and(|last| last.at == frame.at) {
            self.taken.pop();
        }
        self.taken.push(frame);
        if self.taken.len() > MAP_FRAMES_MAX {
            // The first stays: it is how the drive began.
            let mut number = 0;
            self.taken.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every *= 2;
        }
        self.next = ended + self.every;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_stay_few_and_keep_the_beginning_and_the_end() {
        let mut frames = Frames::default();
        for ended in 0..1_000_000 {
            if ended == 0 || frames.is_due(ended) {
                frames.add(Frame { at: SimTime(ended), cells: vec![] }, ended);
            }
        }
        let at: Vec<u64> = frames.taken.iter().map(|f| f.at.0).collect();
        assert!(at.len() <= MAP_FRAMES_MAX && at.len() >= MAP_FRAMES_MAX / 2, "{at:?}");
        assert!(at[0] == 0 && at[at.len() - 1] > 900_000, "{at:?}");
        let gaps: Vec<u64> = at.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps.iter().max() <= gaps.iter().min().map(|least| least * 2).as_ref(), "{at:?}");
    }
}
