//! # Turbo Write
//!
//! ## Source
//! The baseline of X. Yang, J. Zheng, C. Gao, "In-place Switch: Reprogramming based SLC Cache Design for
//! Hybrid 3D SSDs", 2024, sections II-C and III. After Samsung, "Solid State Drive TurboWrite
//! Technology", white paper, 2013.
//!
//! ## Idea
//! Part of the dense flash serves as a write cache with one bit a cell. It is as fast as SLC until it is
//! full; then writes are as slow as the dense flash. Idle time empties it, at the price of writing
//! everything a second time.
//!
//! ## Algorithm
//! 1. A host write goes to the cache; without a slot there it goes to the dense region.
//! 2. A die of an idle drive reclaims the cache block by block, those filled first first: each live page is read
//!    and programmed into the dense region, then the block is erased ("migrating data from used SLC pages ... and
//!    erasing used blocks"). `reclaim` says which blocks are used: with `full` those without a free page, and one that
//!    has some is filled on; with `used` the one that is being filled, too, once no program into it is under way; with
//!    `page` the one that is being filled gives up its pages one by one and stays open, and a full one page by page, too.
//! 3. The reclaim of a block, or with `page` of a page, is not interrupted: the die is held until the erase is done, and
//!    host reads and writes of it wait (Fig. 7: "it has to be delayed until the reclamation process is finished").
//!    With `hold = channel` all dies of the channel wait, but for the erase, and one die of it reclaims at a time: so does
//!    SSDSim (`uninterrupt_gc`: the channel is in `CHANNEL_GC` while pages move, the chip busy until the erase is done).
//! 4. Never but in idle time is the cache reclaimed, unless a write has no place anywhere.
//! 5. At the end of a run the cache is emptied in the same way, with the blocks that are being filled, and what
//!    that programs is counted ("all data in the SLC cache is migrated to the TLC space").
//! 6. A dynamic cache may own `static + dynamic x (1 - fill)` blocks of each plane, where `fill` is the
//!    share of the logical pages that hold data; the share is looked at every 1024 writes.
//!
//! ## Symbols
//! S: the cache. D: the dense region.
//!
//! ## Parameters
//! - `static_blocks`, `dynamic_blocks`: blocks of each plane; default from the device file's
//!   `[slc_cache]`.
//! - `reclaim`: `full`, `used` or `page`; default full. `hold`: `die` or `channel`; default die.
//! - `idle_after`: how long the drive must have had no request; default 1us: the simulator of the paper, SSDSim,
//!   does the work of idle time as soon as no channel has a request (`process()`), and a host that asks again at the
//!   instant of a completion leaves none.
//!
//! ## Differs
//! The paper's baseline is static; the dynamic size is that of drives on the market (section II-D). One
//! block of a die is reclaimed at a time. Which block counts as used, and what a reclaim keeps from the host beside its
//! die, the paper does not say.
//!
//! ## Not modelled
//! A background fold by copy-back within the die: data go over the bus.
//!
//! ## Checked by
//! `burst latency and write amplification are those of the closed forms`, `a write waits for the whole
//! reclaim of a block and for a page of an idle collection`, `idle time empties and erases a block of which one page is
//! used, or leaves it open and moves the page`, `reclaim keeps its channel from the host and from other reclaims until
//! its erase`, `reference model`, golden rows.

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

/// How it stands in the registry.
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

    fn tick(&mut self, view: &View, out: &mut Vec<Command>) {
        self.size.resize(view, out); // (6)
    }
}
