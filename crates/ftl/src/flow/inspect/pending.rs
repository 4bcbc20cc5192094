//! What is on its way, and what it waits for, in words: for the reader of a message that a drive does not continue.

use crate::ftl::Ftl;
use crate::plan::region::RegionId;
use crate::state::op::{OpId, Owner};
use std::fmt::Write;
use wordline_counters::OpKind;
use wordline_units::PlaneId;

/// At most this many operations are listed one by one.
const LISTED_MAX: usize = 8;

impl Ftl {
    /// Pending work: operations with their purpose, the free blocks of the planes and regions that their programs
    /// target, and the active collections.
    pub fn leftovers(&self) -> String {
        let alive = self.state.ops.alive();
        let mut said = format!("{} operations, {} staged pages", alive.len(), self.state.staging.len());
        for id in alive.iter().take(LISTED_MAX) {
            let _ = write!(said, "; {}", self.describe_op(*id));
        }
        if alive.len() > LISTED_MAX {
            said.push_str("; ...");
        }
        for (region, plane) in self.wanted(&alive) {
            let _ = write!(said, "; {}", self.describe_space(region, plane));
        }
        for r in &self.state.regions {
            for (plane, job) in (r.first_plane..).zip(&r.planes).filter_map(|(p, at)| Some((p, at.job?))) {
                let _ = write!(said, "; plane {plane} of {} is collected: {job:?}", r.region.name);
            }
        }
        if !self.moves.waiting.is_empty() {
            let _ = write!(said, "; {} moves wait for their buffer", self.moves.waiting.len());
        }
        said
    }

    /// How full the drive is where programs want to go.
    pub(crate) fn describe_room(&self) -> String {
        let wanted = self.wanted(&self.state.ops.alive());
        let told: Vec<String> =
            wanted.iter().take(2).map(|(r, plane)| self.describe_space(*r, *plane)).collect();
        told.join("; ")
    }

    fn describe_op(&self, id: OpId) -> String {
        let op = &self.state.ops[id];
        let what = match op.kind {
            OpKind::Read => "a read",
            OpKind::Program => "a program",
            OpKind::Erase => "an erase",
        };
        let mut said = format!("{what} of cause {:?} for page {} in plane {}", op.cause, op.lpn, op.plane);
        let targets: Vec<String> = (op.route.targets())
            .filter_map(|t| {
                Some(format!("{} {:?}", self.state.regions.get(t.region.index())?.region.name, t.class))
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
                write!(said, ", collected from {}", self.state.regions[region.index()].region.name)
            }
            Owner::Move(_) => write!(said, ", moved"),
            Owner::Parity => write!(said, ", parity"),
            _ => Ok(()),
        };
        said
    }

    /// The regions and planes where programs want to go.
    fn wanted(&self, alive: &[OpId]) -> Vec<(RegionId, PlaneId)> {
        let programs = alive.iter().map(|id| &self.state.ops[*id]).filter(|op| op.kind == OpKind::Program);
        let mut wanted: Vec<(RegionId, PlaneId)> = programs
            .flat_map(|op| op.route.targets().map(|t| (t.region, op.plane)))
            .filter(|(region, plane)| self.state.is_there(*region, *plane))
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.truncate(LISTED_MAX);
        wanted
    }

    fn describe_space(&self, region: RegionId, plane: PlaneId) -> String {
        let r = &self.state.regions[region.index()];
        let (pool, at) = (self.state.pool_of(region), self.state.at(region, plane));
        let free = pool.free[self.state.local(region, plane)].len();
        let open = at.open.iter().map(|blocks| blocks.len()).sum::<usize>();
        let slots = u64::from(at.owned) * u64::from(r.slots_per_block);
        let live = at.live.div_ceil(u64::from(self.state.geometry.sectors_per_unit));
        format!(
            "region {} has {} blocks with {slots} page slots in plane {plane} ({open} open, {live} valid mapping units), and \
             its pool {free} erased blocks there (reserve: {})",
            r.region.name, at.owned, pool.reserve
        )
    }
}
