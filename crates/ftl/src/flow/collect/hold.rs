//! Dies reserved by collections and idle work, on which host operations must wait.

use crate::layer::{Layer, Seat};
use crate::plan::layout::IdleHold;
use crate::plan::region::RegionId;
use crate::state::blocks::job_mut;
use crate::state::dies::{HeldDies, IdleJobs};
use crate::state::outbox::Outbox;
use crate::state::request::Effect;
use std::ops::Range;
use wordline_flash::Geometry;
use wordline_units::{DieId, PlaneId};

/// Reserve the die of a plane for a job.
pub(crate) fn hold(geometry: &Geometry, out: &mut Outbox, held_dies: &mut HeldDies, plane: PlaneId) {
    hold_die(out, held_dies, geometry.die_of(plane));
}

/// A job releases the die that it held.
pub(crate) fn let_go(geometry: &Geometry, out: &mut Outbox, held_dies: &mut HeldDies, plane: PlaneId) {
    let_go_of(out, held_dies, geometry.die_of(plane));
}

fn hold_die(out: &mut Outbox, held_dies: &mut HeldDies, die: DieId) {
    held_dies.hold(die);
    out.ask(Effect::Hold(die));
}

fn let_go_of(out: &mut Outbox, held_dies: &mut HeldDies, die: DieId) {
    held_dies.let_go(die);
    out.ask(Effect::Hold(die));
}

/// Nothing is pending, and collections that reserve their dies wait for space: let host operations pass,
/// which may free space or need none. Returns whether a die was held.
pub(crate) fn let_go_of_dies(layer: &mut Layer) -> bool {
    if !layer.held_dies.any() {
        return false;
    }
    let mut any = false;
    for index in 0..layer.state.blocks.regions().len() {
        let region = RegionId(index as u8);
        let first = layer.state.blocks.pool_of(region).first_plane;
        for plane in (0..layer.state.blocks.regions()[index].planes.len() as u32).map(|i| PlaneId(first + i))
        {
            let job = job_mut(&mut layer.state.blocks, region, plane);
            if job.as_mut().is_some_and(|job| std::mem::take(&mut job.held)) {
                let_go(&layer.state.geometry, &mut layer.out, &mut layer.held_dies, plane);
                any = true;
            }
        }
    }
    while let Some(die) = layer.idle_jobs.holder_of(0..layer.state.geometry.dies) {
        any |= let_go_in_idle_time(layer, die);
    }
    any
}

/// Start a unit of idle work on a die.
pub(crate) fn begin_idle_work(layer: &mut Layer, die: DieId) {
    layer.idle_jobs.begin(die);
    if layer.seat.layout.idle_hold != IdleHold::Grain && layer.idle_jobs.hold(die) {
        reach_of(&layer.state.geometry, &layer.seat, die)
            .for_each(|die| hold_die(&mut layer.out, &mut layer.held_dies, DieId(die)));
    }
}

/// A unit of idle work is over.
pub(crate) fn end_idle_work(layer: &mut Layer, die: DieId) {
    layer.idle_jobs.end(die);
    if layer.idle_jobs.of(die) == 0 {
        let_go_in_idle_time(layer, die);
    }
}

/// Release the layout reservation of a die's idle work. Returns whether it held anything.
pub(crate) fn let_go_in_idle_time(layer: &mut Layer, die: DieId) -> bool {
    let held = layer.idle_jobs.let_go(die);
    if held {
        reach_of(&layer.state.geometry, &layer.seat, die)
            .for_each(|die| let_go_of(&mut layer.out, &mut layer.held_dies, DieId(die)));
    }
    held
}

/// Dies that the idle work of a die blocks for the host.
fn reach_of(geometry: &Geometry, seat: &Seat, die: DieId) -> Range<u32> {
    match seat.layout.idle_hold {
        IdleHold::Grain => 0..0,
        IdleHold::Die => die.0..die.0 + 1,
        IdleHold::Channel => geometry.dies_of_channel(geometry.channel_of(die)),
    }
}

/// Whether idle work of another die prevents idle work of this die.
pub(crate) fn is_kept_from_idle_work(
    geometry: &Geometry,
    seat: &Seat,
    idle_jobs: &IdleJobs,
    die: DieId,
) -> bool {
    seat.layout.idle_hold == IdleHold::Channel && idle_jobs.holder_of(reach_of(geometry, seat, die)).is_some()
}

/// Whether a die has no idle work and may have been prevented from it until now.
pub(crate) fn may_work_again(geometry: &Geometry, seat: &Seat, idle_jobs: &IdleJobs, die: DieId) -> bool {
    seat.layout.idle_hold == IdleHold::Channel
        && idle_jobs.of(die) == 0
        && !is_kept_from_idle_work(geometry, seat, idle_jobs, die)
}

/// The grant of idle time to a job of a plane, if it had one, is used.
pub(crate) fn end_grant(layer: &mut Layer, plane: PlaneId, granted: bool) {
    if granted {
        end_idle_work(layer, layer.state.geometry.die_of(plane));
    }
}
