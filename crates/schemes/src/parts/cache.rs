//! An SLC cache in front of a dense region: how large it is, and how it divides a drive. Each scheme handles
//! the data in it itself.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use wordline_flash::ProgramRule;
use wordline_ftl::{
    Command, DriveInfo, FreeOrder, Hooks, IdleHold, Layout, MapKind, Pool, PoolId, Refusal, Region, RegionId,
    View,
};
use wordline_units::{CellMode, Rate, SimDuration};

/// The cache.
pub(crate) const S: RegionId = RegionId(0);
/// The dense region.
pub(crate) const D: RegionId = RegionId(1);

/// Writes between two looks at how full the drive is.
const LOOK_EVERY: u32 = 1024;
/// The same where the cache takes free blocks.
const LOOK_OFTEN: u32 = 64;

/// The parameter `static_blocks`.
pub(crate) const STATIC_BLOCKS: Parameter =
    Parameter::new("static_blocks", "device", "static SLC blocks per plane");
/// The parameter `dynamic_blocks`.
pub(crate) const DYNAMIC_BLOCKS: Parameter =
    Parameter::new("dynamic_blocks", "device", "dynamic SLC blocks per plane of an empty drive");

/// How large a cache is: of each plane `base + dynamic x (1 - fill)` blocks, where `fill` is the share of the
/// logical pages that hold data; or with a reserve `base` and all blocks in which no data rest, but for the reserve and
/// at most `dynamic`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Size {
    static_blocks: Option<u32>,
    dynamic_blocks: Option<u32>,
    /// Cache size from parameters and device file, set by `layout`.
    base: u32,
    dynamic: u32,
    /// The least that is left of it.
    least: u32,
    /// What it leaves, if it takes free blocks.
    free: Option<Free>,
}

/// A cache that takes free blocks.
#[derive(Clone, Copy, Debug)]
struct Free {
    /// Blocks of each plane that are neither of its static part nor of its reserve.
    blocks: u32,
    /// Logical pages that one dense block of every plane holds.
    row: u64,
}

impl Size {
    pub fn from_parameters(p: &mut Parameters) -> Size {
        Size {
            static_blocks: p.given("static_blocks"),
            dynamic_blocks: p.given("dynamic_blocks"),
            ..Size::default()
        }
    }

    /// The cache and the dense region, of which the caller gets the cache to make it its own. A cache of
    /// fixed size has blocks of its own; one that shrinks shares them, but for the static ones.
    ///
    /// # Errors
    /// A refusal where the flash has no two modes, or the size does not fit.
    pub fn layout(
        &mut self,
        drive: &DriveInfo,
        least: u32,
        refuse: impl Fn(String) -> Refusal,
        cache: impl FnOnce(Region) -> Region,
    ) -> Result<Layout, Refusal> {
        let medium = layout::only_medium(drive, &refuse)?;
        let dense = medium.densest();
        if dense == CellMode::Slc || medium.mode(CellMode::Slc).is_none() {
            return Err(refuse("its flash must support SLC and a denser mode".into()));
        }
        let file = drive.spec.slc_cache;
        let (Some(base), Some(dynamic)) = (
            self.static_blocks.or(file.map(|c| c.static_blocks)),
            self.dynamic_blocks.or(file.map_or(Some(0), |c| Some(c.dynamic_blocks))),
        ) else {
            let size = layout::cache_size(medium);
            return Err(refuse(format!("the device file has no [slc_cache]; {size}")));
        };
        if base + dynamic < 2 || base + dynamic >= medium.blocks_per_plane {
            return Err(refuse(format!(
                "a cache of {} blocks per plane is not between 2 and {}",
                base + dynamic,
                medium.blocks_per_plane - 1
            )));
        }
        (self.base, self.dynamic, self.least) = (base, dynamic, least);
        self.free = file.and_then(|c| c.dynamic_reserve).filter(|_| dynamic > 0).map(|reserve| {
            let kept = reserve.of_ceil(u64::from(medium.blocks_per_plane)) as u32;
            let units = u64::from(drive.geometry.units_per_page(0));
            let row = u64::from(medium.topology.planes()) * u64::from(medium.wordlines_per_block);
            Free {
                blocks: medium.blocks_per_plane.saturating_sub(base + kept),
                row: row * u64::from(dense.bits()) * units,
            }
        });
        let blocks = if dynamic == 0 {
            vec![base, medium.blocks_per_plane - base]
        } else {
            vec![medium.blocks_per_plane]
        };
        let s = Region {
            quota: if dynamic == 0 { u32::MAX } else { self.quota(0, 0, 1) },
            kept: base,
            ..layout::region(drive, "S", PoolId(0), CellMode::Slc, ProgramRule::Sequential)
        };
        let one_shot = medium.mode(dense).is_some_and(|t| t.pages_per_program > 1);
        let d_pool = PoolId(blocks.len() as u8 - 1);
        let d = layout::region(drive, "D", d_pool, dense, layout::rule(dense, one_shot));
        let pool = |n| Pool { medium: 0, blocks_per_plane: n, free: FreeOrder::Fifo };
        Ok(Layout {
            regions: vec![cache(s), d],
            pools: blocks.into_iter().map(pool).collect(),
            home: D,
            second_home: None,
            map: MapKind::Page,
            merges: None,
            enabled_hooks: Hooks::ALL,
            tick_every_writes: match (dynamic, self.free) {
                (0, _) => 0,
                (_, None) => LOOK_EVERY,
                (_, Some(_)) => LOOK_OFTEN,
            },
            idle_after: SimDuration::ZERO,
            idle_hold: IdleHold::Grain,
            idle_rate: Rate::OFF,
        })
    }

    /// Blocks of each plane that the cache may own while `mapped` of `all` logical pages hold data, `cached` of them in
    /// the cache.
    fn quota(&self, mapped: u64, cached: u64, all: u64) -> u32 {
        let dynamic = match self.free {
            None => u64::from(self.dynamic) * all.saturating_sub(mapped) / all.max(1),
            Some(Free { blocks, row }) => {
                let taken = mapped.saturating_sub(cached).div_ceil(row);
                u64::from(blocks).saturating_sub(taken).min(u64::from(self.dynamic))
            }
        };
        (self.base + dynamic as u32).max(self.least)
    }

    /// The controller loop of a cache that shrinks as the drive fills.
    pub fn resize(&self, view: &View, out: &mut Vec<Command>) {
        let cached = if self.free.is_some() { view.live_units_in(S) } else { 0 };
        let quota = self.quota(view.mapped(), cached, u64::from(view.logical_pages()));
        out.push(Command::SetQuota(S, quota));
    }

    /// Whether the cache has blocks of its own.
    pub fn is_apart(&self) -> bool {
        self.dynamic == 0
    }
}
