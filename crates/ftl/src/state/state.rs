//! All state of the translation layer that does not depend on what data are kept: pools, regions, map,
//! staging, pending operations and jobs. Blocks, the room that they leave, and those that are open have files
//! of their own (`block.rs`, `room.rs`, `frontier.rs`).

use crate::file::saved::{Saved, saved};
use crate::file::table::Table;
use crate::image::stripe::Stripe;
use crate::map::Map;
use crate::plan::layout::{Drive, Hooks, Layout, Refusal};
use crate::plan::map_kind::MapKind;
use crate::plan::region::{FreeOrder, PoolId, Region, RegionId};
use crate::state::aging::{Aging, PageRead, Reading, lives};
use crate::state::ahead::Ahead;
use crate::state::backlog::Backlog;
use crate::state::block::{Block, FreeBlocks, Phase};
use crate::state::counters::Counters;
use crate::state::demand_map::{self, DemandMap};
use crate::state::op::Ops;
use crate::state::refresh::Refreshing;
use crate::state::region::{PoolState, RegionPlane, RegionState};
use crate::state::staging::Staging;
use crate::state::superblocks::{self, Superblocks};
use crate::state::trim::TrimLog;
use crate::state::victim::VictimIndex;
use crate::state::wear::Wear;
use std::sync::Arc;
use wordline_device::{Ack, Allocation, GcSpec, Level};
use wordline_flash::{Geometry, Refresh, Retries};
use wordline_units::{BlockId, Bytes, CellMode, DieId, Lpn, PlaneId, SimDuration, SimTime};

/// Everything but the data themselves and the scheme.
pub struct State {
    pub(crate) geometry: Arc<Geometry>,
    pub(crate) gc: GcSpec,
    pub(crate) logical_pages: u32,
    pub(crate) dynamic: bool,
    pub(crate) stripe: Stripe,
    pub(crate) home: RegionId,
    pub(crate) pools: Vec<PoolState>,
    pub(crate) regions: Vec<RegionState>,
    pub(crate) blocks: Table<Block>,
    pub(crate) superblocks: Superblocks,
    pub(crate) map: Map,
    pub(crate) trims: TrimLog,
    /// What of the map is in RAM, where it lies on flash.
    pub(crate) demand: Option<Box<DemandMap>>,
    pub(crate) ahead: Ahead,
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
    /// Planes where a program waits for a slot.
    pub(crate) starved: Vec<bool>,
    /// Planes where a moved page waits for a slot.
    pub(crate) jammed: Vec<bool>,
    pub(crate) outstanding: u32,
    /// Pages in the write buffer, and its size, where there is one.
    pub(crate) buffered: u64,
    /// Logical pages of the host in one-shot groups that wait to be full for as long as it takes.
    pub(crate) incomplete_units: u64,
    pub(crate) buffer_pages: Option<u32>,
    pub(crate) draining: bool,
    pub(crate) now: SimTime,
    pub(crate) turn: u32,
}

impl Saved for State {
    saved! { State,
        values: [trims, demand, staging, ops, counters, shrunk, most_shrunk, starved, jammed, outstanding, buffered, incomplete_units, draining, now, turn],
        parts: [backlog, pools, regions, blocks, superblocks, map, ahead, aging, wear, refreshing],
        rebuilt: [geometry, gc, logical_pages, dynamic, stripe, home, buffer_pages],
    }
}

/// The order of steps where the device file names none.
const BY_CHANNEL: [Level; 4] = [Level::Channel, Level::Chip, Level::Die, Level::Plane];

fn stripe_over(geometry: &Geometry, levels: [Level; 4], medium: usize) -> Stripe {
    let first = geometry.planes_of_medium(medium).start;
    Stripe::new(geometry.media[medium].topology, first, geometry.units_per_page(medium), levels)
}

