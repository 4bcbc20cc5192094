//! # Conventional TLC
//!
//! ## Source
//! The baseline of W. Zhang, Q. Cao, H. Jiang, J. Yao, "PA-SSD: A Page-Type Aware TLC SSD for Improved Write/Read
//! Performance and Storage Efficiency", ICS 2018, sections 2.1 and 5.3, Fig. 4.
//!
//! ## Idea
//! Each plane has one open block, whose pages are programmed along diagonals to limit interference. The next page can
//! be of any type, so the parts of a request get different page types, and the request waits for the slowest.
//!
//! ## Algorithm
//! 1. A host write goes to the open block of the home plane of its logical page. A partial update first reads the rest
//!    of the page.
//! 2. GC copies a page to the open block of the same plane.
//! 3. The LSB and CSB pages of incomplete wordlines stay in RAM, so that a further bit takes only its own program time.
//!    Without that buffer, each earlier bit is read first.
//!
//! ## Symbols
//! D: the region that holds all data.
//!
//! ## Parameters
//! - `mode`: bits per cell, mlc, tlc or qlc; default the densest mode of the flash.
//! - `wordline_buffer`: `on` or `off`; default on (section 2.1).
//!
//! ## Differs
//! Nothing. The paper's "SLC mode" of Fig. 1 is `conventional:mode=slc`.
//!
//! ## Not modelled
//! The size of the buffer: with one open block it holds at most two wordlines per plane.
//!
//! ## Checked by
//! `the strict order is that of the paper`, `P_fast, P_medium and P_slow at zero load`, `reference model`, golden rows.

use crate::parameters::Parameters;
use crate::parts::layout;
use crate::registry::Entry;
use wordline_flash::{ProgramRule, SlotClass};
use wordline_ftl::{
    DriveInfo, EarlierBits, Gather, Layout, Parcel, Place, PlanePick, PoolId, Refusal, Region, RegionId,
    Route, Scheme, View,
};
use wordline_units::CellMode;

const D: RegionId = RegionId(0);

pub(crate) const NAME: &str = "conventional-tlc";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "one open block per plane, programmed diagonally without regard to page types", |p| {
        Box::new(ConventionalTlc::from_parameters(p))
    })
    .docs(include_str!("conventional_tlc.rs"))
    .takes(layout::MODE)
    .takes(layout::WORDLINE_BUFFER)
}

/// The baseline of page-type aware schemes.
#[derive(Clone, Debug)]
pub struct ConventionalTlc {
    mode: Option<CellMode>,
    earlier_bits: EarlierBits,
}

impl ConventionalTlc {
    fn from_parameters(p: &mut Parameters) -> ConventionalTlc {
        ConventionalTlc { mode: layout::take_mode(p), earlier_bits: layout::take_earlier_bits(p) }
    }
}

#[wordline_ftl::hooks]
impl Scheme for ConventionalTlc {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let refuse = layout::refuser(NAME, drive);
        let medium = layout::only_medium(drive, &refuse)?;
        let mode = layout::by_page(medium, self.mode, layout::unpacked(drive), &refuse)?;
        let d = Region {
            earlier_bits: self.earlier_bits, // (3)
            ..layout::region(drive, "D", PoolId(0), mode, ProgramRule::StrictDiagonal)
        };
        Ok(layout::one_region(medium, d))
    }

    fn place(&mut self, _: &Parcel, _: &View) -> Place {
        // (1), (2)
        Place { gather: Gather::Fill, plane: PlanePick::Home, route: Route::to(D, SlotClass::Next) }
    }
}
