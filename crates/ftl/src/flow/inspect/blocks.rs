//! What can be asked of the translation layer and changes nothing in it: for probes, reports and checks.

use crate::ftl::Ftl;
use crate::plan::map_kind::MapTable;
use crate::plan::region::RegionId;
use crate::plan::span::{Located, Places};
use crate::state::aging::lives;
use crate::state::block::{Block, Phase};
use crate::state::job::{GcReason, Job};
use crate::state::op::{Collecting, Op, OpId, Owner, Part, Reason};
use crate::state::request::Pending;
use serde::{Deserialize, Serialize};
use wordline_counters::OpKind;
use wordline_device::Ack;
use wordline_units::{BlockId, CellMode, Lpn, PageType, PlaneId, Ppn, SectorMask};

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

impl Ftl {
    /// The cell mode and page type that an operation works on, once it is bound.
    pub fn page_of(&self, id: OpId) -> (CellMode, PageType) {
        let (mode, bit) = self.wordline_of(&self.state.ops[id]);
        (mode, PageType::ALL[bit])
    }

    /// The region that owns the block of an operation, once it is bound.
    pub fn region_of(&self, id: OpId) -> RegionId {
        RegionId(self.state.blocks[self.state.geometry.block_of(self.state.ops[id].ppn).index()].region)
    }

    /// Number of slots of an operation from its place on; all slots of a block for an erase.
    pub fn slots_of(&self, id: OpId) -> u32 {
        let op = &self.state.ops[id];
        match op.kind {
            OpKind::Read => {
                let sectors = u32::BITS - op.mask.0.leading_zeros();
                let units = self.state.geometry.units_per_page(self.state.geometry.medium_index(op.plane));
                sectors.div_ceil(self.state.geometry.sectors_per_unit).clamp(1, units)
            }
            OpKind::Program => op.slots as u32,
            OpKind::Erase => self.state.regions[self.region_of(id).index()].slots_per_block,
        }
    }

