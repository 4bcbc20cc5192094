//! Power comes back. From the flash with its metadata, and from what stood in protected RAM, the tables
//! are built again. Of several copies of a page the one
//! with the highest version is the newest, of copies of one version the one programmed last, unless its block
//! was ended by a torn wordline: then the copy that collection had not erased yet counts, so that the block
//! which collection had opened is no loss. The trim log says which copies a trim has made stale.
//!
//! An open block continues behind what was programmed in it, except that a torn wordline takes no more. Drives that
//! close every open block instead lose a block of each frontier at each cut, which small ones could not spare while
//! they collect. A block whose erase was cut is erased again. Where nothing can be read in a block, not even its
//! header, it counts as full of stale data.

use crate::flow::power::power_loss_image::{Kept, KeptFrom, PowerLossImage};
use crate::ftl::Ftl;
use crate::map::overlay::IsFirst;
use crate::media::found::SlotFound;
use crate::media::seam::Metadata;
use crate::plan::decision::{Origin, Parcel, Tag};
use crate::plan::layout::{DriveInfo, Refusal};
use crate::plan::region::{FreeOrder, RegionId};
use crate::plan::span::{Dead, Places, Span};
use crate::scheme::Scheme;
use crate::state::block::{Phase, bits_of};
use crate::state::job::{GcReason, Job};
use crate::state::op::{Class, Op, Owner};
use crate::state::state::State;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use wordline_counters::{Cause, OpKind};
use wordline_units::{BlockId, DieId, Lpn, PlaneId, Ppn, SectorMask, SimDuration, SimTime};

/// Why a drive without metadata does not come back.
const LOST: &str = "its media store no metadata, so recovery cannot find any data; create the drive with \
                    media that do, such as Bytes or Metadata";

/// The newest copy of an entry.
#[derive(Clone, Copy)]
struct Newest {
    version: u64,
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

impl Ftl {
    /// Power on: rebuild every table from flash and protected RAM, and continue. Returns the drive, and the time at
    /// which it is ready: every programmed page is sensed once, dies in parallel, because there is no faster way.
    ///
    /// # Errors
    /// A refusal if the scheme does not support the device or did not write the flash, or if the media keep no
    /// metadata.
    pub fn recover(
        drive: &DriveInfo,
        scheme: Box<dyn Scheme>,
        image: PowerLossImage,
        at: SimTime,
    ) -> Result<(Ftl, SimTime), Refusal> {
        let PowerLossImage { media, base, counters, wear, trims, stale_map, kept, .. } = image;
        let metadata = media.metadata().cloned();
        let mut ftl = Ftl::over(drive, scheme, media)?;
        let refuse = |ftl: &Ftl, reason| {
            let (scheme, device) = (ftl.scheme.name().to_string(), drive.spec.name.clone());
            Refusal { scheme, device, reason }
        };
        let metadata = metadata.ok_or_else(|| refuse(&ftl, LOST.to_string()))?;
        ftl.store.recover(base);
        if counters.regions.len() == ftl.state.regions.len() {
            ftl.state.counters = counters;
        }
        if let Err(reason) = ftl.find_blocks(&metadata) {
            return Err(refuse(&ftl, reason));
        }
        for (info, used) in ftl.state.blocks.iter_mut().zip(wear.lives) {
            info.life_used = used;
        }
        ftl.state.aging.restore(&wear.ages);
        ftl.state.wear = wear.drive;
        for block in wear.lost {
            ftl.state.blocks[block.index()].phase = Phase::Retired;
        }
        ftl.find_base();
        ftl.find_trims(&metadata, &trims);
        let newest = ftl.find_pages(&metadata);
        ftl.find_map_pages(stale_map);
        ftl.list_blocks(&metadata);
        drop(metadata); // what is changed from now on is not copied for it
        let ready = at + ftl.scan_time();
        ftl.at(ready);
        ftl.erase_again();
        ftl.complete_superblocks();
        // What is written from now on is newer than anything, in protected RAM too, and in a journal of that.
        kept.iter().for_each(|k| ftl.requests.found_version(k.version));
        for kept in kept {
            ftl.restage(kept, &newest);
        }
        Ok((ftl, ready))
    }

