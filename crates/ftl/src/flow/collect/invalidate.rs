//! Effects of invalidated data, ended reads and ended moves on the collection of their blocks.

use crate::flow::collect::hold::end_idle_work;
use crate::flow::collect::job::step_job;
use crate::flow::collect::victim::collect_for_waiting;
use crate::flow::complete::awaited;
use crate::layer::Layer;
use crate::plan::region::RegionId;
use crate::plan::span::{Dead, Invalidated};
use crate::state::block::Phase;
use crate::state::op::OpId;
use crate::state::state::State;
use wordline_units::{BlockId, Lpn, Ppn};

/// Sectors have died at places. All are already removed from the map; all are removed from their blocks
/// before any collection starts.
#[inline]
pub(crate) fn invalidate(layer: &mut Layer, dead: &Dead) {
    let mut programs_blocked = false;
    for invalidated in dead.iter() {
        programs_blocked |= take_off_block(&mut layer.state, invalidated);
    }
    if programs_blocked {
        collect_for_blocked(layer, dead);
    }
}

/// Sectors of a block live no more. Returns whether its plane waits for space that it may give now.
#[inline]
fn take_off_block(state: &mut State, invalidated: Invalidated) -> bool {
    let block = state.geometry.block_of(invalidated.ppn);
    state.take_live(block, invalidated.sectors);
    let info = &state.blocks[block.index()];
    if info.is_listed() {
        let region = RegionId(info.region);
        let plane = state.geometry.plane_of(block);
        if state.has_superblocks(region) {
            state.lower_superblock(region, plane, block, invalidated.sectors);
        } else {
            let (position, relocation_cost) =
                (state.position(region, plane, block), state.relocation_cost(block));
            state.at_mut(region, plane).victims.lower(position, relocation_cost);
        }
        return !state.planes.programs_blocked(plane).is_empty();
    }
    false
}

#[cold]
fn collect_for_blocked(layer: &mut Layer, dead: &Dead) {
    for invalidated in dead.iter() {
        let block = layer.state.geometry.block_of(invalidated.ppn);
        let info = &layer.state.blocks[block.index()];
        let (region, plane) = (RegionId(info.region), layer.state.geometry.plane_of(block));
        if info.is_listed() && !layer.state.planes.programs_blocked(plane).is_empty() {
            collect_for_waiting(layer, region, plane);
        }
    }
}

/// Handle the end of a read of a block, or of a move out of it: the block may be erased if it was the
/// last.
#[inline]
pub(crate) fn unpin(layer: &mut Layer, block: BlockId) {
    let info = &mut layer.state.blocks[block.index()];
    info.readers -= 1;
    if info.readers == 0 && info.phase == Phase::Collecting {
        let region = RegionId(info.region);
        step_job(layer, region, layer.state.geometry.plane_of(block));
    }
}

/// Handle the end of a move: its source may be erased, and operations that wait for it continue.
pub(crate) fn end_move(layer: &mut Layer, lpn: Lpn, from: Ppn, idle: bool, waits: OpId) {
    leave_move(layer, lpn, from, idle, waits);
    unpin(layer, layer.state.geometry.block_of(from));
}

/// Handle the end of a move that did not pin its source. A die that moved a page in idle time may be
/// offered idle work again.
pub(crate) fn leave_move(layer: &mut Layer, lpn: Lpn, from: Ppn, idle: bool, waits: OpId) {
    layer.moves.under_way.remove(&lpn);
    if idle {
        end_idle_work(layer, layer.state.geometry.die_of(layer.state.geometry.plane_at(from)));
    }
    if !waits.is_none() {
        awaited(&mut layer.state, waits);
    }
}
