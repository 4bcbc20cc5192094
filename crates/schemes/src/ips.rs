//! # In-place Switch
//!
//! ## Source
//! X. Yang, J. Zheng, C. Gao, "In-place Switch: Reprogramming based SLC Cache Design for Hybrid 3D SSDs",
//! 2024, section IV-A.
//!
//! ## Idea
//! The SLC cache is the next two layers of every block. When it is full, host writes are added to its
//! cells as their further bits, which makes it dense flash where it lies; the two layers above are the new
//! cache. So nothing is ever written twice, and a third of a sustained stream is fast.
//!
//! ## Algorithm
//! 1. A host write takes the next SLC page of the plane's windows, block after block.
//! 2. When no window has an SLC page left, writes reprogram: the old bits of a wordline are read, and the
//!    new page becomes its next bit, first the second bit of each wordline of a window, then the third.
//! 3. A window whose wordlines have all their bits is closed; the next one of its block is new SLC cache,
//!    which the next writes take.
//! 4. Blocks are collected when the slots not yet programmed in a plane fall below the trigger, the one
//!    with the most invalid pages first, whether its windows are used up or not; what is live in it
//!    reprograms, or else takes SLC pages.
//! 5. Blocks wear alike by erases alone: of those that could be opened or filled next, the one erased
//!    least often goes first (section IV-D2). To reprogram is no erase.
//!
//! ## Symbols
//! W: the region of windows.
//!
//! ## Parameters
//! - `window`: wordlines of a window; default two a layer: 4, which makes 4 GB of the paper's drive (section V-A1).
//! - `layers`: layers that a window spans; default 2 (section II-B), 1 under `qlc` or for an odd number of wordlines.
//! - `mode`: bits a cell comes to hold; default the densest the flash offers. Under `qlc` a window has one layer
//!   (section IV-D3).
//! - `reprogram_read`: time to read the old bits first; default 0us: "reprogram latency is conservatively set to TLC
//!   program latency" (section IV-B), so the read is in it. `device` takes the time of an SLC read.
//!
//! ## Differs
//! One erased block a plane is kept for collection, so the first cache is 2047 windows of a plane, not
//! 2048.
//!
//! ## Not modelled
//! Errors that reprogramming causes: the flash refuses what the paper holds to be unsafe, and takes the
//! rest to be safe.
//!
//! ## Checked by
//! `burst latency and write amplification are those of the closed forms`, `the rule admits exactly what the
//! conditions admit in every state`, `a wordline is as fast as the bits it holds and keeps its pages through
//! both reprograms`, `reference model`, golden rows.

use crate::parameters::Parameters;
use crate::parts::layout;
use crate::parts::windows::{self, Windows};
use crate::registry::Entry;
use wordline_ftl::{DriveInfo, Gather, Layout, Origin, Parcel, Place, PlanePick, Refusal, Scheme, View};

pub(crate) const NAME: &str = "ips";

/// How it stands in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "SLC cache that host writes reprogram in place to TLC or QLC", |p| {
        Box::new(Ips::from_parameters(p))
    })
    .docs(include_str!("ips.rs"))
    .takes(windows::WINDOW)
    .takes(windows::LAYERS)
    .takes(layout::MODE)
    .takes(windows::REPROGRAM_READ)
    .small("window=2")
}

/// Windows that are reprogrammed in place.
#[derive(Clone, Debug)]
pub struct Ips {
    windows: Windows,
}

impl Ips {
    fn from_parameters(p: &mut Parameters) -> Ips {
        Ips { windows: Windows::from_parameters(p) }
    }
}

#[wordline_ftl::hooks]
impl Scheme for Ips {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        self.windows.layout(drive, layout::refuser(NAME, drive)) // (5)
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let route = match parcel.origin {
            Origin::Host(_) | Origin::Sealed => windows::host(), // (1), (2), (3)
            Origin::Collected(_) | Origin::Moved(_) => windows::collected(), // (4)
        };
        Place { gather: Gather::Fill, plane: PlanePick::Home, route }
    }
}
