//! Blocks: where each is in its life.

use bytemuck::{Pod, Zeroable};
use std::fmt;
use wordline_flash::BlockState;
use wordline_units::CellMode;

/// Lifecycle phase of a block.
///
/// A number with names rather than an enum, because blocks are read back from files, and an enum
/// must never hold a number that none of its names has.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Phase(u8);

#[allow(non_upper_case_globals, reason = "they are used as the names of an enum are")]
impl Phase {
    /// Erased, in its pool.
    pub const Free: Phase = Phase(0);
    /// Owned by a region, with slots left.
    pub const Open: Phase = Phase(1);
    /// Owned by a region, every slot taken.
    pub const Full: Phase = Phase(2);
    /// Being emptied.
    pub const Collecting: Phase = Phase(3);
    /// Its erase is under way.
    pub const Erasing: Phase = Phase(4);
    /// Owned by a region, with free slots, and open for none of its classes: it can be a victim if the region
    /// allows that.
    pub const Standby: Phase = Phase(5);
    /// Lost: bad from the beginning, or worn out.
    pub const Retired: Phase = Phase(6);
}

impl fmt::Debug for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["Free", "Open", "Full", "Collecting", "Erasing", "Standby", "Retired"];
        f.write_str(names.get(self.0 as usize).unwrap_or(&"unknown"))
    }
}

/// State of a block; half a cache line. A block never opened is all zeros.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(32))]
pub(crate) struct Block {
    pub erases: u32,
    /// Live sectors.
    pub live: u32,
    /// Reads bound to it that have not ended.
    pub readers: u32,
    /// Share of life used by its erases, in the unit of [`cost_of_erase`].
    pub life_used: u32,
    /// Programs bound to it that have not ended.
    pub writers: u16,
    pub state: BlockState,
    pub phase: Phase,
    pub region: u8,
    /// Bits of a cell ([`bits_of`]); 0 for a block never opened, which has no region either.
    pub bits: u8,
    /// Up to half a cache line: plain data have no gaps.
    rest: [u8; 1],
}

impl Block {
    /// Whether it is in the victim index.
    #[inline(always)]
    pub fn is_listed(&self) -> bool {
        matches!(self.phase, Phase::Full | Phase::Standby) && self.writers == 0
    }

    /// Whether it has programmable slots left.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open | Phase::Standby)
    }

    /// Whether a region owns it.
    pub fn is_owned(&self) -> bool {
        !matches!(self.phase, Phase::Free | Phase::Retired)
    }

    pub fn was_opened(&self) -> bool {
        self.bits > 0
    }

    /// Its cell mode, or that before its erase.
    #[inline(always)]
    pub fn mode(&self) -> CellMode {
        CellMode::ALL[(self.bits as usize).saturating_sub(1) & 3]
    }
}

/// A cell mode as a block has it.
pub(crate) fn bits_of(mode: CellMode) -> u8 {
    mode.bits() as u8
}
