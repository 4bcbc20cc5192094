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

use crate::flow::buffer::program_buffer::launch;
use crate::flow::collect::invalidate::invalidate;
use crate::flow::collect::job::step_job;
use crate::flow::collect::superblock::{complete_superblocks, region_known};
use crate::flow::dispatch::follow_up;
use crate::flow::emit::{add_op, load_page};
use crate::flow::fail::internal;
use crate::flow::host::write::gather;
use crate::flow::place::decide::{place_host, send_after};
use crate::flow::place::plane::pick_plane;
use crate::flow::power::found::{Found, Newest};
use crate::flow::power::power_loss_image::{Kept, KeptFrom, PowerLossImage};
use crate::layer::Layer;
use crate::plan::decision::{Origin, Parcel, Tag};
use crate::plan::layout::{DriveInfo, Refusal};
use crate::plan::region::RegionId;
use crate::plan::span::{Dead, Span};
use crate::scheme::Scheme;
use crate::state::block::Phase;
use crate::state::blocks::at_rest::all_mut;
use crate::state::blocks::superblock_members::superblock_planes;
use crate::state::blocks::{at_rest, set_phase};
use crate::state::job::{GcReason, Job};
use crate::state::op::{Class, Op, Owner};
use rustc_hash::FxHashMap;
use wordline_counters::{Cause, OpKind};
use wordline_units::{BlockId, PlaneId, SimTime};

/// Why a drive without metadata does not come back.
const LOST: &str = "its media store no metadata, so recovery cannot find any data; create the drive with \
                    media that do, such as Bytes or Metadata";

/// Power on: rebuild every table from flash and protected RAM, and continue. Returns the drive, and the time at
/// which it is ready: every programmed page is sensed once, dies in parallel, because there is no faster way.
///
/// # Errors
/// A refusal if the scheme does not support the device or did not write the flash, or if the media keep no
/// metadata.
pub(crate) fn recover(
    drive: &DriveInfo,
    scheme: Box<dyn Scheme>,
    image: PowerLossImage,
    at: SimTime,
) -> Result<(Layer, SimTime), Refusal> {
    let PowerLossImage { media, base, counters, wear, trims, stale_map, kept, .. } = image;
    let metadata = media.metadata().cloned();
    let mut layer = Layer::new(drive, scheme, media)?;
    let refuse = |layer: &Layer, reason| {
        let (scheme, device) = (layer.seat.scheme.name().to_string(), drive.spec.name.clone());
        Refusal { scheme, device, reason, has_failed: false }
    };
    let metadata = metadata.ok_or_else(|| refuse(&layer, LOST.to_string()))?;
    layer.store.recover(base);
    if counters.regions.len() == layer.state.blocks.regions().len() {
        layer.state.counters = counters;
    }
    let mut tables = Found::new(&mut layer.state, &mut layer.store, &mut layer.requests, &metadata);
    if let Err(reason) = tables.find_blocks() {
        return Err(refuse(&layer, reason));
    }
    for (info, used) in all_mut(&mut layer.state.blocks).iter_mut().zip(wear.lives) {
        info.life_used = used;
    }
    layer.state.aging.restore(&wear.ages);
    layer.state.wear = wear.drive;
    for block in wear.lost {
        set_phase(&mut layer.state.blocks, block, Phase::Retired);
    }
    let mut tables = Found::new(&mut layer.state, &mut layer.store, &mut layer.requests, &metadata);
    tables.find_base();
    tables.find_trims(&trims);
    let newest = tables.find_pages();
    tables.find_map_pages(stale_map);
    tables.list_blocks();
    let ready = at + tables.scan_time();
    drop(metadata); // what is changed from now on is not copied for it
    layer.state.now = ready;
    erase_again(&mut layer);
    complete_superblocks(&mut layer.state);
    // What is written from now on is newer than anything, in protected RAM too, and in a journal of that.
    kept.iter().for_each(|k| layer.requests.found_version(k.version));
    for kept in kept {
        restage(&mut layer, kept, &newest);
    }
    Ok((layer, ready))
}

