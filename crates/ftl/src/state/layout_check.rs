//! Checks whether a layout can be built on a drive, before any part of it is.

use crate::plan::flash::FlashUse;
use crate::plan::layout::{DriveInfo, Layout};
use crate::plan::region::{PoolId, Region, RegionId};
use crate::state::demand_map::{self, DemandMap};
use crate::state::region::PoolState;
use crate::state::superblocks;
use crate::state::wear::Wear;
use wordline_device::Packing;
use wordline_flash::Medium;
use wordline_units::{Bytes, CellMode};

/// See that a drive can have a layout.
///
/// # Errors
/// Why it cannot, and the remedy.
pub(crate) fn check(drive: &DriveInfo, layout: &Layout) -> Result<(), String> {
    if layout.regions.is_empty() || layout.regions.len() > 15 {
        return Err(format!("its layout has {} regions; allowed: 1 to 15", layout.regions.len()));
    }
    if let Some(why) = superblocks::refusal(drive, layout) {
        return Err(why);
    }
    check_pools(drive, layout)?;
    check_kept(layout)?;
    for region in &layout.regions {
        let medium = &drive.geometry.media[layout.pools[region.pool.0 as usize].medium];
        check_modes(drive, region, medium)?;
        check_programs(region, medium)?;
    }
    check_capacity(drive, layout)?;
    check_packing(drive, layout)?;
    match DemandMap::size(&drive.spec.dram, Bytes(drive.geometry.unit)) {
        Some(_) => demand_map::refusal(layout).map_or(Ok(()), Err),
        None => Ok(()),
    }
}

/// Whether a medium has enough blocks for its pools.
fn check_pools(drive: &DriveInfo, layout: &Layout) -> Result<(), String> {
    let mut used = vec![0; drive.geometry.media.len()];
    for pool in &layout.pools {
        let medium = &drive.geometry.media[pool.medium];
        used[pool.medium] += pool.blocks_per_plane;
        if used[pool.medium] > medium.blocks_per_plane {
            return Err(format!(
                "it needs {} blocks per plane of medium {:?}, which has {}",
                used[pool.medium], medium.name, medium.blocks_per_plane
            ));
        }
    }
    Ok(())
}

/// Verify that no region is left without blocks by those that others keep.
fn check_kept(layout: &Layout) -> Result<(), String> {
    let at = (0..layout.regions.len()).find(|at| layout.left_to(RegionId(*at as u8)) == 0);
    let Some(region) = at.map(|at| &layout.regions[at]) else { return Ok(()) };
    Err(format!(
        "region {} has no block, since other regions keep all {} per plane of its pool; keep fewer",
        region.name, layout.pools[region.pool.0 as usize].blocks_per_plane
    ))
}

/// Verify that each pool has a writable block in addition to its reserve.
///
/// # Errors
/// The missing number of blocks, and the reasons for the reserve.
pub(crate) fn check_reserves(pools: &[PoolState], wear: &Wear) -> Result<(), String> {
    let Some(pool) = pools.iter().find(|pool| pool.reserve > 0 && pool.blocks_per_plane <= pool.reserve)
    else {
        return Ok(());
    };
    let (has, reserve, further) = (pool.blocks_per_plane, pool.reserve, wear.further_reserve());
    let of_wear = match further {
        0 => String::new(),
        _ => format!(", and {further} for wear.enforce and wear.static"),
    };
    Err(format!(
        "a pool of {has} blocks per plane keeps {reserve} erased for GC, one for each region{of_wear}, so \
         none is left for data; it needs {}, {} more",
        reserve + 1,
        reserve + 1 - has
    ))
}

