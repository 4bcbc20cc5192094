//! Sectors of pages, and the places that hold them.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use wordline_units::{Lpn, Ppn, SectorMask};

/// Some sectors of one logical page that lie in one place. Sector `s` of the page is physical
/// sector `s` of the place under a page map; under a sector map they stand one behind the other
/// from `offset` on, in increasing order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// The logical page.
    pub lpn: Lpn,
    /// Its sectors.
    pub mask: SectorMask,
    /// First physical sector within the place (sector maps only).
    pub offset: u8,
}

/// Sectors of one logical page and the place that holds them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Located {
    /// The place.
    pub ppn: Ppn,
    /// The sectors of the page that lie there.
    pub mask: SectorMask,
}

/// Sectors that a commit or a trim left dead at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Invalidated {
    pub ppn: Ppn,
    pub sectors: u32,
}

/// What a change of the map leaves dead.
pub(crate) type Dead = SmallVec<[Invalidated; 4]>;

/// Where a page lies.
pub(crate) type Places = SmallVec<[Located; 4]>;

/// What lives in a place, or is placed together.
pub(crate) type Spans = SmallVec<[Span; 4]>;
