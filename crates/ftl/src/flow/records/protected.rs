//! Media are told what comes to protected RAM and may be nowhere else, for a journal of it.

use crate::ftl::Ftl;
use crate::media::page::PageData;
use crate::media::seam::Media;
use crate::plan::span::Span;
use crate::state::op::OpId;
use wordline_units::SectorMask;

impl<M: Media> Ftl<M> {
    /// A write that may be answered from protected RAM has come there.
    pub(crate) fn protect_write(&mut self, span: Span, page: &PageData) {
        if self.ack.answers_from_ram() {
            self.media.protect(span.lpn, span.mask, self.requests.version, page);
        }
    }

    /// Moved data leave their place on flash for protected RAM.
    pub(crate) fn protect_moved(&mut self, part: OpId, keep: SectorMask) {
        if !M::METADATA || keep.is_empty() {
            return;
        }
        let (lpn, version) = (self.state.ops[part].lpn, self.state.ops[part].version);
        if self.state.is_metadata(lpn) {
            let record = self.state.trims.record(part.0, lpn);
            return self.media.protect_trims(&record);
        }
        let page = if M::BYTES { self.pages[part.index()].clone() } else { PageData::default() };
        for (mask, version) in self.versions_of(part, keep, version) {
            self.media.protect(lpn, mask, version, &page);
        }
    }
}
