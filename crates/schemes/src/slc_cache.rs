//! # SLC cache
//!
//! ## Source
//! The Baseline of L. Cai et al., "A Two-level SLC Cache Hierarchy for Hybrid SSDs", 2025, sections
//! II and IV-A: a page-granular SLC write cache in front of TLC. The dynamic size is that of drives
//! on the market (Micron, "Optimizing Client SSD Performance Through Dynamic Write Acceleration",
//! 2014).
//!
//! ## Idea
//! Every host write goes to SLC blocks, which are fast; when they run short, the pages that are
//! still live move on to the dense region.
//!
//! ## Algorithm
//! 1. A host write goes to the cache; a partial update first reads what it lacks from wherever it
//!    lies, and then programs the whole page. A first partial write needs no read.
//! 2. With `when_full = direct` a write that finds no slot in the cache goes to the dense region;
//!    with `wait` it waits for collection.
//! 3. A plane whose erased cache blocks fall below the trigger gives up the block with the fewest
//!    live sectors; its pages go to the dense region.
//! 4. Pages collected in the dense region stay there.
//! 5. A dynamic cache may own `static + dynamic x (1 - fill)` blocks of each plane, where `fill` is
//!    the share of the logical pages that hold data; the share is looked at every 1024 writes. With
//!    `wait` one block is the least.
//!
//! ## Symbols
//! S: the cache. D: the dense region.
//!
//! ## Parameters
//! - `static_blocks`, `dynamic_blocks`: blocks of each plane; default from the device file's
//!   `[slc_cache]`.
//! - `when_full`: `wait` or `direct`; default from the device file.
//!
//! ## Differs
//! The paper collects one victim a plane at a time, as here; it does not say how a full cache holds
//! up a write, which `when_full` decides.
//!
//! ## Not modelled
//! Collection in idle time: the paper's Baseline collects by its threshold only.
//!
//! ## Checked by
//! `each partial update of a cached page costs one read`, `reference model`, golden rows.

use crate::layout;
use crate::registry::{Entry, Parameter};
use wordline_device::config::Section;
use wordline_device::{Trigger, WhenFull};
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::{
    Command, Drive, Gather, Hooks, Layout, MapKind, Origin, Parcel, Place, PlanePick, Pool, PoolId, Refusal,
    Region, RegionId, Route, Scheme, View,
};
use wordline_units::{CellMode, Fraction, SimDuration};

const S: RegionId = RegionId(0);
const D: RegionId = RegionId(1);

/// Writes between two looks at how full the drive is; step 5.
const LOOK_EVERY: u32 = 1024;

pub(crate) const ENTRY: Entry = Entry {
    name: "slc-cache",
    title: "page-granular SLC write cache in front of dense flash",
    docs: include_str!("slc_cache.rs"),
    parameters: &[
        Parameter { key: "static_blocks", default: "device", what: "SLC blocks of each plane, always" },
        Parameter {
            key: "dynamic_blocks",
            default: "device",
            what: "SLC blocks of each plane while it is empty",
        },
        Parameter {
            key: "when_full",
            default: "device",
            what: "wait or direct: what a write does without a slot",
        },
    ],
    leading: None,
    build: |p| Box::new(SlcCache::from_parameters(p)),
};

/// An SLC write cache.
#[derive(Clone, Debug, Default)]
pub struct SlcCache {
    static_blocks: Option<u32>,
    dynamic_blocks: Option<u32>,
    when_full: Option<WhenFull>,
    /// What parameters and device file come to, set by `layout`.
    direct: bool,
    base: u32,
    dynamic: u32,
}

impl SlcCache {
    fn from_parameters(p: &mut Section) -> SlcCache {
        SlcCache {
            static_blocks: p.take("static_blocks"),
            dynamic_blocks: p.take("dynamic_blocks"),
            when_full: p.choice(
                "when_full",
                &[("device", None), ("wait", Some(WhenFull::Wait)), ("direct", Some(WhenFull::Direct))],
                None,
            ),
            ..SlcCache::default()
        }
    }

