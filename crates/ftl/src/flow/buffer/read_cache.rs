//! Host reads from the read cache, and what a read inserts there.

use crate::ftl::Ftl;
use crate::plan::span::Span;
use crate::state::op::OpId;
use wordline_units::{Lpn, SectorMask};

impl Ftl {
    /// Which of the wanted sectors of a page the cache holds.
    #[inline(never)]
    pub(crate) fn find_cached(&mut self, lpn: Lpn, wanted: SectorMask) -> SectorMask {
        let held = self.read_cache.find(lpn, wanted);
        if let Some(pages) = &mut self.state.counters.flash.reads_cached {
            *pages += u64::from(!held.is_empty());
        }
        held
    }

    /// A host read has ended: the cache takes what is still the newest version of the page.
    #[inline(never)]
    pub(crate) fn cache_read(&mut self, id: OpId) {
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        let mut part = id;
        while !part.is_none() {
            let op = &self.state.ops[part];
            let (lpn, ppn, mask, chain) = (op.lpn, op.ppn, op.mask.and(all), op.chain);
            let there = self.state.map.still_at(Span { lpn, mask, offset: 0 }, ppn);
            let fresh = there.minus(self.state.staging.mask(lpn));
            if !fresh.is_empty() {
                self.read_cache.keep(lpn, fresh);
            }
            part = chain;
        }
    }
}
