//! Reports to the media data in protected RAM that may have no other copy, for a journal.

use crate::state::op::OpId;
use crate::state::state::State;
use crate::state::store::Store;
use wordline_units::SectorMask;

/// Moved data leave their place on flash for protected RAM.
pub(crate) fn protect_moved(state: &State, store: &mut Store, part: OpId, keep: SectorMask) {
    if !store.keeps_metadata() || keep.is_empty() {
        return;
    }
    let (lpn, version) = (state.ops[part].lpn, state.ops[part].version);
    if state.is_metadata(lpn) {
        let record = state.trims.record(part, lpn);
        return store.protect_trims(&record);
    }
    let page = store.page(part);
    for (mask, version) in store.versions_of(part, keep, version) {
        store.protect(lpn, mask, version, &page);
    }
}
