//! # In-place Switch
//!
//! ## Source
//! X. Yang, J. Zheng, C. Gao, "In-place Switch: Reprogramming based SLC Cache Design for Hybrid 3D SSDs", 2024, section
//! IV-A.
//!
//! ## Idea
//! The SLC cache is a window over the next two layers of every block. When the cache is full, host writes reprogram its
//! cells with further bits, which turns them into TLC or QLC in place, and the two layers above become the new cache. No
//! data are written twice, and a third of a sustained stream runs at SLC speed.
//!
//! ## Algorithm
//! 1. A host write takes the next SLC page of the plane's windows, block by block.
//! 2. When no window has an SLC page left, writes reprogram: the old bits of a wordline are read, and the new page
//!    becomes its next bit, first the second bit of each wordline of a window, then the third.
//! 3. A window whose wordlines have all bits is closed. The next window of its block is new SLC cache for the
//!    following writes.
//! 4. GC starts when the free slots of a plane fall below the trigger. It takes the block with the most invalid pages,
//!    whether or not its windows are complete; its valid pages reprogram other windows or else take SLC pages.
//! 5. Wear leveling uses erase counts only: of the blocks that can be opened or filled next, the one with the fewest
//!    erases comes first (section IV-D2). A reprogram does not count as an erase.
//!
//! ## Symbols
//! W: the region of windows.
//!
//! ## Parameters
//! - `window`: wordlines of a window; default two per layer: 4, which makes 4 GB of the paper's drive (section V-A1).
//! - `layers`: layers of a window; default 2 (section II-B), 1 under `qlc` or for an odd number of wordlines.
//! - `mode`: final bits per cell; default the densest mode of the flash. Under `qlc` a window has one layer (section
//!   IV-D3).
//! - `reprogram_read`: time to read the old bits first; default 0us: "reprogram latency is conservatively set to TLC
//!   program latency" (section IV-B), which includes the read. `device` takes the time of an SLC read.
//!
//! ## Differs
//! Each plane keeps one erased block for GC, so the first cache has 2047 windows per plane instead of 2048.
//!
//! ## Not modelled
//! Errors caused by reprogramming: the flash rejects what the paper considers unsafe and treats the rest as safe.
//!
//! ## Checked by
//! `burst latency and waf match closed forms`, `rule admits exactly the conditions in every state`, `wordline speed follows bits through two reprograms`,
//! `reference model`, golden rows.

use crate::parameters::Parameters;
use crate::parts::layout;
use crate::parts::windows::{self, Windows};
use crate::registry::Entry;
use wordline_ftl::{DriveInfo, Gather, Layout, Origin, Parcel, Place, PlanePick, Refusal, Scheme, View};

pub(crate) const NAME: &str = "ips";

/// Its entry in the registry.
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
