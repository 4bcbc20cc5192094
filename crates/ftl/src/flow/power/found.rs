//! What is found on flash and in protected RAM after a power cut, as tables: blocks, the map, the trim log, and the map
//! on flash.

use crate::map::overlay::IsFirst;
use crate::media::found::SlotFound;
use crate::media::seam::Metadata;
use crate::plan::region::RegionId;
use crate::plan::span::{Dead, Places, Span};
use crate::state::block::{Phase, bits_of};
use crate::state::blocks::at_rest::{block_mut, keep_erased, recount, regions_mut};
use crate::state::blocks::superblock_members::members;
use crate::state::blocks::victims::list;
use crate::state::blocks::{add_live, take_live};
use crate::state::requests::Requests;
use crate::state::state::State;
use crate::state::store::Store;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use wordline_units::{BlockId, DieId, Lpn, Ppn, SectorMask, SimDuration};

/// The newest copy of an entry.
#[derive(Clone, Copy)]
pub(crate) struct Newest {
    pub version: u64,
    /// In a block that a torn wordline has not ended.
    is_apart: bool,
    sequence: u64,
    ppn: Ppn,
    span: Span,
}

impl Newest {
    /// The greatest is the copy that counts.
    fn rank(&self) -> (u64, bool, u64) {
        (self.version, self.is_apart, self.sequence)
    }
}

/// The tables of a drive while they are built again from the metadata of its flash.
pub(crate) struct Found<'a> {
    state: &'a mut State,
    store: &'a mut Store,
    requests: &'a mut Requests,
    metadata: &'a Metadata,
}

