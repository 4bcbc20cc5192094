//! What media that keep a journal of protected RAM have to ask: which of it still counts.

use crate::flow::power::power_loss_image::{Protected, ProtectedWrite};
use crate::ftl::Ftl;
use crate::state::trim::AllTrims;
use wordline_units::{Lpn, SectorMask};

impl Ftl {
    /// Whether protected RAM may hold data of a page that are not on flash.
    pub fn is_in_ram(&self, lpn: Lpn) -> bool {
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        let trims = &self.state.trims;
        let is_unlogged = |entry| trims.unlogged.contains_key(&entry);
        self.state.staging.find(lpn).is_some()
            || !trims.unlogged.is_empty() && trims.entries(lpn, all).any(is_unlogged)
    }

    /// Trims that only RAM holds: entries of the trim log, and their versions.
    pub fn trims_in_ram(&self) -> Vec<(u64, u64)> {
        self.state.trims.kept(AllTrims::Kept)
    }

    /// The page behind the last one, including those of the drive's own tables.
    pub fn end_of_pages(&self) -> u32 {
        self.state.end_of_pages()
    }

    /// The logical page of an entry of the trim log.
    pub fn page_of_trim(&self, entry: u64) -> Lpn {
        self.state.trims.sectors_of(entry).0
    }

    /// Protected RAM as the journal records it; with a map on flash, every map page may be out of date.
    pub fn protected(&self, writes: Vec<ProtectedWrite>, trims: Vec<(u64, u64)>) -> Protected {
        let map_pages = self.state.demand.as_ref().map(|map| map.first()..map.end());
        Protected { writes, trims, stale_map: map_pages.into_iter().flatten().collect() }
    }
}
