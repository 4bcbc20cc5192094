//! The one place that grants space. Whoever wants a slot or an erased block of a plane makes a claim here, and the
//! claim says what of the reserve it may use; nobody else looks at the number of free blocks to decide that it may take
//! one. The rule, and why a drive under it always continues: docs/progress.md.

use crate::plan::decision::Target;
use crate::plan::region::RegionId;
use crate::state::state::State;
use wordline_units::PlaneId;

/// What space is claimed for, and so what of it must be left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// Data of the host, of a cache in another pool, or that a scheme moves: the reserve stays.
    Data,
    /// Pages collected within their pool: they may use the reserve, which the block that they leave makes good.
    Collection,
}

impl Claim {
    /// The claim of a program, which may be that of a collection.
    #[inline(always)]
    pub fn of(privileged: bool) -> Claim {
        if privileged { Claim::Collection } else { Claim::Data }
    }
}

impl State {
    /// Whether a program may have a slot of an open block: with the reserve broken into, the blocks
    /// that are open belong to the collection that opened them.
    #[inline]
    pub(crate) fn grants_slot(&self, region: RegionId, plane: PlaneId, claim: Claim) -> bool {
        let pool = self.pool_of(region);
        claim == Claim::Collection
            || (pool.free[self.local(region, plane)].len() as u32 >= pool.reserve
                && self.has_slots_left(region, plane))
    }

    /// Whether a program may open an erased block. Collection frees more than it takes, so what it
    /// takes of the reserve comes back.
    pub(crate) fn grants_block(&self, region: RegionId, plane: PlaneId, claim: Claim) -> bool {
        let pool = self.pool_of(region);
        let free = pool.free[self.local(region, plane)].len() as u32;
        let quota = self.regions[region.index()].quota;
        match claim {
            Claim::Collection => free > 0,
            Claim::Data => free > pool.reserve && self.at(region, plane).owned < quota,
        }
    }

    /// Whether a region could take a program in a plane now: in the first open block, if such a slot is legal there now, or
    /// in one that it may open and that begins with such slots.
    pub(crate) fn has_room(&self, target: Target, plane: PlaneId, claim: Claim) -> bool {
        let Target { region, class } = target;
        let r = &self.regions[region.index()];
        let has = match self.at(region, plane).open[class as usize].front() {
            Some(open) => r.region.rule.next(r.shape, &self.blocks[*open as usize].state, class).is_some(),
            None => r.region.rule.begins_with(r.shape, class) && self.grants_block(region, plane, claim),
        };
        has && self.grants_slot(region, plane, claim)
    }

    /// Whether a region owns all the blocks of a plane that it may, where its pool has more to give.
    pub(crate) fn is_full_beside_free_blocks(&self, region: RegionId, plane: PlaneId) -> bool {
        let pool = self.pool_of(region);
        let free = pool.free[self.local(region, plane)].len() as u32;
        free > pool.reserve && self.at(region, plane).owned >= self.regions[region.index()].quota
    }

    /// Whether a block may be emptied that gives nothing back: its pages take a block before it gives its own, so one more
    /// than the reserve must be there, and the home region must not be short itself.
    pub(crate) fn grants_refresh(&self, region: RegionId, plane: PlaneId) -> bool {
        let pool = self.pool_of(region);
        let free = pool.free[self.local(region, plane)].len() as u32;
        free > pool.reserve + 1
            && (!self.reaches(self.home, plane) || !self.is_at_hard_reserve(self.home, plane))
    }

    /// Whether one more block of a plane may become one of a region that holds less than the home region in the
    /// same pool: the blocks that stay with the home region must be able to take back all that the host may
    /// store, with those that collection needs.
    pub(crate) fn grants_conversion(&self, region: RegionId, plane: PlaneId) -> bool {
        let (r, home) = (&self.regions[region.index()], &self.regions[self.home.index()]);
        if r.region.pool != home.region.pool || r.slots_per_block >= home.slots_per_block {
            return true;
        }
        let tables = self.demand.as_ref().map_or(0, |map| map.pages());
        let pages = self.trims.end() + tables;
        let data = pages.div_ceil(home.planes.len() as u32).div_ceil(home.slots_per_block);
        let sharing = self.regions.iter().filter(|s| s.region.pool == r.region.pool);
        let sparse = sharing.filter(|s| s.slots_per_block < home.slots_per_block);
        let owned: u32 = sparse.map(|s| s.planes[(plane.0 - s.first_plane) as usize].owned).sum();
        let kept = self.hard_reserve(self.home) + 1;
        owned + 1 + data + kept + self.lost_in(r.region.pool, plane) <= self.pool_of(region).blocks_per_plane
    }
}
