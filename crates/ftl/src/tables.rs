//! Where data lie: for checks, and for readers of what a drive holds.

use crate::flow::host::read::newest_page_of;
use crate::inspect::check::{Broken, check};
use crate::layer::Layer;
use crate::media::error::MediaError;
use crate::media::page::PageData;
use crate::plan::span::{Located, Places};
use wordline_units::{Lpn, SectorMask};

/// The tables of a drive. [`Ftl::tables`](crate::Ftl::tables) makes it.
pub struct Tables<'a> {
    layer: &'a mut Layer,
}

impl<'a> Tables<'a> {
    pub(crate) fn of(layer: &'a mut Layer) -> Tables<'a> {
        Tables { layer }
    }

    /// Recount what the tables state: valid sectors by block, the map against its inverse, free and owned blocks, open
    /// slots, victims.
    ///
    /// # Errors
    /// The first violated invariant.
    pub fn check(self) -> Result<(), Broken> {
        check(&mut self.layer.state)
    }

    /// The places of the sectors of a logical page; sectors that were never written are omitted.
    pub fn locate(self, lpn: Lpn) -> Vec<Located> {
        let mut located = Places::new();
        let all = SectorMask::first(self.layer.state.geometry.sectors_per_unit);
        self.layer.state.map.resolve(lpn, all, &mut located);
        located.to_vec()
    }

    /// The newest bytes of a sector, as a host read would return them now, within their page; none if it was never written.
    ///
    /// # Errors
    /// When the media cannot read them.
    pub fn newest_page(self, lpn: Lpn, sector: u32) -> Result<PageData, MediaError> {
        newest_page_of(&mut self.layer.state, &mut self.layer.store, lpn, sector)
    }
}