impl State {
    pub(crate) fn new(
        drive: &Drive,
        layout: &Layout,
        refuse: impl Fn(String) -> Refusal,
    ) -> Result<State, Refusal> {
        let geometry = Arc::new(drive.geometry.clone());
        let levels = match drive.spec.allocation {
            Allocation::Static(levels) => levels,
            Allocation::Dynamic => BY_CHANNEL,
        };
        if layout.regions.is_empty() || layout.regions.len() > 15 {
            return Err(refuse(format!(
                "it lays out {} regions; 1 to 15 are possible",
                layout.regions.len()
            )));
        }
        if let Some(why) = superblocks::refusal(drive, layout) {
            return Err(refuse(why));
        }
        let wear = Wear::new(drive.spec.wear);
        let mut used = vec![0; geometry.media.len()];
        let mut pools = vec![];
        for pool in &layout.pools {
            let medium = &geometry.media[pool.medium];
            let planes = geometry.planes_of_medium(pool.medium);
            let offset = used[pool.medium];
            used[pool.medium] += pool.blocks_per_plane;
            if used[pool.medium] > medium.blocks_per_plane {
                return Err(refuse(format!(
                    "it wants {} blocks a plane of medium {:?}, which has {}",
                    used[pool.medium], medium.name, medium.blocks_per_plane
                )));
            }
            let keeps = |r: &&Region| r.pool.0 as usize == pools.len() && !r.leaves_pool;
            let within = layout.regions.iter().filter(keeps).count() as u32;
            pools.push(PoolState {
                medium: pool.medium,
                first_plane: planes.start,
                offset,
                blocks_per_plane: pool.blocks_per_plane,
                free: planes
                    .map(|p| {
                        let first = geometry.blocks_of(PlaneId(p)).start + offset;
                        FreeBlocks::new(first..first + pool.blocks_per_plane)
                    })
                    .collect(),
                reserve: if within > 0 { within + wear.further_reserve() } else { 0 },
                together: drive.spec.superblock.planes(medium.topology),
                order: if wear.spec.dynamic { FreeOrder::LeastErased } else { pool.free },
            });
        }
        let home_medium = pools[layout.regions[layout.home.index()].pool.0 as usize].medium;
        let stripes: Vec<Stripe> = (0..geometry.media.len())
            .map(|m| stripe_over(&geometry, if m == home_medium { levels } else { BY_CHANNEL }, m))
            .collect();
        let mut regions = vec![];
        for region in &layout.regions {
            let pool = &pools[region.pool.0 as usize];
            let medium = &geometry.media[pool.medium];
            if medium.mode(region.mode).is_none() {
                return Err(refuse(format!(
                    "region {} is {}, which medium {:?} does not offer",
                    region.name, region.mode, medium.name
                )));
            }
            if let Some(errors) = &drive.spec.errors {
                let as_slc = region.rule.reprograms().then_some(CellMode::Slc);
                let unknown = |mode: &CellMode| errors.mode(*mode).is_none();
                if let Some(mode) = [Some(region.mode), as_slc].into_iter().flatten().find(unknown) {
                    return Err(refuse(format!(
                        "region {} holds {mode} pages, of which error model {} says nothing; give \
                         [errors.{}], choose another model, or set errors=off",
                        region.name,
                        errors.name,
                        mode.key()
                    )));
                }
            }
            if drive.spec.wear.enforce && medium.mode(region.mode).is_none_or(|t| t.endurance == 0) {
                return Err(refuse(format!(
                    "region {} holds {mode} pages, whose endurance is not known, and wear.enforce is on; give \
                     medium.{}.{}.endurance, or set wear.enforce=false",
                    region.name,
                    medium.name,
                    region.mode.key(),
                    mode = region.mode
                )));
            }
            let shape = medium.shape(region.mode);
            region.rule.check(shape).map_err(|e| refuse(format!("region {}: {e}", region.name)))?;
            if region.rule.reprograms() && medium.mode(CellMode::Slc).is_none() {
                return Err(refuse(format!(
                    "the windows of region {} serve as SLC first, which medium {:?} does not offer",
                    region.name, medium.name
                )));
            }
            let pages = region.rule.pages_per_program();
            if pages != 1 && pages != region.mode.bits() {
                return Err(refuse(format!(
                    "region {} programs {pages} pages at once, but a {} wordline has {}",
                    region.name,
                    region.mode,
                    region.mode.bits()
                )));
            }
            if region.pad_after.is_none() && pages > 1 && !region.protected {
                return Err(refuse(format!(
                    "region {} never pads its one-shot groups, which needs a protected stager",
                    region.name
                )));
            }
            let units = geometry.units_per_page(pool.medium);
            let blocks = pool.blocks_per_plane as usize;
            let full = shape.pages() * units * geometry.sectors_per_unit;
            regions.push(RegionState {
                shape,
                first_plane: pool.first_plane,
                units_per_page: units,
                pages_per_program: pages,
                slots_per_block: shape.pages() * units,
                planes: (0..pool.free.len())
                    .map(|_| RegionPlane {
                        open: Default::default(),
                        victims: VictimIndex::new(region.victim, blocks, full, drive.spec.gc.dead_first),
                        owned: 0,
                        open_slots: 0,
                        live: 0,
                        stagers: Default::default(),
                        job: None,
                    })
                    .collect(),
                turns: stripes[pool.medium].in_order().map(|plane| plane - pool.first_plane).collect(),
                left: [0; 4],
                openable: 0,
                buffered: 0,
                sparse_by: medium.block_bytes(layout.densest_in(region.pool))
                    - medium.block_bytes(region.mode),
                region: region.clone(),
            });
        }
        let superblocks = Superblocks::new(drive.spec.superblock, &geometry, &stripes);
        let unmapped = |e| refuse(format!("its tables find no room in this computer's address space: {e}"));
        let idles = layout.asks.asks(Hooks::IDLE);
        let watched = if idles { (geometry.blocks as usize) << geometry.slot_shift } else { 0 };
        let trims = TrimLog::new(&geometry, layout.map, drive.logical_pages);
        let demand = DemandMap::new(&drive.spec.dram, Bytes(geometry.unit), drive.logical_pages, trims.end());
        if let Some(why) = demand.as_ref().and_then(|_| demand_map::refusal(layout)) {
            return Err(refuse(why));
        }
        let pages = demand.as_ref().map_or(trims.end(), |map| map.end());
        let mut state = State {
            gc: drive.spec.gc,
            logical_pages: drive.logical_pages,
            dynamic: drive.spec.allocation == Allocation::Dynamic,
            stripe: stripes[home_medium].clone(),
            home: layout.home,
            counters: Counters::new(regions.len(), drive.spec),
            pools,
            regions,
            blocks: Table::zeroed(geometry.blocks as usize).map_err(unmapped)?,
            superblocks,
            map: Map::new(layout.map, &geometry, pages).map_err(unmapped)?,
            trims,
            demand,
            ahead: Ahead::new(watched).map_err(unmapped)?,
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
            jammed: vec![false; geometry.planes as usize],
            starved: vec![false; geometry.planes as usize],
            outstanding: 0,
            buffered: 0,
            incomplete_units: 0,
            buffer_pages: match drive.spec.ack {
                Ack::Program | Ack::Merge => None,
                Ack::Buffer(pages) => Some(pages),
            },
            draining: false,
            now: SimTime(0),
            turn: 0,
            geometry,
        };
        state.recount();
        Ok(state)
    }

