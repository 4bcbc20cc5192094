//! Joins fragments of pages, each of which takes a slot: if slots run out before sectors do, a block whose pages have
//! fragments elsewhere is emptied, and these pages are programmed whole. That takes no more slots than the block has,
//! and frees one slot for each fragment elsewhere.

use crate::flow::collect::job::begin_job;
use crate::layer::Layer;
use crate::map::Map;
use crate::plan::region::{MapKind, RegionId};
use crate::plan::span::{Places, Spans};
use crate::state::blocks::Blocks;
use crate::state::blocks::victims::is_victim;
use crate::state::job::GcReason;
use crate::state::state::State;
use wordline_flash::Geometry;
use wordline_units::{BlockId, Lpn, PlaneId, SectorMask};

/// Start to empty the block with the most pages that have fragments elsewhere, while programs wait. Any plane may
/// have it: a slot freed there can take programs that may go to any plane, and fragments leave their planes.
/// Returns whether there is one.
pub(crate) fn begin_to_join(layer: &mut Layer) -> bool {
    let MapKind::Overlay(shared, _) = layer.state.map_kind() else { return false };
    if !layer.state.blocks.planes().any_program_blocked() {
        return false;
    }
    let mut best: Option<(u32, RegionId, BlockId)> = None;
    for plane in (0..layer.state.geometry.planes).map(PlaneId) {
        for region in
            (0..layer.state.blocks.regions().len() as u8).map(RegionId).filter(|r| !shared.contains(*r))
        {
            for block in victims_of(&layer.state.blocks, region, plane) {
                let pieces = pieces_elsewhere(&mut layer.state, region, block);
                if pieces > best.map_or(0, |(most, ..)| most) {
                    best = Some((pieces, region, block));
                }
            }
        }
    }
    best.is_some_and(|(_, region, block)| {
        begin_job(layer, region, layer.state.geometry.plane_of(block), Some(block), GcReason::Joining)
    })
}

/// Blocks of a region in a plane that may be emptied now, if their pages stay in their pool.
fn victims_of(blocks: &Blocks, region: RegionId, plane: PlaneId) -> Vec<BlockId> {
    let leaves = blocks.region(region).region.evicts_to_other_pool;
    if leaves || !blocks.reaches(region, plane) || blocks.at(region, plane).job.is_some() {
        return vec![];
    }
    let candidates = blocks.geometry().blocks_of(plane).map(BlockId);
    candidates
        .filter(|block| blocks.region_of(*block) == region)
        .filter(|block| is_victim(blocks, region, plane, *block))
        .collect()
}

/// Number of slots of other blocks that hold fragments of the pages of a block.
fn pieces_elsewhere(state: &mut State, region: RegionId, block: BlockId) -> u32 {
    let slots = state.blocks.region(region).slots_per_block;
    let mut spans = Spans::new();
    let (mut pieces, mut from) = (0, 0);
    while let Some(slot) = state.map.next_live(block, from, slots) {
        state.map.live_in(state.geometry.ppn(block, slot), &mut spans);
        pieces +=
            spans.iter().map(|span| places_of(&state.geometry, &mut state.map, span.lpn) - 1).sum::<u32>();
        from = slot + 1;
    }
    pieces
}

/// Whether a page has several places on flash.
pub(crate) fn lies_in_pieces(geometry: &Geometry, map: &mut Map, lpn: Lpn) -> bool {
    places_of(geometry, map, lpn) > 1
}

fn places_of(geometry: &Geometry, map: &mut Map, lpn: Lpn) -> u32 {
    let mut located = Places::new();
    map.resolve(lpn, SectorMask::first(geometry.sectors_per_unit), &mut located);
    located.len() as u32
}