    /// Blocks of each plane that the cache may own while `mapped` of `all` logical pages hold data.
    fn quota(&self, mapped: u64, all: u64) -> u32 {
        let empty = all.saturating_sub(mapped);
        let least = !self.direct as u32; // (5): a write that waits for the cache must get there
        (self.base + (self.dynamic as u64 * empty / all.max(1)) as u32).max(least)
    }
}

impl Scheme for SlcCache {
    fn name(&self) -> &str {
        ENTRY.name
    }

    fn layout(&mut self, drive: &Drive) -> Result<Layout, Refusal> {
        let refuse = layout::refuser(ENTRY.name, drive);
        let medium = layout::only_medium(drive, &refuse)?;
        let dense = medium.densest();
        if dense == CellMode::Slc || medium.mode(CellMode::Slc).is_none() {
            return Err(refuse("its flash needs an SLC mode and a denser one".into()));
        }
        let cache = drive.spec.slc_cache;
        let (Some(base), Some(dynamic)) = (
            self.static_blocks.or(cache.map(|c| c.static_blocks)),
            self.dynamic_blocks.or(cache.map_or(Some(0), |c| Some(c.dynamic_blocks))),
        ) else {
            return Err(refuse(
                "its device file has no [slc_cache]; say how large the cache is with static_blocks".into(),
            ));
        };
        if base + dynamic < 2 || base + dynamic >= medium.blocks_per_plane {
            return Err(refuse(format!(
                "a cache of {} blocks a plane is not between 2 and {}",
                base + dynamic,
                medium.blocks_per_plane - 1
            )));
        }
        (self.base, self.dynamic) = (base, dynamic);
        self.direct = match self.when_full.or(cache.map(|c| c.when_full)) {
            Some(w) => w == WhenFull::Direct,
            None => true,
        };
        // A cache of fixed size has blocks of its own; one that shrinks shares them.
        let pools = if dynamic == 0 {
            vec![
                Pool { medium: 0, blocks_per_plane: base },
                Pool { medium: 0, blocks_per_plane: medium.blocks_per_plane - base },
            ]
        } else {
            vec![Pool { medium: 0, blocks_per_plane: medium.blocks_per_plane }]
        };
        let one_shot = medium.mode(dense).is_some_and(|t| t.pages_per_program > 1);
        let cache_trigger = cache.map_or(Trigger::FreeBlocks(Fraction::percent(50)), |c| c.trigger);
        let s_quota = if dynamic == 0 { u32::MAX } else { self.quota(0, 1) };
        let d_pool = PoolId(pools.len() as u8 - 1);
        let s = Region {
            quota: s_quota,
            trigger: cache_trigger,
            ..layout::region(drive, "S", PoolId(0), CellMode::Slc, ProgramRule::Sequential)
        };
        let d = layout::region(drive, "D", d_pool, dense, layout::rule(dense, one_shot));
        Ok(Layout {
            regions: vec![s, d],
            pools,
            home: D,
            map: MapKind::Page,
            asks: Hooks::NONE,
            tick_every_writes: if dynamic == 0 { 0 } else { LOOK_EVERY },
            idle_after: SimDuration::ZERO,
        })
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let route = match parcel.origin {
            Origin::Host(_) if self.direct => Route::to(S, SlotClass::Next).or(D, SlotClass::Next), // (2)
            Origin::Host(_) => Route::to(S, SlotClass::Next),                                       // (1)
            Origin::Collected(_) | Origin::Moved(_) => Route::to(D, SlotClass::Next), // (3), (4)
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }

    fn tick(&mut self, view: &View, out: &mut Vec<Command>) {
        out.push(Command::SetQuota(S, self.quota(view.mapped(), view.logical_pages() as u64)));
    }

    fn clone_box(&self) -> Box<dyn Scheme> {
        Box::new(self.clone())
    }
}
