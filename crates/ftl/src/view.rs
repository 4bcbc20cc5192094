//! A scheme's view of the drive's state, read-only.

use crate::plan::decision::Answer;
use crate::plan::region::RegionId;
use crate::state::block::Phase;
use crate::state::blocks::backlog_of_die;
use crate::state::blocks::capacity::physical_bytes;
use crate::state::blocks::free_space::{free_blocks, free_slots, has_full_buffer};
use crate::state::blocks::victims::{best_victim, oldest_victim};
use crate::state::state::State;
use std::fmt::Display;
use wordline_counters::Cause;
use wordline_flash::{Geometry, SlotClass};
use wordline_units::{BlockId, DieId, Lpn, PlaneId, Ppn, SectorMask, SimTime};

/// A scheme's view of the drive: its state, read-only.
#[derive(Clone, Copy)]
pub struct View<'a> {
    state: &'a State,
    /// The region of a scheme's own number, if it has a part of a layout; otherwise the same number.
    named: Option<&'a [RegionId]>,
    /// The time.
    pub now: SimTime,
}

impl<'a> View<'a> {
    #[inline(always)]
    pub(crate) fn of(state: &'a State) -> View<'a> {
        View { state, named: None, now: state.now }
    }

    /// The same for a scheme that has a part of the layout, with its own numbering of regions.
    pub fn named(self, regions: &'a [RegionId]) -> View<'a> {
        View { named: Some(regions), ..self }
    }

    #[inline(always)]
    fn region(&self, own: RegionId) -> RegionId {
        match self.named {
            None => own,
            Some(names) => names[own.index()],
        }
    }

    /// The decision of a hook, or the reason of its failure: the run then ends with an error that names scheme, hook,
    /// time and reason, and the decision is not executed. So a hook can use `?` in a method, as in
    /// `view.answer(self.find(parcel, view))`.
    #[inline]
    pub fn answer<T: Answer>(&self, decided: Result<T, impl Display>) -> T {
        decided.unwrap_or_else(|reason| {
            self.state.complaint.get_or_init(|| reason.to_string().into());
            T::NONE
        })
    }

    /// The drive's numbering.
    pub fn geometry(&self) -> &Geometry {
        &self.state.geometry
    }

    /// Whether the run is over and the drive drains its buffers.
    pub fn draining(&self) -> bool {
        self.state.draining
    }

    /// Free pages of the write buffer; `None` without a write buffer.
    pub fn free_buffer_pages(&self) -> Option<u64> {
        Some((self.state.config.buffer_pages? as u64).saturating_sub(self.state.buffered))
    }

    /// Programmable pages of each bit in a region: those left in open blocks, and those of the erased blocks that it
    /// could open. Zeros under rules without page types.
    pub fn free_pages(&self, region: RegionId) -> [u64; 4] {
        let r = &self.state.blocks.region(self.region(region));
        let mut pages = r.left;
        if r.region.rule.by_bit() {
            for pages in &mut pages[..r.shape.bits as usize] {
                *pages += r.openable * r.shape.wordlines as u64;
            }
        }
        pages
    }

    /// Host requests admitted and not yet complete.
    pub fn outstanding(&self) -> u32 {
        self.state.outstanding
    }

    /// Erased blocks that a region can still open in a plane; none in a plane of another medium.
    pub fn free_blocks(&self, region: RegionId, plane: PlaneId) -> u32 {
        let region = self.region(region);
        if self.state.blocks.reaches(region, plane) {
            free_blocks(&self.state.blocks, region, plane)
        } else {
            0
        }
    }

    /// Free slots in a region's open blocks and in the blocks that it can still open; none in a plane of another
    /// medium.
    pub fn free_slots(&self, region: RegionId, plane: PlaneId) -> u64 {
        let region = self.region(region);
        if self.state.blocks.reaches(region, plane) {
            free_slots(&self.state.blocks, region, plane)
        } else {
            0
        }
    }

    /// The same over all planes of a region.
    pub fn free_slots_in(&self, region: RegionId) -> u64 {
        let region = self.region(region);
        self.planes_of(region).map(|p| free_slots(&self.state.blocks, region, p)).sum()
    }

    /// The planes in which a region has blocks.
    fn planes_of(&self, region: RegionId) -> impl Iterator<Item = PlaneId> + use<> {
        let r = &self.state.blocks.region(region);
        (r.first_plane..r.first_plane + r.planes.len() as u32).map(PlaneId)
    }

    /// The full blocks of a plane of a region that are not being collected. It scans all blocks of the plane, so it is
    /// for infrequent decisions.
    pub fn full_blocks(&self, region: RegionId, plane: PlaneId) -> impl Iterator<Item = BlockId> + use<'a> {
        let (state, region) = (self.state, self.region(region));
        let is_full = move |b: &BlockId| {
            let block = state.blocks.block(*b);
            block.region == region.0 && block.phase == Phase::Full && block.writers == 0
        };
        state.geometry.blocks_of(plane).map(BlockId).filter(is_full)
    }

    /// The logical pages with data in a block, for regions without a base image.
    pub fn pages_in(&self, block: BlockId) -> impl Iterator<Item = Lpn> + use<'a> {
        let state = self.state;
        let slots = state.blocks.region(state.blocks.region_of(block)).slots_per_block;
        (0..slots).filter_map(move |slot| state.map.page_at(state.geometry.ppn(block, slot)))
    }

