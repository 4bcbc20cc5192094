//! # SLC cache
//!
//! ## Source
//! The Baseline of L. Cai et al., "A Two-level SLC Cache Hierarchy for Hybrid SSDs", 2025, sections II and IV-A: a
//! page-granular SLC write cache in front of TLC. The dynamic size follows drives on the market (Micron,
//! "Optimizing Client SSD Performance Through Dynamic Write Acceleration", 2014).
//!
//! ## Idea
//! Every host write goes to SLC blocks, which are fast. When erased SLC blocks run short, their valid pages migrate to
//! TLC or QLC.
//!
//! ## Algorithm
//! 1. A host write goes to the cache. A partial update first reads the rest of the page and then programs the whole
//!    page; the first write of a page needs no read.
//! 2. If the cache has no free page, the write waits for GC (`when_full = wait`) or bypasses the cache (`direct`).
//! 3. When the erased cache blocks of a plane fall below the trigger, GC takes the cache block with the fewest valid
//!    sectors and migrates its pages to D.
//! 4. GC in D copies pages within D.
//! 5. A dynamic cache owns at most `static + dynamic x (1 - fill)` blocks of each plane, where `fill` is the share of
//!    logical pages that hold data, updated every 1024 writes. With `dynamic_reserve` in the device file, it owns at most
//!    `static + min(dynamic, free - reserve)`, updated every 64 writes. Here `free` are the blocks that remain without the
//!    static part and without data outside the cache, packed as densely as the flash allows. D never takes the static
//!    blocks. With `wait`, the cache keeps at least one block.
//! 6. With `idle_after` in the device file, a drive that has been idle for that time migrates the full blocks of the
//!    cache, page by page, die by die, at most at `idle_rate`. A request stops that, and the block in progress waits for the
//!    next idle period, or for GC. Open blocks are not migrated, and nothing is at the end of a run.
//!
//! ## Symbols
//! S: the cache. D: the TLC/QLC region.
//!
//! ## Parameters
//! - `static_blocks`, `dynamic_blocks`: blocks per plane; default from `[slc_cache]` of the device file.
//! - `when_full`: `wait` or `direct`; default from the device file.
//!
//! ## Differs
//! The paper does not say how a full cache delays a write; `when_full` decides. Its Baseline runs GC at its threshold
//! only, as here without `idle_after`; idle migration and the reserve follow drives on the market.
//!
//! ## Not modelled
//! What lets a drive choose delay and rate, such as its temperature or fill level; here both are fixed.
//!
//! ## Checked by
//! `each partial update of a cached page costs one read`, `idle time returns the cache after delay at its rate`,
//! `cache takes free flash and shrinks as data grow`, `reference model`, golden rows.

use crate::parameters::{Parameter, Parameters};
use crate::parts::cache::{self, D, S};
use crate::parts::layout;
use crate::registry::Entry;
use wordline_device::{Trigger, WhenFull};
use wordline_flash::SlotClass;
use wordline_ftl::{
    Collect, Command, DriveInfo, Gather, Grain, Hooks, IdleWork, Layout, Origin, Parcel, Place, PlanePick,
    Refusal, Region, Route, Scheme, View,
};
use wordline_units::{Fraction, PlaneId};

pub(crate) const NAME: &str = "slc-cache";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "page-mapped SLC write cache in front of TLC or QLC", |p| {
        Box::new(SlcCache::from_parameters(p))
    })
    .docs(include_str!("slc_cache.rs"))
    .takes(cache::STATIC_BLOCKS)
    .takes(cache::DYNAMIC_BLOCKS)
    .takes(Parameter::new(
        "when_full",
        "device",
        "wait or direct: whether a write waits for a full cache or bypasses it",
    ))
    .small("when_full=wait")
    .small("when_full=direct")
    .small("dynamic_blocks=2,static_blocks=2")
    .small("static_blocks=2,dynamic_blocks=0")
}

/// An SLC write cache.
#[derive(Clone, Debug, Default)]
pub struct SlcCache {
    size: cache::Size,
    when_full: Option<WhenFull>,
    /// What parameter and device file come to, set by `layout`.
    direct: bool,
}

impl SlcCache {
    fn from_parameters(p: &mut Parameters) -> SlcCache {
        SlcCache {
            size: cache::Size::from_parameters(p),
            when_full: p.choice(
                "when_full",
                &[("device", None), ("wait", Some(WhenFull::Wait)), ("direct", Some(WhenFull::Direct))],
            ),
            direct: false,
        }
    }
}

#[wordline_ftl::hooks]
impl Scheme for SlcCache {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let file = drive.spec.slc_cache;
        self.direct = match self.when_full.or(file.map(|c| c.when_full)) {
            Some(w) => w == WhenFull::Direct,
            None => true,
        };
        let trigger = file.map_or(Trigger::FreeBlocks(Fraction::percent(50)), |c| c.trigger);
        let least = !self.direct as u32; // (5): a write that waits for the cache must get there
        let refuse = layout::refuser(NAME, drive);
        let layout = self.size.layout(drive, least, refuse, |s| Region { trigger, ..s })?; // (3)
        Ok(match file.and_then(|c| c.idle) {
            Some(idle) => Layout { idle_after: idle.after, idle_rate: idle.rate, ..layout }, // (6)
            None => Layout { enabled_hooks: layout.enabled_hooks.without(Hooks::IDLE), ..layout },
        })
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let route = match parcel.origin {
            Origin::Host(_) if self.direct => Route::to(S, SlotClass::Next).or(D, SlotClass::Next), // (2)
            Origin::Host(_) | Origin::Sealed => Route::to(S, SlotClass::Next),                      // (1)
            Origin::Collected(_) | Origin::Moved(_) => Route::to(D, SlotClass::Next), // (3), (4)
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        let block = view.next_in_idle_time(S, plane).filter(|_| !view.draining())?;
        Some(IdleWork::Collect(Collect { region: S, block: Some(block) }, Grain::Page)) // (6)
    }

    fn idle_is_local(&self) -> bool {
        true
    }

    fn tick(&mut self, view: &View, out: &mut Vec<Command>) {
        self.size.resize(view, out);
    }
}
