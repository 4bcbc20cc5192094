//! What the blocks and tables of a drive hold: for reports, checks, and media that keep a journal.

use crate::inspect::{fit, pending};
use crate::layer::Layer;
use crate::media::error::MediaError;
use crate::plan::layout::Hooks;
use crate::plan::region::MapTable;
use crate::plan::region::RegionId;
use crate::state::aging::lives;
use crate::state::block::{Block, Phase};
use crate::state::blocks::capacity::{lasting_bytes, physical_bytes};
use crate::state::blocks::free_space::{free_blocks, total_blocks};
use crate::state::op::Op;
use crate::state::request::Pending;
use crate::state::staging::Staged;
use crate::state::trim::AllTrims;
use serde::{Deserialize, Serialize};
use wordline_counters::LostCounts;
use wordline_device::Ack;
use wordline_units::{BlockId, CellMode, DieId, Fraction, Lpn, SectorMask, SimTime};

/// The state of a block from the drive's view.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum BlockLife {
    /// It can be opened.
    Erased,
    /// It has slots left that may yet be programmed.
    Open,
    /// Every slot is taken.
    Full,
    /// It is being emptied, or erased.
    Emptied,
    /// It is lost.
    Retired,
}

/// A block, as seen from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockStatus {
    /// The region that owns it, or owned it last.
    pub region: RegionId,
    /// Its cell mode, or that before its erase.
    pub mode: CellMode,
    /// Its state.
    pub life: BlockLife,
    /// Its share of valid data, in tenths.
    pub live_tenths: u8,
}

/// A drive, read-only, as reports and checks see it.
#[derive(Clone, Copy)]
pub struct Inspect<'a> {
    layer: &'a Layer,
}

impl<'a> Inspect<'a> {
    pub(crate) fn of(layer: &'a Layer) -> Inspect<'a> {
        Inspect { layer }
    }

    /// When a write first found no place, and the utilization of the target region then.
    pub fn first_full(self) -> Option<&'a str> {
        self.layer.out.first_full()
    }