    /// Erase count of a block.
    pub fn erases(&self, block: BlockId) -> u32 {
        self.state.blocks.block(block).erases
    }

    /// Current capacity of the drive in bytes, each block in its mode, an erased one in the densest of its pool.
    pub fn usable_bytes(&self) -> u64 {
        physical_bytes(&self.state.blocks) - self.state.blocks.shrunk().0
    }

    /// Blocks of a plane that a region owns.
    pub fn owned(&self, region: RegionId, plane: PlaneId) -> u32 {
        self.state.blocks.owned(self.region(region), plane)
    }

    /// The block for the next program of a class in a plane of a region, if one is open.
    pub fn frontier(&self, region: RegionId, plane: PlaneId, class: SlotClass) -> Option<BlockId> {
        self.state.blocks.at(self.region(region), plane).open[class as usize].front().map(|b| BlockId(*b))
    }

    /// The block that GC empties in a plane of a region, if any.
    pub fn collecting(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        self.state.blocks.at(self.region(region), plane).job.map(|job| job.block)
    }

    /// The next block that idle time can empty in a plane of a region: the one already begun, or else the next victim
    /// by the region's own rule. None while GC empties a block.
    pub fn next_in_idle_time(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        let region = self.region(region);
        match self.state.blocks.at(region, plane).job {
            Some(job) => job.is_paused().then_some(job.block),
            None => {
                let best = best_victim(&self.state.blocks, &self.state.map, region, plane);
                best.filter(|block| self.state.geometry.plane_of(*block) == plane) // of a superblock: its first
            }
        }
    }

    /// The open block of a plane of a region, while no program into it is in progress.
    pub fn quiet_frontier(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        let quiet = |b: &BlockId| self.state.blocks.block(*b).writers == 0;
        self.frontier(region, plane, SlotClass::Next).filter(quiet)
    }

    /// The same at the end of a run: a cache that is drained then starts with the full blocks and ends with this one.
    pub fn last_frontier(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        self.quiet_frontier(region, plane).filter(|_| self.draining())
    }

    /// The first valid page of a block of a region without a base image, and its place.
    pub fn first_page_in(&self, block: BlockId) -> Option<(Lpn, Ppn)> {
        if self.live_sectors(block) == 0 {
            return None;
        }
        let slots = self.state.blocks.region(self.state.blocks.region_of(block)).slots_per_block;
        let mut places = (0..slots).map(|slot| self.state.geometry.ppn(block, slot));
        places.find_map(|ppn| Some((self.state.map.page_at(ppn)?, ppn)))
    }

    /// Among the full blocks of a plane of a FIFO region, the one filled first.
    pub fn oldest(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        oldest_victim(&self.state.blocks, self.region(region), plane)
    }

