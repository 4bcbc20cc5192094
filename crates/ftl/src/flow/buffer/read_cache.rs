//! Host reads from the read cache, and what a read inserts there.

use crate::plan::span::Span;
use crate::state::counters::Counters;
use crate::state::op::OpId;
use crate::state::read_cache::ReadCache;
use crate::state::state::State;
use wordline_units::{Lpn, SectorMask};

/// Which of the wanted sectors of a page the cache holds.
#[inline(never)]
pub(crate) fn find_cached(
    counters: &mut Counters,
    read_cache: &mut ReadCache,
    lpn: Lpn,
    wanted: SectorMask,
) -> SectorMask {
    let held = read_cache.find(lpn, wanted);
    if let Some(pages) = &mut counters.flash.reads_cached {
        *pages += u64::from(!held.is_empty());
    }
    held
}

/// A host read has ended: the cache takes what is still the newest version of the page.
#[inline(never)]
pub(crate) fn cache_read(state: &mut State, read_cache: &mut ReadCache, id: OpId) {
    let all = SectorMask::first(state.geometry.sectors_per_unit);
    let mut part = id;
    while !part.is_none() {
        let op = &state.ops[part];
        let (lpn, ppn, mask, chain) = (op.lpn, op.ppn, op.mask.and(all), op.chain);
        let there = state.map.still_at(Span { lpn, mask, offset: 0 }, ppn);
        let fresh = there.minus(state.staging.mask(lpn));
        if !fresh.is_empty() {
            read_cache.keep(lpn, fresh);
        }
        part = chain;
    }
}
