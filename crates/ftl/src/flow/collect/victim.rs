//! When a plane of a region is collected, and which block is the victim. The scheme is asked if it wants to choose;
//! otherwise the region's own rule decides.

use crate::flow::collect::grant::take_over;
use crate::flow::collect::job::{begin_asked_job, begin_job};
use crate::flow::fail::has_failed;
use crate::layer::Layer;
use crate::plan::decision::{Collect, Need};
use crate::plan::layout::Hooks;
use crate::plan::region::RegionId;
use crate::state::blocks::admission::is_full_beside_free_blocks;
use crate::state::blocks::free_space::is_short;
use crate::state::job::GcReason;
use crate::view::View;
use wordline_units::PlaneId;

/// Start a collection if a region's trigger requires one.
#[inline]
pub(crate) fn collect_if_short(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    if layer.state.blocks.at(region, plane).job.is_none_or(|job| job.idle)
        && is_short(&layer.state.blocks, region, plane)
    {
        collect_now(layer, region, plane);
    }
}

/// Start a collection, or continue one that idle time started.
fn collect_now(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    match layer.state.blocks.at(region, plane).job {
        None => collect(layer, region, plane),
        Some(job) if job.idle && !job.held => take_over(layer, region, plane),
        Some(_) => {}
    }
}

/// A slot or a block of a region has been taken: all regions of its pool may now be short of blocks.
pub(crate) fn collect_after_taking(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    for other in (0..layer.state.blocks.regions().len() as u8).map(RegionId) {
        if layer.state.blocks.share_pool(other, region) {
            collect_if_short(layer, other, plane);
        }
    }
}

/// A program waits for a slot of a region: any region that shares the pool may free a block. If the pool has
/// blocks, but the region owns its maximum, only its own collection helps.
pub(crate) fn collect_for(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    let is_full = is_full_beside_free_blocks(&layer.state.blocks, region, plane);
    for other in (0..layer.state.blocks.regions().len() as u8).map(RegionId) {
        if other == region || (!is_full && layer.state.blocks.share_pool(other, region)) {
            collect_now(layer, other, plane);
        }
    }
}

/// A block of a region in a plane where programs wait may now be a victim, or a better one.
pub(crate) fn collect_for_waiting(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    for waited in layer.state.blocks.planes().programs_blocked(plane).iter() {
        if layer.state.blocks.share_pool(waited, region) {
            collect_for(layer, waited, plane);
        }
    }
    collect_if_short(layer, region, plane);
}

/// Start the collection of a plane of a region, if a block is worth it.
fn collect(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    let mut chosen = None;
    if layer.seat.hooks.contains(Hooks::COLLECT) {
        let view = View::of(&layer.state);
        chosen = layer.seat.scheme.collect(Need { region, plane }, &view);
        if has_failed(&layer.state, &layer.seat, &mut layer.out, "collect") {
            return;
        }
    }
    match chosen {
        Some(Collect { region, block }) => begin_asked_job(layer, region, plane, block, GcReason::Shortage),
        None => begin_job(layer, region, plane, None, GcReason::Shortage),
    };
}
