//! What is left of a drive when its power fails.

use crate::image::base::BaseImage;
use crate::media::Media;
use crate::plan::decision::Route;
use crate::state::aging::Ages;
use crate::state::cause::Cause;
use crate::state::counters::Counters;
use crate::state::wear::Wear;
use std::collections::BTreeSet;
use std::sync::Arc;
use wordline_units::{BlockId, Lpn, PlaneId, SectorMask};

/// What is left of a drive when its power fails: the flash, and what protected RAM holds.
#[derive(Clone, Debug)]
pub struct PowerLossImage<M: Media> {
    /// The flash.
    pub media: M,
    /// Requests that were admitted and had not completed, by number.
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
    pub(crate) kept: Vec<Kept<M::Page>>,
}

impl<M: Media> PowerLossImage<M> {
    /// Logical pages with data in protected RAM, which are programmed when the power is back.
    pub fn protected_pages(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.kept.iter().map(|k| k.lpn)
    }

    /// Trims in protected RAM, of a page or of a sector.
    pub fn protected_trims(&self) -> usize {
        self.trims.len()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Worn {
    /// What of its life each block has used up.
    pub lives: Vec<u32>,
    pub ages: Ages,
    pub drive: Wear,
    /// Blocks marked as lost.
    pub lost: Vec<BlockId>,
}

/// Sectors of a page in protected RAM.
#[derive(Clone, Debug)]
pub(crate) struct Kept<P> {
    pub lpn: Lpn,
    pub mask: SectorMask,
    pub page: P,
    pub from: KeptFrom,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum KeptFrom {
    /// The write buffer.
    Buffer,
    /// A protected program buffer of moved data, which have a version already.
    ProgramBuffer { version: u64, route: Route, plane: PlaneId, cause: Cause, privileged: Privilege },
}

/// Whether a program may break into the blocks that collection keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Privilege(pub bool);
