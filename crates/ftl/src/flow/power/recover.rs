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

use crate::flow::power::found::{Found, Newest};
use crate::flow::power::power_loss_image::{Kept, KeptFrom, PowerLossImage};
use crate::ftl::Ftl;
use crate::plan::decision::{Origin, Parcel, Tag};
use crate::plan::layout::{DriveInfo, Refusal};
use crate::plan::region::RegionId;
use crate::plan::span::{Dead, Span};
use crate::scheme::Scheme;
use crate::state::block::{Phase, bits_of};
use crate::state::job::{GcReason, Job};
use crate::state::op::{Class, Op, Owner};
use rustc_hash::FxHashMap;
use wordline_counters::{Cause, OpKind};
use wordline_units::{BlockId, PlaneId, SimTime};

/// Why a drive without metadata does not come back.
const LOST: &str = "its media store no metadata, so recovery cannot find any data; create the drive with \
                    media that do, such as Bytes or Metadata";

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
        let mut tables = Found::new(&mut ftl.state, &mut ftl.store, &mut ftl.requests, &metadata);
        if let Err(reason) = tables.find_blocks() {
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
        let mut tables = Found::new(&mut ftl.state, &mut ftl.store, &mut ftl.requests, &metadata);
        tables.find_base();
        tables.find_trims(&trims);
        let newest = tables.find_pages();
        tables.find_map_pages(stale_map);
        tables.list_blocks();
        let ready = at + tables.scan_time(&ftl.array);
        drop(metadata); // what is changed from now on is not copied for it
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