/// Verify that the layout can hold the drive's capacity at rest.
///
/// # Errors
/// What it holds, and the capacity that would do.
fn check_capacity(drive: &DriveInfo, layout: &Layout) -> Result<(), String> {
    let (spec, geometry, unit) = (drive.spec, drive.geometry, drive.geometry.unit);
    let holds = FlashUse::new(layout, geometry).data_bytes(spec);
    let capacity = drive.logical_pages as u64 * unit;
    if capacity <= holds {
        return Ok(());
    }
    // The same share of it as the device file lets the host have of all its flash.
    let all = spec.data_bytes();
    let fits = (holds as u128 * capacity as u128 / all.max(1) as u128) as u64;
    let fits = fits.min(holds);
    let fits = if fits >= 64 << 20 { fits >> 20 << 20 } else { fits } / unit * unit;
    let modes: Vec<String> = resting_modes(layout).iter().map(CellMode::to_string).collect();
    Err(format!(
        "its layout stores {} in {} mode, less than the capacity of {}; set capacity.logical={}, or use a \
         denser mode or more blocks",
        Bytes(holds),
        modes.join(" and "),
        Bytes(capacity),
        Bytes(fits)
    ))
}

/// The modes in which data lie at rest.
fn resting_modes(layout: &Layout) -> Vec<CellMode> {
    let resting = (0..layout.pools.len() as u8).map(PoolId).filter(|pool| layout.rests_in(*pool));
    let mut modes: Vec<CellMode> = resting.map(|pool| layout.densest_in(pool)).collect();
    modes.sort_unstable_by_key(|mode| mode.bits());
    modes.dedup();
    modes
}

/// Whether a region's mode is supported, with all values that the device file requires.
fn check_modes(drive: &DriveInfo, region: &Region, medium: &Medium) -> Result<(), String> {
    if medium.mode(region.mode).is_none() {
        return Err(format!(
            "region {} uses {} mode, which medium {:?} does not support",
            region.name, region.mode, medium.name
        ));
    }
    if let Some(errors) = &drive.spec.errors {
        let as_slc = region.rule.reprograms().then_some(CellMode::Slc);
        let unknown = |mode: &CellMode| errors.mode(*mode).is_none();
        if let Some(mode) = [Some(region.mode), as_slc].into_iter().flatten().find(unknown) {
            return Err(format!(
                "region {} uses {mode} mode, for which error model {} has no parameters; add [errors.{}], \
                 choose another model, or set errors=off",
                region.name,
                errors.name,
                mode.key()
            ));
        }
    }
    if drive.spec.wear.enforce && medium.mode(region.mode).is_none_or(|t| t.endurance == 0) {
        return Err(format!(
            "region {} uses {mode} mode without an endurance, but wear.enforce is on; set \
             medium.{}.{}.endurance, or set wear.enforce=false (not under lifetime, which needs it)",
            region.name,
            medium.name,
            region.mode.key(),
            mode = region.mode
        ));
    }
    Ok(())
}

/// Whether writes may share pages that hold several mapping units, where the device file wants that.
fn check_packing(drive: &DriveInfo, layout: &Layout) -> Result<(), String> {
    match layout.packing_refusal(drive.geometry) {
        Some(why) if drive.spec.packing == Packing::Page => Err(format!(
            "{why}, but mapping.packing = \"page\" packs writes as they arrive; set mapping.packing = \"off\""
        )),
        _ => Ok(()),
    }
}

/// Whether blocks of the medium support a region's program rule.
fn check_programs(region: &Region, medium: &Medium) -> Result<(), String> {
    region.rule.check(medium.shape(region.mode)).map_err(|e| format!("region {}: {e}", region.name))?;
    if region.rule.reprograms() && medium.mode(CellMode::Slc).is_none() {
        return Err(format!(
            "the windows of region {} start in SLC mode, which medium {:?} does not support",
            region.name, medium.name
        ));
    }
    let pages = region.rule.pages_per_program();
    if pages != 1 && pages != region.mode.bits() {
        return Err(format!(
            "region {} programs {pages} pages in one operation, but a {} wordline has {}",
            region.name,
            region.mode,
            region.mode.bits()
        ));
    }
    if region.pad_after.is_none() && pages > 1 && !region.protected {
        return Err(format!(
            "region {} never pads its wordlines, which requires a protected program buffer",
            region.name
        ));
    }
    Ok(())
}