    /// The stripe over the planes of a region's medium.
    pub(crate) fn stripe_of(&self, region: RegionId) -> Stripe {
        if region == self.home {
            return self.stripe.clone();
        }
        stripe_over(&self.geometry, BY_CHANNEL, self.pool_of(region).medium)
    }

    /// Find anew what regions could still program and where, after many blocks have changed at once.
    pub(crate) fn recount(&mut self) {
        let owned = |r: &RegionState| r.planes.iter().map(|p| p.owned as u64).sum::<u64>();
        let lost = |p: &PoolState| p.free.iter().map(|f| f.lost as u64).sum::<u64>();
        let gone = self.pools.iter().enumerate().map(|(i, p)| lost(p) * self.bytes_of_block(i));
        self.shrunk = self.regions.iter().map(|r| owned(r) * r.sparse_by).sum::<u64>() + gone.sum::<u64>();
        self.most_shrunk = self.shrunk;
        for index in 0..self.regions.len() {
            let region = RegionId(index as u8);
            self.count_openable(region);
            let r = &self.regions[index];
            if !r.region.rule.by_bit() {
                continue;
            }
            let mut left = [0; 4];
            for b in r.planes.iter().flat_map(|at| at.all_open()) {
                let pages = r.region.rule.left(r.shape, &self.blocks[b as usize].state);
                left.iter_mut().zip(pages).for_each(|(all, pages)| *all += pages as u64);
            }
            self.regions[index].left = left;
            let open: Vec<u32> = self.regions[index].planes.iter().flat_map(|at| at.all_open()).collect();
            for b in open {
                let plane = self.geometry.plane_of(BlockId(b));
                self.look_at_frontier(region, plane, BlockId(b));
            }
        }
    }

