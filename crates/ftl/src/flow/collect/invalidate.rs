//! Effects of invalidated data, ended reads and ended moves on the collection of their blocks.

use crate::flow::collect::hold::end_idle_work;
use crate::flow::collect::job::step_job;
use crate::flow::collect::victim::collect_for_waiting;
use crate::flow::complete::awaited;
use crate::layer::Layer;
use crate::map::Map;
use crate::plan::region::RegionId;
use crate::plan::span::{Dead, Invalidated};
use crate::state::blocks::victims::take_off_block;
use crate::state::blocks::{self, Blocks};
use crate::state::op::OpId;
use crate::state::state::State;
use wordline_units::{BlockId, Lpn, Ppn};

/// Sectors have died at places. All are already removed from the map; all are removed from their blocks
/// before any collection starts.
#[inline]
pub(crate) fn invalidate(layer: &mut Layer, dead: &Dead) {
    let State { blocks, map, .. } = &mut layer.state;
    let mut programs_blocked = dead.first().is_some_and(|place| take_off_block(blocks, map, place));
    // Mostly a single place has died.
    if !dead.more().is_empty() {
        programs_blocked |= take_off_more(blocks, map, dead.more());
    }
    if programs_blocked {
        collect_for_blocked(layer, dead);
    }
}

#[cold]
fn take_off_more(blocks: &mut Blocks, map: &Map, more: &[Invalidated]) -> bool {
    more.iter().fold(false, |blocked, place| take_off_block(blocks, map, *place) | blocked)
}

#[cold]
fn collect_for_blocked(layer: &mut Layer, dead: &Dead) {
    for invalidated in dead.iter() {
        let block = layer.state.geometry.block_of(invalidated.ppn);
        let info = layer.state.blocks.block(block);
        let (region, plane) = (RegionId(info.region), layer.state.geometry.plane_of(block));
        if info.is_listed() && !layer.state.blocks.planes().programs_blocked(plane).is_empty() {
            collect_for_waiting(layer, region, plane);
        }
    }
}

/// Handle the end of a read of a block, or of a move out of it: the block may be erased if it was the
/// last.
#[inline]
pub(crate) fn unpin(layer: &mut Layer, block: BlockId) {
    if let Some(region) = blocks::unpin(&mut layer.state.blocks, block) {
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
