//! A collection from its start to its erase: valid pages of the victim are read, placed by the scheme,
//! programmed, and committed only if no newer data have been written; then the block is erased. A job is a
//! cursor and two counts, and takes its next page from the bitmap of valid pages only when it is ready for it,
//! so that pages invalidated meanwhile are never read.

use crate::flow::collect::class::{job_cause, job_class};
use crate::flow::collect::copy_back::copy_back;
use crate::flow::collect::hold::{begin_idle_work, end_grant, hold, let_go, let_go_in_idle_time};
use crate::flow::collect::superblock::ready_to_erase;
use crate::flow::emit::add_and_emit;
use crate::flow::fail::{illegal, internal, no_place};
use crate::flow::place::decide::place_collected;
use crate::layer::Layer;
use crate::plan::decision::Grain;
use crate::plan::layout::IdleHold;
use crate::plan::region::{MapKind, RegionId};
use crate::plan::span::Spans;
use crate::state::block::Phase;
use crate::state::blocks::frontier::close;
use crate::state::blocks::superblock_members::{has_superblocks, members, superblock_planes};
use crate::state::blocks::victims::{best_victim, gains, is_victim, list, unlist};
use crate::state::blocks::{Blocks, job_mut, pin, set_phase};
use crate::state::job::{GcReason, Job, Step};
use crate::state::op::{Class, Op, Owner};
use crate::state::state::State;
use crate::state::without_effect::WithoutEffect;
use wordline_counters::OpKind;
use wordline_device::GcClass;
use wordline_units::{BlockId, DieId, PlaneId};

/// Begin to empty a block. Returns whether there was one.
pub(crate) fn begin_job(
    layer: &mut Layer,
    region: RegionId,
    plane: PlaneId,
    block: Option<BlockId>,
    why: GcReason,
) -> bool {
    try_job(layer, region, plane, block, why).is_ok()
}

/// Like it, for a block that a scheme has requested.
pub(crate) fn begin_asked_job(
    layer: &mut Layer,
    region: RegionId,
    plane: PlaneId,
    block: Option<BlockId>,
    why: GcReason,
) -> bool {
    let began = try_job(layer, region, plane, block, why);
    if let Err(Some(why_not)) = began {
        layer.state.counters.without_effect.count(why_not);
    }
    began.is_ok()
}

