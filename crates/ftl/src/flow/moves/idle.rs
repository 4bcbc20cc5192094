//! Work in idle time: what its scheme is asked.

use crate::flow::collect::grant::grant;
use crate::flow::collect::hold::is_kept_from_idle_work;
use crate::flow::collect::job::begin_asked_job;
use crate::flow::fail::has_failed;
use crate::flow::moves::moves::enqueue_move;
use crate::layer::Layer;
use crate::plan::decision::IdleWork;
use crate::plan::layout::Hooks;
use crate::state::blocks::planes_mut;
use crate::state::job::{GcReason, MoveReason};
use crate::state::request::{Effect, Timer};
use crate::view::View;
use wordline_units::{DieId, PlaneId};

/// A die is idle, or the drive drains: ask the scheme for one job, plane by plane in rotation. Returns
/// whether it had one.
pub(crate) fn idle(layer: &mut Layer, die: DieId) -> bool {
    if !layer.seat.hooks.contains(Hooks::IDLE)
        || layer.idle_jobs.of(die) > 0
        || is_kept_from_idle_work(&layer.state.geometry, &layer.seat, &layer.idle_jobs, die)
        || layer.state.wear.over.is_some()
    {
        return false;
    }
    // The end of a run does not wait for the rate.
    if !layer.state.draining && !layer.idle_jobs.is_due(layer.state.now) {
        if let Some(at) = layer.idle_jobs.set_timer() {
            layer.out.ask(Effect::Timer(at, Timer::IdlePace));
        }
        return false;
    }
    let has_superblocks = layer.state.blocks.pools().iter().any(|pool| pool.planes_per_superblock > 1);
    let remembers = layer.seat.scheme.idle_is_local() && !has_superblocks && !layer.state.draining;
    let planes = layer.state.geometry.planes_of_die(die);
    if remembers && layer.state.blocks.planes().have_no_idle_work(planes.clone()) {
        let mut again = planes.map(|plane| layer.seat.scheme.idle(PlaneId(plane), &View::of(&layer.state)));
        debug_assert!(again.all(|work| work.is_none()), "die {die}");
        return false;
    }
    let (turn, count) = (layer.idle_jobs.turn(die), planes.len() as u32);
    for i in 0..count {
        let plane = PlaneId(planes.start + (turn + i) % count);
        let work = layer.seat.scheme.idle(plane, &View::of(&layer.state));
        if has_failed(&layer.state, &layer.seat, &mut layer.out, "idle") {
            return false;
        }
        let Some(work) = work else {
            if remembers {
                planes_mut(&mut layer.state.blocks).note_no_idle_work(plane);
            }
            continue;
        };
        layer.idle_jobs.took(die, turn + i);
        let began = match work {
            IdleWork::Move(m) => {
                let before = layer.idle_jobs.under_way();
                enqueue_move(layer, m, MoveReason::Idleness);
                let began = layer.idle_jobs.under_way() > before;
                if began {
                    let unit = layer.state.geometry.unit;
                    layer.idle_jobs.pace(die, layer.seat.layout.idle_rate.time_for(unit));
                }
                began
            }
            IdleWork::Collect(c, grain) => {
                grant(layer, c.region, plane)
                    || begin_asked_job(layer, c.region, plane, c.block, GcReason::Idleness(grain))
            }
        };
        if began {
            return true;
        }
    }
    false
}
