//! Counters of what becomes of blocks.

counters! {
    /// Blocks that are lost.
    pub struct LostCounts => LostFigures {
        /// Factory bad blocks.
        bad: u32 => u64 = widened,
        /// Blocks retired at the end of their life.
        retired: u32 => u64 = widened,
        /// Blocks whose data static wear leveling moved.
        levelled: u64,
    }

    /// Blocks that change between modes.
    pub struct CapacityCounts => CapacityFigures {
        /// Moves that would have converted a block to a mode with fewer bits although the drive needs its
        /// capacity for host data.
        conversions_refused: u64,
    }
}

fn widened(count: &u32) -> u64 {
    u64::from(*count)
}
