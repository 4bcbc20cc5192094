//! A job started in idle time: it advances one granted page at a time, until collection takes it over.

use crate::flow::collect::hold::{begin_idle_work, end_grant, hold};
use crate::flow::collect::job::step_job;
use crate::layer::Layer;
use crate::plan::region::RegionId;
use crate::state::blocks::job_mut;
use crate::state::job::{GcReason, Job};
use wordline_device::GcClass;
use wordline_units::PlaneId;

/// A job started in idle time cannot wait for the next idle period: it continues like any collection.
pub(crate) fn take_over(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    let alone = layer.state.config.gc.class == GcClass::Foreground;
    let Some(Job { block, granted, .. }) = layer.state.blocks.at(region, plane).job else { return };
    let paces = layer.requests.pace_mut().begin(&layer.state, region, block, GcReason::Shortage);
    if let Some(job) = job_mut(&mut layer.state.blocks, region, plane) {
        (job.granted, job.idle, job.held, job.paces) = (true, false, alone, paces);
    }
    if alone {
        hold(&layer.state.geometry, &mut layer.out, &mut layer.held_dies, plane);
    }
    end_grant(layer, plane, granted);
    step_job(layer, region, plane);
}

/// Advance a job of idle time by a page, or by its erase. Returns whether one was at rest.
pub(crate) fn grant(layer: &mut Layer, region: RegionId, plane: PlaneId) -> bool {
    if region.index() >= layer.state.blocks.regions().len() || !layer.state.blocks.reaches(region, plane) {
        return false;
    }
    let Some(job) = job_mut(&mut layer.state.blocks, region, plane).as_mut().filter(|job| job.is_paused())
    else {
        return false;
    };
    job.granted = true;
    begin_idle_work(layer, layer.state.geometry.die_of(plane));
    step_job(layer, region, plane);
    true
}
