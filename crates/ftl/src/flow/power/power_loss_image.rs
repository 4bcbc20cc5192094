//! What is left of a drive when its power fails.

use crate::image::base::BaseImage;
use crate::media::boxed::BoxedMedia;
use crate::media::page::PageData;
use crate::plan::decision::Route;
use crate::state::aging::Ages;
use crate::state::counters::Counters;
use crate::state::wear::Wear;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use wordline_counters::Cause;
use wordline_units::{BlockId, Lpn, PlaneId, SectorMask};

/// A drive after a power cut: its flash, and the contents of protected RAM.
#[derive(Debug)]
pub struct PowerLossImage {
    /// The flash.
    pub media: BoxedMedia,
    /// Numbers of the requests that were admitted and had not completed.
    pub in_flight: Vec<u64>,
    /// What the flash held at time 0, as far as it has not been erased since.
    pub(crate) base: Option<Arc<BaseImage>>,
    pub(crate) counters: Counters,
    /// How worn the blocks are and what reading them costs, which the flash itself keeps.
    pub(crate) wear: Worn,
    /// Trims in protected RAM: entry of the trim log, version.
    pub(crate) trims: Vec<(u64, u64)>,
    /// Pages of a map on flash that were not up to date there.
    pub(crate) stale_map: BTreeSet<u32>,
    /// Data in protected RAM.
    pub(crate) kept: Vec<Kept>,
}

impl PowerLossImage {
    /// Logical pages with data in protected RAM, which are programmed after power-on.
    pub fn protected_pages(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.kept.iter().map(|k| k.lpn)
    }

    /// A drive found on media, in place of a new one in the same initial state: its flash, the journal of its protected
    /// RAM, and its wear.
    pub fn found(self, media: BoxedMedia, protected: Protected, wear: Option<Worn>) -> PowerLossImage {
        let Protected { writes, trims, stale_map } = protected;
        let kept = writes.into_iter().map(|w| Kept {
            lpn: w.lpn,
            mask: w.mask,
            page: w.page,
            version: w.version,
            from: KeptFrom::Journal,
        });
        let wear = wear.unwrap_or(self.wear);
        PowerLossImage { media, trims, stale_map, kept: kept.collect(), wear, ..self }
    }

    /// Trims in protected RAM, of a page or of a sector.
    pub fn protected_trims(&self) -> usize {
        self.trims.len()
    }
}

/// State of the flash itself: wear of its blocks, cost of reading them, and lost blocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Worn {
    /// What of its life each block has used up.
    pub(crate) lives: Vec<u32>,
    pub(crate) ages: Ages,
    pub(crate) drive: Wear,
    /// Blocks marked as lost.
    pub(crate) lost: Vec<BlockId>,
}

/// Contents of protected RAM, from a journal of [`crate::Media::protect`] and [`crate::Media::protect_trims`]. Entries
/// are ignored if their data are on flash by now, or were written or trimmed since.
#[derive(Clone, Debug)]
pub struct Protected {
    /// Writes and moved data, in the order of their versions.
    pub writes: Vec<ProtectedWrite>,
    /// Trims: entry of the trim log, version.
    pub trims: Vec<(u64, u64)>,
    /// Map pages that may be out of date on flash.
    pub stale_map: BTreeSet<u32>,
}

/// Sectors of a page in protected RAM, from a journal.
#[derive(Clone, Debug)]
pub struct ProtectedWrite {
    /// The logical page.
    pub lpn: Lpn,
    /// Its sectors.
    pub mask: SectorMask,
    /// The data of the sectors, within a page.
    pub page: PageData,
    /// Their version.
    pub version: u64,
}

/// Sectors of a page in protected RAM.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub lpn: Lpn,
    pub mask: SectorMask,
    pub page: PageData,
    /// The version of the write; in the write buffer, an upper bound.
    pub version: u64,
    pub from: KeptFrom,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum KeptFrom {
    /// The write buffer.
    Buffer,
    /// A journal.
    Journal,
    /// A protected program buffer of moved data, which keep their version.
    ProgramBuffer { route: Route, plane: PlaneId, cause: Cause, privileged: Privilege },
}

/// Whether a program may break into the blocks that collection keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Privilege(pub bool);