/// Start to empty a block, or return why not: the request is invalid, or the drive is worn out.
fn try_job(
    layer: &mut Layer,
    region: RegionId,
    plane: PlaneId,
    block: Option<BlockId>,
    why: GcReason,
) -> Result<(), Option<WithoutEffect>> {
    let idle = matches!(why, GcReason::Idleness(_));
    if region.index() >= layer.state.blocks.regions().len() || !layer.state.blocks.reaches(region, plane) {
        let what = format!("collect region {} in plane {plane}", region.0);
        illegal(
            layer.state.now,
            &layer.seat,
            &mut layer.out,
            what,
            "the region has no blocks in that plane".into(),
        );
        return Err(None);
    }
    let mut together = superblock_planes(&layer.state.blocks, region, plane).map(PlaneId);
    if together.any(|p| layer.state.blocks.at(region, p).job.is_some()) {
        return Err(Some(WithoutEffect::CollectAlreadyUnderWay));
    }
    if layer.state.wear.over.is_some() {
        return Err(None);
    }
    let Some(victim) = block.or_else(|| best_victim(&layer.state.blocks, &layer.state.map, region, plane))
    else {
        return Err(Some(WithoutEffect::CollectNoVictim));
    };
    let info = *layer.state.blocks.block(victim);
    let eligible = || {
        let closes = why != GcReason::Shortage && info.phase == Phase::Open;
        closes || is_victim(&layer.state.blocks, region, plane, victim)
    };
    if block.is_some()
        && (layer.state.geometry.plane_of(victim) != plane || info.region != region.0 || !eligible())
    {
        let why = format!("block {victim} is {:?} in region {}", info.phase, info.region);
        illegal(
            layer.state.now,
            &layer.seat,
            &mut layer.out,
            format!("collect block {victim} from region {}", region.0),
            why,
        );
        return Err(None);
    }
    if info.writers > 0 {
        // A frontier, whose last program is still under way.
        return Err(Some(WithoutEffect::CollectStillWritten));
    }
    if has_superblocks(&layer.state.blocks, region) && !is_victim(&layer.state.blocks, region, plane, victim)
    {
        // Other blocks of it are still being written.
        return Err(Some(WithoutEffect::CollectStillWritten));
    }
    // Moving a block that is live nearly throughout gains nothing where its pages come back to the
    // same pool; a cache passes them on.
    let wanted = matches!(why, GcReason::Levelling | GcReason::Due | GcReason::Joining);
    if !wanted
        && !gains(&layer.state.blocks, &layer.state.map, region, victim)
        && !evicts(layer, region, plane, victim)
    {
        return Err(Some(WithoutEffect::CollectGainsNothing));
    }
    let die = layer.state.geometry.die_of(plane);
    let held = match why {
        GcReason::Idleness(grain) => grain == Grain::Block,
        GcReason::Shortage => layer.state.config.gc.class == GcClass::Foreground,
        GcReason::Levelling | GcReason::Due | GcReason::Joining => false,
    };
    if idle && held && has_job(&layer.state.blocks, die) {
        // It might need what the holder would lock out.
        return Err(Some(WithoutEffect::CollectDieBusy));
    }
    if idle {
        begin_idle_work(layer, die);
    }
    if info.is_open() {
        close(&mut layer.state.blocks, region, plane, victim);
    }
    unlist(&mut layer.state.blocks, region, plane, victim);
    let members = members(&layer.state.blocks, region, plane, victim);
    for (plane, block) in members.clone() {
        if held {
            hold(&layer.state.geometry, &mut layer.out, &mut layer.held_dies, plane);
        }
        *job_mut(&mut layer.state.blocks, region, plane) = Some(Job {
            block,
            cursor: 0,
            inflight: 0,
            window: 0,
            exhausted: false,
            erasing: false,
            idle,
            granted: true,
            held,
            given_up: false,
            why,
            paces: layer.requests.pace_mut().begin(&layer.state, region, block, why),
        });
        set_phase(&mut layer.state.blocks, block, Phase::Collecting);
        layer.state.map.begin_emptying(block);
        layer.state.counters.collections += u64::from(why != GcReason::Due);
    }
    members.for_each(|(plane, _)| step_job(layer, region, plane));
    Ok(())
}

/// Advance a job, or finish it, as far as is possible now.
pub(crate) fn step_job(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    let planes = layer.state.blocks.region(region).planes_per_die;
    if let Some(job) = &layer.state.blocks.at(region, plane).job {
        let step = job.step(planes);
        take_step(layer, region, plane, step);
    }
}

#[inline(always)]
fn take_step(layer: &mut Layer, region: RegionId, plane: PlaneId, step: Step) {
    match step {
        Step::Rests => {}
        Step::Reads { depth } => read_on(layer, region, plane, depth),
        Step::Ends => finish_job(layer, region, plane),
        Step::GivesUp => give_up_job(layer, region, plane),
    }
}

/// Read the next valid pages of a job's block, so that `depth` are in flight.
#[inline(never)]
fn read_on(layer: &mut Layer, region: RegionId, plane: PlaneId, depth: u32) {
    let Some(mut job) = layer.state.blocks.at(region, plane).job else { return };
    let class = job_class(&layer.state, &layer.held_dies, region, plane, &job);
    let before = job.inflight;
    while job.window < depth && read_next(layer, (region, plane), class, &mut job) {}
    *job_mut(&mut layer.state.blocks, region, plane) = Some(job);
    if job.idle {
        let units = layer.state.blocks.region(region).units_per_page;
        let bytes = u64::from((job.inflight - before) * units) * layer.state.geometry.unit;
        let (die, time) = (layer.state.geometry.die_of(plane), layer.seat.layout.idle_rate.time_for(bytes));
        layer.idle_jobs.pace(die, time);
    }
    if job.has_ended() {
        finish_job(layer, region, plane);
    }
}

