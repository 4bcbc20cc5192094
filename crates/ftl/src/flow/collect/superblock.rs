//! Superblocks: they are erased when all their planes are ready, and a program that finds no slot in one plane goes to
//! another plane of its superblock.

use crate::plan::region::RegionId;
use crate::state::block::Phase;
use crate::state::blocks::frontier::{complete_superblock, open};
use crate::state::blocks::superblock_members::{has_superblocks, is_emptied, members, superblock_planes};
use crate::state::blocks::{Blocks, planes_mut};
use crate::state::outbox::Outbox;
use crate::state::request::Effect;
use crate::state::state::State;
use wordline_units::{BlockId, PlaneId, SimDuration};

/// Superblocks that were only partly opened or written: their erased blocks are open, too.
pub(crate) fn complete_superblocks(state: &mut State) {
    for region in (0..state.blocks.regions().len() as u8).map(RegionId) {
        let together = state.blocks.pool_of(region).planes_per_superblock as usize;
        if together == 1 {
            continue;
        }
        for plane in state.blocks.pool_of(region).planes().step_by(together) {
            for block in state.blocks.pool_of(region).blocks_in(&state.geometry, plane).map(BlockId) {
                let State { blocks, map, aging, now, .. } = &mut *state;
                for opened in complete_superblock(blocks, map, region, plane, block) {
                    aging.opened(opened, *now, SimDuration::ZERO);
                }
            }
        }
    }
}

/// Whether the jobs of all planes have emptied their blocks of a superblock.
pub(crate) fn ready_to_erase(blocks: &Blocks, region: RegionId, plane: PlaneId) -> bool {
    let mut jobs = superblock_planes(blocks, region, plane).filter_map(|p| blocks.at(region, PlaneId(p)).job);
    jobs.all(|j| j.exhausted && j.inflight == 0 && blocks.block(j.block).readers == 0)
}

/// Power failed during the erase of a superblock, and some of its blocks still hold invalid data: the erased ones
/// are open again.
#[cold]
pub(crate) fn open_again(
    state: &mut State,
    out: &mut Outbox,
    region: RegionId,
    members: impl Iterator<Item = (PlaneId, BlockId)>,
) {
    for (plane, block) in members {
        if state.blocks.block(block).phase == Phase::Erasing {
            open(&mut state.blocks, &mut state.map, region, plane, block);
            state.aging.opened(block, state.now, SimDuration::ZERO);
        }
        planes_mut(&mut state.blocks).wake_programs(plane);
        out.ask(Effect::Wake(plane)); // what waits there may go to a plane that has slots now
    }
}

/// The region that erases a half-erased block again: that of the rest of its superblock, if known.
pub(crate) fn region_known(blocks: &Blocks, block: BlockId) -> Option<RegionId> {
    let plane = blocks.geometry().plane_of(block);
    let region = blocks.region_of(block);
    if !has_superblocks(blocks, region) {
        return None;
    }
    members(blocks, region, plane, block).find_map(|(p, b)| {
        let info = blocks.block(b);
        let has_job = |r: &RegionId| is_emptied(blocks, *r, p, b);
        let erases = (0..blocks.regions().len() as u8).map(RegionId).find(has_job);
        erases.or(matches!(info.phase, Phase::Open | Phase::Full).then_some(RegionId(info.region)))
    })
}
