//! Capacity of the drive: bytes of its blocks in their modes, losses, and the blocks that regions can still open.
//! Every change goes through one method, which keeps the counts.

use crate::plan::region::{PoolId, RegionId};
use crate::state::block::{Block, Phase};
use crate::state::region::{PoolState, RegionState};
use crate::state::state::State;
use wordline_units::{BlockId, PlaneId};

impl State {
    /// Recompute where and how much regions can still program, after many blocks have changed.
    pub(crate) fn recount(&mut self) {
        let owned = |r: &RegionState| r.planes.iter().map(|p| p.owned as u64).sum::<u64>();
        let lost = |p: &PoolState| p.free.iter().map(|f| f.lost() as u64).sum::<u64>();
        let gone = self.pools.iter().enumerate().map(|(i, p)| lost(p) * self.bytes_of_block(i));
        self.shrunk = self.regions.iter().map(|r| owned(r) * r.sparse_by).sum::<u64>() + gone.sum::<u64>();
        self.most_shrunk = self.shrunk;
        for index in 0..self.regions.len() {
            let region = RegionId(index as u8);
            self.count_openable(region);
            let r = &self.regions[index];
            if !r.region.rule.by_bit() {
                continue;
            }
            let mut left = [0; 4];
            for b in r.planes.iter().flat_map(|at| at.all_open()) {
                let pages = r.region.rule.left(r.shape, &self.blocks[b as usize].state);
                left.iter_mut().zip(pages).for_each(|(all, pages)| *all += pages as u64);
            }
            self.regions[index].left = left;
            let open: Vec<u32> = self.regions[index].planes.iter().flat_map(|at| at.all_open()).collect();
            for b in open {
                let plane = self.geometry.plane_of(BlockId(b));
                self.look_at_frontier(region, plane, BlockId(b));
            }
        }
    }

    /// Recount the erased blocks that a region could open.
    pub(crate) fn count_openable(&mut self, region: RegionId) {
        let r = &self.regions[region.index()];
        let planes = r.first_plane..r.first_plane + r.planes.len() as u32;
        let openable = planes.map(|p| self.free_blocks(region, PlaneId(p)) as u64).sum();
        self.regions[region.index()].openable = openable;
    }

    /// Change what a plane of a pool has erased, or owes, and keep count of what its regions could open, and of
    /// what the drive holds less.
    pub(crate) fn change_pool<T>(
        &mut self,
        pool: PoolId,
        plane: PlaneId,
        change: impl FnOnce(&mut State) -> T,
    ) -> T {
        let sharing: Vec<usize> =
            (0..self.regions.len()).filter(|i| self.regions[*i].region.pool == pool).collect();
        for i in &sharing {
            self.regions[*i].openable -= self.free_blocks(RegionId(*i as u8), plane) as u64;
            self.shrunk -= self.sparse_in(*i, plane);
        }
        self.shrunk -= self.lost_bytes(pool, plane);
        let result = change(self);
        for i in &sharing {
            self.regions[*i].openable += self.free_blocks(RegionId(*i as u8), plane) as u64;
            self.shrunk += self.sparse_in(*i, plane);
        }
        self.shrunk += self.lost_bytes(pool, plane);
        self.most_shrunk = self.most_shrunk.max(self.shrunk);
        result
    }

    /// What the drive holds less, block by block.
    pub(crate) fn recount_shrunk(&self) -> u64 {
        let blocks = self.blocks.iter().enumerate();
        let less = |(i, b): (usize, &Block)| match b.phase {
            Phase::Free => 0,
            Phase::Retired => {
                let region = self.region_of(BlockId(i as u32));
                self.bytes_of_block(self.regions[region.index()].region.pool.0 as usize)
            }
            _ => self.regions[b.region as usize].sparse_by,
        };
        blocks.map(less).sum()
    }

    /// Bytes of all blocks, each in the densest mode that its pool gives.
    pub(crate) fn physical_bytes(&self) -> u64 {
        let of = |(i, p): (usize, &PoolState)| {
            p.free.len() as u64 * p.blocks_per_plane as u64 * self.bytes_of_block(i)
        };
        self.pools.iter().enumerate().map(of).sum()
    }

    /// Bytes that blocks hold in which data may stay, each in the densest mode of its pool: as built, and without
    /// those that are lost. Where data leave every pool in the end, all of them count.
    pub(crate) fn lasting_bytes(&self) -> (u64, u64) {
        let stays = |pool: usize| {
            self.regions.iter().any(|r| r.region.pool.0 as usize == pool && !r.region.evicts_to_other_pool)
        };
        let all = !(0..self.pools.len()).any(stays);
        let counted = self.pools.iter().enumerate().filter(|(i, _)| all || stays(*i));
        counted.fold((0, 0), |(built, left), (i, p)| {
            let blocks = p.free.len() as u64 * p.blocks_per_plane as u64;
            let lost: u64 = p.free.iter().map(|f| f.lost() as u64).sum();
            let each = self.bytes_of_block(i);
            (built + blocks * each, left + (blocks - lost) * each)
        })
    }

    /// What blocks hold less that a plane of a pool has lost.
    fn lost_bytes(&self, pool: PoolId, plane: PlaneId) -> u64 {
        match self.lost_in(pool, plane) {
            0 => 0,
            lost => lost as u64 * self.bytes_of_block(pool.0 as usize),
        }
    }

    /// What blocks of a plane that a region owns hold less.
    fn sparse_in(&self, region: usize, plane: PlaneId) -> u64 {
        let r = &self.regions[region];
        r.planes[(plane.0 - r.first_plane) as usize].owned as u64 * r.sparse_by
    }

    /// Bytes that a pool loses with a block.
    pub(crate) fn bytes_of_block(&self, pool: usize) -> u64 {
        let regions = self.regions.iter().filter(|r| r.region.pool.0 as usize == pool);
        let medium = &self.geometry.media[self.pools[pool].medium];
        regions.map(|r| medium.block_bytes(r.region.mode)).max().unwrap_or(0)
    }

    /// Blocks of a plane of a pool that are lost.
    pub(crate) fn lost_in(&self, pool: PoolId, plane: PlaneId) -> u32 {
        let pool = &self.pools[pool.0 as usize];
        pool.free[(plane.0 - pool.first_plane) as usize].lost()
    }

    /// Take erased blocks off the end of those of a plane of a pool that were never opened.
    pub(crate) fn lose_fresh(&mut self, pool: PoolId, plane: PlaneId, count: u32) {
        let lost = self.change_pool(pool, plane, |state| {
            let p = &mut state.pools[pool.0 as usize];
            p.free[(plane.0 - p.first_plane) as usize].lose(count)
        });
        for block in lost {
            self.blocks[block as usize].phase = Phase::Retired;
        }
        self.wear.lost.bad += count;
    }
}
