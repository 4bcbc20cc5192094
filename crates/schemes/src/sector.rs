//! # Sector
//!
//! ## Source
//! I. Fareed, M. Kang, W. Lee, S. Kim, "Leveraging Intra-Page Update Diversity for Mitigating Write Amplification in
//! SSDs", ICS 2020, as a counterpart of L. Cai et al., "A Two-level SLC Cache Hierarchy for Hybrid SSDs", 2025, section
//! IV-A. RECONSTRUCTED from abstract and citation.
//!
//! ## Idea
//! The sectors of a page are updated at different rates. If each sector is mapped separately and packed with equally hot
//! ones, all sectors of a flash page become invalid at about the same time. The price is a table entry for every sector
//! of the cache, and pages that must be read from several places.
//!
//! ## Algorithm
//! 1. A write increments the count of each of its sectors that the cache already holds; a count has 3 bits and saturates
//!    at 7.
//! 2. Every 16384 write requests all counts are halved.
//! 3. Counts of 0 and 1, 2 and 3, and 4 or more form three classes. A partial write is divided by class.
//! 4. The sectors of a class wait in the merge buffer until they fill a page.
//! 5. A whole page is written undivided, whatever its classes: dividing would only spread it.
//! 6. When the erased cache blocks of a plane fall below the trigger, GC takes the cache block with the fewest valid
//!    sectors. Each logical page with sectors there is read from all its places and migrates to D as a whole; its counts
//!    are reset.
//! 7. GC in D copies pages within D.
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
//! - RECONSTRUCTED: the classes and counts, and that whole pages are not divided.
//! - RECONSTRUCTED: a class may have several open pages, so that a write that does not fit into one causes no padding.
//! - The source maps the whole drive by sector in addition to pages; here only the cache, since D is mapped by page
//!   (section IV-B2 of the paper).
//!
//! ## Not modelled
//! The lookup time of the sector table.
//!
//! ## Checked by
//! `the sector tables are of the paper's size`, `sectors of a class share a page`, `merged page follows its first part or the load`, `reference model`, golden rows.

use crate::parameters::Parameters;
use crate::parts::layout;
use crate::parts::packing::{self, Cache, MergedTo};
use crate::registry::Entry;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wordline_flash::SlotClass;
use wordline_ftl::{
    Command, DriveInfo, Gather, Join, Layout, MapKind, Memory, Origin, Parcel, Place, PlanePick, Refusal,
    RegionId, RegionSet, Route, Scheme, Span, View,
};
use wordline_units::{Lpn, SectorMask};

const S: RegionId = RegionId(0);
const D: RegionId = RegionId(1);

/// Write requests between two halvings.
const HALVE_EVERY: u32 = 1024 * 16;
/// The highest count.
const HOTTEST: u8 = 7;

pub(crate) const NAME: &str = "sector";

/// Its entry in the registry.
pub(crate) fn entry() -> Entry {
    Entry::new(NAME, "Sector-mapped SLC cache that packs sectors of similar update frequency", |p| {
        Box::new(Sector::from_parameters(p))
    })
    .docs(include_str!("sector.rs"))
    .takes(packing::STATIC_BLOCKS)
    .takes(packing::merged_to(
        "load or first: pack on the plane with the fewest queued operations, or on the home plane of the first part",
    ))
    .small("merged_to=first")
}

/// Update counts of the cached sectors of each page, by number; counted from 1, 0 for uncached ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Heat(BTreeMap<u32, Vec<u8>>);

impl Heat {
    /// Updates of a sector when the host has written it now.
    fn when_written(&self, lpn: Lpn, sector: u32) -> u8 {
        let counted = self.0.get(&lpn.0).and_then(|counts| counts.get(sector as usize));
        counted.copied().unwrap_or(0).min(HOTTEST)
    }

    /// The class of a sector when the host has written it now.
    fn class(&self, lpn: Lpn, sector: u32) -> u8 {
        (self.when_written(lpn, sector) / 2).min(2) // (3)
    }

    /// The host writes sectors.
    fn write(&mut self, span: &Span, sectors: usize) {
        for s in span.mask.iter() {
            let count = self.when_written(span.lpn, s) + 1; // (1)
            self.0.entry(span.lpn.0).or_insert_with(|| vec![0; sectors])[s as usize] = count;
        }
    }

    fn halve(&mut self) {
        for count in self.0.values_mut().flatten().filter(|count| **count > 0) {
            *count = (*count - 1) / 2 + 1;
        }
    }
}

/// An SLC cache mapped by sector.
#[derive(Clone, Debug)]
pub struct Sector {
    asked: Option<u32>,
    merged_to: MergedTo,
    /// The sectors of a page, set by `layout`.
    all: SectorMask,
    heat: Heat,
}

impl Sector {
    fn from_parameters(p: &mut Parameters) -> Sector {
        let (asked, merged_to) = (packing::take_static_blocks(p), packing::take_merged_to(p, "first"));
        Sector { asked, merged_to, all: SectorMask::EMPTY, heat: Heat::default() }
    }
}

#[wordline_ftl::hooks]
impl Scheme for Sector {
    fn name(&self) -> &str {
        NAME
    }

    fn layout(&mut self, drive: &DriveInfo) -> Result<Layout, Refusal> {
        let cache = Cache::of(drive, self.asked, layout::refuser(NAME, drive))?;
        self.all = SectorMask::first(drive.geometry.sectors_per_unit);
        let map = MapKind::Overlay(RegionSet::of(S), cache.pages() as u32);
        let layout = cache.layout(vec![cache.region("S")], map, Join::SameKey);
        Ok(Layout { tick_every_writes: HALVE_EVERY, ..layout })
    }

    fn split_write(&mut self, span: &Span, _: &View) -> SectorMask {
        let class = |s| self.heat.class(span.lpn, s);
        let Some(first) = span.mask.iter().next().filter(|_| span.mask != self.all) else {
            return span.mask; // (5)
        };
        let alike = span.mask.iter().filter(|s| class(*s) == class(first)); // (3)
        SectorMask(alike.fold(0, |mask, s| mask | 1 << s))
    }

    fn place(&mut self, parcel: &Parcel, _: &View) -> Place {
        let to = |region| Route::to(region, SlotClass::Next);
        let (gather, plane, route) = match parcel.origin {
            Origin::Host(_) => {
                let span = &parcel.spans[0];
                let class = span.mask.iter().next().map_or(0, |s| self.heat.class(span.lpn, s));
                self.heat.write(span, self.all.count() as usize);
                let whole = packing::is_whole(parcel.spans, self.all);
                let route = if whole { to(S) } else { Route::into_buffer(class) }; // (4), (5)
                (Gather::AsIs, PlanePick::Home, route)
            }
            Origin::Sealed => (Gather::AsIs, self.merged_to.plane(), to(S)),
            Origin::Collected(S) => {
                for span in parcel.spans {
                    self.heat.0.remove(&span.lpn.0);
                }
                (Gather::Whole, PlanePick::Home, to(D)) // (6)
            }
            Origin::Collected(_) | Origin::Moved(_) => (Gather::AsIs, PlanePick::Home, to(D)), // (7)
        };
        Place { gather, plane, route }
    }

    fn on_trim(&mut self, lpn: Lpn) {
        self.heat.0.remove(&lpn.0);
    }

    fn tick(&mut self, _: &View, _: &mut Vec<Command>) {
        self.heat.halve(); // (2)
    }

    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Some(&mut self.heat)
    }
}
