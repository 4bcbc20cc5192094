//! Common parts of schemes that pack partial pages into a static SLC cache: their layout. Each scheme decides
//! about placement itself.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use wordline_device::Trigger;
use wordline_flash::ProgramRule;
use wordline_ftl::{
    DriveInfo, FreeOrder, Hooks, IdleHold, Join, Layout, MapKind, PlanePick, Pool, PoolId, Refusal, Region,
    RegionId, Span,
};
use wordline_units::{Bytes, CellMode, Fraction, Rate, SectorMask, SimDuration};

/// The parameter of [`take_static_blocks`].
pub(crate) const STATIC_BLOCKS: Parameter = Parameter::new(
    "static_blocks",
    "device",
    "SLC blocks per plane; without it the cache of the device file must be static",
);

/// The requested number of cache blocks.
pub(crate) fn take_static_blocks(p: &mut Parameters) -> Option<u32> {
    p.given("static_blocks")
}

/// The parameter of [`take_merged_to`], with the meaning of `first` for the scheme.
pub(crate) const fn merged_to(what: &'static str) -> Parameter {
    Parameter::new("merged_to", "load", what)
}

/// Where merged pages go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MergedTo {
    /// To the plane with the least to do.
    Load,
    /// Independent of load: by the home of their first part.
    Fixed,
}

/// Where merged pages go that is not by load, by the scheme's own word for it.
pub(crate) fn take_merged_to(p: &mut Parameters, fixed: &str) -> MergedTo {
    p.choice("merged_to", &[("load", MergedTo::Load), (fixed, MergedTo::Fixed)])
}

impl MergedTo {
    /// The same as a plane, if all channels are equal.
    pub fn plane(self) -> PlanePick {
        match self {
            MergedTo::Load => PlanePick::Any,
            MergedTo::Fixed => PlanePick::Home,
        }
    }
}

/// An SLC cache of fixed size over dense flash, on a drive whose pages hold several sectors.
pub(crate) struct Cache<'a> {
    drive: &'a DriveInfo<'a>,
    /// SLC blocks of each plane.
    pub blocks: u32,
    /// Pages of an SLC block.
    pub pages_per_block: u32,
    /// When it is collected, by the device file.
    pub trigger: Trigger,
    dense: CellMode,
    one_shot: bool,
    dense_blocks: u32,
}

impl<'a> Cache<'a> {
    /// # Errors
    /// A refusal where the flash has no two modes, pages of the map have no parts or are not those of the
    /// flash, or the cache does not fit.
    pub fn of(
        drive: &'a DriveInfo<'a>,
        asked: Option<u32>,
        refuse: impl Fn(String) -> Refusal,
    ) -> Result<Cache<'a>, Refusal> {
        let medium = layout::only_medium(drive, &refuse)?;
        let dense = medium.densest();
        if dense == CellMode::Slc || medium.mode(CellMode::Slc).is_none() {
            return Err(refuse("its flash must support SLC and a denser mode".into()));
        }
        let (page, unit, sector) = (medium.page, drive.spec.unit, drive.spec.sector);
        if unit != page || sector == unit {
            let smaller = Bytes((page.0 / 8).max(512).min(sector.0));
            return Err(refuse(format!(
                "it packs sectors into pages, but a page of {page} has mapping units of {unit} and sectors \
                 of {sector}; set mapping.unit={page} and mapping.sector={smaller}"
            )));
        }
        let file = drive.spec.slc_cache;
        let fixed = file.filter(|c| c.dynamic_blocks == 0).map(|c| c.static_blocks);
        let Some(blocks) = asked.or(fixed) else {
            let size = layout::cache_size(medium);
            return Err(refuse(format!("it needs a static cache, and the device file has none; {size}")));
        };
        if blocks < 2 || blocks >= medium.blocks_per_plane {
            return Err(refuse(format!(
                "a cache of {blocks} blocks per plane is not between 2 and {}",
                medium.blocks_per_plane - 1
            )));
        }
        Ok(Cache {
            drive,
            blocks,
            pages_per_block: medium.pages_per_block(CellMode::Slc),
            trigger: file.map_or(Trigger::FreeBlocks(Fraction::percent(50)), |c| c.trigger),
            dense,
            one_shot: medium.mode(dense).is_some_and(|t| t.pages_per_program > 1),
            dense_blocks: medium.blocks_per_plane - blocks,
        })
    }

    /// Pages of the cache on the whole drive.
    pub fn pages(&self) -> u64 {
        let planes = self.drive.geometry.media[0].topology.planes() as u64;
        planes * self.blocks as u64 * self.pages_per_block as u64
    }

    /// Blocks of a plane that hold data when collection has done its work.
    pub fn usable(&self) -> u32 {
        let free = match self.trigger {
            Trigger::FreeBlocks(share) | Trigger::FreeSlots(share) => {
                share.of_ceil(self.blocks as u64) as u32
            }
            Trigger::Never | Trigger::LastBlock => 0,
        };
        (self.blocks - free.min(self.blocks)).max(1)
    }

    /// A region of the cache.
    pub fn region(&self, name: &'static str) -> Region {
        Region {
            trigger: self.trigger,
            evicts_to_other_pool: true,
            ..layout::region(self.drive, name, PoolId(0), CellMode::Slc, ProgramRule::Sequential)
        }
    }

    /// The drive with these cache regions and the dense one after them, whose pages wait in protected RAM for
    /// a one-shot program.
    pub fn layout(&self, cache: Vec<Region>, map: MapKind, join: Join) -> Layout {
        let dense = Region {
            protected: true,
            pad_after: None,
            ..layout::region(self.drive, "D", PoolId(1), self.dense, layout::rule(self.dense, self.one_shot))
        };
        let pool = |n| Pool { medium: 0, blocks_per_plane: n, free: FreeOrder::Fifo };
        let home = RegionId(cache.len() as u8);
        Layout {
            pools: vec![pool(self.blocks), pool(self.dense_blocks)],
            regions: cache.into_iter().chain([dense]).collect(),
            home,
            second_home: None,
            map,
            merges: Some(join),
            enabled_hooks: Hooks::ALL,
            tick_every_writes: 0,
            idle_after: SimDuration::ZERO,
            idle_hold: IdleHold::Grain,
            idle_rate: Rate::OFF,
        }
    }
}

/// Whether a host parcel is a whole page.
pub(crate) fn is_whole(spans: &[Span], all: SectorMask) -> bool {
    spans.first().is_some_and(|span| span.mask == all)
}