    /// Count anew the erased blocks that a region could open.
    pub(crate) fn count_openable(&mut self, region: RegionId) {
        let r = &self.regions[region.index()];
        let planes = r.first_plane..r.first_plane + r.planes.len() as u32;
        let openable = planes.map(|p| self.free_blocks(region, PlaneId(p)) as u64).sum();
        self.regions[region.index()].openable = openable;
    }

    /// What the drive holds less, block by block.
    pub(crate) fn recount_shrunk(&self) -> u64 {
        let blocks = self.blocks.iter().enumerate();
        let less = |(i, b): (usize, &Block)| match b.phase {
            Phase::Free => 0,
            Phase::Retired => {
                let region = self.region_of(BlockId(i as u32));
                self.bytes_of_block(self.regions[region.index()].region.pool.0 as usize)
            }
            _ => self.regions[b.region as usize].sparse_by,
        };
        blocks.map(less).sum()
    }

    /// Bytes of all blocks, each in the densest mode that its pool gives.
    pub(crate) fn physical_bytes(&self) -> u64 {
        let of = |(i, p): (usize, &PoolState)| {
            p.free.len() as u64 * p.blocks_per_plane as u64 * self.bytes_of_block(i)
        };
        self.pools.iter().enumerate().map(of).sum()
    }

    /// Bytes that blocks hold in which data may stay, each in the densest mode of its pool: as built, and without
    /// those that are lost. Where data leave every pool in the end, all of them count.
    pub(crate) fn lasting_bytes(&self) -> (u64, u64) {
        let stays = |pool: usize| {
            self.regions.iter().any(|r| r.region.pool.0 as usize == pool && !r.region.leaves_pool)
        };
        let all = !(0..self.pools.len()).any(stays);
        let counted = self.pools.iter().enumerate().filter(|(i, _)| all || stays(*i));
        counted.fold((0, 0), |(built, left), (i, p)| {
            let blocks = p.free.len() as u64 * p.blocks_per_plane as u64;
            let lost: u64 = p.free.iter().map(|f| f.lost as u64).sum();
            let each = self.bytes_of_block(i);
            (built + blocks * each, left + (blocks - lost) * each)
        })
    }

    /// What blocks hold less that a plane of a pool has lost.
    fn lost_bytes(&self, pool: PoolId, plane: PlaneId) -> u64 {
        match self.lost_in(pool, plane) {
            0 => 0,
            lost => lost as u64 * self.bytes_of_block(pool.0 as usize),
        }
    }

    /// What blocks of a plane that a region owns hold less.
    fn sparse_in(&self, region: usize, plane: PlaneId) -> u64 {
        let r = &self.regions[region];
        r.planes[(plane.0 - r.first_plane) as usize].owned as u64 * r.sparse_by
    }

    /// Change what a plane of a pool has erased, or owes, and keep count of what its regions could open, and of
    /// what the drive holds less.
    pub(crate) fn change_pool<T>(
        &mut self,
        pool: PoolId,
        plane: PlaneId,
        change: impl FnOnce(&mut State) -> T,
    ) -> T {
        let sharing: Vec<usize> =
            (0..self.regions.len()).filter(|i| self.regions[*i].region.pool == pool).collect();
        for i in &sharing {
            self.regions[*i].openable -= self.free_blocks(RegionId(*i as u8), plane) as u64;
            self.shrunk -= self.sparse_in(*i, plane);
        }
        self.shrunk -= self.lost_bytes(pool, plane);
        let result = change(self);
        for i in &sharing {
            self.regions[*i].openable += self.free_blocks(RegionId(*i as u8), plane) as u64;
            self.shrunk += self.sparse_in(*i, plane);
        }
        self.shrunk += self.lost_bytes(pool, plane);
        self.most_shrunk = self.most_shrunk.max(self.shrunk);
        result
    }

    /// Logical pages (page map) or sectors (sector map) that hold the host's data.
    pub(crate) fn mapped(&self) -> u64 {
        let tables = self.trims.mapped() + self.demand.as_ref().map_or(0, |map| map.mapped());
        // Pages of these may be on their way through a protected stager, and not mapped.
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
        (pool.first_plane..pool.first_plane + pool.free.len() as u32).contains(&plane.0)
    }

