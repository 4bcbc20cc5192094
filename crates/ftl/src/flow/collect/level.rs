//! Static wear leveling: data at rest are moved out of blocks with few erases. Also the end of life of a drive, as
//! callers see it.

use crate::flow::collect::job::begin_job;
use crate::layer::Layer;
use crate::plan::region::PoolId;
use crate::state::blocks::Blocks;
use crate::state::blocks::block_wear::least_worn_at_rest;
use crate::state::blocks::free_space::is_short;
use crate::state::job::GcReason;
use crate::state::op::{Op, Owner};
use wordline_units::PlaneId;

/// Whether a program moves data at rest for static wear leveling.
pub(crate) fn levels(blocks: &Blocks, op: &Op) -> bool {
    let Owner::Job(region) = op.owner else { return false };
    blocks.at(region, blocks.geometry().plane_at(op.from)).job.is_some_and(|j| j.why == GcReason::Levelling)
}

/// Move data at rest out of a block of a plane that has too few erases.
pub(crate) fn level(layer: &mut Layer, pool: PoolId, plane: PlaneId) {
    let Some(beyond) = layer.state.wear.spec.static_beyond else { return };
    let Some(block) = least_worn_at_rest(&layer.state.blocks, pool, plane, beyond) else { return };
    let region = layer.state.blocks.region_of(block);
    if !is_short(&layer.state.blocks, region, plane)
        && begin_job(layer, region, plane, Some(block), GcReason::Levelling)
    {
        layer.state.wear.lost.levelled += 1;
    }
}