/// Read the next valid page of a job's block, if there is one. Returns whether there is. Mostly one page follows another,
/// so that what only a loop could share is not worth its registers.
#[inline(never)]
fn read_next(layer: &mut Layer, (region, plane): (RegionId, PlaneId), class: Class, job: &mut Job) -> bool {
    let r = &layer.state.blocks.region(region);
    let (slots, units, copies) = (r.slots_per_block, r.units_per_page, r.copies_back);
    let Some(slot) = layer.state.map.next_live(job.block, job.cursor, slots) else {
        job.exhausted = true;
        return false;
    };
    let page = if units == 1 { slot } else { slot / units * units };
    job.cursor = page + units;
    let first = layer.state.geometry.ppn(job.block, slot);
    layer.state.map.prefetch_behind(first);
    if layer.gathering.was_read(first) {
        return true;
    }
    let copies = copies && layer.state.map_kind() == MapKind::Page;
    if copies && copy_back(layer, region, plane, job, page, class) {
        job.inflight += units;
        job.window += units;
        return true;
    }
    job.inflight += 1;
    job.window += 1;
    let unit = layer.state.geometry.sectors_per_unit;
    let mask = layer.state.map.live_sectors(job.block, slot..page + units, unit);
    pin(&mut layer.state.blocks, job.block);
    // Collection may want pages whole.
    if matches!(layer.state.map_kind(), MapKind::Overlay(..)) {
        layer.gathering.note_read(first);
    }
    let cause = job_cause(&layer.state.blocks, &layer.seat, region);
    let mut read = Op::new(OpKind::Read, plane, cause, class);
    (read.ppn, read.mask, read.owner, read.idle) = (first, mask, Owner::Job(region), job.idle);
    add_and_emit(&mut layer.state, &mut layer.store, &mut layer.out, read);
    true
}

/// A job has nothing left to read and nothing in flight: erase its block when no operation reads it.
fn finish_job(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    let Some(mut job) = layer.state.blocks.at(region, plane).job else { return };
    let block = layer.state.blocks.block(job.block);
    if block.readers > 0 {
        // Reads that came before the hold are locked out by it: let them go first.
        if job.idle {
            let_go_in_idle_time(layer, layer.state.geometry.die_of(plane));
        }
        if job.held {
            job.held = false;
            let_go(&layer.state.geometry, &mut layer.out, &mut layer.held_dies, plane);
            *job_mut(&mut layer.state.blocks, region, plane) = Some(job);
        }
        return;
    }
    if ready_to_erase(&layer.state.blocks, region, plane) {
        for p in superblock_planes(&layer.state.blocks, region, plane).map(PlaneId) {
            erase_victim(layer, region, p);
        }
    }
}

/// Issue the erase that ends a job.
fn erase_victim(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    let Some(mut job) = layer.state.blocks.at(region, plane).job.filter(|job| !job.erasing) else {
        return;
    };
    let live = layer.state.blocks.block(job.block).live;
    if live > 0 {
        internal(
            layer.state.now,
            &mut layer.out,
            format!("block {} is being erased with {live} valid sectors", job.block),
        );
        return;
    }
    let mut erase = Op::new(
        OpKind::Erase,
        plane,
        job_cause(&layer.state.blocks, &layer.seat, region),
        job_class(&layer.state, &layer.held_dies, region, plane, &job),
    );
    erase.ppn = layer.state.geometry.ppn(job.block, 0);
    erase.idle = job.idle;
    job.erasing = true;
    set_phase(&mut layer.state.blocks, job.block, Phase::Erasing);
    *job_mut(&mut layer.state.blocks, region, plane) = Some(job);
    add_and_emit(&mut layer.state, &mut layer.store, &mut layer.out, erase);
    if job.idle && layer.seat.layout.idle_hold == IdleHold::Channel {
        let_go_in_idle_time(layer, layer.state.geometry.die_of(plane));
    }
}

/// One page of a job is committed, or is in a protected program buffer.
pub(crate) fn job_page_over(layer: &mut Layer, region: RegionId, plane: PlaneId, in_window: bool) {
    go_on_after(layer, region, plane, |job| {
        job.inflight -= 1;
        job.window -= in_window as u32;
    });
}

