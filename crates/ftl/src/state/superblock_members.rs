//! Superblocks: the blocks at one position in several planes are opened, filled, collected and erased as one, as
//! drives on the market do it. A page goes to any plane of its group, the one that is behind; a row of such pages,
//! one in each plane, is the superpage.
//!
//! What a plane has of a superblock stays a block of that plane: it has its own open slots, its own job and its own
//! erase. Three things are decided for all of them: when they are opened (with the first), when they become a victim
//! (with the last that is full, by the sum of what is live in them), and when they are erased (when the last has been
//! emptied). An erased member goes back to its pool with the last.

use crate::plan::region::RegionId;
use crate::state::block::{Block, Phase};
use crate::state::program_buffer::WriteStream;
use crate::state::state::State;
use crate::state::superblocks::ABSENT;
use std::cmp::Reverse;
use std::ops::Range;
use wordline_units::{BlockId, PlaneId};

impl State {
    /// Whether blocks of a region form superblocks.
    #[inline(always)]
    pub(crate) fn has_superblocks(&self, region: RegionId) -> bool {
        self.pool_of(region).planes_per_superblock > 1
    }

    /// The planes that hold superblocks of a region together with one of them: that plane alone where there are none.
    #[inline]
    pub(crate) fn superblock_planes(&self, region: RegionId, plane: PlaneId) -> Range<u32> {
        let pool = self.pool_of(region);
        let first = plane.0 - (plane.0 - pool.first_plane) % pool.planes_per_superblock;
        first..first + pool.planes_per_superblock
    }

    /// From a block to the one at its position in the next plane.
    fn stride(&self, plane: PlaneId) -> u32 {
        self.geometry.medium_of(plane).blocks_per_plane
    }

    /// The block of a plane that is in the same superblock.
    fn superblock_member(&self, block: BlockId, plane: PlaneId) -> BlockId {
        let at = block.0 - self.geometry.first_block(self.geometry.plane_of(block));
        BlockId(self.geometry.first_block(plane) + at)
    }

    /// The block of a superblock under whose number it stands among the victims, with its plane.
    fn first_of(&self, region: RegionId, plane: PlaneId, block: BlockId) -> (PlaneId, BlockId) {
        let first = PlaneId(self.superblock_planes(region, plane).start);
        (first, self.superblock_member(block, first))
    }

    /// All blocks of a superblock, with their planes.
    pub(crate) fn members(
        &self,
        region: RegionId,
        plane: PlaneId,
        block: BlockId,
    ) -> impl Iterator<Item = (PlaneId, BlockId)> + Clone + use<> {
        let planes = self.superblock_planes(region, plane);
        let (first, stride) = (self.superblock_member(block, PlaneId(planes.start)).0, self.stride(plane));
        planes.zip(0..).map(move |(p, i)| (PlaneId(p), BlockId(first + i * stride)))
    }

    /// A block takes no more programs: it becomes a victim, or its superblock does if it was the last.
    #[inline]
    pub(crate) fn list(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        if self.has_superblocks(region) {
            return self.list_superblock(region, plane, block);
        }
        let (position, relocation_cost) = (self.position(region, plane, block), self.relocation_cost(block));
        self.at_mut(region, plane).victims.insert(position, relocation_cost);
    }

    #[inline(never)]
    fn list_superblock(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        let (first_plane, first) = self.first_of(region, plane, block);
        let closed = |(_, b): (PlaneId, BlockId)| self.blocks[b.index()].is_listed();
        if self.superblocks.live[first.index()] != ABSENT || !self.members(region, plane, block).all(closed) {
            return;
        }
        let live = self.members(region, plane, block).map(|(_, b)| self.relocation_cost(b)).sum();
        self.superblocks.live[first.index()] = live;
        let position = self.position(region, first_plane, first);
        self.at_mut(region, first_plane).victims.insert(position, live);
    }

    /// A block, or its superblock, is a victim no more.
    pub(crate) fn unlist(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        let (first_plane, first) = self.first_of(region, plane, block);
        if self.has_superblocks(region)
            && std::mem::replace(&mut self.superblocks.live[first.index()], ABSENT) == ABSENT
        {
            return;
        }
        let position = self.position(region, first_plane, first);
        self.at_mut(region, first_plane).victims.remove(position);
    }

