//! Preconditions the drive before its first request. Initial data are one implicit image, so that the time is
//! proportional to the number of blocks.

use crate::flow::collect::superblock::complete_superblocks;
use crate::flow::fail::ask_media;
use crate::image::base::{BaseImage, Mapped};
use crate::image::permutation::Permutation;
use crate::initial::initial::{Initial, InitialError, stream};
use crate::layer::Layer;
use crate::media::found::BlockHeader;
use crate::plan::region::{PoolId, RegionId};
use crate::start::image_plan::ImagePlan;
use crate::state::aging::cost_of_erase;
use crate::state::block::Phase;
use crate::state::blocks::at_rest::{adopt, block_mut, recount, regions_mut};
use crate::state::blocks::block_wear::{age_data, endurance};
use crate::state::blocks::capacity::lose_fresh;
use crate::state::blocks::free_space::{free_blocks, total_blocks};
use crate::state::blocks::victims::list;
use crate::state::outbox::Outbox;
use crate::state::region::PoolState;
use crate::state::request::Fault;
use crate::state::state::State;
use std::collections::BTreeMap;
use wordline_units::{BlockId, CellMode, Fraction, Lpn, PlaneId};

/// Precondition the drive before its first request.
///
/// # Errors
/// If the data do not fit; the drive must then be discarded.
pub(crate) fn precondition(layer: &mut Layer, initial: &Initial, seed: u64) -> Result<(), InitialError> {
    let home = layer.state.blocks.home();
    begin(layer, initial, seed)?;
    let map = layer.state.demand.as_ref().map_or(0..0, |map| map.of(&initial.mapped));
    let plan = ImagePlan::new(&layer.state, initial, seed);
    let mut image = match layer.seat.layout.second_home {
        None => plan.image(home, &initial.mapped, &map)?,
        Some((second_home, pages)) => plan.drawn_image(second_home, pages)?,
    };
    if layer.state.map_kind().knows_sectors() {
        image.lacking = initial.lacking.clone();
    }
    adopt_image(layer, image);
    if let Some(demand) = &mut layer.state.demand {
        map.for_each(|page| demand.set_on_flash(Lpn(page)));
    }
    if initial.aged_invalid > Fraction::ZERO {
        age(layer, home, initial.aged_invalid);
    }
    complete_superblocks(&mut layer.state);
    age_data(&layer.state.blocks, &mut layer.state.aging, layer.state.now, initial.retention);
    recount(&mut layer.state.blocks, &layer.state.map);
    media_hold(&layer.out)
}

/// Whether the media store all data that they were given.
pub(crate) fn media_hold(out: &Outbox) -> Result<(), InitialError> {
    match out.fault() {
        Some(Fault::Media { error, .. }) => Err(InitialError::Media(error.clone())),
        _ => Ok(()),
    }
}

/// Seed the random streams and wear the blocks: common to all initial states.
pub(crate) fn begin(layer: &mut Layer, initial: &Initial, seed: u64) -> Result<(), InitialError> {
    let last = match &initial.mapped {
        Mapped::First(n) => n.checked_sub(1),
        Mapped::Set(set) => set.last().map(|l| l.0),
    };
    if let Some(last) = last.filter(|l| *l >= layer.state.config.logical_pages) {
        return Err(InitialError::BeyondDrive { last, logical_pages: layer.state.config.logical_pages });
    }
    for region in regions_mut(&mut layer.state.blocks) {
        for (local, at) in region.planes.iter_mut().enumerate() {
            at.victims.seed(stream(seed, "ftl/victim", &region.region.name, local as u64));
        }
    }
    let scheme = stream(seed, "scheme", layer.seat.scheme.name(), 0);
    layer.seat.scheme.seed(scheme);
    begin_wear(&mut layer.state, seed);
    for index in 0..layer.state.blocks.regions().len() {
        let region = RegionId(index as u8);
        let mode: CellMode = layer.state.blocks.regions()[index].region.mode;
        let (least, more) = (initial.cycles[mode.index()], initial.more_cycles[mode.index()]);
        if least == 0 && more == 0 {
            continue;
        }
        for plane in layer.state.blocks.pool_of(region).planes() {
            for block in layer.state.blocks.pool_of(region).blocks_in(&layer.state.geometry, plane) {
                let drawn = stream(seed, "ftl", "cycles", block as u64) % (more as u64 + 1);
                let cycles = least.saturating_add(drawn as u32);
                let cost = cost_of_erase(endurance(&layer.state.blocks, BlockId(block), mode));
                let info = block_mut(&mut layer.state.blocks, BlockId(block));
                info.erases = info.erases.max(cycles);
                info.life_used = info.life_used.max(cycles.saturating_mul(cost));
                if layer.store.keeps_metadata() {
                    let erases = info.erases;
                    ask_media(layer.state.now, &mut layer.store, &mut layer.out, |m| {
                        m.wear(BlockId(block), erases)
                    });
                }
            }
        }
    }
    Ok(())
}