    /// Mode, region and programmed pages of every block.
    fn find_blocks(&mut self, metadata: &Metadata) -> Result<(), String> {
        for b in 0..self.state.geometry.blocks {
            let Some(found) = metadata.block(BlockId(b)) else { continue };
            let unknown = self.region_unwritten(metadata, BlockId(b));
            let info = &mut self.state.blocks[b as usize];
            info.erases = found.erases;
            if found.half_erased {
                info.phase = Phase::Collecting;
                continue;
            }
            if found.slots.iter().all(|s| *s == SlotFound::Blank) {
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
            let r = self.state.regions.get(region as usize).ok_or_else(strange)?;
            let pool = &self.state.pools[r.region.pool.0 as usize];
            let plane = self.state.geometry.plane_of(BlockId(b));
            let first = self.state.geometry.blocks_of(plane).start + pool.offset;
            let planes = pool.first_plane..pool.first_plane + pool.free.len() as u32;
            if !planes.contains(&plane.0)
                || !(first..first + pool.blocks_per_plane).contains(&b)
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
        }
        Ok(())
    }

    /// The region of a block whose first program was torn: that of the rest of its superblock, or the first of its
    /// pool.
    fn region_unwritten(&self, metadata: &Metadata, block: BlockId) -> RegionId {
        let (region, plane) = (self.state.region_of(block), self.state.geometry.plane_of(block));
        let header = |(_, b)| metadata.block(b).and_then(|found| found.header);
        let written = self.state.members(region, plane, block).filter(|(p, _)| *p != plane).find_map(header);
        written.map_or(region, |header| header.region)
    }

    /// What of the base image has not been erased.
    fn find_base(&mut self) {
        let spu = self.state.geometry.sectors_per_unit;
        let mut dead = Dead::new();
        if let Some(base) = self.store.base().cloned() {
            self.state.map.adopt((*base).clone());
            for (block, programmed, live) in base.live_sectors(spu, self.state.map_kind().is_by_page()) {
                if programmed == 0 {
                    continue;
                }
                if self.store.base_in(block).is_some() {
                    self.state.add_live(block, live);
                    continue;
                }
                let plane = self.state.geometry.plane_of(block);
                for slot in base.live_slots(plane, block) {
                    if let Some(lpn) = base.owner_of(plane, block, slot) {
                        self.state.map.unmap(lpn, SectorMask::first(spu), &mut dead);
                    }
                }
                self.state.map.erase(block);
            }
        }
        for (b, info) in self.state.blocks.iter().enumerate().filter(|(_, info)| info.was_opened()) {
            self.state.map.open(BlockId(b as u32), RegionId(info.region), IsFirst(true));
        }
    }

    /// The trim log, and the trims of protected RAM.
    fn find_trims(&mut self, metadata: &Metadata, kept: &[(u64, u64)]) {
        for (ppn, record) in metadata.trim_pages() {
            for oob in metadata.page(ppn) {
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
    fn find_pages(&mut self, metadata: &Metadata) -> FxHashMap<u64, Newest> {
        let ended = self.ended_blocks(metadata);
        let is_apart = |ppn| !ended.contains(&self.state.geometry.block_of(ppn));
        let trims = &self.state.trims;
        let mut newest: FxHashMap<u64, Newest> = FxHashMap::default();
        for (ppn, oobs) in metadata.pages() {
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
            let block = self.state.geometry.block_of(ppn);
            self.state.add_live(block, self.state.map.weight(keep));
            if self.state.trims.is_log(lpn) {
                self.state.trims.set_logged(lpn);
            }
        }
        self.uncount(&dead);
        newest
    }

    /// Blocks with blank slots that take no more, since a wordline of them was torn.
    fn ended_blocks(&self, metadata: &Metadata) -> BTreeSet<BlockId> {
        let is_ended = |b: &BlockId| {
            let info = self.state.blocks[b.index()];
            let slots = || self.state.regions[info.region as usize].slots_per_block as usize;
            info.phase == Phase::Full
                && metadata.block(*b).is_some_and(|found| {
                    let programmed = found.slots.iter().filter(|slot| **slot != SlotFound::Blank);
                    found.slots.contains(&SlotFound::Torn) && programmed.count() < slots()
                })
        };
        (0..self.state.geometry.blocks).map(BlockId).filter(is_ended).collect()
    }

    /// Which pages of a map on flash are there, and which of them are not up to date: reading all that is programmed
    /// has found every entry again.
    fn find_map_pages(&mut self, stale: BTreeSet<u32>) {
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
            self.state.take_live(block, invalidated.sectors);
        }
    }

    /// Put every block on the lists where it belongs: by the order in which blocks were opened, or
    /// filled where the victim rule asks for it.
    fn list_blocks(&mut self, metadata: &Metadata) {
        let mut last: FxHashMap<u32, u64> = FxHashMap::default();
        for (ppn, oobs) in metadata.pages() {
            let last = last.entry(self.state.geometry.block_of(ppn).0).or_default();
            *last = oobs.iter().map(|o| o.sequence).fold(*last, u64::max);
        }
        let mut blocks: Vec<(u64, u32)> = (0..self.state.geometry.blocks)
            .filter(|b| matches!(self.state.blocks[*b as usize].phase, Phase::Open | Phase::Full))
            .map(|b| {
                let opened = metadata.block(BlockId(b)).and_then(|f| f.header);
                let full = self.state.blocks[b as usize].phase == Phase::Full;
                let at = if full { last.get(&b).copied() } else { opened.map(|h| h.opened) };
                (at.unwrap_or(0), b)
            })
            .collect();
        blocks.sort_unstable();
        for (_, b) in blocks {
            let block = BlockId(b);
            let info = self.state.blocks[b as usize];
            let region = RegionId(info.region);
            let plane = self.state.geometry.plane_of(block);
            let local = self.state.local(region, plane);
            let r = &mut self.state.regions[region.index()];
            let at = &mut r.planes[local];
            at.owned += 1;
            if info.phase == Phase::Full {
                self.state.list(region, plane, block);
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
        let blocks = &self.state.blocks;
        for pool in &mut self.state.pools {
            for free in &mut pool.free {
                let lost = free.count(|b| blocks[b.index()].phase == Phase::Retired);
                free.found_lost(lost);
                free.retain(|b| blocks[b.index()].phase == Phase::Free);
                if pool.order == FreeOrder::LeastErased {
                    free.sort(|b| blocks[b as usize].erases);
                }
            }
        }
        self.state.recount();
    }

    /// Every programmed page, and the first blank one of each block, sensed once.
    fn scan_time(&self) -> SimDuration {
        let mut dies = vec![0u64; self.state.geometry.dies as usize];
        for b in 0..self.state.geometry.blocks {
            let plane = self.state.geometry.plane_of(BlockId(b));
            let medium = self.state.geometry.medium_index(plane);
            let info = &self.state.blocks[b as usize];
            let r = &self.state.regions[self.state.region_of(BlockId(b)).index()];
            let used = match info.phase {
                Phase::Open | Phase::Standby | Phase::Full => r.region.rule.programmed(&info.state),
                _ => 0,
            };
            let die: DieId = self.state.geometry.die_of(plane);
            let pages = 0..(used + 1).min(r.shape.pages());
            let time = pages.map(|page| self.array.sense(medium, r.region.mode, page).0).sum::<u64>();
            dies[die.index()] += time;
        }
        SimDuration(dies.into_iter().max().unwrap_or(0))
    }

    /// Blocks whose erase was cut are erased, each as the end of a collection. A plane ran one erase
    /// at a time for each of its regions, so there is a region for each.
    fn erase_again(&mut self) {
        let is_cut = |b: &BlockId| self.state.blocks[b.index()].phase == Phase::Collecting;
        let mut cut: Vec<BlockId> = (0..self.state.geometry.blocks).map(BlockId).filter(is_cut).collect();
        cut.sort_by_key(|b| self.region_known(*b).is_none());
        for block in cut {
            let b = block.0;
            let plane = self.state.geometry.plane_of(block);
            let pool = self.state.regions[self.state.region_of(block).index()].region.pool;
            let has_none = |r: &RegionId| {
                let mut planes = self.state.superblock_planes(*r, plane).map(PlaneId);
                planes.all(|p| self.state.at(*r, p).job.is_none())
            };
            let within = |r: &RegionId| self.state.regions[r.index()].region.pool == pool;
            let mut regions = (0..self.state.regions.len() as u8).map(RegionId).filter(within);
            let idle = self.region_known(block).or_else(|| regions.find(has_none));
            let Some(region) = idle else {
                self.internal(format!("plane {plane} has more partially erased blocks than regions"));
                return;
            };
            let r = &self.state.regions[region.index()];
            let info = &mut self.state.blocks[b as usize];
            info.region = region.0;
            info.bits = bits_of(r.region.mode);
            info.state = r.region.rule.filled(r.shape, r.shape.pages());
            let pool = self.state.regions[region.index()].region.pool;
            self.state.change_pool(pool, plane, |state| state.at_mut(region, plane).owned += 1);
            let at = self.state.at_mut(region, plane);
            at.job = Some(Job {
                block,
                cursor: 0,
                inflight: 0,
                window: 0,
                exhausted: true,
                erasing: false,
                idle: false,
                granted: true,
                held: false,
                given_up: false,
                why: GcReason::Shortage,
                paces: None,
            });
            self.step_job(region, plane);
        }
    }

    /// Data from protected RAM go on to flash.
    fn restage(&mut self, kept: Kept, newest: &FxHashMap<u64, Newest>) {
        let Kept { lpn, mut mask, page, version, from } = kept;
        if !matches!(from, KeptFrom::Buffer) {
            // The place that they left may not have been erased yet, and what a journal has may be on flash.
            let trims = &self.state.trims;
            let stale = trims.entries(lpn, mask).filter(|entry| {
                newest.get(entry).is_some_and(|n| n.version >= version) || trims.version(*entry) > version
            });
            mask = stale.fold(mask, |mask, entry| mask.minus(trims.sectors_of(entry).1));
        }
        if mask.is_empty() {
            return;
        }
        let stage = self.state.staging.enter(lpn);
        let entry = self.state.staging.get(stage);
        let in_ram = entry.mask();
        entry.add_program();
        entry.take_in(mask);
        if self.store.keeps_bytes() {
            self.store.stage(stage, &page, mask);
        }
        match from {
            KeptFrom::Buffer | KeptFrom::Journal => {
                self.requests.next_version();
                // Under the version that it goes to flash with: what of the page goes first is not newer than the rest.
                self.store.protect(lpn, mask, self.requests.version(), &page);
                let home = self.state.stripe.plane(lpn);
                let spans = [Span { lpn, mask, offset: 0 }];
                let parcel = Parcel { origin: Origin::Host(Tag::default()), spans: &spans, home };
                let Some(place) = self.place_host(&parcel) else { return };
                let plane = self.pick_plane(&place, home);
                let mut op = Op::new(OpKind::Program, plane, Cause::Host, Class::Write);
                (op.lpn, op.mask, op.stage, op.version) = (lpn, mask, stage, self.requests.version());
                (op.route, op.pick, op.owner) = (place.route, place.plane, Owner::Answered);
                self.state.buffered += u64::from(self.ack.is_buffer());
                self.requests.add_unsettled();
                let op = self.add_op(op);
                let fills = u32::from(self.gather(op, stage, in_ram, place.gather));
                self.load_page(op, stage);
                let next = self.send_after(op, fills);
                self.follow_up(next);
            }
            KeptFrom::ProgramBuffer { route, plane, cause, privileged } => {
                // What is found on flash instead is older, and was committed no more.
                let mut dead = Dead::new();
                self.state.map.unmap(lpn, mask, &mut dead);
                self.invalidate(&dead);
                let mut op = Op::new(OpKind::Program, plane, cause, Class::Background);
                (op.lpn, op.mask, op.stage, op.version) = (lpn, mask, stage, version);
                (op.route, op.privileged) = (route, privileged.0);
                let op = self.add_op(op);
                self.state.staging.get(stage).begin_relocation(op, mask);
                self.load_page(op, stage);
                self.launch(op);
            }
        }
    }
}
