//! # SA
//!
//! ## Source
//! M. Kang, W. Lee, S. Kim, "Subpage-Aware Solid State Drive for Improving Lifetime and Performance", IEEE Transactions
//! on Computers 67(10), 2018, as a counterpart of L. Cai et al., "A Two-level SLC Cache Hierarchy for Hybrid SSDs", 2025,
//! section IV-A. RECONSTRUCTED from abstract and citation.
//!
//! ## Idea
//! Partial pages share flash pages, and the mapping entry of a page says which of its sectors are stored there. A partial
//! write needs no read if no other sectors of the page exist, and every page is still found in one place.
//!
//! ## Algorithm
//! 1. A whole page goes to the cache.
//! 2. A partial write that covers all valid sectors of its page needs no read. Otherwise the other sectors are read and
//!    written with it, so that the page has one place (read-modify-write, "only when it is needed").
//! 3. A result of less than a page waits in the merge buffer until several fill a page; a whole page goes to the cache.
//! 4. When the erased cache blocks of a plane fall below the trigger, GC takes the cache block with the fewest valid
//!    sectors. Its pages migrate to D, where partial pages are packed again; missing sectors are not read.
//! 5. GC in D copies pages within D, packed in the same way.
//!
//! ## Symbols
//! S: the cache. D: the TLC/QLC region.
//!
//! ## Parameters
//! - `static_blocks`: SLC blocks per plane; default from `[slc_cache]` of the device file.
//! - `merged_to`: where a merged page goes. `load` (default): to the plane with the fewest queued operations. `first`: to
//!   the home plane of its first part, since MQSim, on which the comparison runs, allocates statically by logical page.
//!
//! ## Differs
//! - RECONSTRUCTED: everything beyond Source; also the size of an entry, since the paper counts none beyond a page map.
//! - Data that share a slot stay together when GC copies them, so that GC frees more than it takes.
//!
//! ## Not modelled
//! The write buffer of the source, whose size this paper does not state: partial pages wait in the merge buffer that all
//! schemes of the comparison share.
//!
//! ## Checked by
//! `a page under sa is found in one place`, `merged page follows its first part or the load`,
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

/// Its entry in the registry.
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
