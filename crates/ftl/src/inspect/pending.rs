//! What is on its way, and what it waits for, in words: for the reader of a message that a drive does not continue.

use crate::plan::region::RegionId;
use crate::state::op::{OpId, Owner};
use crate::state::state::State;
use std::fmt::Write;
use wordline_counters::OpKind;
use wordline_units::PlaneId;

/// At most this many operations are listed one by one.
const LISTED_MAX: usize = 8;

/// Pending work: operations with their purpose, the free blocks of the planes and regions that their programs
/// target, and the active collections.
pub(crate) fn leftovers(state: &State, waiting_moves: usize) -> String {
    let alive = state.ops.alive();
    let mut said = format!("{} operations, {} staged pages", alive.len(), state.staging.len());
    for id in alive.iter().take(LISTED_MAX) {
        let _ = write!(said, "; {}", describe_op(state, *id));
    }
    if alive.len() > LISTED_MAX {
        said.push_str("; ...");
    }
    for (region, plane) in wanted(state, &alive) {
        let _ = write!(said, "; {}", describe_space(state, region, plane));
    }
    for r in state.blocks.regions() {
        for (plane, job) in (r.first_plane..).zip(&r.planes).filter_map(|(p, at)| Some((p, at.job?))) {
            let _ = write!(said, "; plane {plane} of {} is collected: {job:?}", r.region.name);
        }
    }
    if waiting_moves > 0 {
        let _ = write!(said, "; {} moves wait for their buffer", waiting_moves);
    }
    said
}

/// How full the drive is where programs want to go.
pub(crate) fn describe_room(state: &State) -> String {
    let wanted = wanted(state, &state.ops.alive());
    let told: Vec<String> =
        wanted.iter().take(2).map(|(r, plane)| describe_space(state, *r, *plane)).collect();
    told.join("; ")
}

fn describe_op(state: &State, id: OpId) -> String {
    let op = &state.ops[id];
    let what = match op.kind {
        OpKind::Read => "a read",
        OpKind::Program => "a program",
        OpKind::Erase => "an erase",
    };
    let mut said = format!("{what} of cause {:?} for page {} in plane {}", op.cause, op.lpn, op.plane);
    let targets: Vec<String> = (op.route.targets())
        .filter_map(|t| {
            Some(format!("{} {:?}", state.blocks.regions().get(t.region.index())?.region.name, t.class))
        })
        .collect();
    if op.kind == OpKind::Program && !targets.is_empty() {
        let _ = write!(said, " to {}", targets.join(", else "));
    }
    if op.awaits > 0 {
        let _ = write!(said, ", which waits for {} reads and moves", op.awaits);
    }
    let _ = match op.owner {
        Owner::Job(region) => {
            write!(said, ", collected from {}", state.blocks.region(region).region.name)
        }
        Owner::Move(_) => write!(said, ", moved"),
        Owner::Parity => write!(said, ", parity"),
        _ => Ok(()),
    };
    said
}

/// The regions and planes where programs want to go.
fn wanted(state: &State, alive: &[OpId]) -> Vec<(RegionId, PlaneId)> {
    let programs = alive.iter().map(|id| &state.ops[*id]).filter(|op| op.kind == OpKind::Program);
    let mut wanted: Vec<(RegionId, PlaneId)> = programs
        .flat_map(|op| op.route.targets().map(|t| (t.region, op.plane)))
        .filter(|(region, plane)| state.blocks.is_there(*region, *plane))
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted.truncate(LISTED_MAX);
    wanted
}

fn describe_space(state: &State, region: RegionId, plane: PlaneId) -> String {
    let r = &state.blocks.region(region);
    let (pool, at) = (state.blocks.pool_of(region), state.blocks.at(region, plane));
    let free = pool.free[state.blocks.local(region, plane)].len();
    let open = at.open.iter().map(|blocks| blocks.len()).sum::<usize>();
    let slots = u64::from(at.owned) * u64::from(r.slots_per_block);
    let live = at.live.div_ceil(u64::from(state.geometry.sectors_per_unit));
    format!(
        "region {} has {} blocks with {slots} page slots in plane {plane} ({open} open, {live} valid mapping units), and \
         its pool {free} erased blocks there (reserve: {})",
        r.region.name, at.owned, pool.reserve
    )
}