/// Blocks whose erase was cut are erased, each as the end of a collection. A plane ran one erase
/// at a time for each of its regions, so there is a region for each.
fn erase_again(layer: &mut Layer) {
    let is_cut = |b: &BlockId| layer.state.blocks.block(*b).phase == Phase::Collecting;
    let mut cut: Vec<BlockId> = (0..layer.state.geometry.blocks).map(BlockId).filter(is_cut).collect();
    cut.sort_by_key(|b| region_known(&layer.state.blocks, *b).is_none());
    for block in cut {
        let plane = layer.state.geometry.plane_of(block);
        let pool = layer.state.blocks.region(layer.state.blocks.region_of(block)).region.pool;
        let has_none = |r: &RegionId| {
            let mut planes = superblock_planes(&layer.state.blocks, *r, plane).map(PlaneId);
            planes.all(|p| layer.state.blocks.at(*r, p).job.is_none())
        };
        let within = |r: &RegionId| layer.state.blocks.region(*r).region.pool == pool;
        let mut regions = (0..layer.state.blocks.regions().len() as u8).map(RegionId).filter(within);
        let idle = region_known(&layer.state.blocks, block).or_else(|| regions.find(has_none));
        let Some(region) = idle else {
            internal(
                layer.state.now,
                &mut layer.out,
                format!("plane {plane} has more partially erased blocks than regions"),
            );
            return;
        };
        let job = Job {
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
        };
        at_rest::erase_again(&mut layer.state.blocks, region, plane, job);
        step_job(layer, region, plane);
    }
}

/// Data from protected RAM go on to flash.
fn restage(layer: &mut Layer, kept: Kept, newest: &FxHashMap<u64, Newest>) {
    let Kept { lpn, mut mask, page, version, from } = kept;
    if !matches!(from, KeptFrom::Buffer) {
        // The place that they left may not have been erased yet, and what a journal has may be on flash.
        let trims = &layer.state.trims;
        let stale = trims.entries(lpn, mask).filter(|entry| {
            newest.get(entry).is_some_and(|n| n.version >= version) || trims.version(*entry) > version
        });
        mask = stale.fold(mask, |mask, entry| mask.minus(trims.sectors_of(entry).1));
    }
    if mask.is_empty() {
        return;
    }
    let stage = layer.state.staging.enter(lpn);
    let entry = layer.state.staging.get(stage);
    let in_ram = entry.mask();
    entry.add_program();
    entry.take_in(mask);
    if layer.store.keeps_bytes() {
        layer.store.stage(stage, &page, mask);
    }
    match from {
        KeptFrom::Buffer | KeptFrom::Journal => {
            layer.requests.next_version();
            // Under the version that it goes to flash with: what of the page goes first is not newer than the rest.
            layer.store.protect(lpn, mask, layer.requests.version(), &page);
            let home = layer.state.blocks.stripe().plane(lpn);
            let spans = [Span { lpn, mask, offset: 0 }];
            let parcel = Parcel { origin: Origin::Host(Tag::default()), spans: &spans, home };
            let Some((place, moves)) = place_host(&layer.state, &mut layer.seat, &mut layer.out, &parcel)
            else {
                return;
            };
            let plane = pick_plane(&mut layer.state, &place, home, spans.len());
            let mut op = Op::new(OpKind::Program, plane, Cause::Host, Class::Write);
            (op.lpn, op.mask, op.stage, op.version) = (lpn, mask, stage, layer.requests.version());
            (op.route, op.pick, op.owner) = (place.route, place.plane, Owner::Answered);
            layer.state.buffered += u64::from(layer.state.config.ack.is_buffer());
            layer.requests.add_unsettled();
            let op = add_op(&mut layer.state.ops, &mut layer.store, op);
            let fills = u32::from(gather(layer, op, stage, in_ram, place.gather));
            load_page(&layer.state.ops, &mut layer.store, op, stage);
            let next = send_after(&mut layer.state.ops, op, fills, moves);
            follow_up(layer, next);
        }
        KeptFrom::ProgramBuffer { route, plane, cause, privileged } => {
            // What is found on flash instead is older, and was committed no more.
            let mut dead = Dead::new();
            layer.state.map.unmap(lpn, mask, &mut dead);
            invalidate(layer, &dead);
            let mut op = Op::new(OpKind::Program, plane, cause, Class::Background);
            (op.lpn, op.mask, op.stage, op.version) = (lpn, mask, stage, version);
            (op.route, op.privileged) = (route, privileged.0);
            let op = add_op(&mut layer.state.ops, &mut layer.store, op);
            layer.state.staging.get(stage).begin_relocation(op, mask);
            load_page(&layer.state.ops, &mut layer.store, op, stage);
            launch(layer, op);
        }
    }
}
