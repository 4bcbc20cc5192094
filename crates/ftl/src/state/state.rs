//! All state of the translation layer that is independent of stored data: pools, regions, map, staging, pending
//! operations and jobs. The room that blocks leave, those that are open, what the drive can hold, what blocks have been
//! through, and superblocks have files of their own (`free_space.rs`, `frontier.rs`, `capacity.rs`, `block_wear.rs`,
//! `superblock_members.rs`).

use crate::file::saved::{Saved, saved};
use crate::file::table::Table;
use crate::image::stripe::Stripe;
use crate::map::Map;
use crate::plan::layout::{DriveInfo, Hooks, Layout, Refusal};
use crate::plan::map_kind::MapKind;
use crate::plan::region::{FreeOrder, Pool, PoolId, Region, RegionId};
use crate::state::addressing::Addressing;
use crate::state::aging::Aging;
use crate::state::backlog::Backlog;
use crate::state::block::{Block, FreeBlocks};
use crate::state::counters::Counters;
use crate::state::demand_map::DemandMap;
use crate::state::idle_gc_copies::IdleGcCopies;
use crate::state::latency::LatencyBreakdown;
use crate::state::layout_check;
use crate::state::op::{OpId, Ops};
use crate::state::planes::Planes;
use crate::state::refresh::Refreshing;
use crate::state::region::{PoolState, RegionPlane, RegionState};
use crate::state::staging::Staging;
use crate::state::superblocks::Superblocks;
use crate::state::times::ArrayTimes;
use crate::state::trim::TrimLog;
use crate::state::victim::VictimIndex;
use crate::state::wear::Wear;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use wordline_device::{Ack, Allocation, GcSpec, Level, Packing, UnwrittenReads};
use wordline_flash::{Geometry, Refresh};
use wordline_units::{BlockId, Bytes, CellMode, DieId, Lpn, PlaneId, SimTime};

/// What device file and layout state, and never changes.
pub(crate) struct Config {
    pub gc: GcSpec,
    pub logical_pages: u32,
    pub unwritten: UnwrittenReads,
    /// Whether a write goes to any plane.
    pub dynamic: bool,
    pub stripe: Stripe,
    pub home: RegionId,
    pub ack: Ack,
    /// Size of the write buffer, where there is one.
    pub buffer_pages: Option<u32>,
    pub addressing: Addressing,
    pub array: ArrayTimes,
    /// Whether the sizes of updates are counted by region.
    pub counts_updates: bool,
}

/// The whole state except the data and the scheme.
pub struct State {
    pub(crate) geometry: Arc<Geometry>,
    pub(crate) config: Config,
    pub(crate) pools: Vec<PoolState>,
    pub(crate) regions: Vec<RegionState>,
    pub(crate) blocks: Table<Block>,
    pub(crate) superblocks: Superblocks,
    pub(crate) map: Map,
    pub(crate) trims: TrimLog,
    /// What of the map is in RAM, where it lies on flash.
    pub(crate) demand: Option<Box<DemandMap>>,
    pub(crate) idle_gc_copies: IdleGcCopies,
    pub(crate) aging: Aging,
    pub(crate) wear: Wear,
    pub(crate) refreshing: Refreshing,
    pub(crate) staging: Staging,
    pub(crate) ops: Ops,
    pub(crate) counters: Counters,
    /// Bytes that the drive holds less now, and held less at most, since blocks are in a mode with fewer bits
    /// than their pool could give them.
    pub(crate) shrunk: u64,
    pub(crate) most_shrunk: u64,
    pub(crate) backlog: Backlog,
    pub(crate) planes: Planes,
    pub(crate) outstanding: u32,
    /// Pages in the write buffer.
    pub(crate) buffered: u64,
    /// Logical pages of the host in one-shot groups that wait to be full for as long as it takes.
    pub(crate) incomplete_units: u64,
    pub(crate) draining: bool,
    pub(crate) now: SimTime,
    pub(crate) turn: u32,
    /// What the operation has been through that ends in this call, told before it; none otherwise.
    pub(crate) breakdown: LatencyBreakdown,
    /// Host programs that need wait no longer, while they are not on their way yet: none between two calls.
    pub(crate) ready: VecDeque<OpId>,
    /// The error of the scheme, if it failed.
    pub(crate) complaint: OnceLock<Box<str>>,
}

impl Saved for State {
    saved! { State,
        values: [trims, demand, staging, ops, counters, shrunk, most_shrunk, planes, outstanding, buffered, incomplete_units, draining, now, turn],
        parts: [backlog, pools, regions, blocks, superblocks, map, idle_gc_copies, aging, wear, refreshing],
        rebuilt: [geometry, config, breakdown, ready, complaint],
    }
}

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

