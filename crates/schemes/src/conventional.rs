//! # Conventional
//!
//! ## Source
//! The page-mapped translation layer that the literature compares against: A. Gupta, Y. Kim, B. Urgaonkar, "DFTL",
//! ASPLOS 2009, section 2 (the ideal page map); greedy GC as in P. Desnoyers, "Analytic Modeling of SSD Write
//! Performance", SYSTOR 2012, section 3.
//!
//! ## Idea
//! One cell mode and no cache: each plane has one open block, which takes host writes and pages copied by GC.
//!
//! ## Algorithm
//! 1. A host write goes to the home plane of its logical page. A partial update first reads the rest of the page.
//! 2. GC copies a page to the open block of the same plane; if `gc.copies` is `apart`, of region C.
//! 3. With `streams`, a write that the host assigns to a stream (NVM Express 2.0, section 8.7, the streams directive)
//!    goes to a region of that stream, and GC keeps it there. All regions share the erased blocks, and GC takes the
//!    best victim of all regions of a plane.
//!
//! ## Symbols
//! D: the region that holds all data. S1, S2, ...: the regions of the streams. C: that of copies, and of initial data.
//!
//! ## Parameters
//! - `mode`: bits per cell; default the densest mode of the flash.
//! - `streams`: number of host streams that are kept apart, at most 8; higher numbers share the last one. Default 0.
//! - `program`: `sequential` or `one-shot`; default from the device file.
//!
//! ## Differs
//! Nothing: this is the baseline. Blocks that the device file reserves for an SLC cache are used in the dense mode, so
//! that the flash is the same under every scheme.
//!
//! ## Not modelled
//! The cost of the mapping table, unless `dram.map_cache` is set.
//!
//! ## Checked by
//! `write amplification against theory`, `unloaded latencies`, golden rows.

use crate::parameters::{Parameter, Parameters};
use crate::parts::layout;
use crate::registry::Entry;
use wordline_device::Copies;
use wordline_flash::SlotClass;
use wordline_ftl::{
    Collect, DriveInfo, Gather, Hooks, Layout, Need, Origin, Parcel, Place, PlanePick, PoolId, Refusal,
    RegionId, Route, Scheme, Tag, View,
};
use wordline_units::{CellMode, HostRequest};

const D: RegionId = RegionId(0);

pub(crate) const NAME: &str = "conventional";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "single cell mode, no SLC cache", |p| Box::new(Conventional::from_parameters(p)))
        .docs(include_str!("conventional.rs"))
        .takes(Parameter::new("mode", "densest", "slc, mlc, tlc or qlc: cell mode"))
        .takes(Parameter::new("program", "device", "sequential or one-shot"))
        .takes(Parameter::new("streams", "0", "host streams kept in separate blocks, at most 8"))
        .small("mode=slc")
        .small("")
        .small("program=sequential")
}

/// The baseline: one region of one cell mode.
#[derive(Clone, Debug, Default)]
pub struct Conventional {
    mode: Option<CellMode>,
    one_shot: Option<bool>,
    streams: u8,
    /// Where copies go, if not where the host's data do.
    copies: Option<RegionId>,
}

/// The names of the regions of streams.
const STREAMS: [&str; 8] = ["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"];

impl Conventional {
    fn from_parameters(p: &mut Parameters) -> Conventional {
        Conventional {
            mode: p.choice(
                "mode",
                &[
                    ("densest", None),
                    ("slc", Some(CellMode::Slc)),
                    ("mlc", Some(CellMode::Mlc)),
                    ("tlc", Some(CellMode::Tlc)),
                    ("qlc", Some(CellMode::Qlc)),
                ],
            ),
            one_shot: p.choice(
                "program",
                &[("device", None), ("sequential", Some(false)), ("one-shot", Some(true))],
            ),
            streams: p.whole("streams", 0..=STREAMS.len() as u32) as u8,
            copies: None,
        }
    }
}

#[wordline_ftl::hooks]
impl Scheme for Conventional {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let refuse = layout::refuser(NAME, drive);
        let medium = layout::only_medium(drive, &refuse)?;
        let mode = self.mode.unwrap_or(medium.densest());
        let Some(timing) = medium.mode(mode) else {
            return Err(refuse(format!(
                "the flash does not support {mode} mode; omit scheme parameter mode"
            )));
        };
        let one_shot = self.one_shot.unwrap_or(timing.pages_per_program > 1);
        let region = |name| layout::region(drive, name, PoolId(0), mode, layout::rule(mode, one_shot));
        let mut layout = layout::one_region(medium, region("D"));
        layout.regions.extend(STREAMS.into_iter().take(self.streams as usize).map(region));
        if drive.spec.gc.copies == Copies::Apart {
            let copies = RegionId(layout.regions.len() as u8);
            layout.regions.push(region("C"));
            (layout.home, self.copies) = (copies, Some(copies)); // (2)
        }
        if layout.regions.len() == 1 {
            layout.enabled_hooks = Hooks::NONE;
        }
        Ok(layout)
    }

    fn admit(&mut self, request: &HostRequest, _: &View) -> Tag {
        Tag(request.attributes.stream().min(self.streams)) // (3)
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        // (1), (2)
        let region = match parcel.origin {
            Origin::Host(Tag(stream)) => RegionId(stream), // (3)
            Origin::Collected(from) | Origin::Moved(from) => self.copies.unwrap_or(from),
            Origin::Sealed => D,
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route: Route::to(region, SlotClass::Next) }
    }

    fn collect(&mut self, need: Need, view: &View) -> Option<Collect> {
        let best = |region| view.best(region, need.plane).map(|b| (view.live_sectors(b), b, region));
        let regions = (0..=self.streams).map(RegionId).chain(self.copies);
        let (_, _, region) = regions.filter_map(best).min()?; // (3)
        Some(Collect { region, block: None })
    }
}