/// A job has one page fewer in flight: it continues, or pauses if idle time started it.
pub(crate) fn go_on(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    go_on_after(layer, region, plane, |_| ());
}

#[inline(always)]
fn go_on_after(layer: &mut Layer, region: RegionId, plane: PlaneId, note: impl FnOnce(&mut Job)) {
    let planes = layer.state.blocks.region(region).planes_per_die;
    let Some(job) = job_mut(&mut layer.state.blocks, region, plane) else { return };
    note(job);
    if job.idle && !job.held && job.inflight == 0 && !job.given_up {
        let granted = std::mem::replace(&mut job.granted, false);
        end_grant(layer, plane, granted);
    } else {
        let step = job.step(planes);
        take_step(layer, region, plane, step);
    }
}

/// If all pages are in a program buffer, the job itself must read on: the end of a read advances it only if
/// no other operation reads the block, and a move out of it may wait in the same program buffer.
pub(crate) fn read_on_in_buffer(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    if layer.state.blocks.at(region, plane).job.is_some_and(|j| j.window == 0 && !j.exhausted) {
        step_job(layer, region, plane);
    }
}

/// A page of a job has no place, since blocks that collection relied on have worn out: it stays in place,
/// and the drive accepts no more writes.
pub(crate) fn give_up_page(layer: &mut Layer, region: RegionId, plane: PlaneId, in_window: bool) {
    no_place(&mut layer.state, &mut layer.out);
    if let Some(job) = job_mut(&mut layer.state.blocks, region, plane) {
        job.given_up = true;
    }
    job_page_over(layer, region, plane, in_window);
}

/// A job ends without its erase, now that it has nothing in flight: its block returns to the list.
fn give_up_job(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    let Some(job) = layer.state.blocks.at(region, plane).job else { return };
    end_job(layer, region, plane);
    set_phase(&mut layer.state.blocks, job.block, Phase::Full);
    list(&mut layer.state.blocks, &layer.state.map, region, plane, job.block);
}

/// The victim is erased, or the job is abandoned.
pub(crate) fn end_job(layer: &mut Layer, region: RegionId, plane: PlaneId) {
    if let Some(job) = job_mut(&mut layer.state.blocks, region, plane).take() {
        layer.gathering.job_over(&job, |ppn| layer.state.geometry.block_of(ppn));
        layer.requests.pace_mut().end(&layer.state, &job);
        end_grant(layer, plane, job.idle && job.granted);
        if job.held {
            let_go(&layer.state.geometry, &mut layer.out, &mut layer.held_dies, plane);
        }
    }
}

pub(crate) fn has_job(blocks: &Blocks, die: DieId) -> bool {
    let planes = blocks.geometry().planes_of_die(die).map(PlaneId);
    let regions = || (0..blocks.regions().len() as u8).map(RegionId);
    planes
        .into_iter()
        .any(|plane| regions().any(|r| blocks.reaches(r, plane) && blocks.at(r, plane).job.is_some()))
}

/// Whether a scheme places the collected pages of a block, or of its superblock, in another pool, or there are none.
pub(crate) fn evicts(layer: &mut Layer, region: RegionId, plane: PlaneId, block: BlockId) -> bool {
    let State { blocks, map, .. } = &mut layer.state;
    let slots = blocks.region(region).slots_per_block;
    let first = |(plane, block)| map.next_live(block, 0, slots).map(|slot| (plane, block, slot));
    let Some((plane, block, slot)) = members(blocks, region, plane, block).find_map(first) else {
        return true;
    };
    let mut spans = Spans::new();
    layer.state.map.live_in(layer.state.geometry.ppn(block, slot), &mut spans);
    let place = place_collected(layer, region, &spans, plane);
    let Some(place) = place else { return false };
    let to = place.route.region();
    to.index() >= layer.state.blocks.regions().len()
        || layer.state.blocks.region(to).region.pool != layer.state.blocks.region(region).region.pool
        || layer.state.blocks.region(to).region.mode != layer.state.blocks.region(region).region.mode
}
