//! Capacity of the drive: bytes of its blocks in their modes, losses, and the blocks that regions can still open.
//! Every change goes through one method, which keeps the counts.

use crate::plan::region::{PoolId, RegionId};
use crate::state::block::{Block, Phase};
use crate::state::blocks::Blocks;
use crate::state::blocks::free_space::free_blocks;
use crate::state::region::PoolState;
use crate::state::wear::Wear;
use wordline_units::{BlockId, PlaneId};

/// Recount the erased blocks that a region could open.
pub(crate) fn count_openable(blocks: &mut Blocks, region: RegionId) {
    let r = &blocks.regions[region.index()];
    let planes = r.first_plane..r.first_plane + r.planes.len() as u32;
    let openable = planes.map(|p| free_blocks(blocks, region, PlaneId(p)) as u64).sum();
    blocks.regions[region.index()].openable = openable;
}

/// Change what a plane of a pool has erased, or owes, and keep count of what its regions could open, and of
/// what the drive holds less.
pub(crate) fn change_pool<T>(
    blocks: &mut Blocks,
    pool: PoolId,
    plane: PlaneId,
    change: impl FnOnce(&mut Blocks) -> T,
) -> T {
    let sharing: Vec<usize> =
        (0..blocks.regions.len()).filter(|i| blocks.regions[*i].region.pool == pool).collect();
    for i in &sharing {
        blocks.regions[*i].openable -= free_blocks(blocks, RegionId(*i as u8), plane) as u64;
        blocks.shrunk -= sparse_in(blocks, *i, plane);
    }
    blocks.shrunk -= lost_bytes(blocks, pool, plane);
    let result = change(blocks);
    for i in &sharing {
        blocks.regions[*i].openable += free_blocks(blocks, RegionId(*i as u8), plane) as u64;
        blocks.shrunk += sparse_in(blocks, *i, plane);
    }
    blocks.shrunk += lost_bytes(blocks, pool, plane);
    blocks.most_shrunk = blocks.most_shrunk.max(blocks.shrunk);
    result
}

/// What the drive holds less, block by block.
pub(crate) fn recount_shrunk(blocks: &Blocks) -> u64 {
    let all = blocks.all.iter().enumerate();
    let less = |(i, b): (usize, &Block)| match b.phase {
        Phase::Free => 0,
        Phase::Retired => {
            let region = blocks.region_of(BlockId(i as u32));
            bytes_of_block(blocks, blocks.regions[region.index()].region.pool.0 as usize)
        }
        _ => blocks.regions[b.region as usize].sparse_by,
    };
    all.map(less).sum()
}

/// Bytes of all blocks, each in the densest mode that its pool gives.
pub(crate) fn physical_bytes(blocks: &Blocks) -> u64 {
    let of = |(i, p): (usize, &PoolState)| {
        p.free.len() as u64 * p.blocks_per_plane as u64 * bytes_of_block(blocks, i)
    };
    blocks.pools.iter().enumerate().map(of).sum()
}

/// Bytes that blocks hold in which data may stay, each in the densest mode of its pool: as built, and without
/// those that are lost. Where data leave every pool in the end, all of them count.
pub(crate) fn lasting_bytes(blocks: &Blocks) -> (u64, u64) {
    let stays = |pool: usize| {
        blocks.regions.iter().any(|r| r.region.pool.0 as usize == pool && !r.region.evicts_to_other_pool)
    };
    let all = !(0..blocks.pools.len()).any(stays);
    let counted = blocks.pools.iter().enumerate().filter(|(i, _)| all || stays(*i));
    counted.fold((0, 0), |(built, left), (i, p)| {
        let count = p.free.len() as u64 * p.blocks_per_plane as u64;
        let lost: u64 = p.free.iter().map(|f| f.lost() as u64).sum();
        let each = bytes_of_block(blocks, i);
        (built + count * each, left + (count - lost) * each)
    })
}

/// What blocks hold less that a plane of a pool has lost.
fn lost_bytes(blocks: &Blocks, pool: PoolId, plane: PlaneId) -> u64 {
    match lost_in(blocks, pool, plane) {
        0 => 0,
        lost => lost as u64 * bytes_of_block(blocks, pool.0 as usize),
    }
}

/// What blocks of a plane that a region owns hold less.
fn sparse_in(blocks: &Blocks, region: usize, plane: PlaneId) -> u64 {
    let r = &blocks.regions[region];
    r.planes[(plane.0 - r.first_plane) as usize].owned as u64 * r.sparse_by
}

/// Bytes that a pool loses with a block.
pub(crate) fn bytes_of_block(blocks: &Blocks, pool: usize) -> u64 {
    let regions = blocks.regions.iter().filter(|r| r.region.pool.0 as usize == pool);
    let medium = &blocks.geometry.media[blocks.pools[pool].medium];
    regions.map(|r| medium.block_bytes(r.region.mode)).max().unwrap_or(0)
}

/// Blocks of a plane of a pool that are lost.
pub(crate) fn lost_in(blocks: &Blocks, pool: PoolId, plane: PlaneId) -> u32 {
    let pool = &blocks.pools[pool.0 as usize];
    pool.free[(plane.0 - pool.first_plane) as usize].lost()
}

/// Take erased blocks off the end of those of a plane of a pool that were never opened.
pub(crate) fn lose_fresh(blocks: &mut Blocks, wear: &mut Wear, pool: PoolId, plane: PlaneId, count: u32) {
    let lost = change_pool(blocks, pool, plane, |blocks| {
        let p = &mut blocks.pools[pool.0 as usize];
        p.free[(plane.0 - p.first_plane) as usize].lose(count)
    });
    for block in lost {
        blocks.all[block as usize].phase = Phase::Retired;
    }
    wear.lost.bad += count;
}

/// Return an erased block of a region to its pool, or retire it.
pub(crate) fn give_back(
    blocks: &mut Blocks,
    region: RegionId,
    plane: PlaneId,
    block: BlockId,
    retires: bool,
) {
    blocks.all[block.index()].phase = if retires { Phase::Retired } else { Phase::Free };
    let local = blocks.local(region, plane);
    let pool = blocks.regions[region.index()].region.pool;
    change_pool(blocks, pool, plane, |blocks| {
        let (all, pool) = (&blocks.all, &mut blocks.pools[pool.0 as usize]);
        if retires {
            pool.free[local].lose_worn();
        } else {
            pool.free[local].put_back(block, pool.order, |b| all[b as usize].erases);
        }
        blocks.regions[region.index()].planes[local].owned -= 1;
    });
    blocks.planes.changed(plane);
    blocks.planes.wake_gc(plane);
    blocks.planes.wake_programs(plane);
}

/// A region may own this many blocks of each plane.
pub(crate) fn set_quota(blocks: &mut Blocks, region: RegionId, quota: u32) {
    blocks.regions[region.index()].quota = quota;
    count_openable(blocks, region);
}

/// A region may have this many slots of each plane programmed.
pub(crate) fn set_slot_quota(blocks: &mut Blocks, region: RegionId, quota: u64) {
    blocks.regions[region.index()].slot_quota = quota;
}
