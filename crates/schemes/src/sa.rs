//! # SA
//!
//! ## Source
//! M. Kang, W. Lee, S. Kim, "Subpage-Aware Solid State Drive for Improving Lifetime and Performance", IEEE
//! Transactions on Computers 67(10), 2018, as a counterpart of L. Cai et al., "A Two-level SLC Cache Hierarchy
//! for Hybrid SSDs", 2025, section IV-A. RECONSTRUCTED from abstract and citation.
//!
//! ## Idea
//! Parts of pages share flash pages, and the entry of a page in the map says which of its sectors there are. So
//! a part needs no read of the rest where there is none, and a page is still found in one place.
//!
//! ## Algorithm
//! 1. A whole page goes to the cache.
//! 2. A part of a page that leaves none of the page's sectors behind needs no read; otherwise those are read,
//!    and written with it, so that a page has one place (read-modify-write, "only when it is needed").
//! 3. What is then less than a page waits in the merge buffer for others until they fill a page; what makes
//!    the page whole goes to the cache.
//! 4. A plane whose erased cache blocks fall below the trigger gives up the block with the fewest live
//!    sectors. Its pages go to the dense region, parts of them packed together again; what a page does not
//!    have is read from nowhere.
//! 5. Pages collected in the dense region stay there, packed in the same way.
//!
//! ## Symbols
//! S: the cache. D: the dense region.
//!
//! ## Parameters
//! - `static_blocks`: SLC blocks of each plane; default from the device file's `[slc_cache]`.
//! - `merged_to`: where a merged page goes. `load` (default): to the plane with the least to do. `first`: to the home of
//!   its first part, since the allocation of MQSim, on which the comparison runs, is static by logical page.
//!
//! ## Differs
//! - RECONSTRUCTED: all of it but what the head says; the size of an entry, since the paper counts none beyond
//!   a page map.
//! - What lies in one slot stays together when it moves, so that collection frees more than it takes.
//!
//! ## Not modelled
//! The write buffer of the source, whose size it does not tell here: parts wait in the merge buffer that all
//! schemes of the comparison have.
//!
//! ## Checked by
//! `a page under sa is found in one place`, `a merged page goes where its first part belongs unless load decides`,
//! `reference model`, golden rows.

use crate::parts::layout;
use crate::parts::packing::{self, Cache, MergedTo};
use crate::registry::Entry;
use wordline_flash::SlotClass;
use wordline_ftl::{
    DriveInfo, Gather, Join, Layout, MapKind, Origin, Parcel, Place, PlanePick, Refusal, RegionId, Route,
    Scheme, View,
};
use wordline_units::SectorMask;

const S: RegionId = RegionId(0);
const D: RegionId = RegionId(1);

pub(crate) const NAME: &str = "sa";

/// How it stands in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "SLC cache that packs partial pages together, with one location per page", |p| {
        let (asked, merged_to) = (packing::take_static_blocks(p), packing::take_merged_to(p, "first"));
        Box::new(Sa { asked, merged_to, all: SectorMask::EMPTY })
    })
    .docs(include_str!("sa.rs"))
    .takes(packing::STATIC_BLOCKS)
    .takes(packing::merged_to(
        "load or first: pack on the plane with the fewest queued operations, or on the home plane of the first part",
    ))
    .small("merged_to=first")
}

/// A subpage-aware SLC cache.
#[derive(Clone, Debug)]
pub struct Sa {
    asked: Option<u32>,
    merged_to: MergedTo,
    /// The sectors of a page, set by `layout`.
    all: SectorMask,
}

#[wordline_ftl::hooks]
impl Scheme for Sa {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let cache = Cache::of(drive, self.asked, layout::refuser(NAME, drive))?;
        self.all = SectorMask::first(drive.geometry.sectors_per_unit);
        Ok(cache.layout(vec![cache.region("S")], MapKind::Extent, Join::First)) // (4)
    }

    fn place(&mut self, parcel: &Parcel, view: &View) -> Place {
        let to = |region| Route::to(region, SlotClass::Next);
        let (plane, route) = match parcel.origin {
            Origin::Host(_) => {
                let span = parcel.spans[0];
                let filled = span.mask.union(view.sectors(span.lpn)); // (2)
                // (1), (3)
                (PlanePick::Home, if filled == self.all { to(S) } else { Route::into_buffer(0) })
            }
            Origin::Sealed => (self.merged_to.plane(), to(S)),
            Origin::Collected(_) | Origin::Moved(_) => (PlanePick::Home, to(D)), // (4), (5)
        };
        Place { gather: Gather::Fill, plane, route }
    }
}