/// Use an image as the contents of the home region.
pub(crate) fn adopt_image(layer: &mut Layer, image: BaseImage) {
    let spu = layer.state.geometry.sectors_per_unit;
    let by_page = layer.state.map_kind().is_by_page();
    let placed = image.live_sectors(spu, by_page);
    layer.store.set_base(&image);
    layer.state.map.adopt(image);
    let home = layer.state.blocks.home();
    for (block, programmed, live) in placed {
        let plane = layer.state.geometry.plane_of(block);
        let at_home = layer.state.blocks.reaches(home, plane)
            && layer.state.blocks.pool_of(home).blocks_in(&layer.state.geometry, plane).contains(&block.0);
        let region = match layer.seat.layout.second_home {
            Some((second_home, _)) if !at_home => second_home,
            _ => home,
        };
        if programmed > 0 {
            adopt_block(layer, region, block, programmed, live);
        }
    }
}

/// Assign to a region an erased block that already holds this much.
fn adopt_block(layer: &mut Layer, region: RegionId, block: BlockId, programmed: u32, live_sectors: u32) {
    adopt(&mut layer.state.blocks, region, block, (programmed, live_sectors));
    let info = layer.state.blocks.block(block);
    if layer.store.keeps_metadata() {
        let header = BlockHeader { region, mode: info.mode(), erases: info.erases, opened: 0 };
        ask_media(layer.state.now, &mut layer.store, &mut layer.out, |m| {
            m.preload(block, programmed, header)
        });
    }
    if info.phase == Phase::Full {
        let plane = layer.state.geometry.plane_of(block);
        list(&mut layer.state.blocks, &layer.state.map, region, plane, block);
    }
}

/// Aging as in SSDSim: the first pages of each block are programmed and invalid.
fn age(layer: &mut Layer, region: RegionId, share: Fraction) {
    let r = &layer.state.blocks.region(region);
    let (pages, units) = (r.shape.pages(), r.units_per_page);
    let step = r.pages_per_program.max(r.region.rule.ages_by(r.shape));
    let each = ((share.of(pages as u64) as u32 + 1).div_ceil(step) * step).min(pages);
    // Every region of the pool has yet to open a block, and none is full that collection could take.
    let pool = layer.state.blocks.region(region).region.pool;
    let regions = layer.state.blocks.regions().iter().filter(|r| r.region.pool == pool).count() as u32;
    for plane in layer.state.blocks.pool_of(region).planes().collect::<Vec<_>>() {
        let all = total_blocks(&layer.state.blocks, region) as u64 * pages as u64;
        let mut used = layer.state.blocks.owned(region, plane) as u64 * pages as u64;
        while used < share.of(all)
            && free_blocks(&layer.state.blocks, region, plane)
                > layer.state.blocks.pool_of(region).reserve + regions
        {
            let local = layer.state.blocks.local(region, plane);
            let Some(block) = layer.state.blocks.pools()[pool.0 as usize].free[local].first() else {
                break;
            };
            adopt_block(layer, region, block, each * units, 0);
            used += each as u64;
        }
    }
}

/// Draw the endurance of blocks, and the initially bad blocks. Which blocks of a plane are bad makes no
/// difference, so the last ones are taken.
pub(crate) fn begin_wear(state: &mut State, seed: u64) {
    state.wear.seed = stream(seed, "ftl/wear", "lives", 0);
    let share = state.wear.spec.bad_blocks;
    let mut lost: BTreeMap<(u8, u32), u32> = BTreeMap::new();
    for medium in 0..state.geometry.media.len() {
        let planes = state.geometry.planes_of_medium(medium);
        let each = state.geometry.media[medium].blocks_per_plane;
        let all = planes.len() as u32 * each;
        let drawn = Permutation::keyed(all, stream(seed, "ftl/wear", "bad blocks", medium as u64));
        for bad in (0..share.of(all as u64) as u32).map(|i| drawn.forward(i)) {
            let holds = |p: &PoolState| {
                p.medium == medium && (p.offset..p.offset + p.blocks_per_plane).contains(&(bad % each))
            };
            if let Some(pool) = state.blocks.pools().iter().position(holds) {
                *lost.entry((pool as u8, planes.start + bad / each)).or_default() += 1;
            }
        }
    }
    for ((pool, plane), count) in lost {
        lose_fresh(&mut state.blocks, &mut state.wear, PoolId(pool), PlaneId(plane), count);
    }
}