    #[inline]
    pub(crate) fn at(&self, region: RegionId, plane: PlaneId) -> &RegionPlane {
        let r = &self.regions[region.index()];
        &r.planes[(plane.0 - r.first_plane) as usize]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, region: RegionId, plane: PlaneId) -> &mut RegionPlane {
        let r = &mut self.regions[region.index()];
        &mut r.planes[(plane.0 - r.first_plane) as usize]
    }

    /// The region that owns a block, or owned it last; of one never opened, the first of its pool.
    pub(crate) fn region_of(&self, block: BlockId) -> RegionId {
        let info = &self.blocks[block.index()];
        if info.was_opened() {
            return RegionId(info.region);
        }
        let plane = self.geometry.plane_of(block);
        let medium = self.geometry.medium_index(plane);
        let at = block.0 - self.geometry.first_block(plane);
        let holds =
            |p: &PoolState| p.medium == medium && (p.offset..p.offset + p.blocks_per_plane).contains(&at);
        let pool = self.pools.iter().position(holds);
        let first = self.regions.iter().position(|r| Some(r.region.pool.0 as usize) == pool);
        RegionId(first.unwrap_or(0) as u8)
    }

    /// The mode of a block; one never opened has the mode of the first region of its pool.
    pub(crate) fn mode_of(&self, block: BlockId) -> CellMode {
        let info = &self.blocks[block.index()];
        if info.was_opened() { info.mode() } else { self.regions[self.region_of(block).index()].region.mode }
    }

    /// Cycles that a block endures in a mode; 0 where that is not known.
    pub(crate) fn endurance(&self, block: BlockId, mode: CellMode) -> u32 {
        let medium = self.geometry.medium_of(self.geometry.plane_of(block));
        medium.mode(mode).map_or(0, |t| t.endurance)
    }

    /// All data on the drive were programmed so long ago.
    pub(crate) fn age_data(&mut self, before: SimDuration) {
        for b in 0..self.geometry.blocks {
            if self.blocks[b as usize].is_owned() {
                self.aging.opened(BlockId(b), self.now, before);
            }
        }
    }

    /// Cycles of a block in whatever modes, counted in those of the densest that its flash offers by the share
    /// of a life that each has cost. Coefficients of all modes are fitted to these.
    pub(crate) fn cycles(&self, block: BlockId) -> f64 {
        let info = &self.blocks[block.index()];
        let densest = self.geometry.medium_of(self.geometry.plane_of(block)).densest();
        match self.endurance(block, densest) {
            0 => info.erases as f64,
            endurance => lives(info.life_used) * endurance as f64,
        }
    }

    #[cold]
    fn look_up_errors(&mut self, block: BlockId) {
        let info = self.blocks[block.index()];
        let (cycles, pages) = (self.cycles(block), self.regions[info.region as usize].shape.pages());
        self.aging.look_up(block, info.mode(), Reading { pages, cycles, now: self.now });
    }

    /// A read begins of a page of a block whose wordline is in a mode now: how often must it be repeated?
    #[inline]
    pub(crate) fn sense(&mut self, block: BlockId, page: u32, mode: CellMode, bit: usize) -> Retries {
        let block_mode = self.blocks[block.index()].mode();
        if self.aging.is_stale(block, self.now) {
            self.look_up_errors(block);
        }
        // Each mode has its own number of bits, so that dividing by them is a shift, or a product.
        let wordline = match block_mode {
            CellMode::Slc => page,
            CellMode::Mlc => page / 2,
            CellMode::Tlc => page / 3,
            CellMode::Qlc => page / 4,
        };
        self.aging.read(PageRead { block, mode, is_own: mode == block_mode, wordline, bit })
    }

    /// So many more sectors of a block are live.
    #[inline]
    pub(crate) fn add_live(&mut self, block: BlockId, sectors: u32) {
        let info = &mut self.blocks[block.index()];
        info.live += sectors;
        let region = RegionId(info.region);
        let plane = self.geometry.plane_of(block);
        self.at_mut(region, plane).live += sectors as u64;
    }

    /// So many of them have died.
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
        lpn.0 >= self.logical_pages
    }

    /// The page behind the last of all, those of the drive's own tables among them.
    pub(crate) fn end_of_pages(&self) -> u32 {
        self.demand.as_ref().map_or(self.trims.end(), |map| map.end())
    }
}
