//! Cause and class of the operations of a collection.

use crate::layer::Seat;
use crate::plan::region::RegionId;
use crate::state::blocks::Blocks;
use crate::state::blocks::free_space::is_at_hard_reserve;
use crate::state::dies::HeldDies;
use crate::state::job::{GcReason, Job};
use crate::state::op::Class;
use crate::state::state::State;
use wordline_counters::Cause;
use wordline_device::GcClass;
use wordline_units::PlaneId;

/// Data that leave for another kind of blocks are counted as migrated, others as collected.
pub(crate) fn job_cause(blocks: &Blocks, seat: &Seat, region: RegionId) -> Cause {
    let rests = blocks.is_like_home(region) || seat.layout.second_home.is_some_and(|(r, _)| r == region);
    if rests { Cause::Gc } else { Cause::Migrate }
}

/// The class of the next operations of a job.
#[inline(always)]
pub(crate) fn job_class(
    state: &State,
    held_dies: &HeldDies,
    region: RegionId,
    plane: PlaneId,
    job: &Job,
) -> Class {
    // Collection that begins while a die is held is what the holder waits for.
    if job.held || held_dies.is_held(state.geometry.die_of(plane)) {
        return Class::Held;
    }
    let can_wait = job.idle || job.why == GcReason::Due;
    match state.config.gc.class {
        GcClass::Urgent | GcClass::Foreground if !can_wait => Class::Urgent,
        _ if is_at_hard_reserve(&state.blocks, region, plane) => Class::Urgent,
        GcClass::Host if !can_wait => Class::Write,
        _ => Class::Background,
    }
}
