//! Superblocks: they are erased when all their planes are ready, and a program that finds no slot in one plane goes to
//! another plane of its superblock.

use crate::plan::region::RegionId;
use crate::state::block::Phase;
use crate::state::outbox::Outbox;
use crate::state::request::Effect;
use crate::state::state::State;
use wordline_units::{BlockId, PlaneId};

/// Superblocks that were only partly opened or written: their erased blocks are open, too.
pub(crate) fn complete_superblocks(state: &mut State) {
    for region in (0..state.regions.len() as u8).map(RegionId) {
        let together = state.pool_of(region).planes_per_superblock as usize;
        if together == 1 {
            continue;
        }
        for plane in state.pool_of(region).planes().step_by(together) {
            for block in state.pool_of(region).blocks_in(&state.geometry, plane).map(BlockId) {
                state.complete_superblock(region, plane, block);
            }
        }
    }
}

/// Whether the jobs of all planes have emptied their blocks of a superblock.
pub(crate) fn ready_to_erase(state: &State, region: RegionId, plane: PlaneId) -> bool {
    let mut jobs = state.superblock_planes(region, plane).filter_map(|p| state.at(region, PlaneId(p)).job);
    jobs.all(|j| j.exhausted && j.inflight == 0 && state.blocks[j.block.index()].readers == 0)
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
        if state.blocks[block.index()].phase == Phase::Erasing {
            state.open(region, plane, block);
        }
        state.planes.wake_programs(plane);
        out.ask(Effect::Wake(plane)); // what waits there may go to a plane that has slots now
    }
}

/// The region that erases a half-erased block again: that of the rest of its superblock, if known.
pub(crate) fn region_known(state: &State, block: BlockId) -> Option<RegionId> {
    let plane = state.geometry.plane_of(block);
    let region = state.region_of(block);
    if !state.has_superblocks(region) {
        return None;
    }
    state.members(region, plane, block).find_map(|(p, b)| {
        let info = &state.blocks[b.index()];
        let has_job = |r: &RegionId| state.is_emptied(*r, p, b);
        let erases = (0..state.regions.len() as u8).map(RegionId).find(has_job);
        erases.or(matches!(info.phase, Phase::Open | Phase::Full).then_some(RegionId(info.region)))
    })
}
