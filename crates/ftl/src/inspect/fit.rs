//! Computes initial states that fit a drive, for hints.

use crate::plan::layout::Layout;
use crate::plan::region::RegionId;
use crate::start::image_plan::fillable;
use crate::state::blocks::capacity::lost_in;
use crate::state::blocks::free_space::{free_blocks, free_slots, held_back, total_blocks};
use crate::state::state::State;
use wordline_device::Trigger;
use wordline_units::{Fraction, PlaneId};

/// Shares are stated to a hundredth of a percent.
const STEP: u64 = Fraction::ONE.0 / 10_000;

/// A state in which data fill the drive just short of its first collection. Returns the share of the
/// logical pages that hold data (about `share`, or all if requested) and the share of valid pages in
/// their blocks, as `Setup::precondition` takes them. `None` if this many pages do not fit.
pub(crate) fn fill_short_of_collection(
    state: &State,
    layout: &Layout,
    share: Fraction,
) -> Option<(Fraction, Fraction)> {
    let pages = share.of(state.config.logical_pages as u64) as u32;
    let Some((second_home, at_most)) = layout.second_home else {
        return fill_of_region(state, state.blocks.home(), pages);
    };
    let there = (pages as u64 * at_most as u64 / state.config.logical_pages.max(1) as u64) as u32;
    let (_, home) = fill_of_region(state, state.blocks.home(), pages - there.min(pages))?;
    let (_, second) = fill_of_region(state, second_home, there)?;
    Some((share, home.max(second)))
}

/// The same for a region that holds this many pages.
fn fill_of_region(state: &State, region: RegionId, pages: u32) -> Option<(Fraction, Fraction)> {
    let r = &state.blocks.region(region);
    let planes: Vec<PlaneId> = state.blocks.pool_of(region).planes().collect();
    let count = (pages as u64).div_ceil(planes.len() as u64);
    let slots = r.slots_per_block as u64;
    let available = planes.iter().map(|plane| fillable(state, region, *plane)).min()? as u64;
    let lost = planes.iter().map(|plane| lost_in(&state.blocks, r.region.pool, *plane)).max()?;
    let sharing = state.blocks.regions().iter().filter(|other| other.region.pool == r.region.pool).count();
    // The first write opens a block, and so does every other region of the pool.
    let free = held_back(&state.blocks, region) + sharing as u32;
    let wanted = (state.blocks.pool_of(region).blocks_per_plane.saturating_sub(lost + free)) as u64;
    let least = count.div_ceil(slots);
    // Some of the pages must be invalid, or there is nothing to collect.
    let blocks = wanted.max(least + least.div_ceil(20)).min(available);
    if blocks < least || blocks == 0 {
        return None;
    }
    let all = (state.config.logical_pages as u64).div_ceil(planes.len() as u64).max(1);
    let mut live = count.div_ceil(blocks);
    let is_full = pages == state.config.logical_pages;
    if live * blocks > all && !is_full {
        live -= 1;
    }
    let live = live.clamp(1, slots);
    let of = |part: u64, all: u64| (part as u128 * Fraction::ONE.0 as u128 / all as u128) as u64;
    // All blocks are equally full.
    let share = of(live * blocks, all).min(Fraction::ONE.0) / STEP * STEP;
    let valid = (of(live, slots) + 1).div_ceil(STEP) * STEP;
    Some((Fraction(share), Fraction(valid.min(Fraction::ONE.0))))
}

/// Bytes that can be written to a region before its first collection, at about the same rate in all
/// planes. `None` if no trigger determines it.
pub(crate) fn bytes_to_collection(state: &State, region: RegionId) -> Option<u64> {
    let r = &state.blocks.region(region);
    if r.region.trigger == Trigger::Never {
        return None;
    }
    let held = held_back(&state.blocks, region);
    let left = |plane: PlaneId| {
        let slots = r.slots_per_block as u64;
        if let Trigger::FreeSlots(share) = r.region.trigger {
            let kept = share.of_ceil(total_blocks(&state.blocks, region) as u64 * slots);
            return free_slots(&state.blocks, region, plane).saturating_sub(kept);
        }
        let blocks = free_blocks(&state.blocks, region, plane).saturating_sub(held) as u64;
        blocks * slots + state.blocks.at(region, plane).open_slots
    };
    let least = state.blocks.pool_of(region).planes().map(left).min().unwrap_or(0);
    Some(least * r.planes.len() as u64 * state.geometry.unit)
}
