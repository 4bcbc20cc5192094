//! The blocks of a new drive: all erased, in pools and regions as a layout has them.

use crate::file::table::Table;
use crate::image::stripe::Stripe;
use crate::plan::layout::{DriveInfo, Layout};
use crate::plan::region::{FreeOrder, Pool, PoolId, Region, RegionId};
use crate::state::block::Block;
use crate::state::blocks::Blocks;
use crate::state::planes::Planes;
use crate::state::region::FreeBlocks;
use crate::state::region::{PoolState, RegionPlane, RegionState};
use crate::state::superblocks::Superblocks;
use crate::state::victim::VictimIndex;
use crate::state::wear::Wear;
use std::sync::Arc;
use wordline_device::{Allocation, Level, Packing};
use wordline_flash::Geometry;
use wordline_units::PlaneId;

/// The order of steps where the device file names none.
const BY_CHANNEL: [Level; 4] = [Level::Channel, Level::Chip, Level::Die, Level::Plane];

fn stripe_over(geometry: &Geometry, levels: [Level; 4], medium: usize) -> Stripe {
    let first = geometry.planes_of_medium(medium).start;
    Stripe::new(geometry.media[medium].topology, first, geometry.units_per_page(medium), levels)
}

/// The pools of a layout, each with all of its blocks erased, one behind the other in each plane of their medium.
fn pools_of(drive: &DriveInfo, layout: &Layout, wear: &Wear) -> Vec<PoolState> {
    let geometry = &drive.geometry;
    let mut used = vec![0; geometry.media.len()];
    let pool_of = |(index, pool): (usize, &Pool)| {
        let planes = geometry.planes_of_medium(pool.medium);
        let offset = used[pool.medium];
        used[pool.medium] += pool.blocks_per_plane;
        let within = layout.collecting_within(PoolId(index as u8));
        let blocks = |plane| {
            let first = geometry.blocks_of(PlaneId(plane)).start + offset;
            FreeBlocks::new(first..first + pool.blocks_per_plane)
        };
        PoolState {
            medium: pool.medium,
            first_plane: planes.start,
            offset,
            blocks_per_plane: pool.blocks_per_plane,
            free: planes.map(blocks).collect(),
            reserve: if within > 0 { within + wear.further_reserve() } else { 0 },
            planes_per_superblock: drive.spec.superblock.planes(geometry.media[pool.medium].topology),
            order: if wear.spec.dynamic { FreeOrder::LeastErased } else { pool.free },
        }
    };
    layout.pools.iter().enumerate().map(pool_of).collect()
}

/// The regions of a layout, which have no block yet.
fn regions_of(
    drive: &DriveInfo,
    layout: &Layout,
    pools: &[PoolState],
    stripes: &[Stripe],
) -> Vec<RegionState> {
    let geometry = &drive.geometry;
    let region_of = |(at, region): (usize, &Region)| {
        let pool = &pools[region.pool.0 as usize];
        let medium = &geometry.media[pool.medium];
        let shape = medium.shape(region.mode);
        let units = geometry.units_per_page(pool.medium);
        let full = shape.pages() * units * geometry.sectors_per_unit;
        let blocks = pool.blocks_per_plane as usize;
        let plane = |_| RegionPlane {
            open: Default::default(),
            victims: VictimIndex::new(region.victim, blocks, full, drive.spec.gc.dead_first),
            owned: 0,
            open_slots: 0,
            live: 0,
            program_buffers: Default::default(),
            job: None,
        };
        RegionState {
            quota: region.quota.min(layout.left_to(RegionId(at as u8))),
            slot_quota: region.slot_quota,
            shape,
            first_plane: pool.first_plane,
            units_per_page: units,
            packs_host: units > 1 && drive.spec.packing == Packing::Page,
            pages_per_program: region.rule.pages_per_program(),
            slots_per_block: shape.pages() * units,
            planes_per_die: medium.topology.planes_per_die,
            copies_back: medium.mode(region.mode).is_some_and(|mode| mode.copy_back.is_some()),
            planes: (0..pool.free.len()).map(plane).collect(),
            turns: stripes[pool.medium].in_order().map(|plane| plane - pool.first_plane).collect(),
            left: [0; 4],
            openable: 0,
            buffered: 0,
            sparse_by: medium.block_bytes(layout.densest_in(region.pool)) - medium.block_bytes(region.mode),
            region: region.clone(),
        }
    };
    layout.regions.iter().enumerate().map(region_of).collect()
}

/// The blocks of a layout in a table with room for all.
pub(crate) fn blocks(
    drive: &DriveInfo,
    layout: &Layout,
    wear: &Wear,
    (geometry, all): (Arc<Geometry>, Table<Block>),
) -> Blocks {
    let levels = match drive.spec.allocation {
        Allocation::Static(levels) => levels,
        Allocation::Dynamic | Allocation::RoundRobin => BY_CHANNEL,
    };
    let pools = pools_of(drive, layout, wear);
    let home_medium = pools[layout.regions[layout.home.index()].pool.0 as usize].medium;
    let stripes: Vec<Stripe> = (0..geometry.media.len())
        .map(|m| stripe_over(&geometry, if m == home_medium { levels } else { BY_CHANNEL }, m))
        .collect();
    let regions = regions_of(drive, layout, &pools, &stripes);
    Blocks {
        superblocks: Superblocks::new(drive.spec, &geometry, regions.len(), &stripes),
        hard_reserve: drive.spec.gc.hard_reserve,
        stripe: stripes[home_medium].clone(),
        home: layout.home,
        planes: Planes::new(geometry.planes),
        shrunk: 0,
        most_shrunk: 0,
        turn: 0,
        pools,
        regions,
        all,
        geometry,
    }
}

/// The stripe over the planes of a region's medium.
pub(crate) fn stripe_of(blocks: &Blocks, region: RegionId) -> Stripe {
    if region == blocks.home {
        return blocks.stripe.clone();
    }
    stripe_over(&blocks.geometry, BY_CHANNEL, blocks.pool_of(region).medium)
}
