//! The blocks with slots left: how one is opened, and which of them takes the next program of each class.

use crate::file::table::Table;
use crate::map::Map;
use crate::map::overlay::IsFirst;
use crate::plan::decision::Target;
use crate::plan::region::{FreeOrder, RegionId};
use crate::state::block::{Block, Phase, bits_of};
use crate::state::blocks::capacity::change_pool;
use crate::state::blocks::free_space::unused_slots;
use crate::state::blocks::superblock_members::{is_emptied, members};
use crate::state::blocks::victims::{list, relocation_cost};
use crate::state::blocks::{Blocks, at_mut};
use crate::state::region::FreeBlocks;
use wordline_flash::{BlockState, SlotClass};
use wordline_units::{BlockId, PlaneId};

/// A region takes an erased block of a plane from its pool.
pub(crate) fn take_block(
    blocks: &mut Blocks,
    region: RegionId,
    plane: PlaneId,
    take: impl FnOnce(&mut FreeBlocks, &Table<Block>) -> Option<BlockId>,
) -> Option<BlockId> {
    let local = blocks.local(region, plane);
    let pool = blocks.regions[region.index()].region.pool;
    change_pool(blocks, pool, plane, |blocks| {
        let block = take(&mut blocks.pools[pool.0 as usize].free[local], &blocks.all)?;
        blocks.regions[region.index()].planes[local].owned += 1;
        Some(block)
    })
}

/// A block that a region has taken is open: now it has its mode.
pub(crate) fn open(blocks: &mut Blocks, map: &mut Map, region: RegionId, plane: PlaneId, block: BlockId) {
    let local = blocks.local(region, plane);
    let r = &mut blocks.regions[region.index()];
    r.planes[local].open_slots += r.slots_per_block as u64;
    let (rule, shape) = (r.region.rule, r.shape);
    if rule.by_bit() {
        let pages = rule.left(shape, &Default::default());
        r.left.iter_mut().zip(pages).for_each(|(left, pages)| *left += pages as u64);
    }
    for class in rule.classes(shape) {
        if rule.has_left(shape, &Default::default(), *class) {
            enter_list(blocks, region, plane, block, *class);
        }
    }
    let r = &blocks.regions[region.index()];
    let info = &mut blocks.all[block.index()];
    map.open(block, region, IsFirst(!info.was_opened()));
    info.phase = Phase::Open;
    info.region = region.0;
    info.bits = bits_of(r.region.mode);
    info.state = Default::default();
}

/// A block stands behind the others that offer a class, where wear counts among those erased as often
/// or less; never before the frontier, which may be in the middle of something.
pub(crate) fn enter_list(
    blocks: &mut Blocks,
    region: RegionId,
    plane: PlaneId,
    block: BlockId,
    class: SlotClass,
) {
    let order = blocks.pool_of(region).order;
    let local = blocks.local(region, plane);
    let all = &blocks.all;
    let list = &mut blocks.regions[region.index()].planes[local].open[class as usize];
    let erases = |b: u32| all[b as usize].erases;
    let at = match order {
        FreeOrder::Fifo => list.len(),
        FreeOrder::LeastErased => list.partition_point(|b| erases(*b) <= erases(block.0)),
    };
    list.insert(at.max(1).min(list.len()), block.0);
}

/// A page of a block of windows has been taken: the block goes to the lists of what it offers now.
fn change_lists(blocks: &mut Blocks, map: &Map, block: BlockId, before: BlockState) {
    let (region, plane) = (RegionId(blocks.all[block.index()].region), blocks.geometry.plane_of(block));
    let r = &blocks.regions[region.index()];
    let (rule, shape) = (r.region.rule, r.shape);
    let after = blocks.all[block.index()].state;
    let (stood, stands) = (rule.offers(shape, &before), rule.offers(shape, &after));
    // A window that was written whole is done: its block takes its turn like any other.
    let again = if before.direct > after.direct { stood & stands } else { 0 };
    let changed = stood ^ stands | again;
    let is_in = |classes: u8, class: SlotClass| classes >> class as u8 & 1 == 1;
    for class in rule.classes(shape).iter().filter(|class| is_in(changed, **class)) {
        let list = &mut at_mut(blocks, region, plane).open[*class as usize];
        let first = list.front().copied();
        if is_in(stood, *class)
            && let Some(at) = list.iter().position(|b| *b == block.0)
        {
            list.remove(at);
        }
        if is_in(stands, *class) {
            enter_list(blocks, region, plane, block, *class);
        }
        let now = blocks.at(region, plane).open[*class as usize].front().copied();
        if first != now {
            for b in [first, now].into_iter().flatten() {
                look_at_frontier(blocks, map, region, plane, BlockId(b));
            }
        }
    }
    if rule.programmed(&after) == shape.pages() {
        blocks.all[block.index()].phase = Phase::Full;
    }
    // Where its lists are as before, it still heads one.
    if changed != 0 || blocks.all[block.index()].phase != Phase::Open {
        look_at_frontier(blocks, map, region, plane, block);
    }
}

/// A block may have become a frontier, or ceased to be one.
pub(crate) fn look_at_frontier(
    blocks: &mut Blocks,
    map: &Map,
    region: RegionId,
    plane: PlaneId,
    block: BlockId,
) {
    if !blocks.regions[region.index()].region.partial_victims {
        return;
    }
    let (at, position) = (blocks.at(region, plane), blocks.position(region, plane, block));
    let (frontier, before) = (at.is_frontier(block), blocks.all[block.index()]);
    let phase = if frontier { Phase::Open } else { Phase::Standby };
    if !before.is_open() || before.phase == phase {
        return;
    }
    blocks.all[block.index()].phase = phase;
    if before.is_listed() {
        at_mut(blocks, region, plane).victims.remove(position);
    } else if blocks.all[block.index()].is_listed() {
        let relocation_cost = relocation_cost(blocks, map, block);
        at_mut(blocks, region, plane).victims.insert(position, relocation_cost);
    }
}

