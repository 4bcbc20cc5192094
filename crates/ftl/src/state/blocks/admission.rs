//! The one place that grants space. Every claim of a slot or an erased block of a plane is made here, and its kind
//! determines which part of the reserve it can use; no other code decides by the number of free blocks. The rule, and
//! why a drive under it always continues: docs/progress.md.

use crate::plan::decision::Target;
use crate::plan::region::RegionId;
use crate::state::blocks::Blocks;
use crate::state::blocks::capacity::lost_in;
use crate::state::blocks::free_space::{hard_reserve, is_at_hard_reserve};
use crate::state::blocks::superblock_members::superblock_planes;
use crate::state::demand_map::DemandMap;
use crate::state::trim::TrimLog;
use wordline_units::PlaneId;

/// The kind of a claim on space, and so how much must remain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// Data of the host, of a cache in another pool, or that a scheme moves: the reserve stays.
    Data,
    /// Pages collected within their pool: they may use the reserve, which the block that they leave makes good.
    Collection,
}

impl Claim {
    /// The claim of a program, possibly that of GC.
    #[inline(always)]
    pub fn of(privileged: bool) -> Claim {
        if privileged { Claim::Collection } else { Claim::Data }
    }
}

/// Whether a program can get a slot of an open block: once the reserve is in use, open blocks belong to the job
/// that opened them.
#[inline(always)]
pub(crate) fn grants_slot(blocks: &Blocks, region: RegionId, plane: PlaneId, claim: Claim) -> bool {
    let (pool, local) = (blocks.pool_of(region), blocks.local(region, plane));
    claim == Claim::Collection
        || (pool.free[local].len() as u32 >= pool.reserve
            && blocks.regions[region.index()].has_slots_left(local))
}

/// Whether a program can open an erased block. GC frees more than it takes, so it returns what it takes from the
/// reserve.
pub(crate) fn grants_block(blocks: &Blocks, region: RegionId, plane: PlaneId, claim: Claim) -> bool {
    let pool = blocks.pool_of(region);
    let free = pool.free[blocks.local(region, plane)].len() as u32;
    let quota = blocks.regions[region.index()].quota;
    match claim {
        Claim::Collection => free > 0,
        Claim::Data => free > pool.reserve && blocks.at(region, plane).owned < quota,
    }
}

/// Whether a region could take a program in a plane now: in the first open block, if such a slot is legal there, or
/// in one that it can open and that begins with such slots.
pub(crate) fn has_room(blocks: &Blocks, target: Target, plane: PlaneId, claim: Claim) -> bool {
    let Target { region, class } = target;
    let r = &blocks.regions[region.index()];
    let has = match blocks.at(region, plane).open[class as usize].front() {
        Some(open) => r.region.rule.next(r.shape, &blocks.all[*open as usize].state, class).is_some(),
        None => r.region.rule.begins_with(r.shape, class) && grants_block(blocks, region, plane, claim),
    };
    has && grants_slot(blocks, region, plane, claim)
}

/// Whether a region could take a program in a plane now without an erased block.
pub(crate) fn has_open_slot(blocks: &Blocks, target: Target, plane: PlaneId, claim: Claim) -> bool {
    let is_open = !blocks.at(target.region, plane).open[target.class as usize].is_empty();
    is_open && has_room(blocks, target, plane, claim)
}

/// Whether a program of collection would open a superblock from the reserve, though another plane has an open slot: that
/// comes first, since an open superblock is no victim, whatever it holds.
pub(crate) fn spares_reserve(blocks: &Blocks, target: Target, plane: PlaneId, claim: Claim) -> bool {
    let pool = blocks.pool_of(target.region);
    let mut planes = superblock_planes(blocks, target.region, plane).map(PlaneId).filter(|p| *p != plane);
    claim == Claim::Collection
        && pool.free[blocks.local(target.region, plane)].len() as u32 <= pool.reserve
        && planes.any(|p| has_open_slot(blocks, target, p, claim))
}

/// Whether a region owns its maximum of blocks in a plane while its pool has more.
pub(crate) fn is_full_beside_free_blocks(blocks: &Blocks, region: RegionId, plane: PlaneId) -> bool {
    let pool = blocks.pool_of(region);
    let free = pool.free[blocks.local(region, plane)].len() as u32;
    free > pool.reserve && blocks.at(region, plane).owned >= blocks.regions[region.index()].quota
}

/// Whether a block can be emptied without a gain: its pages take a block before it is freed, so one more than the
/// reserve must be free, and the home region must not be short itself.
pub(crate) fn grants_refresh(blocks: &Blocks, region: RegionId, plane: PlaneId) -> bool {
    let pool = blocks.pool_of(region);
    let free = pool.free[blocks.local(region, plane)].len() as u32;
    free > pool.reserve + 1
        && (!blocks.reaches(blocks.home, plane) || !is_at_hard_reserve(blocks, blocks.home, plane))
}

/// Whether one more block of a plane may become one of a region that holds less than the home region in the
/// same pool: the blocks that stay with the home region must be able to take back all that the host may
/// store, with those that collection needs.
pub(crate) fn grants_conversion(
    blocks: &Blocks,
    trims: &TrimLog,
    demand: &Option<Box<DemandMap>>,
    region: RegionId,
    plane: PlaneId,
) -> bool {
    let (r, home) = (&blocks.regions[region.index()], &blocks.regions[blocks.home.index()]);
    if r.region.pool != home.region.pool || r.slots_per_block >= home.slots_per_block {
        return true;
    }
    let tables = demand.as_ref().map_or(0, |map| map.pages());
    let pages = trims.end() + tables;
    let data = pages.div_ceil(home.planes.len() as u32).div_ceil(home.slots_per_block);
    let sharing = blocks.regions.iter().filter(|s| s.region.pool == r.region.pool);
    let sparse = sharing.filter(|s| s.slots_per_block < home.slots_per_block);
    let owned: u32 = sparse.map(|s| s.planes[(plane.0 - s.first_plane) as usize].owned).sum();
    let kept = hard_reserve(blocks, blocks.home) + 1;
    owned + 1 + data + kept + lost_in(blocks, r.region.pool, plane) <= blocks.pool_of(region).blocks_per_plane
}
