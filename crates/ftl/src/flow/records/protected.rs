//! Reports to the media data in protected RAM that may have no other copy, for a journal.

use crate::ftl::Ftl;
use crate::state::op::OpId;
use wordline_units::SectorMask;

impl Ftl {
    /// Moved data leave their place on flash for protected RAM.
    pub(crate) fn protect_moved(&mut self, part: OpId, keep: SectorMask) {
        if !self.store.keeps_metadata() || keep.is_empty() {
            return;
        }
        let (lpn, version) = (self.state.ops[part].lpn, self.state.ops[part].version);
        if self.state.is_metadata(lpn) {
            let record = self.state.trims.record(part, lpn);
            return self.store.protect_trims(&record);
        }
        let page = self.store.page(part);
        for (mask, version) in self.store.versions_of(part, keep, version) {
            self.store.protect(lpn, mask, version, &page);
        }
    }
}