impl Config {
    /// `stripe` is that of the home region's medium.
    fn new(drive: &DriveInfo, layout: &Layout, stripe: Stripe) -> Config {
        let (spec, geometry) = (drive.spec, &drive.geometry);
        Config {
            gc: spec.gc,
            logical_pages: drive.logical_pages,
            unwritten: spec.unwritten,
            dynamic: spec.allocation == Allocation::Dynamic,
            stripe,
            home: layout.home,
            ack: match spec.ack {
                Ack::Merge if layout.merges.is_none() => Ack::Program,
                ack => ack,
            },
            buffer_pages: match spec.ack {
                Ack::Program | Ack::Merge => None,
                Ack::Buffer(pages) => Some(pages),
            },
            addressing: Addressing::new(geometry),
            array: ArrayTimes::new(drive, layout),
            counts_updates: layout.regions.len() > 1 && geometry.sectors_per_unit > 1,
        }
    }
}

impl State {
    pub(crate) fn new(
        drive: &DriveInfo,
        layout: &Layout,
        refuse: impl Fn(String) -> Refusal,
    ) -> Result<State, Refusal> {
        let geometry = Arc::new(drive.geometry.clone());
        let levels = match drive.spec.allocation {
            Allocation::Static(levels) => levels,
            Allocation::Dynamic => BY_CHANNEL,
        };
        layout_check::check(drive, layout).map_err(&refuse)?;
        let wear = Wear::new(drive.spec.wear);
        let pools = pools_of(drive, layout, &wear);
        layout_check::check_reserves(&pools, &wear).map_err(&refuse)?;
        let home_medium = pools[layout.regions[layout.home.index()].pool.0 as usize].medium;
        let stripes: Vec<Stripe> = (0..geometry.media.len())
            .map(|m| stripe_over(&geometry, if m == home_medium { levels } else { BY_CHANNEL }, m))
            .collect();
        let regions = regions_of(drive, layout, &pools, &stripes);
        let superblocks = Superblocks::new(drive.spec, &geometry, regions.len(), &stripes);
        let unmapped = |e| refuse(format!("cannot allocate its tables: {e}"));
        let idles = layout.enabled_hooks.contains(Hooks::IDLE);
        let watched = if idles { (geometry.blocks as usize) << geometry.slot_shift } else { 0 };
        let trims = TrimLog::new(&geometry, layout.map, drive.logical_pages);
        let demand = DemandMap::new(&drive.spec.dram, Bytes(geometry.unit), drive.logical_pages, trims.end());
        let pages = demand.as_ref().map_or(trims.end(), |map| map.end());
        let mut state = State {
            config: Config::new(drive, layout, stripes[home_medium].clone()),
            counters: Counters::new(regions.len(), drive.spec),
            pools,
            regions,
            blocks: Table::zeroed(geometry.blocks as usize).map_err(unmapped)?,
            superblocks,
            map: Map::new(layout.map, &geometry, pages).map_err(unmapped)?,
            trims,
            demand,
            idle_gc_copies: IdleGcCopies::new(watched).map_err(unmapped)?,
            wear,
            aging: Aging::new(drive.spec.errors.as_ref(), geometry.blocks as usize).map_err(unmapped)?,
            refreshing: Refreshing::new(
                drive.spec.errors.as_ref().map_or_else(Refresh::default, |e| e.refresh),
            ),
            staging: Staging::new(if layout.map.knows_sectors() { geometry.sectors_per_unit } else { 0 }),
            ops: Ops::served(drive.spec.service.order),
            shrunk: 0,
            most_shrunk: 0,
            backlog: Backlog::new(&geometry, drive.spec.parallel_unit),
            planes: Planes::new(geometry.planes),
            outstanding: 0,
            buffered: 0,
            incomplete_units: 0,
            draining: false,
            now: SimTime(0),
            turn: 0,
            breakdown: LatencyBreakdown::NONE,
            ready: VecDeque::new(),
            complaint: OnceLock::new(),
            geometry,
        };
        state.recount();
        Ok(state)
    }

    /// Whether blocks go from one region to the other.
    pub(crate) fn share_pool(&self, a: RegionId, b: RegionId) -> bool {
        self.regions[a.index()].region.pool == self.regions[b.index()].region.pool
    }

    /// The stripe over the planes of a region's medium.
    pub(crate) fn stripe_of(&self, region: RegionId) -> Stripe {
        if region == self.config.home {
            return self.config.stripe.clone();
        }
        stripe_over(&self.geometry, BY_CHANNEL, self.pool_of(region).medium)
    }

