//! The invariants, recounted from scratch: slow, for tests and for runs with every check on.

use crate::plan::region::RegionId;
use crate::plan::span::Spans;
use crate::state::block::Phase;
use crate::state::blocks::capacity::recount_shrunk;
use crate::state::blocks::free_space::{free_blocks, unused_slots};
use crate::state::blocks::superblock_members::{has_superblocks, members};
use crate::state::blocks::victims::{is_victim, relocation_cost};
use crate::state::state::State;
use thiserror::Error;
use wordline_units::{BlockId, PlaneId};

/// An invariant that does not hold.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("broken invariant: {0}")]
pub struct Broken(pub String);

/// Recount what the tables state: valid sectors by block, the map against its inverse, free and owned blocks, open
/// slots, victims.
///
/// # Errors
/// The first violated invariant.
pub(crate) fn check(state: &mut State) -> Result<(), Broken> {
    let broken = |text: String| Err(Broken(text));
    let mut live_total = 0u64;
    let mut spans = Spans::new();
    for b in 0..state.geometry.blocks {
        let block = BlockId(b);
        let info = state.blocks.block(block);
        let region = &state.blocks.regions()[info.region as usize];
        let mut live = 0u64;
        let mut live_slots = 0;
        let mut slot = 0;
        while let Some(at) = state.map.next_live(block, slot, region.slots_per_block) {
            if at >= region.slots_per_block {
                return broken(format!("block {b} has a live slot {at} past its {}", region.slots_per_block));
            }
            let page = at / region.units_per_page;
            if !region.region.rule.is_programmed(region.shape, &info.state, page) {
                return broken(format!("block {b} has a live slot {at} that was never programmed"));
            }
            let ppn = state.geometry.ppn(block, at);
            state.map.live_in(ppn, &mut spans);
            if spans.is_empty() {
                return broken(format!("slot {ppn} is valid, but no logical page maps to it"));
            }
            for span in &spans {
                if state.map.still_at(*span, ppn) != span.mask {
                    return broken(format!(
                        "logical page {}: slot {ppn} claims it, but the map points elsewhere",
                        span.lpn
                    ));
                }
                live += state.map.weight(span.mask) as u64;
            }
            live_slots += 1;
            slot = at + 1;
        }
        let emptied = relocation_cost(&state.blocks, &state.map, block);
        let unused = if info.phase == Phase::Standby { unused_slots(&state.blocks, block) } else { 0 };
        let per_slot = state.geometry.sectors_per_unit;
        let moves = if region.region.evicts_to_other_pool { live as u32 } else { live_slots * per_slot };
        if emptied != moves + unused * per_slot {
            return broken(format!(
                "block {b} has {live_slots} live slots and counts {emptied} sectors to move"
            ));
        }
        if live != state.blocks.block(block).live as u64 {
            let counted = state.blocks.block(block).live;
            return broken(format!("block {b} has {live} valid sectors, but its counter is {counted}"));
        }
        live_total += live;
        let plane = state.geometry.plane_of(block);
        if !info.is_owned() {
            if live > 0 {
                return broken(format!("block {b} is {:?} and holds {live} live sectors", info.phase));
            }
            continue;
        }
        let id = RegionId(info.region);
        let listed = is_victim(&state.blocks, id, plane, block);
        let mut all = members(&state.blocks, id, plane, block);
        if listed != all.all(|(_, b)| state.blocks.block(b).is_listed()) {
            return broken(format!("block {b} is {:?}, but listed as a victim: {listed}", info.phase));
        }
        if listed && !has_superblocks(&state.blocks, id) {
            let position = state.blocks.position(id, plane, block);
            let noted = state.blocks.at(id, plane).victims.noted_cost(position);
            let cost = relocation_cost(&state.blocks, &state.map, block);
            if noted.is_some_and(|noted| noted != cost) {
                return broken(format!(
                    "block {b} costs {cost} sectors to move, and is chosen as if {noted:?}"
                ));
            }
        }
    }
    if let Some(what) = state.map.contradiction() {
        return broken(what);
    }
    let mapped = state.map.count_live_sectors(state.end_of_pages());
    if mapped != live_total {
        return broken(format!("{mapped} sectors are mapped, but {live_total} are valid on flash"));
    }
    if recount_shrunk(&state.blocks) != state.blocks.shrunk().0 {
        let (found, counted) = (recount_shrunk(&state.blocks), state.blocks.shrunk().0);
        return broken(format!("lost capacity is {found} bytes, but its counter is {counted}"));
    }
    check_regions(state)
}

fn check_regions(state: &State) -> Result<(), Broken> {
    for (index, r) in state.blocks.regions().iter().enumerate() {
        let id = RegionId(index as u8);
        let pool = state.blocks.pool_of(id);
        let (mut left, mut openable) = ([0; 4], 0);
        for (local, at) in r.planes.iter().enumerate() {
            let plane = PlaneId(pool.first_plane + local as u32);
            let (mut owned, mut open_slots, mut live, mut lost) = (0, 0, 0, 0);
            for b in pool.blocks_in(&state.geometry, plane) {
                let info = state.blocks.all()[b as usize];
                let listed = pool.free[local].contains(BlockId(b));
                if listed != (info.phase == Phase::Free) {
                    return Err(Broken(format!(
                        "block {b} is {:?} and listed as erased: {listed}",
                        info.phase
                    )));
                }
                lost += (info.phase == Phase::Retired) as u32;
                if !info.is_owned() || info.region != id.0 {
                    continue;
                }
                owned += 1;
                live += info.live as u64;
                if info.is_open() {
                    open_slots += unused_slots(&state.blocks, BlockId(b)) as u64;
                    let pages = r.region.rule.left(r.shape, &info.state);
                    left.iter_mut().zip(pages).for_each(|(left, pages)| *left += pages as u64);
                    let idle = r.region.partial_victims && !at.is_frontier(BlockId(b));
                    if idle != (info.phase == Phase::Standby) {
                        return Err(Broken(format!("block {b} is {:?}, a frontier: {}", info.phase, !idle)));
                    }
                }
            }
            if owned != at.owned || open_slots != at.open_slots {
                return Err(Broken(format!(
                    "region {} owns {owned} blocks with {open_slots} open slots in plane {plane}, and counts {} and {}",
                    r.region.name, at.owned, at.open_slots
                )));
            }
            if lost != pool.free[local].lost() {
                let counted = pool.free[local].lost();
                return Err(Broken(format!("plane {plane} has lost {lost} blocks, and counts {counted}")));
            }
            if live != at.live {
                return Err(Broken(format!(
                    "region {} holds {live} live sectors in plane {plane}, and counts {}",
                    r.region.name, at.live
                )));
            }
            openable += free_blocks(&state.blocks, id, plane) as u64;
        }
        if openable != r.openable || (r.region.rule.by_bit() && left != r.left) {
            return Err(Broken(format!(
                "region {} has {left:?} pages of each bit left and {openable} blocks to open, and counts {:?} and {}",
                r.region.name, r.left, r.openable
            )));
        }
    }
    Ok(())
}
