//! # Conventional
//!
//! ## Source
//! The page-mapped translation layer that the literature compares against: A. Gupta, Y. Kim,
//! B. Urgaonkar, "DFTL", ASPLOS 2009, section 2 (the ideal page map); greedy cleaning as in
//! P. Desnoyers, "Analytic Modeling of SSD Write Performance", SYSTOR 2012, section 3.
//!
//! ## Idea
//! One kind of cell, no cache: every page goes to the one frontier of its plane, and collection
//! moves what is live to the same frontier.
//!
//! ## Algorithm
//! 1. A host write goes to the home plane of its logical page; a partial update first reads what it
//!    lacks.
//! 2. A collected page goes to the frontier of its own plane.
//!
//! ## Symbols
//! D: the region that holds all data.
//!
//! ## Parameters
//! - `mode`: bits a cell holds; default the densest the flash offers.
//! - `program`: `sequential` or `one-shot`; default what the device file says of the mode.
//!
//! ## Differs
//! Nothing: it is the baseline. Blocks that the device file sets aside as SLC cache are used in the
//! dense mode like all others, so that the flash is the same under every scheme.
//!
//! ## Not modelled
//! Separate frontiers for host and collection; the cost of the map (all of it is in RAM).
//!
//! ## Checked by
//! `write amplification against theory`, `unloaded latencies`, golden rows.

use crate::layout;
use crate::registry::{Entry, Parameter};
use wordline_device::config::Section;
use wordline_flash::SlotClass;
use wordline_ftl::{
    Drive, Gather, Layout, Parcel, Place, PlanePick, PoolId, Refusal, RegionId, Route, Scheme, View,
};
use wordline_units::CellMode;

const D: RegionId = RegionId(0);

pub(crate) const ENTRY: Entry = Entry {
    name: "conventional",
    title: "one cell mode, no cache",
    docs: include_str!("conventional.rs"),
    parameters: &[
        Parameter { key: "mode", default: "densest", what: "slc, mlc, tlc or qlc: bits a cell holds" },
        Parameter { key: "program", default: "device", what: "sequential or one-shot" },
    ],
    leading: None,
    build: |p| Box::new(Conventional::from_parameters(p)),
};

/// The baseline: one region of one cell mode.
#[derive(Clone, Debug, Default)]
pub struct Conventional {
    mode: Option<CellMode>,
    one_shot: Option<bool>,
}

impl Conventional {
    fn from_parameters(p: &mut Section) -> Conventional {
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
                None,
            ),
            one_shot: p.choice(
                "program",
                &[("device", None), ("sequential", Some(false)), ("one-shot", Some(true))],
                None,
            ),
        }
    }
}

impl Scheme for Conventional {
    fn name(&self) -> &str {
        ENTRY.name
    }

    fn layout(&mut self, drive: &Drive) -> Result<Layout, Refusal> {
        let refuse = layout::refuser(ENTRY.name, drive);
        let medium = layout::only_medium(drive, &refuse)?;
        let mode = self.mode.unwrap_or(medium.densest());
        let Some(timing) = medium.mode(mode) else {
            return Err(refuse(format!(
                "the flash does not offer {mode} mode; leave scheme parameter mode out"
            )));
        };
        let one_shot = self.one_shot.unwrap_or(timing.pages_per_program > 1);
        let d = layout::region(drive, "D", PoolId(0), mode, layout::rule(mode, one_shot));
        Ok(layout::one_region(medium, d))
    }

    fn place(&mut self, _: &Parcel, _: &View) -> Place {
        // (1), (2)
        Place { gather: Gather::Fill, plane: PlanePick::Home, route: Route::to(D, SlotClass::Next) }
    }

    fn clone_box(&self) -> Box<dyn Scheme> {
        Box::new(self.clone())
    }
}
