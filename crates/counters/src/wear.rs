//! Counters of what becomes of blocks.

counters! {
    /// Blocks that are lost.
    pub struct LostCounts => LostFigures {
        /// Those that were bad from the beginning.
        bad: u32 => u64 = widened,
        /// Those that have retired, since their lives were used up.
        retired: u32 => u64 = widened,
        /// Blocks whose data static wear levelling moved.
        levelled: u64,
    }

    /// Blocks that change between modes.
    pub struct CapacityCounts => CapacityFigures {
        /// Moves that would have turned a block to a mode with fewer bits where the drive needs it for what the
        /// host may store.
        conversions_refused: u64,
    }
}

fn widened(count: &u32) -> u64 {
    u64::from(*count)
}
