//! # Turbo Write
//!
//! ## Source
//! The baseline of X. Yang, J. Zheng, C. Gao, "In-place Switch: Reprogramming based SLC Cache Design for Hybrid 3D
//! SSDs", 2024, sections II-C and III. After Samsung, "Solid State Drive TurboWrite Technology", white paper, 2013.
//!
//! ## Idea
//! Part of the TLC or QLC flash serves as a write cache in SLC mode. Writes run at SLC speed until the cache is full, then
//! at TLC or QLC speed. Idle time empties the cache, at the price of writing everything a second time.
//!
//! ## Algorithm
//! 1. A host write goes to the cache; if that has no free page, it goes to D.
//! 2. A die of an idle drive reclaims the cache block by block, in the order in which blocks were filled: each valid page
//!    is read and programmed in D, then the block is erased ("migrating data from used SLC pages ... and erasing used
//!    blocks"). `reclaim` says which blocks count as used. `full`: blocks without a free page; a partly filled block is
//!    filled further. `used`: also the open block, if no program into it is in progress. `page`: both full and open blocks
//!    migrate page by page, and the open block stays open.
//! 3. The reclaim of a block, or with `page` of a page, is not interrupted: the die is busy until the erase ends, and host
//!    reads and writes of it wait (Fig. 7: "it has to be delayed until the reclamation process is finished"). With `hold =
//!    channel` all dies of the channel wait, except during the erase, and one die per channel reclaims at a time, as in
//!    SSDSim (`uninterrupt_gc`: the channel is in `CHANNEL_GC` while pages move, the chip busy until the erase is done).
//! 4. The cache is reclaimed only in idle time, unless a write finds no other place.
//! 5. The end of a run empties the cache in the same way, including open blocks, and counts these programs ("all data in
//!    the SLC cache is migrated to the TLC space").
//! 6. A dynamic cache owns at most `static + dynamic x (1 - fill)` blocks of each plane, where `fill` is the share of
//!    logical pages that hold data. The share is updated every 1024 writes.
//!
//! ## Symbols
//! S: the cache. D: the TLC/QLC region.
//!
//! ## Parameters
//! - `static_blocks`, `dynamic_blocks`: blocks per plane; default from `[slc_cache]` of the device file.
//! - `reclaim`: `full`, `used` or `page`; default full. `hold`: `die` or `channel`; default die.
//! - `idle_after`: idle time before reclaim starts; default 1us: SSDSim, the simulator of the paper, starts idle work as
//!   soon as no channel has a request (`process()`), and a host that submits at the instant of a completion leaves no
//!   idle time.
//!
//! ## Differs
//! The paper's baseline is static; the dynamic size follows drives on the market (section II-D). A die reclaims one block
//! at a time. The paper does not say which blocks count as used, nor whether a reclaim blocks more than its die.
//!
//! ## Not modelled
//! Folding by copy-back within the die: data cross the bus.
//!
//! ## Checked by
//! `burst latency and waf match closed forms`, `write waits for a block reclaim or one idle page`, `idle time erases a one page block or moves the page`, `reclaim holds its channel until its erase`, `reference
//! model`, golden rows.

use crate::parameters::{Parameter, Parameters};
use crate::parts::cache::{self, D, S};
use crate::parts::layout;
use crate::registry::Entry;
use wordline_device::{Trigger, Victim};
use wordline_flash::SlotClass;
use wordline_ftl::{
    Collect, Command, DriveInfo, Gather, Grain, IdleHold, IdleWork, Layout, Move, Origin, Parcel, Place,
    PlanePick, Refusal, Region, Route, Scheme, View,
};
use wordline_units::{BlockId, PlaneId, SimDuration};