/// Where a program of a class finds its slot.
pub(crate) enum Head {
    /// In this open block.
    Open(BlockId),
    /// In an erased block, which must be opened.
    Erased,
    /// Nowhere yet: pages of this class come later in the life of a block.
    Later,
}

/// Where the next program of a class finds its slot in a plane; `apart` from the frontier if so.
#[inline(always)]
pub(crate) fn head_of(blocks: &Blocks, target: Target, plane: PlaneId, apart: bool) -> Head {
    let r = &blocks.regions[target.region.index()];
    let (rule, shape, class) = (r.region.rule, r.shape, target.class);
    let at = &r.planes[(plane.0 - r.first_plane) as usize];
    match at.open[class as usize].get(apart as usize) {
        Some(b) => Head::Open(BlockId(*b)),
        None if !rule.begins_with(shape, class) && rule.classes(shape).contains(&class) => Head::Later,
        None => Head::Erased,
    }
}

/// Take the next slot of an open block for a program. Returns its page, if the block has one of the class.
#[inline]
pub(crate) fn take_page(
    blocks: &mut Blocks,
    map: &Map,
    target: Target,
    plane: PlaneId,
    head: BlockId,
) -> Option<u32> {
    let Target { region, class } = target;
    let r = &mut blocks.regions[region.index()];
    let (rule, shape) = (r.region.rule, r.shape);
    let block = &mut blocks.all[head.index()];
    let before = block.state;
    let page = rule.take(shape, &mut block.state, class)?;
    block.writers += 1;
    let state = block.state;
    let at = &mut r.planes[(plane.0 - r.first_plane) as usize];
    at.open_slots -= (r.pages_per_program * r.units_per_page) as u64;
    if rule.by_bit() {
        r.left[(page % shape.bits as u32) as usize] -= 1;
    }
    if rule.reprograms() {
        change_lists(blocks, map, head, before);
    } else if !rule.has_left(shape, &state, class) {
        at.open[class as usize].retain(|b| *b != head.0);
        let next = at.open[class as usize].front().copied();
        if rule.programmed(&state) == shape.pages() {
            block.phase = Phase::Full;
        }
        for block in [Some(head.0), next].into_iter().flatten() {
            look_at_frontier(blocks, map, region, plane, BlockId(block));
        }
    }
    Some(page)
}

/// All parts of a program are on flash: its block may be full, and may be a victim. Returns its region if it is one.
#[inline]
pub(crate) fn end_program(
    blocks: &mut Blocks,
    map: &Map,
    block: BlockId,
    plane: PlaneId,
) -> Option<RegionId> {
    blocks.planes.changed(plane);
    let info = &mut blocks.all[block.index()];
    info.writers -= 1;
    if !info.is_listed() {
        return None;
    }
    let region = RegionId(info.region);
    list(blocks, map, region, plane, block);
    Some(region)
}

/// Close a block with unused slots; they are lost until it is erased.
pub(crate) fn close(blocks: &mut Blocks, region: RegionId, plane: PlaneId, block: BlockId) {
    let (unused, left) = (unused_slots(blocks, block), blocks.all[block.index()].state);
    let at = at_mut(blocks, region, plane);
    at.open_slots -= unused as u64;
    at.open.iter_mut().for_each(|open| open.retain(|b| *b != block.0));
    let r = &mut blocks.regions[region.index()];
    if !r.region.rule.by_bit() {
        return;
    }
    let pages = r.region.rule.left(r.shape, &left);
    r.left.iter_mut().zip(pages).for_each(|(left, pages)| *left -= pages as u64);
}

/// Open the other blocks of a superblock.
#[inline(never)]
pub(crate) fn open_superblock_members(
    blocks: &mut Blocks,
    map: &mut Map,
    region: RegionId,
    plane: PlaneId,
    block: BlockId,
) {
    for (p, b) in members(blocks, region, plane, block).filter(|(p, _)| *p != plane) {
        take_certain(blocks, region, p, b);
        open(blocks, map, region, p, b);
    }
}

/// A region takes a certain erased block of a plane.
pub(crate) fn take_certain(blocks: &mut Blocks, region: RegionId, plane: PlaneId, block: BlockId) {
    take_block(blocks, region, plane, |free, _| {
        free.remove(block);
        Some(block)
    });
}

/// Open the members of a superblock that a region has opened in part, or erase them with those that are erased. Returns
/// what it has opened.
pub(crate) fn complete_superblock(
    blocks: &mut Blocks,
    map: &mut Map,
    region: RegionId,
    plane: PlaneId,
    block: BlockId,
) -> Vec<BlockId> {
    let members = members(blocks, region, plane, block);
    let has = |info: &Block| info.is_owned() && info.region == region.0;
    if !members.clone().any(|(_, b)| has(&blocks.all[b.index()])) {
        return vec![];
    }
    let erases = members.clone().any(|(p, b)| is_emptied(blocks, region, p, b));
    let mut opened = vec![];
    for (plane, block) in members {
        if blocks.all[block.index()].phase != Phase::Free {
            continue;
        }
        take_certain(blocks, region, plane, block);
        if erases {
            let info = &mut blocks.all[block.index()];
            (info.phase, info.region) = (Phase::Erasing, region.0);
        } else {
            open(blocks, map, region, plane, block);
            opened.push(block);
        }
    }
    opened
}