    /// Logical pages (page map) or sectors (sector map) that hold the host's data.
    pub(crate) fn mapped(&self) -> u64 {
        let each = if self.map_kind().is_by_page() { 1 } else { self.geometry.sectors_per_unit as u64 };
        let tables = self.trims.pages() * each + self.demand.as_ref().map_or(0, |map| map.mapped());
        // Pages of these may be on their way through a protected program buffer, and not mapped.
        self.map.mapped().saturating_sub(tables)
    }

    pub(crate) fn map_kind(&self) -> MapKind {
        self.map.kind()
    }

    pub(crate) fn pool_of(&self, region: RegionId) -> &PoolState {
        &self.pools[self.regions[region.index()].region.pool.0 as usize]
    }

    /// Position of a plane among those of a region's medium.
    #[inline]
    pub(crate) fn local(&self, region: RegionId, plane: PlaneId) -> usize {
        (plane.0 - self.regions[region.index()].first_plane) as usize
    }

    /// Whether there is such a region and it has blocks in a plane.
    #[inline(always)]
    pub(crate) fn is_there(&self, region: RegionId, plane: PlaneId) -> bool {
        region.index() < self.regions.len() && self.reaches(region, plane)
    }

    /// Whether a region has blocks in a plane.
    pub(crate) fn reaches(&self, region: RegionId, plane: PlaneId) -> bool {
        let pool = self.pool_of(region);
        pool.has(plane)
    }

    #[inline]
    pub(crate) fn at(&self, region: RegionId, plane: PlaneId) -> &RegionPlane {
        let r = &self.regions[region.index()];
        &r.planes[(plane.0 - r.first_plane) as usize]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, region: RegionId, plane: PlaneId) -> &mut RegionPlane {
        self.planes.changed(plane);
        let r = &mut self.regions[region.index()];
        &mut r.planes[(plane.0 - r.first_plane) as usize]
    }

    /// The region that owns a block, or owned it last; of one never opened, the first of its pool.
    pub(crate) fn region_of(&self, block: BlockId) -> RegionId {
        let info = &self.blocks[block.index()];
        if info.was_opened() {
            return RegionId(info.region);
        }
        let pool = match self.pools.as_slice() {
            [_] => Some(0),
            pools => {
                let plane = self.geometry.plane_of(block);
                let medium = self.geometry.medium_index(plane);
                let at = block.0 - self.geometry.first_block(plane);
                let holds = |p: &PoolState| {
                    p.medium == medium && (p.offset..p.offset + p.blocks_per_plane).contains(&at)
                };
                pools.iter().position(holds)
            }
        };
        let first = self.regions.iter().position(|r| Some(r.region.pool.0 as usize) == pool);
        RegionId(first.unwrap_or(0) as u8)
    }

    /// The mode of a block; one never opened has the mode of the first region of its pool.
    pub(crate) fn mode_of(&self, block: BlockId) -> CellMode {
        let info = &self.blocks[block.index()];
        if info.was_opened() { info.mode() } else { self.regions[self.region_of(block).index()].region.mode }
    }

    /// This many more sectors of a block are live.
    #[inline]
    pub(crate) fn add_live(&mut self, block: BlockId, sectors: u32) {
        let info = &mut self.blocks[block.index()];
        info.live += sectors;
        let region = RegionId(info.region);
        let plane = self.geometry.plane_of(block);
        self.at_mut(region, plane).live += sectors as u64;
    }

    /// This many of them have died.
    #[inline]
    pub(crate) fn take_live(&mut self, block: BlockId, sectors: u32) {
        let info = &mut self.blocks[block.index()];
        info.live -= sectors;
        let region = RegionId(info.region);
        let plane = self.geometry.plane_of(block);
        self.at_mut(region, plane).live -= sectors as u64;
    }

    pub(crate) fn owned(&self, region: RegionId, plane: PlaneId) -> u32 {
        self.at(region, plane).owned
    }

    pub(crate) fn backlog_of_die(&self, die: DieId) -> u32 {
        (0..self.geometry.planes)
            .filter(|p| self.geometry.die_of(PlaneId(*p)) == die)
            .map(|p| self.backlog.of(PlaneId(p)))
            .sum()
    }

    /// Whether a page is one of the drive's own tables, behind the last logical page.
    #[inline]
    pub(crate) fn is_metadata(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.config.logical_pages
    }

    /// The page behind the last of all, those of the drive's own tables among them.
    pub(crate) fn end_of_pages(&self) -> u32 {
        self.demand.as_ref().map_or(self.trims.end(), |map| map.end())
    }
}