    /// Numbers of the last 64 requests whose host reads ended as uncorrectable because the media failed.
    pub fn read_errors(self) -> &'a [(u64, MediaError)] {
        &self.layer.read_errors
    }

    /// Maximum RAM, in bytes, of changes that waited for their map page.
    pub fn map_journal_peak_bytes(self) -> u64 {
        self.layer.state.demand.as_ref().map_or(0, |map| map.journal_peak_bytes())
    }

    /// Active idle jobs of a die.
    pub fn idle_jobs(self, die: DieId) -> u32 {
        self.layer.idle_jobs.of(die)
    }

    /// Whether the scheme wants to be asked for work on idle dies.
    pub fn works_when_idle(self) -> bool {
        self.layer.seat.hooks.contains(Hooks::IDLE)
    }

    /// Whether any operation is in progress.
    pub fn has_operations(self) -> bool {
        self.layer.state.ops.live() > 0
    }

    /// Whether a job holds any die.
    pub fn holds_a_die(self) -> bool {
        self.layer.held_dies.any()
    }

    /// The drive's size in units of 512 bytes.
    pub fn logical_lbas(self) -> u64 {
        self.layer.state.config.logical_pages as u64 * self.layer.state.config.addressing.lbas_per_page()
    }

    /// Every block that is not erased, with the region that owns it and the pages programmed in it, by
    /// bit of their wordline, and whether it is in the middle of a window written with all bits.
    pub fn programmed(self) -> impl Iterator<Item = (BlockId, RegionId, [u32; 4], bool)> + use<'a> {
        let state = &self.layer.state;
        let blocks = state.blocks.all().iter().enumerate();
        blocks.filter(|(_, b)| b.is_owned()).map(|(i, b)| {
            let r = &state.blocks.regions()[b.region as usize];
            let all = r.region.rule.left(r.shape, &Default::default());
            let left = r.region.rule.left(r.shape, &b.state);
            let pages = std::array::from_fn(|bit| all[bit] - left[bit]);
            (BlockId(i as u32), RegionId(b.region), pages, b.state.direct > 0)
        })
    }

    /// How a block looks from outside.
    #[inline]
    pub fn block_status(self, block: BlockId) -> BlockStatus {
        let info = self.layer.state.blocks.block(block);
        let life = match info.phase {
            Phase::Free => BlockLife::Erased,
            Phase::Open | Phase::Standby => BlockLife::Open,
            Phase::Collecting | Phase::Erasing => BlockLife::Emptied,
            Phase::Retired => BlockLife::Retired,
            _ => BlockLife::Full,
        };
        let region = self.layer.state.blocks.region_of(block);
        let r = &self.layer.state.blocks.region(region);
        let holds = r.slots_per_block * self.layer.state.geometry.sectors_per_unit;
        // A drive has many blocks where nothing lives, and each map looks at some hundred.
        let live_tenths = match info.live {
            0 => 0,
            live => (live as u64 * 10 / holds.max(1) as u64).min(10) as u8,
        };
        let mode = if info.was_opened() { info.mode() } else { r.region.mode };
        BlockStatus { region, mode, life, live_tenths }
    }

    /// Mode and erase count of every block; a block never opened has the mode of the first region of
    /// its pool.
    pub fn wear(self) -> impl Iterator<Item = (CellMode, u32)> + use<'a> {
        let state = &self.layer.state;
        let blocks = state.blocks.all().iter().enumerate();
        blocks.map(|(i, b)| (state.blocks.mode_of(BlockId(i as u32)), b.erases))
    }

    /// Current and minimum capacity of the drive in bytes: each block in its current mode, an erased one in the densest
    /// of its pool, without lost blocks.
    pub fn usable_bytes(self) -> (u64, u64) {
        let all = physical_bytes(&self.layer.state.blocks);
        (all - self.layer.state.blocks.shrunk().0, all - self.layer.state.blocks.shrunk().1)
    }

    /// Capacity of the blocks for data at rest in bytes, each in the densest mode of its pool: as built, and without
    /// lost blocks. An SLC cache whose data migrate does not count.
    pub fn lasting_bytes(self) -> (u64, u64) {
        lasting_bytes(&self.layer.state.blocks)
    }

    /// Whether blocks change between modes of different capacity, or are lost.
    pub fn changes_capacity(self) -> bool {
        let wear = &self.layer.state.wear;
        wear.spec.enforce
            || wear.lost.bad > 0
            || self.layer.state.blocks.regions().iter().any(|r| r.sparse_by > 0)
    }

    /// Share of the endurance that the blocks have used: the mean over those with a known endurance, and the maximum.
    pub fn life_used(self) -> Option<(f64, f64)> {
        let known = self
            .layer
            .state
            .geometry
            .media
            .iter()
            .flat_map(|m| m.modes.iter().flatten())
            .any(|t| t.endurance > 0);
        let lives = || self.layer.state.blocks.all().iter().map(|b| lives(b.life_used));
        let mean = lives().sum::<f64>() / self.layer.state.blocks.all().len() as f64;
        known.then(|| (mean, lives().fold(0.0, f64::max)))
    }

    /// Blocks that a region owns now, in all planes.
    pub fn owned_blocks(self, region: RegionId) -> u64 {
        self.layer.state.blocks.region(region).planes.iter().map(|p| p.owned as u64).sum()
    }

    /// Share of a region's blocks that are erased and could be opened, over all planes.
    pub fn free_share(self, region: RegionId) -> f64 {
        let pool = self.layer.state.blocks.pool_of(region);
        let free: u64 = pool.planes().map(|p| free_blocks(&self.layer.state.blocks, region, p) as u64).sum();
        free as f64
            / (total_blocks(&self.layer.state.blocks, region) as u64 * pool.free.len() as u64).max(1) as f64
    }

    /// Blocks that are erased now, over all planes.
    pub fn erased_blocks(self) -> u64 {
        self.layer.state.blocks.pools().iter().flat_map(|pool| &pool.free).map(|free| free.len() as u64).sum()
    }

    /// Bytes of all blocks erased so far, each in its mode at the erase. In the long run, this equals the bytes
    /// programmed.
    pub fn erased_bytes(self) -> u64 {
        let regions = self.layer.state.blocks.regions().iter().zip(&self.layer.state.counters.regions);
        regions
            .map(|(r, c)| {
                let medium = self.layer.seat.layout.pools[r.region.pool.0 as usize].medium;
                c.counts.erases * self.layer.state.geometry.media[medium].block_bytes(r.region.mode)
            })
            .sum()
    }

    /// Bytes of the map with its inverse, and of all tables together.
    pub fn table_bytes(self) -> (u64, u64) {
        let map = self.layer.state.map.bytes();
        let block = size_of::<Block>() as u64 + 4;
        let blocks = self.layer.state.geometry.blocks as u64 * (block + 4 + 4);
        let ops = (self.layer.state.ops.capacity() * size_of::<Op>()
            + self.layer.requests.capacity() * size_of::<Pending>()) as u64;
        (map, map + blocks + ops)
    }

    /// RAM for data in flight: the write buffer and the merge buffer, in bytes.
    pub fn buffer_bytes(self) -> u64 {
        let buffered = if let Ack::Buffer(pages) = self.layer.state.config.ack { pages as u64 } else { 0 };
        let merged =
            if self.layer.seat.layout.merges.is_some() { self.layer.merge_buffer.most as u64 } else { 0 };
        (buffered + merged) * self.layer.state.geometry.unit
    }

    /// Tables of the drive in addition to a page map, as counted in the literature.
    pub fn map_tables(self) -> Vec<MapTable> {
        let first = &self.layer.state.blocks.regions()[0];
        let blocks =
            first.planes.len() as u64 * self.layer.state.blocks.pool_of(RegionId(0)).blocks_per_plane as u64;
        let slots = blocks * first.slots_per_block as u64;
        self.layer.seat.layout.map.tables(
            &self.layer.state.geometry,
            self.layer.state.config.logical_pages,
            slots,
        )
    }

    /// Host bytes that only the drive's buffer holds: acknowledged, or of FUA writes. After a drive has drained, these
    /// are the data that did not fit on the full flash.
    pub fn unplaced_bytes(self) -> u64 {
        if !self.layer.state.config.ack.answers_from_ram() {
            return 0;
        }
        let hosts = self.layer.state.staging.iter().filter(|s| !self.layer.state.is_metadata(s.lpn()));
        hosts.map(|s| s.mask().count() as u64).sum::<u64>() * self.layer.state.geometry.sector
    }

    /// Logical pages (page map) or sectors (sector map) that hold data.
    pub fn mapped(self) -> u64 {
        self.layer.state.mapped()
    }

    /// Bytes of the logical pages or sectors that hold data.
    pub fn live_bytes(self) -> u64 {
        let g = &self.layer.state.geometry;
        self.mapped() * if self.layer.seat.layout.map.is_by_page() { g.unit } else { g.sector }
    }

    /// Whether all sectors of a range of logical pages have data on flash, or none has, as far as that is known without
    /// a look at each page, and except for [`Self::mixed_pages`].
    pub fn uniform(self, pages: std::ops::Range<u32>) -> Option<bool> {
        self.layer.state.map.uniform(pages)
    }

    /// Logical pages that may differ from a uniform range around them: with data in RAM, or in some sectors only.
    pub fn mixed_pages(self) -> impl Iterator<Item = Lpn> + 'a {
        self.layer.state.staging.iter().map(Staged::lpn).chain(self.layer.state.map.mixed())
    }

    /// Whether any operation, staged page or job is left.
    pub fn is_quiet(self) -> bool {
        self.layer.state.ops.live() == 0 && self.layer.state.staging.len() == 0
    }

    /// The pages of the drive's own tables, behind the last logical page: the trim log, and a map on flash.
    pub fn own_pages(self) -> std::ops::Range<u32> {
        self.layer.state.config.logical_pages..self.layer.state.end_of_pages()
    }

    /// The pages of the trim log, behind the last logical page.
    pub fn trim_log(self) -> std::ops::Range<u32> {
        self.layer.state.config.logical_pages..self.layer.state.trims.end()
    }
    /// The version of the newest request that changed data.
    pub fn newest_version(self) -> u64 {
        self.layer.requests.version()
    }

    /// When the drive wore out, if it did: it accepts no more writes and can still be read.
    pub fn worn_out(self) -> Option<SimTime> {
        self.layer.state.wear.over
    }

    /// Number of initially bad blocks, and of blocks retired since.
    pub fn lost_blocks(self) -> (u32, u32) {
        (self.layer.state.wear.lost.bad, self.layer.state.wear.lost.retired)
    }

    /// Like it, with the number of blocks whose data static wear leveling moved.
    pub fn lost_counts(self) -> &'a LostCounts {
        &self.layer.state.wear.lost
    }

    /// Whether protected RAM may hold data of a page that are not on flash.
    pub fn is_in_ram(self, lpn: Lpn) -> bool {
        let all = SectorMask::first(self.layer.state.geometry.sectors_per_unit);
        let trims = &self.layer.state.trims;
        self.layer.state.staging.find(lpn).is_some()
            || trims.has_unlogged() && trims.entries(lpn, all).any(|entry| trims.is_unlogged(entry))
    }

    /// Trims that only RAM holds: entries of the trim log, and their versions.
    pub fn trims_in_ram(self) -> Vec<(u64, u64)> {
        self.layer.state.trims.kept(AllTrims::Kept)
    }

    /// The logical page of an entry of the trim log.
    pub fn page_of_trim(self, entry: u64) -> Lpn {
        self.layer.state.trims.sectors_of(entry).0
    }

    /// The pages of a map on flash, behind the trim log; none without one.
    pub fn map_pages(self) -> std::ops::Range<u32> {
        self.layer.state.demand.as_ref().map_or(0..0, |map| map.first()..map.end())
    }

    /// Pending work: operations with their purpose, the free blocks of the planes and regions that their programs
    /// target, and the active collections.
    pub fn leftovers(self) -> String {
        pending::leftovers(&self.layer.state, self.layer.moves.waiting.len())
    }

    /// A state in which data fill the drive just short of its first collection. Returns the share of the logical pages
    /// that hold data (about `share`, or all if requested) and the share of valid pages in their blocks, as
    /// `Setup::precondition` takes them. `None` if this many pages do not fit.
    pub fn fill_short_of_collection(self, share: Fraction) -> Option<(Fraction, Fraction)> {
        fit::fill_short_of_collection(&self.layer.state, &self.layer.seat.layout, share)
    }

    /// Bytes that can be written to a region before its first collection, at about the same rate in all planes. `None`
    /// if no trigger determines it.
    pub fn bytes_to_collection(self, region: RegionId) -> Option<u64> {
        fit::bytes_to_collection(&self.layer.state, region)
    }
}
