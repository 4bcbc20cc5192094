//! # Hotness
//!
//! ## Source
//! The comparison of Y. Wang et al., "RARO: Reliability-Aware Read Optimization for Hybrid Flash Storage", 2025, section
//! V-A: "conversion and migration between the three flash memory modes based only on temperature".
//!
//! ## Idea
//! Frequently read data deserve cells with fewer bits, whatever their reads cost now.
//!
//! ## Algorithm
//! 1. Each page read by the host increments the count of its physical page, as in `raro`.
//! 2. After a read, a hot page in QLC or TLC moves to SLC, and a warm page in QLC to TLC.
//! 3. Moves, writes, GC and reclaim are as in `raro`.
//!
//! ## Symbols
//! X, Y: the regions of SLC and TLC.
//!
//! ## Parameters
//! - `warm`, `hot`, `class`, `period`, `hot_within`, `warm_within`, `heat`, `decay`, `reclaim`, `reclaim_below`,
//!   `idle_after`: as in `raro`.
//!
//! ## Differs
//! The paper says no more about it than the quotation. ASSUMED: it uses the classifier and reclaim of RARO.
//!
//! ## Not modelled
//! As `raro`.
//!
//! ## Checked by
//! `heat alone moves a page that took no retry`, `reference model`, golden rows.

use crate::parameters::Parameters;
use crate::parts::layout;
use crate::parts::read_class::Class;
use crate::parts::read_class::{X, Y};
use crate::parts::read_heat::{self, ByReadHeat};
use crate::registry::Entry;
use wordline_ftl::{
    Collect, DriveInfo, IdleWork, Layout, Memory, Move, Need, Parcel, Place, ReadSeen, Refusal, Scheme, Tag,
    View,
};
use wordline_units::{CellMode, HostRequest, PlaneId};

pub(crate) const NAME: &str = "hotness";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(
        NAME,
        "QLC with blocks converted to TLC or SLC for frequently read data; the baseline of raro",
        |p| Box::new(Hotness::from_parameters(p)),
    )
    .docs(include_str!("hotness.rs"))
    .takes_all(read_heat::PARAMETERS)
    .small("warm=2,hot=3,decay=40,reclaim=on,idle_after=50us")
    .small("class=distance,hot_within=8,warm_within=64,decay=40,reclaim=on,idle_after=50us")
}

/// Moves by heat alone.
#[derive(Clone, Debug)]
pub struct Hotness {
    heat: ByReadHeat,
}

impl Hotness {
    fn from_parameters(p: &mut Parameters) -> Hotness {
        Hotness { heat: ByReadHeat::from_parameters(p) }
    }
}

#[wordline_ftl::hooks]
impl Scheme for Hotness {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        self.heat.layout(drive, layout::refuser(NAME, drive))
    }

    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        self.heat.place(parcel, view) // (3)
    }

    fn read(&mut self, seen: &ReadSeen, view: &View) -> Option<Move> {
        let region = match (seen.mode, self.heat.read(seen, view)) {
            // (1)
            (CellMode::Qlc | CellMode::Tlc, Class::Hot) => X, // (2)
            (CellMode::Qlc, Class::Warm) => Y,
            _ => return None,
        };
        Some(ByReadHeat::to(seen, region))
    }

    fn collect(&mut self, need: Need, view: &View) -> Option<Collect> {
        self.heat.collect(need, view) // (3)
    }

    fn admit(&mut self, request: &HostRequest, view: &View) -> Tag {
        self.heat.admit(request, view.now); // (3)
        Tag::default()
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        self.heat.idle(plane, view) // (3)
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(self.heat.memory())
    }
}
