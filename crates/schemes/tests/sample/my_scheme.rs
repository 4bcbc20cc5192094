//! # My scheme
//!
//! ## Source
//! A. Author, "Title of the paper", conference, year, section.
//!
//! ## Idea
//! All data lie in one region, and idle time collects.
//!
//! ## Algorithm
//! 1. Every page goes to region D, in the plane that has the least to do.
//! 2. An idle die collects the best victim of one of its planes.
//!
//! ## Symbols
//! D: the region that holds all data.
//!
//! ## Parameters
//! - `grain`: how idle time collects, `page` by page or `block` by block; default page.
//!
//! ## Differs
//! Nothing from the paper, or what and why.
//!
//! ## Not modelled
//! What the paper has besides.
//!
//! ## Checked by
//! The tests that hold it, golden rows.

use crate::parameters::Parameter;
use crate::parts::layout;
use crate::registry::Entry;
use wordline_flash::SlotClass;
use wordline_ftl::{
    Collect, DriveInfo, Gather, Grain, IdleWork, Layout, Parcel, Place, PlanePick, PoolId, Refusal, RegionId,
    Route, Scheme, View,
};
use wordline_units::PlaneId;

const D: RegionId = RegionId(0);

pub(crate) const NAME: &str = "my-scheme";

/// How it stands in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "what it does, in a line", |p| {
        Box::new(MyScheme { grain: p.choice("grain", &[("page", Grain::Page), ("block", Grain::Block)]) })
    })
    .docs(include_str!("my_scheme.rs"))
    .takes(Parameter::new("grain", "page", "page or block: how idle time collects"))
}

/// What a run of it knows.
#[derive(Clone, Debug)]
struct MyScheme {
    grain: Grain,
}

#[wordline_ftl::hooks]
impl Scheme for MyScheme {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let medium = layout::only_medium(drive, layout::refuser(NAME, drive))?;
        let mode = medium.densest();
        let one_shot = medium.mode(mode).is_some_and(|timing| timing.pages_per_program > 1);
        let d = layout::region(drive, "D", PoolId(0), mode, layout::rule(mode, one_shot));
        Ok(layout::one_region(medium, d))
    }

    fn place(&mut self, _: &Parcel, _: &View) -> Place {
        Place { gather: Gather::Fill, plane: PlanePick::Any, route: Route::to(D, SlotClass::Next) } // (1)
    }

    fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        view.best(D, plane)?;
        Some(IdleWork::Collect(Collect { region: D, block: None }, self.grain)) // (2)
    }
}