impl<'a> Found<'a> {
    pub fn new(
        state: &'a mut State,
        store: &'a mut Store,
        requests: &'a mut Requests,
        metadata: &'a Metadata,
    ) -> Found<'a> {
        Found { state, store, requests, metadata }
    }

    /// Mode, region and programmed pages of every block.
    pub fn find_blocks(&mut self) -> Result<(), String> {
        for b in 0..self.state.geometry.blocks {
            let Some(found) = self.metadata.block(BlockId(b)) else { continue };
            let unknown = self.region_unwritten(BlockId(b));
            let mut info = *self.state.blocks.block(BlockId(b));
            info.erases = found.erases;
            if found.half_erased {
                info.phase = Phase::Collecting;
                *block_mut(&mut self.state.blocks, BlockId(b)) = info;
                continue;
            }
            if found.slots.iter().all(|s| *s == SlotFound::Blank) {
                *block_mut(&mut self.state.blocks, BlockId(b)) = info;
                continue;
            }
            let strange = || {
                format!(
                    "block {b} was written as {:?}, which this layout does not use; power on with the same \
                     device, scheme and parameters as before",
                    found.header
                )
            };
            let region = found.header.map_or(unknown, |h| h.region).0;
            let r = self.state.blocks.regions().get(region as usize).ok_or_else(strange)?;
            let pool = &self.state.blocks.pools()[r.region.pool.0 as usize];
            let plane = self.state.geometry.plane_of(BlockId(b));
            if !pool.has(plane)
                || !pool.blocks_in(&self.state.geometry, plane).contains(&b)
                || found.header.is_some_and(|h| h.mode != r.region.mode)
                || found.slots.len() > r.slots_per_block as usize
            {
                return Err(strange());
            }
            info.region = region;
            info.bits = bits_of(r.region.mode);
            let slots = |what: fn(SlotFound) -> bool| {
                let found = found.slots.iter().enumerate();
                found.filter(move |(_, s)| what(**s)).map(|(slot, _)| slot as u32 / r.units_per_page)
            };
            info.state = match found.header {
                Some(_) => {
                    let torn = slots(|s| s == SlotFound::Torn).next_back();
                    r.region.rule.found(r.shape, slots(|s| s != SlotFound::Blank), torn)
                }
                None => r.region.rule.filled(r.shape, r.shape.pages()),
            };
            if !r.region.rule.programmed(&info.state).is_multiple_of(r.pages_per_program) {
                return Err(strange());
            }
            let full = r.region.rule.programmed(&info.state) == r.shape.pages();
            info.phase = if full { Phase::Full } else { Phase::Open };
            *block_mut(&mut self.state.blocks, BlockId(b)) = info;
        }
        Ok(())
    }

    /// The region of a block whose first program was torn: that of the rest of its superblock, or the first of its
    /// pool.
    fn region_unwritten(&self, block: BlockId) -> RegionId {
        let (region, plane) = (self.state.blocks.region_of(block), self.state.geometry.plane_of(block));
        let header = |(_, b)| self.metadata.block(b).and_then(|found| found.header);
        let written =
            members(&self.state.blocks, region, plane, block).filter(|(p, _)| *p != plane).find_map(header);
        written.map_or(region, |header| header.region)
    }

    /// What of the base image has not been erased.
    pub fn find_base(&mut self) {
        let spu = self.state.geometry.sectors_per_unit;
        let mut dead = Dead::new();
        if let Some(base) = self.store.base().cloned() {
            self.state.map.adopt((*base).clone());
            for (block, programmed, live) in base.live_sectors(spu, self.state.map_kind().is_by_page()) {
                if programmed == 0 {
                    continue;
                }
                let plane = self.state.geometry.plane_of(block);
                if self.store.base_in(block).is_some() {
                    add_live(&mut self.state.blocks, plane, block, live);
                    continue;
                }
                for slot in base.live_slots(plane, block) {
                    if let Some(lpn) = base.owner_of(plane, block, slot) {
                        self.state.map.unmap(lpn, SectorMask::first(spu), &mut dead);
                    }
                }
                self.state.map.erase(block);
            }
        }
        for (b, info) in self.state.blocks.all().iter().enumerate().filter(|(_, info)| info.was_opened()) {
            self.state.map.open(BlockId(b as u32), RegionId(info.region), IsFirst(true));
        }
    }

    /// The trim log, and the trims of protected RAM.
    pub fn find_trims(&mut self, kept: &[(u64, u64)]) {
        for (ppn, record) in self.metadata.trim_pages() {
            for oob in self.metadata.page(ppn) {
                self.state.trims.merge(oob.span.lpn, record);
            }
        }
        for (entry, version) in kept {
            self.state.trims.restore(*entry, *version);
        }
        let mut dead = Dead::new();
        for (entry, version) in self.state.trims.all() {
            self.requests.found_version(version);
            let (lpn, mask) = self.state.trims.sectors_of(entry);
            self.state.map.unmap(lpn, mask, &mut dead);
        }
        self.uncount(&dead);
    }

    /// The newest copy of everything, and the map.
    pub fn find_pages(&mut self) -> FxHashMap<u64, Newest> {
        let ended = self.ended_blocks();
        let is_apart = |ppn| !ended.contains(&self.state.geometry.block_of(ppn));
        let trims = &self.state.trims;
        let mut newest: FxHashMap<u64, Newest> = FxHashMap::default();
        for (ppn, oobs) in self.metadata.pages() {
            for oob in oobs {
                self.requests.found_version(oob.version);
                let is_log = trims.is_log(oob.span.lpn);
                for entry in trims.entries(oob.span.lpn, oob.span.mask) {
                    if !is_log && trims.version(entry) > oob.version {
                        continue;
                    }
                    let (version, sequence, span) = (oob.version, oob.sequence, oob.span);
                    let this = Newest { version, is_apart: is_apart(ppn), sequence, ppn, span };
                    let best = newest.entry(entry).or_insert(this);
                    if best.rank() < this.rank() {
                        *best = this;
                    }
                }
            }
        }
        // What the base image still holds has version 0.
        let mut located = Places::new();
        newest.retain(|entry, n| {
            let (lpn, sectors) = self.state.trims.sectors_of(*entry);
            let moved = n.version == 0 && !n.is_apart;
            if moved {
                self.state.map.resolve(lpn, sectors.and(n.span.mask), &mut located);
            }
            !moved || located.is_empty()
        });
        // Entries that share a copy are installed together.
        let mut copies: BTreeMap<(Ppn, Lpn), (Span, SectorMask)> = BTreeMap::new();
        #[allow(clippy::iter_over_hash_type, reason = "unions come out the same in any order")]
        for (entry, n) in &newest {
            let (_, sectors) = trims.sectors_of(*entry);
            let (_, keep) = copies.entry((n.ppn, n.span.lpn)).or_insert((n.span, SectorMask::EMPTY));
            *keep = keep.union(sectors.and(n.span.mask));
        }
        let mut dead = Dead::new();
        for ((ppn, lpn), (span, keep)) in copies {
            self.state.map.install(span, keep, ppn, &mut dead);
            let (plane, block) = (self.state.geometry.plane_at(ppn), self.state.geometry.block_of(ppn));
            add_live(&mut self.state.blocks, plane, block, self.state.map.weight(keep));
            if self.state.trims.is_log(lpn) {
                self.state.trims.set_logged(lpn);
            }
        }
        self.uncount(&dead);
        newest
    }

    /// Blocks with blank slots that take no more, since a wordline of them was torn.
    fn ended_blocks(&self) -> BTreeSet<BlockId> {
        let is_ended = |b: &BlockId| {
            let info = self.state.blocks.block(*b);
            let slots = || self.state.blocks.regions()[info.region as usize].slots_per_block as usize;
            info.phase == Phase::Full
                && self.metadata.block(*b).is_some_and(|found| {
                    let programmed = found.slots.iter().filter(|slot| **slot != SlotFound::Blank);
                    found.slots.contains(&SlotFound::Torn) && programmed.count() < slots()
                })
        };
        (0..self.state.geometry.blocks).map(BlockId).filter(is_ended).collect()
    }

    /// Which pages of a map on flash are there, and which of them are not up to date: reading all that is programmed
    /// has found every entry again.
    pub fn find_map_pages(&mut self, stale: BTreeSet<u32>) {
        let State { demand, map, .. } = &mut self.state;
        let Some(demand) = demand else { return };
        for lpn in (demand.first()..demand.end()).map(Lpn) {
            if !map.place(lpn).is_none() {
                demand.set_on_flash(lpn);
            }
        }
        demand.restore(stale);
    }

    fn uncount(&mut self, dead: &Dead) {
        for invalidated in dead.iter() {
            let block = self.state.geometry.block_of(invalidated.ppn);
            let plane = self.state.geometry.plane_of(block);
            take_live(&mut self.state.blocks, plane, block, invalidated.sectors);
        }
    }

    /// Put every block on the lists where it belongs: by the order in which blocks were opened, or
    /// filled where the victim rule asks for it.
    pub fn list_blocks(&mut self) {
        let mut last: FxHashMap<u32, u64> = FxHashMap::default();
        for (ppn, oobs) in self.metadata.pages() {
            let last = last.entry(self.state.geometry.block_of(ppn).0).or_default();
            *last = oobs.iter().map(|o| o.sequence).fold(*last, u64::max);
        }
        let mut blocks: Vec<(u64, u32)> = (0..self.state.geometry.blocks)
            .filter(|b| matches!(self.state.blocks.all()[*b as usize].phase, Phase::Open | Phase::Full))
            .map(|b| {
                let opened = self.metadata.block(BlockId(b)).and_then(|f| f.header);
                let full = self.state.blocks.all()[b as usize].phase == Phase::Full;
                let at = if full { last.get(&b).copied() } else { opened.map(|h| h.opened) };
                (at.unwrap_or(0), b)
            })
            .collect();
        blocks.sort_unstable();
        for (_, b) in blocks {
            let block = BlockId(b);
            let info = *self.state.blocks.block(block);
            let region = RegionId(info.region);
            let plane = self.state.geometry.plane_of(block);
            let local = self.state.blocks.local(region, plane);
            let r = &mut regions_mut(&mut self.state.blocks)[region.index()];
            let at = &mut r.planes[local];
            at.owned += 1;
            if info.phase == Phase::Full {
                list(&mut self.state.blocks, &self.state.map, region, plane, block);
                continue;
            }
            let left = r.shape.pages() - r.region.rule.programmed(&info.state);
            at.open_slots += (left * r.units_per_page) as u64;
            for class in r.region.rule.classes(r.shape) {
                if r.region.rule.has_left(r.shape, &info.state, *class) {
                    at.open[*class as usize].push_back(b);
                }
            }
        }
        keep_erased(&mut self.state.blocks);
        recount(&mut self.state.blocks, &self.state.map);
    }

    /// Every programmed page, and the first blank one of each block, sensed once.
    pub fn scan_time(&self) -> SimDuration {
        let mut dies = vec![0u64; self.state.geometry.dies as usize];
        for b in 0..self.state.geometry.blocks {
            let plane = self.state.geometry.plane_of(BlockId(b));
            let medium = self.state.geometry.medium_index(plane);
            let info = &self.state.blocks.all()[b as usize];
            let r = &self.state.blocks.region(self.state.blocks.region_of(BlockId(b)));
            let used = match info.phase {
                Phase::Open | Phase::Standby | Phase::Full => r.region.rule.programmed(&info.state),
                _ => 0,
            };
            let die: DieId = self.state.geometry.die_of(plane);
            let pages = 0..(used + 1).min(r.shape.pages());
            let time =
                pages.map(|page| self.state.config.array.sense(medium, r.region.mode, page).0).sum::<u64>();
            dies[die.index()] += time;
        }
        SimDuration(dies.into_iter().max().unwrap_or(0))
    }
}
