//! The flash of a layout: its modes, the part for data at rest, and how much of that can be free.

use crate::plan::layout::Layout;
use crate::plan::region::{PoolId, RegionId};
use wordline_device::{DeviceSpec, Trigger};
use wordline_flash::{Geometry, Medium};

/// A GC trigger of a region that cannot be satisfied, however much GC runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OutOfReach {
    /// The region.
    pub region: RegionId,
    /// Its trigger.
    pub trigger: Trigger,
    /// The largest share of its space that can be free with the data, in the unit of the trigger: a fraction.
    pub reachable: f64,
}

/// Minimum number of blocks for the data of a plane, if each holds at most this much.
pub(crate) fn fewest_blocks(data: u64, each: u64) -> u64 {
    data.div_ceil(each.max(1))
}

/// A layout on flash: what its blocks hold, and how much of that can be free.
#[derive(Clone, Copy)]
pub struct FlashUse<'a> {
    layout: &'a Layout,
    geometry: &'a Geometry,
}

impl<'a> FlashUse<'a> {
    /// That of a layout on this flash.
    pub fn new(layout: &'a Layout, geometry: &'a Geometry) -> FlashUse<'a> {
        FlashUse { layout, geometry }
    }

    /// Bytes of the layout's blocks by `CellMode::index`, each block in the densest mode of its pool.
    pub fn flash_bytes(self) -> [u64; 4] {
        let mut bytes = [0; 4];
        for pool in self.layout.pool_ids() {
            bytes[self.layout.densest_in(pool).index()] += self.pool_bytes(pool);
        }
        bytes
    }

    /// Bytes of the blocks for data at rest, each in the densest mode of its pool: the pools of the home and the second
    /// home, and those as dense as the home. An SLC cache with blocks of its own does not count.
    pub fn resting_bytes(self) -> u64 {
        let resting = self.layout.pool_ids().filter(|pool| self.layout.rests_in(*pool));
        resting.map(|pool| self.resting_in(pool)).sum()
    }

    /// Of these, the bytes that parity leaves for data.
    pub fn data_bytes(self, spec: &DeviceSpec) -> u64 {
        let resting = self.layout.pool_ids().filter(|pool| self.layout.rests_in(*pool));
        let without_parity = |pool| {
            let bytes = self.resting_in(pool);
            bytes - spec.parity_of(self.blocks_of(pool).0, bytes)
        };
        resting.map(without_parity).sum()
    }

    /// The largest share of a region's blocks (or slots, if its trigger counts those) that can be free while the drive
    /// holds `live` bytes of data, evenly spread over its planes: a fraction. Collection cannot reach more.
    pub fn reachable_free_share(self, region: RegionId, live: u64) -> f64 {
        let r = self.layout.region(region);
        let (medium, blocks) = self.blocks_of(r.pool);
        let total = self.layout.most_blocks(region);
        let planes = medium.topology.planes().max(1) as u64;
        let plane = self.live_in(r.pool, live).div_ceil(planes);
        let block = medium.block_bytes(self.layout.densest_in(r.pool)).max(1);
        let used = match r.trigger {
            Trigger::FreeSlots(_) => plane as f64 / block as f64,
            _ => fewest_blocks(plane, block) as f64,
        };
        // What its own data leave of its blocks, or those of others of the pool.
        let of = if self.layout.is_home(region) { total } else { blocks };
        (f64::from(of) - used).clamp(0.0, total.into()) / f64::from(total)
    }

    /// The triggers that cannot be satisfied while the drive holds `live` bytes of data: GC of their regions never
    /// stops.
    pub fn triggers_out_of_reach(self, live: u64) -> Vec<OutOfReach> {
        let regions = (0..self.layout.regions.len()).map(|index| RegionId(index as u8));
        regions.filter_map(|region| self.trigger_out_of_reach(region, live)).collect()
    }

    /// The trigger of a region, if it cannot be satisfied while the drive holds `live` bytes of data.
    pub(crate) fn trigger_out_of_reach(&self, region: RegionId, live: u64) -> Option<OutOfReach> {
        let trigger = self.layout.region(region).trigger;
        let (Trigger::FreeBlocks(asked) | Trigger::FreeSlots(asked)) = trigger else { return None };
        if self.layout.shrinks(region) {
            return None;
        }
        let reachable = self.reachable_free_share(region, live);
        let total = self.layout.most_blocks(region);
        // As `State::is_short` has it: short while fewer are free than the share, rounded up.
        let missed = match trigger {
            Trigger::FreeBlocks(_) => (reachable * total as f64).round() < asked.of_ceil(total as u64) as f64,
            _ => reachable < asked.as_f64(),
        };
        missed.then_some(OutOfReach { region, trigger, reachable })
    }

    /// Medium and blocks a plane of a pool.
    fn blocks_of(self, pool: PoolId) -> (&'a Medium, u32) {
        let pool = self.layout.pools[pool.0 as usize];
        (&self.geometry.media[pool.medium], pool.blocks_per_plane)
    }

    fn pool_bytes(self, pool: PoolId) -> u64 {
        let (medium, blocks) = self.blocks_of(pool);
        medium.topology.planes() as u64 * blocks as u64 * self.block_bytes(pool)
    }

    /// Bytes of a pool without the blocks that regions keep in which data do not rest.
    fn resting_in(self, pool: PoolId) -> u64 {
        let (medium, blocks) = self.blocks_of(pool);
        let bits = self.layout.region(self.layout.home).mode.bits();
        let passing = self.layout.regions.iter().filter(|r| r.pool == pool && r.mode.bits() < bits);
        let resting = blocks.saturating_sub(passing.map(|r| r.kept).sum());
        medium.topology.planes() as u64 * u64::from(resting) * self.block_bytes(pool)
    }

    /// Bytes of a block of a pool in its densest mode.
    fn block_bytes(self, pool: PoolId) -> u64 {
        self.blocks_of(pool).0.block_bytes(self.layout.densest_in(pool))
    }

    /// Bytes of data at rest in a pool, out of all data: the second home holds its part, in proportion, and the home
    /// the rest. Data in other pools are up to the scheme, and not guaranteed.
    fn live_in(self, pool: PoolId, live: u64) -> u64 {
        let second = self.layout.second_home.map(|(region, units)| (self.layout.region(region).pool, units));
        let apart = second.filter(|(at, _)| *at != self.layout.region(self.layout.home).pool);
        let there = apart.map_or(0, |(_, units)| (units as u64 * self.geometry.unit).min(live));
        match apart {
            Some((at, _)) if at == pool => there,
            _ if self.layout.region(self.layout.home).pool == pool => live - there,
            _ => 0,
        }
    }
}