    /// Blocks that a region owns in all planes, and their programmed slots.
    pub fn taken(&self, region: RegionId) -> (u64, u64) {
        let region = self.region(region);
        let (all, r) = (&self.state.blocks, self.state.blocks.region(region));
        self.planes_of(region).fold((0, 0), |(blocks, slots), p| {
            (blocks + all.owned(region, p) as u64, slots + r.used_slots(all.local(region, p)))
        })
    }

    /// The sectors of a logical page with data, in RAM or on flash.
    pub fn sectors(&self, lpn: Lpn) -> SectorMask {
        self.state.staging.mask(lpn).union(self.state.map.held(lpn))
    }

    /// The place of a logical page on flash, under a page map or the page map of an overlay; newer data may be in
    /// flight.
    pub fn locate(&self, lpn: Lpn) -> Option<Ppn> {
        self.state.map.locate(lpn)
    }

    /// Whether data of a logical page are in RAM, or in flight to flash.
    pub fn is_staged(&self, lpn: Lpn) -> bool {
        self.state.staging.find(lpn).is_some()
    }

    /// The plane of a place, and the region that owns its block; [`RegionId::OTHER`] for one that is not the scheme's.
    pub fn owner(&self, ppn: Ppn) -> (PlaneId, RegionId) {
        let block = self.state.geometry.block_of(ppn);
        let region = self.state.blocks.region_of(block);
        let own = match self.named {
            None => region,
            Some(names) => {
                let position = names.iter().position(|name| *name == region);
                position.map_or(RegionId::OTHER, |own| RegionId(own as u8))
            }
        };
        (self.state.geometry.plane_of(block), own)
    }

    /// Mean P/E cycles of the blocks of a region's pool.
    pub fn mean_erases(&self, region: RegionId) -> f64 {
        let pool = self.state.blocks.pool_of(self.region(region));
        let blocks = pool.planes().flat_map(|plane| {
            let blocks = pool.blocks_in(&self.state.geometry, plane);
            &self.state.blocks.all()[blocks.start as usize..blocks.end as usize]
        });
        let (n, sum) = blocks.fold((0u64, 0u64), |(n, sum), b| (n + 1, sum + b.erases as u64));
        sum as f64 / n.max(1) as f64
    }

    /// Bytes programmed in a region, by cause, since the start of the run.
    pub fn program_bytes(&self, region: RegionId) -> &'a [u64; Cause::COUNT] {
        &self.state.counters.regions[self.region(region).index()].program_bytes
    }

    /// Whether a region accepts a moved page now, or its move buffer is full.
    pub fn takes_moves(&self, region: RegionId) -> bool {
        !has_full_buffer(&self.state.blocks, self.region(region))
    }

    /// Operations waiting or running in the planes of a die.
    pub fn backlog(&self, die: DieId) -> u32 {
        backlog_of_die(&self.state.blocks, &self.state.backlog, die)
    }

    /// The next victim by a region's own rule.
    pub fn best(&self, region: RegionId, plane: PlaneId) -> Option<BlockId> {
        best_victim(&self.state.blocks, &self.state.map, self.region(region), plane)
    }

    /// Share of life used of a block, its erases in each mode counted by the endurance of the mode; 0 if unknown.
    pub fn life_used(&self, block: BlockId) -> f64 {
        crate::state::aging::lives(self.state.blocks.block(block).life_used)
    }

    /// Valid sectors of a block.
    pub fn live_sectors(&self, block: BlockId) -> u32 {
        self.state.blocks.block(block).live
    }

    /// Valid mapping units in a plane of a region.
    pub fn live_units(&self, region: RegionId, plane: PlaneId) -> u64 {
        self.state.blocks.at(self.region(region), plane).live / self.state.geometry.sectors_per_unit as u64
    }

    /// The same over all planes of a region.
    pub fn live_units_in(&self, region: RegionId) -> u64 {
        let region = self.region(region);
        let sectors: u64 = self.planes_of(region).map(|p| self.state.blocks.at(region, p).live).sum();
        sectors / u64::from(self.state.geometry.sectors_per_unit)
    }

    /// Logical pages (page map) or sectors (sector map) that hold data.
    pub fn mapped(&self) -> u64 {
        self.state.mapped()
    }

    /// Logical pages that the host can address.
    pub fn logical_pages(&self) -> u32 {
        self.state.config.logical_pages
    }
}
