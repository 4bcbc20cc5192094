//! The end of blocks: each erase takes of a block's life, a block whose life is used up retires at its
//! erase, and a plane that can no longer take what the host stores ends the drive's. Static wear leveling
//! puts that off. What of it has happened is here; an erase is counted in `blocks/block_wear.rs`, blocks are lost in
//! `blocks/capacity.rs`.

use crate::file::saved::{Saved, saved};
use crate::state::aging::LIFE;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use wordline_counters::LostCounts;
use wordline_device::WearSpec;
use wordline_flash::standard_normal;
use wordline_hash::mix;
use wordline_units::{BlockId, Fraction, SimTime};

/// Wear of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wear {
    pub spec: WearSpec,
    /// Draws the endurance of blocks.
    pub seed: u64,
    /// Lost blocks, and those moved by static wear leveling.
    pub lost: LostCounts,
    /// When the first host write found no space because of lost blocks.
    pub over: Option<SimTime>,
    /// Blocks that retire at their next erase regardless of their endurance: an injected fault, which is not saved.
    pub condemned: BTreeSet<BlockId>,
}

impl Saved for Wear {
    saved! { Wear, values: [seed, lost, over], parts: [], rebuilt: [spec, condemned] }
}

impl Wear {
    pub fn new(spec: WearSpec) -> Wear {
        Wear { spec, seed: 0, lost: LostCounts::default(), over: None, condemned: BTreeSet::new() }
    }

    /// A block's life, in the unit of [`cost_of_erase`].
    pub(crate) fn life_of(&self, block: BlockId) -> u32 {
        if self.spec.spread == Fraction::ZERO {
            return LIFE;
        }
        let off = self.spec.spread.as_f64() * standard_normal(mix(self.seed ^ mix(block.0 as u64))) as f64;
        (LIFE as f64 * (1.0 + off)).max(1.0) as u32
    }

    /// Additional erased blocks that each plane of a pool keeps, beyond those for GC. The block that a collection
    /// relies on may retire at its erase; wear leveling moves a block that frees no space.
    pub fn further_reserve(&self) -> u32 {
        self.spec.enforce as u32 + self.spec.static_beyond.is_some() as u32
    }
}
