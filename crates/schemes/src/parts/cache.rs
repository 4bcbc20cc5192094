//! An SLC cache in front of a dense region: how large it is, and how it divides a drive. Each scheme handles
//! the data in it itself.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use wordline_flash::ProgramRule;
use wordline_ftl::{
    Command, DriveInfo, FreeOrder, Hooks, IdleHold, Layout, MapKind, Pool, PoolId, Refusal, Region, RegionId,
    View,
};
use wordline_units::{CellMode, SimDuration};

/// The cache.
pub(crate) const S: RegionId = RegionId(0);
/// The dense region.
pub(crate) const D: RegionId = RegionId(1);

/// Writes between two looks at how full the drive is.
const LOOK_EVERY: u32 = 1024;

/// The parameter `static_blocks`.
pub(crate) const STATIC_BLOCKS: Parameter =
    Parameter::new("static_blocks", "device", "static SLC blocks per plane");
/// The parameter `dynamic_blocks`.
pub(crate) const DYNAMIC_BLOCKS: Parameter =
    Parameter::new("dynamic_blocks", "device", "dynamic SLC blocks per plane of an empty drive");

/// How large a cache is: of each plane `base + dynamic x (1 - fill)` blocks, where `fill` is the share of the
/// logical pages that hold data.
#[derive(Clone, Debug, Default)]
pub(crate) struct Size {
    static_blocks: Option<u32>,
    dynamic_blocks: Option<u32>,
    /// Cache size from parameters and device file, set by `layout`.
    base: u32,
    dynamic: u32,
    /// The least that is left of it.
    least: u32,
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
    /// fixed size has blocks of its own; one that shrinks shares them.
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
        let blocks = if dynamic == 0 {
            vec![base, medium.blocks_per_plane - base]
        } else {
            vec![medium.blocks_per_plane]
        };
        let s = Region {
            quota: if dynamic == 0 { u32::MAX } else { self.quota(0, 1) },
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
            tick_every_writes: if dynamic == 0 { 0 } else { LOOK_EVERY },
            idle_after: SimDuration::ZERO,
            idle_hold: IdleHold::Grain,
        })
    }

    /// Blocks of each plane that the cache may own while `mapped` of `all` logical pages hold data.
    fn quota(&self, mapped: u64, all: u64) -> u32 {
        let empty = all.saturating_sub(mapped);
        (self.base + (self.dynamic as u64 * empty / all.max(1)) as u32).max(self.least)
    }

    /// The controller loop of a cache that shrinks as the drive fills.
    pub fn resize(&self, view: &View, out: &mut Vec<Command>) {
        out.push(Command::SetQuota(S, self.quota(view.mapped(), view.logical_pages() as u64)));
    }

    /// Whether the cache has blocks of its own.
    pub fn is_apart(&self) -> bool {
        self.dynamic == 0
    }
}
