//! # Hot-cold
//!
//! ## Source
//! P. Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012, section 5 (hot and cold data in separate
//! pools); B. Van Houdt, "On the necessity of hot and cold data identification to reduce the write amplification in
//! flash-based SSDs", Performance Evaluation 82, 2014 (separate open blocks).
//!
//! ## Idea
//! An oracle knows the hot addresses. Hot and cold data never share a block, so blocks of hot data quickly become
//! invalid and blocks of cold data stay nearly full. The scheme serves for comparison with theory.
//!
//! ## Algorithm
//! 1. A share `hot` of the logical pages, at the start or end of the drive, belongs to region H, the rest to region C.
//!    A host write goes to the open block of its region. A partial update first reads the rest of the page.
//! 2. GC copies a page within its region.
//! 3. With `pools = shared`, both regions take erased blocks from one pool, and GC takes the victim with the fewest valid
//!    sectors of both.
//! 4. With `pools = separate`, each region has its own blocks: those that its data fill, and of the spare blocks H gets
//!    the share `spare`. Each region runs its own GC.
//!
//! ## Symbols
//! H: the hot region. C: the cold region, which also holds the data of the initial state.
//!
//! ## Parameters
//! - `hot`: share of the logical pages; default 20%, the rule of thumb of the literature.
//! - `at`: `start` (default) or `end`, the position of the hot pages.
//! - `pools`: `shared` (default) or `separate`.
//! - `spare`: share of the spare blocks for H with separate pools; default 50%, close to the optimum wherever theory
//!   gives one.
//!
//! ## Differs
//! The models have one victim at a time; with `pools = shared`, two GC jobs can run in parallel here if both regions run
//! short. All initial data lie in C, and hot pages reach H when they are written or copied. Separate pools have no space
//! for that, so fill only the cold part: `at=end` with `--initial fill:80%`.
//!
//! ## Not modelled
//! The detection of hot data.
//!
//! ## Checked by
//! `wordline validate`, rows `waf-hot-cold`; `reference model`.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use crate::registry::Entry;
use wordline_flash::SlotClass;
use wordline_ftl::{
    Collect, DriveInfo, FreeOrder, Gather, Hooks, IdleHold, Layout, MapKind, Need, Origin, Parcel, Place,
    PlanePick, Pool, PoolId, Refusal, RegionId, Route, Scheme, View,
};
use wordline_units::{Fraction, Rate, SimDuration};

const H: RegionId = RegionId(0);
const C: RegionId = RegionId(1);

/// Blocks of a plane that a region cannot do without: one open, one in reserve, one to collect.
const LEAST_SPARE: u32 = 3;

pub(crate) const NAME: &str = "hot-cold";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(
        NAME,
        "hot and cold addresses in separate blocks, by an oracle; for comparison with theory",
        |p| Box::new(HotCold::from_parameters(p)),
    )
    .docs(include_str!("hot_cold.rs"))
    .takes(Parameter::new("hot", "20%", "share of the logical pages that is hot"))
    .takes(Parameter::new("at", "start", "start or end: where the hot pages are"))
    .takes(Parameter::new("pools", "shared", "shared or separate: where erased blocks come from"))
    .takes(Parameter::new("spare", "50%", "share of the spare blocks for hot data"))
    .small("hot=30%")
}

/// Position of the hot pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Start,
    End,
}

/// Source of erased blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pools {
    Shared,
    Separate,
}

/// Hot and cold addresses apart.
#[derive(Clone, Debug)]
pub struct HotCold {
    hot: Fraction,
    at: At,
    pools: Pools,
    spare: Fraction,
    /// The first page of the second part of the drive, set by `layout`.
    border: u32,
}

impl HotCold {
    fn from_parameters(p: &mut Parameters) -> HotCold {
        HotCold {
            hot: p.take("hot"),
            at: p.choice("at", &[("start", At::Start), ("end", At::End)]),
            pools: p.choice("pools", &[("shared", Pools::Shared), ("separate", Pools::Separate)]),
            spare: p.take("spare"),
            border: 0,
        }
    }