    /// The operations of a chain, from its first on.
    #[inline]
    pub(crate) fn chain_of(&self, lead: OpId) -> impl Iterator<Item = OpId> + '_ {
        std::iter::successors(Some(lead), |id| Some(self.state.ops[*id].chain).filter(|next| !next.is_none()))
    }

    /// The logical pages of an operation, once it is bound; none for an erase, nor for a read of GC, which takes all
    /// valid pages.
    pub fn parts_of(&self, id: OpId) -> impl Iterator<Item = Part> + '_ {
        let lead = &self.state.ops[id];
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        let chain = self.chain_of(id).map(|part| &self.state.ops[part]);
        chain.filter(|op| !op.lpn.is_none()).map(move |op| Part {
            lpn: op.lpn,
            ppn: if lead.kind == OpKind::Program { Ppn(lead.ppn.0 + op.slot as u32) } else { op.ppn },
            // The lead of a read stands for all that it senses; its own part comes first.
            sectors: op.mask.and(all).count(),
            cause: op.cause,
        })
    }

    /// The source block of a program's first data, if it moves data.
    pub fn source_of(&self, id: OpId) -> Option<BlockId> {
        let op = &self.state.ops[id];
        let moves = op.kind == OpKind::Program && op.from != Ppn::NONE;
        moves.then(|| self.state.geometry.block_of(op.from))
    }

    /// The block being emptied, if the operation is a part of that.
    pub fn collecting_of(&self, id: OpId) -> Option<Collecting> {
        let op = &self.state.ops[id];
        let block = match op.kind {
            OpKind::Program => self.source_of(id)?,
            OpKind::Read | OpKind::Erase => self.state.geometry.block_of(op.ppn),
        };
        let (region, plane) = (self.state.region_of(block), self.state.geometry.plane_of(block));
        let job = self.state.at(region, plane).job.filter(|job| job.block == block)?;
        let collects = op.kind != OpKind::Read || matches!(op.owner, Owner::Job(_));
        let reason = match job {
            Job { why: GcReason::Levelling, .. } => Reason::Levelling,
            Job { why: GcReason::Due, .. } => Reason::Refresh,
            Job { idle: true, .. } => Reason::Idleness,
            _ => Reason::Shortage,
        };
        let free_blocks = self.state.free_blocks(region, plane);
        let free_slots = self.state.free_slots(region, plane);
        let holds = self.state.regions[region.index()].slots_per_block * self.state.geometry.sectors_per_unit;
        let live = self.state.blocks[block.index()].live as u64;
        let valid_percent = (live * 100).div_ceil(holds.max(1) as u64).min(100) as u8;
        collects.then_some(Collecting { block, region, reason, free_blocks, free_slots, valid_percent })
    }

    /// Every block that is not erased, with the region that owns it and the pages programmed in it, by
    /// bit of their wordline, and whether it is in the middle of a window written with all bits.
    pub fn programmed(&self) -> impl Iterator<Item = (BlockId, RegionId, [u32; 4], bool)> + '_ {
        let blocks = self.state.blocks.iter().enumerate();
        blocks.filter(|(_, b)| b.is_owned()).map(|(i, b)| {
            let r = &self.state.regions[b.region as usize];
            let all = r.region.rule.left(r.shape, &Default::default());
            let left = r.region.rule.left(r.shape, &b.state);
            let pages = std::array::from_fn(|bit| all[bit] - left[bit]);
            (BlockId(i as u32), RegionId(b.region), pages, b.state.direct > 0)
        })
    }

    /// How a block looks from outside.
    #[inline]
    pub fn block_status(&self, block: BlockId) -> BlockStatus {
        let info = &self.state.blocks[block.index()];
        let life = match info.phase {
            Phase::Free => BlockLife::Erased,
            Phase::Open | Phase::Standby => BlockLife::Open,
            Phase::Collecting | Phase::Erasing => BlockLife::Emptied,
            Phase::Retired => BlockLife::Retired,
            _ => BlockLife::Full,
        };
        let region = self.state.region_of(block);
        let r = &self.state.regions[region.index()];
        let holds = r.slots_per_block * self.state.geometry.sectors_per_unit;
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
    pub fn wear(&self) -> impl Iterator<Item = (CellMode, u32)> + '_ {
        let blocks = self.state.blocks.iter().enumerate();
        blocks.map(|(i, b)| (self.state.mode_of(BlockId(i as u32)), b.erases))
    }

    /// Current and minimum capacity of the drive in bytes: each block in its current mode, an erased one in the densest
    /// of its pool, without lost blocks.
    pub fn usable_bytes(&self) -> (u64, u64) {
        let all = self.state.physical_bytes();
        (all - self.state.shrunk, all - self.state.most_shrunk)
    }

    /// Capacity of the blocks for data at rest in bytes, each in the densest mode of its pool: as built, and without
    /// lost blocks. An SLC cache whose data migrate does not count.
    pub fn lasting_bytes(&self) -> (u64, u64) {
        self.state.lasting_bytes()
    }

    /// Whether blocks change between modes of different capacity, or are lost.
    pub fn changes_capacity(&self) -> bool {
        let wear = &self.state.wear;
        wear.spec.enforce || wear.lost.bad > 0 || self.state.regions.iter().any(|r| r.sparse_by > 0)
    }

    /// Share of the endurance that the blocks have used: the mean over those with a known endurance, and the maximum.
    pub fn life_used(&self) -> Option<(f64, f64)> {
        let known =
            self.state.geometry.media.iter().flat_map(|m| m.modes.iter().flatten()).any(|t| t.endurance > 0);
        let lives = || self.state.blocks.iter().map(|b| lives(b.life_used));
        let mean = lives().sum::<f64>() / self.state.blocks.len() as f64;
        known.then(|| (mean, lives().fold(0.0, f64::max)))
    }

    /// Blocks that a region owns now, in all planes.
    pub fn owned_blocks(&self, region: RegionId) -> u64 {
        self.state.regions[region.index()].planes.iter().map(|p| p.owned as u64).sum()
    }

    /// Share of a region's blocks that are erased and could be opened, over all planes.
    pub fn free_share(&self, region: RegionId) -> f64 {
        let pool = self.state.pool_of(region);
        let planes = pool.first_plane..pool.first_plane + pool.free.len() as u32;
        let free: u64 = planes.map(|p| self.state.free_blocks(region, PlaneId(p)) as u64).sum();
        free as f64 / (self.state.total_blocks(region) as u64 * pool.free.len() as u64).max(1) as f64
    }

    /// Blocks that are erased now, over all planes.
    pub fn erased_blocks(&self) -> u64 {
        self.state.pools.iter().flat_map(|pool| &pool.free).map(|free| free.len() as u64).sum()
    }

    /// Bytes of all blocks erased so far, each in its mode at the erase. In the long run, this equals the bytes
    /// programmed.
    pub fn erased_bytes(&self) -> u64 {
        let regions = self.state.regions.iter().zip(&self.state.counters.regions);
        regions
            .map(|(r, c)| {
                let medium = self.layout.pools[r.region.pool.0 as usize].medium;
                c.counts.erases * self.state.geometry.media[medium].block_bytes(r.region.mode)
            })
            .sum()
    }

    /// Bytes of the map with its inverse, and of all tables together.
    pub fn table_bytes(&self) -> (u64, u64) {
        let map = self.state.map.bytes();
        let block = size_of::<Block>() as u64 + 4;
        let blocks = self.state.geometry.blocks as u64 * (block + 4 + 4);
        let ops = (self.state.ops.capacity() * size_of::<Op>()
            + self.requests.capacity() * size_of::<Pending>()) as u64;
        (map, map + blocks + ops)
    }

    /// RAM for data in flight: the write buffer and the merge buffer, in bytes.
    pub fn buffer_bytes(&self) -> u64 {
        let buffered = if let Ack::Buffer(pages) = self.ack { pages as u64 } else { 0 };
        let merged = if self.layout.merges.is_some() { self.merge_buffer.most as u64 } else { 0 };
        (buffered + merged) * self.state.geometry.unit
    }

    /// Tables of the drive in addition to a page map, as counted in the literature.
    pub fn map_tables(&self) -> Vec<MapTable> {
        let first = &self.state.regions[0];
        let blocks = first.planes.len() as u64 * self.state.pool_of(RegionId(0)).blocks_per_plane as u64;
        let slots = blocks * first.slots_per_block as u64;
        self.layout.map.tables(&self.state.geometry, self.state.logical_pages, slots)
    }

    /// Host bytes that only the drive's buffer holds: acknowledged, or of FUA writes. After a drive has drained, these
    /// are the data that did not fit on the full flash.
    pub fn unplaced_bytes(&self) -> u64 {
        if !self.ack.answers_from_ram() {
            return 0;
        }
        let hosts = self.state.staging.iter().filter(|s| !self.state.is_metadata(s.lpn));
        hosts.map(|s| s.mask.count() as u64).sum::<u64>() * self.state.geometry.sector
    }

    /// Logical pages (page map) or sectors (sector map) that hold data.
    pub fn mapped(&self) -> u64 {
        self.state.mapped()
    }

    /// Bytes of the logical pages or sectors that hold data.
    pub fn live_bytes(&self) -> u64 {
        let g = &self.state.geometry;
        self.mapped() * if self.layout.map.is_by_page() { g.unit } else { g.sector }
    }

    /// Whether any operation, staged page or job is left.
    pub fn is_quiet(&self) -> bool {
        self.state.ops.live() == 0 && self.state.staging.len() == 0
    }

    /// The places of the sectors of a logical page; sectors that were never written are omitted.
    pub fn locate(&mut self, lpn: Lpn) -> Vec<Located> {
        let mut located = Places::new();
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        self.state.map.resolve(lpn, all, &mut located);
        located.to_vec()
    }

    /// The pages of the drive's own tables, behind the last logical page: the trim log, and a map on flash.
    pub fn own_pages(&self) -> std::ops::Range<u32> {
        self.state.logical_pages..self.state.end_of_pages()
    }

    /// The pages of the trim log, behind the last logical page.
    pub fn trim_log(&self) -> std::ops::Range<u32> {
        self.state.logical_pages..self.state.trims.end()
    }

    pub(crate) fn planes_of(&self, region: RegionId) -> impl Iterator<Item = PlaneId> + use<> {
        let pool = self.state.pool_of(region);
        (pool.first_plane..pool.first_plane + pool.free.len() as u32).map(PlaneId)
    }

    pub(crate) fn blocks_of(&self, region: RegionId, plane: PlaneId) -> std::ops::Range<u32> {
        let pool = self.state.pool_of(region);
        let first = self.state.geometry.blocks_of(plane).start + pool.offset;
        first..first + pool.blocks_per_plane
    }
}
