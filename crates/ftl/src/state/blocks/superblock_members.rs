//! Superblocks: the blocks at one position in several planes are opened, filled, collected and erased as one, as
//! drives on the market do it. A page goes to any plane of its group, the one that is behind; a row of such pages,
//! one in each plane, is the superpage.
//!
//! What a plane has of a superblock stays a block of that plane: it has its own open slots, its own job and its own
//! erase. Three things are decided for all of them: when they are opened (with the first), when they become a victim
//! (with the last that is full, by the sum of what is live in them), and when they are erased (when the last has been
//! emptied). An erased member goes back to its pool with the last.

use crate::plan::region::RegionId;
use crate::state::backlog::Backlog;
use crate::state::blocks::Blocks;
use crate::state::region::WriteStream;
use std::cmp::Reverse;
use std::ops::Range;
use wordline_units::{BlockId, PlaneId};

/// Whether blocks of a region form superblocks.
#[inline(always)]
pub(crate) fn has_superblocks(blocks: &Blocks, region: RegionId) -> bool {
    blocks.pool_of(region).planes_per_superblock > 1
}

/// The planes that hold superblocks of a region together with one of them: that plane alone where there are none.
#[inline]
pub(crate) fn superblock_planes(blocks: &Blocks, region: RegionId, plane: PlaneId) -> Range<u32> {
    let pool = blocks.pool_of(region);
    let first = plane.0 - (plane.0 - pool.first_plane) % pool.planes_per_superblock;
    first..first + pool.planes_per_superblock
}

/// From a block to the one at its position in the next plane.
fn stride(blocks: &Blocks, plane: PlaneId) -> u32 {
    blocks.geometry.medium_of(plane).blocks_per_plane
}

/// The block of a plane that is in the same superblock.
fn superblock_member(blocks: &Blocks, block: BlockId, plane: PlaneId) -> BlockId {
    let at = block.0 - blocks.geometry.first_block(blocks.geometry.plane_of(block));
    BlockId(blocks.geometry.first_block(plane) + at)
}

/// The block of a superblock under whose number it stands among the victims, with its plane.
pub(super) fn first_of(
    blocks: &Blocks,
    region: RegionId,
    plane: PlaneId,
    block: BlockId,
) -> (PlaneId, BlockId) {
    let first = PlaneId(superblock_planes(blocks, region, plane).start);
    (first, superblock_member(blocks, block, first))
}

/// All blocks of a superblock, with their planes.
pub(crate) fn members(
    blocks: &Blocks,
    region: RegionId,
    plane: PlaneId,
    block: BlockId,
) -> impl Iterator<Item = (PlaneId, BlockId)> + Clone + use<> {
    let planes = superblock_planes(blocks, region, plane);
    let (first, stride) = (superblock_member(blocks, block, PlaneId(planes.start)).0, stride(blocks, plane));
    planes.zip(0..).map(move |(p, i)| (PlaneId(p), BlockId(first + i * stride)))
}

/// The plane of a group where so many units go: one where others wait for their company, else the least filled one,
/// with the most slots left in open blocks when what is queued there has its own.
#[inline(always)]
pub(crate) fn least_filled_plane(
    blocks: &mut Blocks,
    backlog: &Backlog,
    region: RegionId,
    plane: PlaneId,
    (stream, units): (WriteStream, usize),
) -> PlaneId {
    if has_superblocks(blocks, region) {
        least_filled_of_superblock(blocks, backlog, region, plane, Some((stream, units)))
    } else {
        plane
    }
}

/// The plane of a group with the most slots left in open blocks when what is queued there has its own. If units may have
/// `company`, planes where others of that stream wait come first, for host data only if there is room for so many units.
/// Collected data wait in as few planes as can be, since a collection may pad one program only.
#[inline(never)]
pub(crate) fn least_filled_of_superblock(
    blocks: &mut Blocks,
    backlog: &Backlog,
    region: RegionId,
    plane: PlaneId,
    company: Option<(WriteStream, usize)>,
) -> PlaneId {
    blocks.turn = blocks.turn.wrapping_add(1);
    let r = &blocks.regions[region.index()];
    let (planes, units) = (superblock_planes(blocks, region, plane), r.units_per_page as i64);
    let left = |p: u32| {
        let at = &r.planes[(p - r.first_plane) as usize];
        at.open_slots as i64 - backlog.of(PlaneId(p)) as i64 * units
    };
    let alone = |p: u32| {
        let local = (p - r.first_plane) as usize;
        match company {
            None => false,
            Some((WriteStream::Host, units)) => !r.draws(local, units),
            Some((stream, _)) => !r.planes[local].program_buffers[stream as usize].holds_some(),
        }
    };
    let (count, turn) = (planes.len() as u32, blocks.turn);
    let order = &blocks.superblocks.order[planes.start as usize..planes.end as usize];
    let turned = (0..count).map(|i| order[(turn.wrapping_add(i) % count) as usize]);
    PlaneId(turned.min_by_key(|p| (alone(*p), Reverse(left(*p)))).unwrap_or(plane.0))
}

/// Whether a job of a plane empties, or erases, a block.
pub(crate) fn is_emptied(blocks: &Blocks, region: RegionId, plane: PlaneId, block: BlockId) -> bool {
    blocks.at(region, plane).job.is_some_and(|job| job.block == block)
}