pub(crate) const NAME: &str = "turbo-write";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "SLC write cache that migrates block by block in idle time", |p| {
        Box::new(TurboWrite::from_parameters(p))
    })
    .docs(include_str!("turbo_write.rs"))
    .takes(cache::STATIC_BLOCKS)
    .takes(cache::DYNAMIC_BLOCKS)
    .takes(Parameter::new(
        "reclaim",
        "full",
        "full, used or page: in idle time, empty full blocks, also the open block, or single pages",
    ))
    .takes(Parameter::new("hold", "die", "die or channel: what a reclaim blocks"))
    .takes(layout::idle_at_once())
    .small("idle_after=100us")
    .small("static_blocks=1,dynamic_blocks=3,idle_after=100us")
    .small("static_blocks=2,dynamic_blocks=0,idle_after=100us")
}

/// What idle time empties.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reclaim {
    /// Blocks without a free page.
    Full,
    /// Also the block that is being filled.
    Used,
    /// The same page by page; the block that is being filled stays open.
    Page,
}

/// An SLC write cache that idle time empties.
#[derive(Clone, Debug)]
pub struct TurboWrite {
    size: cache::Size,
    idle_after: SimDuration,
    reclaim: Reclaim,
    by_channel: bool,
}

impl TurboWrite {
    fn from_parameters(p: &mut Parameters) -> TurboWrite {
        let reclaims = [("full", Reclaim::Full), ("used", Reclaim::Used), ("page", Reclaim::Page)];
        TurboWrite {
            size: cache::Size::from_parameters(p),
            idle_after: layout::take_idle_after(p),
            reclaim: p.choice("reclaim", &reclaims),
            by_channel: p.choice("hold", &[("die", false), ("channel", true)]),
        }
    }

    /// What a reclaim holds; a block holds its die of itself.
    fn hold(&self) -> IdleHold {
        match (self.by_channel, self.reclaim) {
            (true, _) => IdleHold::Channel,
            (false, Reclaim::Page) => IdleHold::Die,
            (false, _) => IdleHold::Grain,
        }
    }

    /// The reclaim of a block that is full, or of one that is being filled as far as that counts as used.
    fn empty(&self, block: BlockId) -> IdleWork {
        let grain = if self.reclaim == Reclaim::Page { Grain::Page } else { Grain::Block };
        IdleWork::Collect(Collect { region: S, block: Some(block) }, grain)
    }

    /// What the block that is being filled gives up.
    fn take_from_frontier(&self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        if view.draining() {
            return view.last_frontier(S, plane).map(|block| self.empty(block)); // (5)
        }
        match self.reclaim {
            Reclaim::Full => None,
            Reclaim::Used => view.quiet_frontier(S, plane).map(|block| self.empty(block)),
            Reclaim::Page => {
                let (lpn, seen) = view.first_page_in(view.frontier(S, plane, SlotClass::Next)?)?;
                let route = Route::to(D, SlotClass::Next);
                Some(IdleWork::Move(Move { lpn, seen, plane: PlanePick::Home, route }))
            }
        }
    }
}

#[wordline_ftl::hooks]
impl Scheme for TurboWrite {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let refuse = layout::refuser(NAME, drive);
        let layout = self.size.layout(drive, 0, refuse, |s| Region {
            trigger: Trigger::Never, // (4)
            victim: Victim::Fifo,    // (2)
            ..s
        })?;
        let mut layout = Layout { idle_after: self.idle_after, idle_hold: self.hold(), ..layout }; // (3)
        layout.regions[0].evicts_to_other_pool = self.size.is_apart();
        Ok(layout)
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let route = match parcel.origin {
            Origin::Host(_) | Origin::Sealed => Route::to(S, SlotClass::Next).or(D, SlotClass::Next), // (1)
            Origin::Collected(_) | Origin::Moved(_) => Route::to(D, SlotClass::Next),
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        // A block that gives up its pages one by one comes before the next.
        let begun = if self.reclaim == Reclaim::Page { view.collecting(S, plane) } else { None };
        let full = begun.or_else(|| view.oldest(S, plane));
        full.map(|block| self.empty(block)).or_else(|| self.take_from_frontier(plane, view)) // (2)
    }

    fn idle_is_local(&self) -> bool {
        true
    }

    fn tick(&mut self, view: &View, out: &mut Vec<Command>) {
        self.size.resize(view, out); // (6)
    }
}
