//! Refresh and read reclaim: a block whose data are too old, or that has been read too often, is emptied and erased
//! like any victim, even if all its pages are valid. The scheme places its pages like collected ones. Due blocks
//! are detected when a request arrives and when a read ends, so an idle drive sets no timer for them; the work is
//! done in the background, one block per plane, and never uses a plane's last erased blocks.

use crate::flow::collect::job::begin_job;
use crate::layer::Layer;
use crate::plan::region::RegionId;
use crate::state::block::Phase;
use crate::state::blocks::admission::grants_refresh;
use crate::state::blocks::block_wear::cycles;
use crate::state::blocks::superblock_members::has_superblocks;
use crate::state::blocks::victims::is_victim;
use crate::state::job::GcReason;
use crate::state::op::OpId;
use crate::state::state::State;
use wordline_counters::Due;
use wordline_flash::Stress;
use wordline_units::{BlockId, PlaneId, SimDuration};

/// Retention is counted in hours, so blocks are checked no more often.
const HOUR: SimDuration = SimDuration(3_600_000_000_000);

/// Handle the arrival of a request: blocks may have become too old.
#[inline(always)]
pub(crate) fn scan_for_old(layer: &mut Layer) {
    if layer.state.refreshing.is_scan_due(layer.state.now) {
        scan_ages(layer);
    }
}

#[cold]
fn scan_ages(layer: &mut Layer) {
    let (now, most) = (layer.state.now, layer.state.refreshing.rule().age.unwrap_or(SimDuration::ZERO));
    // What is written from now on is due no sooner.
    let mut next = now + most;
    for block in 0..layer.state.geometry.blocks {
        if matches!(
            layer.state.blocks.all()[block as usize].phase,
            Phase::Free | Phase::Retired | Phase::Erasing
        ) {
            continue;
        }
        let age = layer.state.aging.age(BlockId(block), now);
        if age >= most {
            layer.state.refreshing.note_due(BlockId(block), Due::Age);
        } else {
            next = next.min(now + SimDuration(most.0 - age.0));
        }
    }
    layer.state.refreshing.scan_at(next.max(now + HOUR));
    for plane in 0..layer.state.geometry.planes {
        refresh(layer, PlaneId(plane));
    }
}

/// Handle the end of a page read: its block may be due.
pub(crate) fn check_after_read(state: &mut State, id: OpId) {
    let op = &state.ops[id];
    let (block, retries) = (state.geometry.block_of(op.ppn), op.retries.count);
    let rule = state.refreshing.rule();
    let due = if rule.reads.is_some_and(|most| state.aging.reads(block) >= most) {
        Due::Reads
    } else if rule.retries.is_some_and(|most| retries >= most) && would_gain(state, id) {
        Due::Retries
    } else {
        return;
    };
    state.refreshing.note_due(block, due);
}

/// Whether the page of a read would need fewer retries than the limit if it had just been written.
fn would_gain(state: &State, id: OpId) -> bool {
    let op = &state.ops[id];
    let block = state.geometry.block_of(op.ppn);
    let fresh = Stress { cycles: cycles(&state.blocks, block), ..Stress::default() };
    let units = state.geometry.units_per_page(state.geometry.medium_index(op.plane));
    let (page, mode) = (state.geometry.slot_of(op.ppn) / units, state.blocks.block(block).mode());
    let (wordline, bit) = (page / mode.bits(), page % mode.bits());
    let retries = state.aging.retries_at(fresh, (block, mode), wordline, bit as usize);
    state.refreshing.rule().retries.is_none_or(|most| retries < most)
}

/// Start with a due block of a plane, if the plane has room for its pages.
#[inline(always)]
pub(crate) fn refresh(layer: &mut Layer, plane: PlaneId) {
    if !layer.state.refreshing.is_empty() && !layer.state.draining {
        refresh_one_of(layer, plane);
    }
}

#[inline(never)]
fn refresh_one_of(layer: &mut Layer, plane: PlaneId) {
    let blocks = layer.state.geometry.blocks_of(plane);
    for (block, due) in layer.state.refreshing.due_in(blocks) {
        let info = layer.state.blocks.all()[block as usize];
        let region = layer.state.blocks.region_of(BlockId(block));
        // A block that is in several lists, by windows or types of pages, waits until it is in none, and one of
        // a superblock until all of them are full.
        let rule = layer.state.blocks.region(region).region.rule;
        let in_lists = rule.reprograms() || rule.by_bit() || has_superblocks(&layer.state.blocks, region);
        let is_frontier = info.phase == Phase::Open && info.writers == 0 && !in_lists;
        let can_begin = is_frontier
            || (info.is_listed() && is_victim(&layer.state.blocks, region, plane, BlockId(block)));
        let mut regions = (0..layer.state.blocks.regions().len() as u8).map(RegionId);
        let has_job = regions
            .any(|r| layer.state.blocks.reaches(r, plane) && layer.state.blocks.at(r, plane).job.is_some());
        if can_begin
            && !has_job
            && grants_refresh(&layer.state.blocks, region, plane)
            && begin_job(layer, region, plane, Some(BlockId(block)), GcReason::Due)
        {
            layer.state.counters.refresh.blocks[due as usize] += 1;
            layer.state.refreshing.forget(BlockId(block));
            return;
        }
    }
}
