//! The one place that grants space. Every claim of a slot or an erased block of a plane is made here, and its kind
//! determines which part of the reserve it can use; no other code decides by the number of free blocks. The rule, and
//! why a drive under it always continues: docs/progress.md.

use crate::plan::decision::Target;
use crate::plan::region::RegionId;
use crate::state::state::State;
use wordline_units::PlaneId;

/// The kind of a claim on space, and so how much must remain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Claim {
    /// Data of the host, of a cache in another pool, or that a scheme moves: the reserve stays.
    Data,
    /// Pages collected within their pool: they may use the reserve, which the block that they leave makes good.
    Collection,
}

impl Claim {
    /// The claim of a program, possibly that of GC.
    #[inline(always)]
    pub fn of(privileged: bool) -> Claim {
        if privileged { Claim::Collection } else { Claim::Data }
    }
}

impl State {
    /// Whether a program can get a slot of an open block: once the reserve is in use, open blocks belong to the job
    /// that opened them.
    #[inline]
    pub(crate) fn grants_slot(&self, region: RegionId, plane: PlaneId, claim: Claim) -> bool {
        let pool = self.pool_of(region);
        claim == Claim::Collection
            || (pool.free[self.local(region, plane)].len() as u32 >= pool.reserve
                && self.has_slots_left(region, plane))
    }

    /// Whether a program can open an erased block. GC frees more than it takes, so it returns what it takes from the
    /// reserve.
    pub(crate) fn grants_block(&self, region: RegionId, plane: PlaneId, claim: Claim) -> bool {
        let pool = self.pool_of(region);
        let free = pool.free[self.local(region, plane)].len() as u32;
        let quota = self.regions[region.index()].quota;
        match claim {
            Claim::Collection => free > 0,
            Claim::Data => free > pool.reserve && self.at(region, plane).owned < quota,
        }
    }

    /// Whether a region could take a program in a plane now: in the first open block, if such a slot is legal there, or
    /// in one that it can open and that begins with such slots.
    pub(crate) fn has_room(&self, target: Target, plane: PlaneId, claim: Claim) -> bool {
        let Target { region, class } = target;
        let r = &self.regions[region.index()];
        let has = match self.at(region, plane).open[class as usize].front() {
            Some(open) => r.region.rule.next(r.shape, &self.blocks[*open as usize].state, class).is_some(),
            None => r.region.rule.begins_with(r.shape, class) && self.grants_block(region, plane, claim),
        };
        has && self.grants_slot(region, plane, claim)
    }

    /// Whether a region owns its maximum of blocks in a plane while its pool has more.
    pub(crate) fn is_full_beside_free_blocks(&self, region: RegionId, plane: PlaneId) -> bool {
        let pool = self.pool_of(region);
        let free = pool.free[self.local(region, plane)].len() as u32;
        free > pool.reserve && self.at(region, plane).owned >= self.regions[region.index()].quota
    }

    /// Whether a block can be emptied without a gain: its pages take a block before it is freed, so one more than the
    /// reserve must be free, and the home region must not be short itself.
    pub(crate) fn grants_refresh(&self, region: RegionId, plane: PlaneId) -> bool {
        let pool = self.pool_of(region);
        let free = pool.free[self.local(region, plane)].len() as u32;
        free > pool.reserve + 1
            && (!self.reaches(self.config.home, plane) || !self.is_at_hard_reserve(self.config.home, plane))
    }

    /// Whether one more block of a plane may become one of a region that holds less than the home region in the
    /// same pool: the blocks that stay with the home region must be able to take back all that the host may
    /// store, with those that collection needs.
    pub(crate) fn grants_conversion(&self, region: RegionId, plane: PlaneId) -> bool {
        let (r, home) = (&self.regions[region.index()], &self.regions[self.config.home.index()]);
        if r.region.pool != home.region.pool || r.slots_per_block >= home.slots_per_block {
            return true;
        }
        let tables = self.demand.as_ref().map_or(0, |map| map.pages());
        let pages = self.trims.end() + tables;
        let data = pages.div_ceil(home.planes.len() as u32).div_ceil(home.slots_per_block);
        let sharing = self.regions.iter().filter(|s| s.region.pool == r.region.pool);
        let sparse = sharing.filter(|s| s.slots_per_block < home.slots_per_block);
        let owned: u32 = sparse.map(|s| s.planes[(plane.0 - s.first_plane) as usize].owned).sum();
        let kept = self.hard_reserve(self.config.home) + 1;
        owned + 1 + data + kept + self.lost_in(r.region.pool, plane) <= self.pool_of(region).blocks_per_plane
    }
}