    fn region_of(&self, lpn: u32) -> RegionId {
        let first = lpn < self.border;
        if first == (self.at == At::Start) { H } else { C } // (1)
    }

    /// Blocks of a plane for H and for C; step 4.
    fn split(&self, drive: &DriveInfo, slots: u32) -> Result<[u32; 2], String> {
        let medium = &drive.geometry.media[0];
        let planes = medium.topology.planes();
        let hot = self.hot.of(drive.logical_pages as u64) as u32;
        let filled = |pages: u32| pages.div_ceil(planes).div_ceil(slots);
        let (h, c) = (filled(hot), filled(drive.logical_pages - hot));
        let spare = medium.blocks_per_plane.saturating_sub(h + c);
        let to_hot = self.spare.of(spare as u64) as u32;
        if to_hot < LEAST_SPARE || spare - to_hot < LEAST_SPARE {
            return Err(format!(
                "of {} blocks per plane, data fill {}; of the {spare} spare blocks, spare={} assigns \
                 {to_hot} to hot and {} to cold data, and each needs at least {LEAST_SPARE}; change spare, \
                 or use more blocks per plane or more over-provisioning",
                medium.blocks_per_plane,
                h + c,
                self.spare,
                spare - to_hot
            ));
        }
        Ok([h + to_hot, medium.blocks_per_plane - h - to_hot]) // (4)
    }
}

#[wordline_ftl::hooks]
impl Scheme for HotCold {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let refuse = layout::refuser(NAME, drive);
        let medium = layout::only_medium(drive, &refuse)?;
        if self.hot == Fraction::ZERO || self.hot >= Fraction::ONE {
            return Err(refuse(format!(
                "hot={} leaves one region empty; allowed: above 0% and below 100%",
                self.hot
            )));
        }
        if self.spare > Fraction::ONE {
            return Err(refuse(format!("spare={} is too large; allowed: at most 100%", self.spare)));
        }
        let mode = medium.densest();
        let one_shot = medium.mode(mode).is_some_and(|t| t.pages_per_program > 1);
        let hot = self.hot.of(drive.logical_pages as u64) as u32;
        self.border = if self.at == At::Start { hot } else { drive.logical_pages - hot };
        let slots = medium.shape(mode).pages() * drive.geometry.units_per_page(0);
        let blocks = match self.pools {
            Pools::Shared => vec![medium.blocks_per_plane],
            Pools::Separate => self.split(drive, slots).map_err(refuse)?.to_vec(),
        };
        let region = |name, pool| layout::region(drive, name, pool, mode, layout::rule(mode, one_shot));
        Ok(Layout {
            regions: vec![region("H", PoolId(0)), region("C", PoolId(blocks.len() as u8 - 1))],
            pools: blocks
                .into_iter()
                .map(|n| Pool { medium: 0, blocks_per_plane: n, free: FreeOrder::Fifo })
                .collect(),
            home: C,
            second_home: None,
            map: MapKind::Page,
            merges: None,
            enabled_hooks: if self.pools == Pools::Shared { Hooks::ALL } else { Hooks::NONE },
            tick_every_writes: 0,
            idle_after: SimDuration::ZERO,
            idle_hold: IdleHold::Grain,
            idle_rate: Rate::OFF,
        })
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let region = match parcel.origin {
            Origin::Host(_) | Origin::Sealed => self.region_of(parcel.spans.first().map_or(0, |s| s.lpn.0)), // (1)
            // (2), by address: what the initial state left in C comes home when it is collected.
            Origin::Collected(from) | Origin::Moved(from) => {
                parcel.spans.first().map_or(from, |s| self.region_of(s.lpn.0))
            }
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route: Route::to(region, SlotClass::Next) }
    }

    fn collect(&mut self, need: Need, view: &View) -> Option<Collect> {
        // (3); ties go to the lower number, as greedy has it. Were they always C's, H would keep more
        // of the spare blocks, and theory would be missed by another percent.
        let best = |region| view.best(region, need.plane).map(|b| (view.live_sectors(b), b, region));
        let (_, _, region) = [H, C].into_iter().filter_map(best).min()?;
        Some(Collect { region, block: None })
    }
}
