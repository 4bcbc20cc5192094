//! Plane of a program, if its placement leaves a choice: chosen when the data arrive, and again after waits for reads
//! or moves.

use crate::plan::decision::{ChannelSet, Gather, Place, PlanePick, Route};
use crate::plan::region::RegionId;
use crate::state::blocks::free_space::{least_busy, level, most_free, next_in_log, waiting_plane};
use crate::state::blocks::superblock_members::least_filled_plane;
use crate::state::blocks::{last_turn, next_turn};
use crate::state::op::OpId;
use crate::state::region::WriteStream;
use crate::state::state::State;
use wordline_device::Allocation;
use wordline_flash::SlotClass;
use wordline_units::PlaneId;

/// The plane that a decision means for this many units.
#[inline(always)]
pub(crate) fn pick_plane(state: &mut State, place: &Place, home: PlaneId, units: usize) -> PlaneId {
    let region = place.route.region();
    if place.route.buffer_key().is_some() {
        return home;
    }
    let plane = match place.plane {
        PlanePick::Home if !state.config.goes_anywhere() && state.blocks.reaches(region, home) => home,
        pick => choose(state, pick, (region, home), units),
    };
    least_filled_plane(&mut state.blocks, &state.backlog, region, plane, (WriteStream::Host, units))
}

/// The plane of a region that a decision means, where that is not just the home.
#[inline(never)]
fn choose(state: &mut State, pick: PlanePick, (region, home): (RegionId, PlaneId), units: usize) -> PlaneId {
    match pick {
        PlanePick::At(plane) if state.blocks.reaches(region, plane) => return plane,
        PlanePick::NextChannel(unwanted) if state.blocks.reaches(region, home) => {
            return on_next_channel(state, region, home, unwanted);
        }
        _ => {}
    }
    next_turn(&mut state.blocks);
    let best = match pick {
        PlanePick::MostFree => most_free(&state.blocks, &state.backlog, region),
        PlanePick::Level => level(&state.blocks, &state.backlog, region),
        PlanePick::Avoid(channels) => {
            least_busy(&state.blocks, &state.backlog, region, Some(channels), units)
        }
        PlanePick::Home if state.config.allocation == Allocation::RoundRobin => {
            next_in_log(&state.blocks, region, units)
        }
        _ => least_busy(&state.blocks, &state.backlog, region, None, units),
    };
    let plane = best.unwrap_or(home);
    // A page that joins others of its program takes no turn. If it did, turns would pass in steps of a whole program, and an
    // idle drive would leave out each plane that no such step reaches.
    let r = state.blocks.region(region);
    if r.joins((plane.0 - r.first_plane) as usize, units) {
        last_turn(&mut state.blocks);
    }
    plane
}

/// The plane at the same position as `home` on the next channel that is not excluded, starting from that of the
/// home; the home itself if all are excluded.
fn on_next_channel(state: &State, region: RegionId, home: PlaneId, unwanted: ChannelSet) -> PlaneId {
    let (g, r) = (&state.geometry, &state.blocks.region(region));
    let (all, channels) = (r.planes.len() as u32, g.medium_of(home).topology.channels);
    let local = home.0 - r.first_plane;
    (0..channels)
        .map(|step| PlaneId(r.first_plane + (local + step * (all / channels)) % all))
        .find(|plane| !unwanted.contains(g.channel_of(g.die_of(*plane))))
        .unwrap_or(home)
}

/// The plane with the most free space may have changed.
pub(crate) fn pick_again(state: &mut State, lead: OpId) {
    let op = &state.ops[lead];
    if !matches!(op.pick, PlanePick::MostFree | PlanePick::Level) {
        return;
    }
    let place = Place { gather: Gather::AsIs, plane: op.pick, route: op.route };
    let (from, units) = (op.plane, state.ops.chain(lead).count());
    let plane = pick_plane(state, &place, from, units);
    let mut part = lead;
    while !part.is_none() {
        state.ops[part].plane = plane;
        part = state.ops[part].chain;
    }
}

/// The target plane of a page from another plane: one where a page already waits for other data, if any, so that
/// data never wait in two.
pub(crate) fn moves_to(state: &mut State, region: RegionId, plane: PlanePick, home: PlaneId) -> PlaneId {
    let place = Place { gather: Gather::AsIs, plane, route: Route::to(region, SlotClass::Next) };
    waiting_plane(&state.blocks, region).unwrap_or_else(|| pick_plane(state, &place, home, 1))
}