    /// Whether a block, or its superblock, is among the victims.
    pub(crate) fn is_victim(&self, region: RegionId, plane: PlaneId, block: BlockId) -> bool {
        let (first_plane, first) = self.first_of(region, plane, block);
        if self.has_superblocks(region) {
            return self.superblocks.live[first.index()] != ABSENT;
        }
        self.at(region, first_plane).victims.contains(self.position(region, first_plane, first))
    }

    /// Sectors of a closed block of a superblock have died.
    #[inline(never)]
    pub(crate) fn lower_superblock(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        block: BlockId,
        sectors: u32,
    ) {
        let (first_plane, first) = self.first_of(region, plane, block);
        let live = &mut self.superblocks.live[first.index()];
        if *live == ABSENT {
            return;
        }
        *live -= sectors;
        let live = *live;
        let position = self.position(region, first_plane, first);
        self.at_mut(region, first_plane).victims.lower(position, live);
    }

    /// What emptying a superblock costs, in sectors.
    pub(crate) fn superblock_relocation_cost(&self, region: RegionId, block: BlockId) -> u32 {
        let plane = self.geometry.plane_of(block);
        self.members(region, plane, block).map(|(_, b)| self.relocation_cost(b)).sum()
    }

    /// The plane of a group where a page goes: one where others wait for its company, else the least filled one,
    /// with the most slots left in open blocks when what is queued there has its own.
    #[inline(always)]
    pub(crate) fn least_filled_plane(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        stream: WriteStream,
    ) -> PlaneId {
        if self.has_superblocks(region) {
            self.least_filled_of_superblock(region, plane, Some(stream))
        } else {
            plane
        }
    }

    /// The plane of a group with the most slots left in open blocks when what is queued there has its own. If a page may have
    /// `company`, planes where others of that stream wait come first.
    #[inline(never)]
    pub(crate) fn least_filled_of_superblock(
        &mut self,
        region: RegionId,
        plane: PlaneId,
        company: Option<WriteStream>,
    ) -> PlaneId {
        self.turn = self.turn.wrapping_add(1);
        let r = &self.regions[region.index()];
        let (planes, units) = (self.superblock_planes(region, plane), r.units_per_page as i64);
        let left = |p: u32| {
            let at = &r.planes[(p - r.first_plane) as usize];
            at.open_slots as i64 - self.backlog.of(PlaneId(p)) as i64 * units
        };
        let alone = |p: u32| {
            let buffers = &r.planes[(p - r.first_plane) as usize].program_buffers;
            company.is_some_and(|stream| !buffers[stream as usize].holds_some())
        };
        let (count, turn) = (planes.len() as u32, self.turn);
        let order = &self.superblocks.order[planes.start as usize..planes.end as usize];
        let turned = (0..count).map(|i| order[(turn.wrapping_add(i) % count) as usize]);
        PlaneId(turned.min_by_key(|p| (alone(*p), Reverse(left(*p)))).unwrap_or(plane.0))
    }

    /// Open the other blocks of a superblock.
    #[inline(never)]
    pub(crate) fn open_superblock_members(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        for (p, b) in self.members(region, plane, block).filter(|(p, _)| *p != plane) {
            self.take_certain(region, p, b);
            self.open(region, p, b);
        }
    }

    /// A region takes a certain erased block of a plane.
    fn take_certain(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        self.take_block(region, plane, |free, _| {
            free.remove(block);
            Some(block)
        });
    }

    pub(crate) fn complete_superblock(&mut self, region: RegionId, plane: PlaneId, block: BlockId) {
        let members = self.members(region, plane, block);
        let has = |info: &Block| info.is_owned() && info.region == region.0;
        if !members.clone().any(|(_, b)| has(&self.blocks[b.index()])) {
            return;
        }
        let erases = members.clone().any(|(p, b)| self.is_emptied(region, p, b));
        for (plane, block) in members {
            if self.blocks[block.index()].phase != Phase::Free {
                continue;
            }
            self.take_certain(region, plane, block);
            if erases {
                let info = &mut self.blocks[block.index()];
                (info.phase, info.region) = (Phase::Erasing, region.0);
            } else {
                self.open(region, plane, block);
            }
        }
    }

    /// Whether a job of a plane empties, or erases, a block.
    pub(crate) fn is_emptied(&self, region: RegionId, plane: PlaneId, block: BlockId) -> bool {
        self.at(region, plane).job.is_some_and(|job| job.block == block)
    }
}
