//! What stands beside data on flash: versions and sequence numbers in the spare areas, and the records of the trim log. It is
//! what a drive is recovered from, and kept where media keep metadata.

use crate::ftl::Ftl;
use crate::media::page::PageData;
use crate::media::seam::{BlockHeader, Media, Oob};
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use crate::state::op::{Op, OpId};
use smallvec::{SmallVec, smallvec};
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

impl<M: Media> Ftl<M> {
    /// A program that takes what its source holds elsewhere.
    pub(crate) fn carry(&mut self, mut op: Op) -> OpId {
        let (from, lpn) = (op.from, op.lpn);
        let versions = self.stored_versions(from, lpn, op.mask);
        op.version = versions.iter().map(|(_, version)| *version).max().unwrap_or(0);
        let id = self.add_op(op);
        if versions.len() > 1 {
            self.mixed.insert(id.0, versions);
        }
        if M::BYTES {
            self.pages[id.index()] = self.ask_media(|m| m.read(from, lpn)).unwrap_or_default();
        }
        if M::METADATA {
            self.load_record(id.0, lpn, from);
        }
        id
    }

    /// The versions of sectors of a page that lie at a place; empty where media keep none.
    pub(crate) fn stored_versions(&self, ppn: Ppn, lpn: Lpn, mask: SectorMask) -> Vec<(SectorMask, u64)> {
        if !M::METADATA {
            return vec![];
        }
        if !self.state.map_kind().knows_sectors() {
            return vec![(mask, self.media.version(ppn, lpn))];
        }
        let stored = self.media.stored(ppn).into_iter().filter(|(span, _)| span.lpn == lpn);
        let mut versions: Vec<_> = stored.map(|(span, version)| (span.mask.and(mask), version)).collect();
        let before = versions.iter().fold(mask, |left, (sectors, _)| left.minus(*sectors));
        versions.push((before, 0)); // there before time 0
        versions.retain(|(sectors, _)| !sectors.is_empty());
        versions
    }

    /// The sectors of a program by their versions.
    pub(crate) fn versions_of(
        &self,
        id: OpId,
        mask: SectorMask,
        version: u64,
    ) -> SmallVec<[(SectorMask, u64); 1]> {
        let Some(versions) = self.mixed.get(&id.0) else { return smallvec![(mask, version)] };
        versions.iter().map(|(m, version)| (m.and(mask), *version)).filter(|(m, _)| !m.is_empty()).collect()
    }

    /// A relocation of a log page carries what its source holds.
    fn load_record(&mut self, op: u32, lpn: Lpn, from: Ppn) {
        if self.state.trims.is_log(lpn)
            && let Some(record) = self.media.trims(from)
        {
            self.state.trims.records.insert(op, record);
        }
    }

    /// A log page is on flash. Returns whether the media have stored what it says.
    fn store_record(&mut self, op: u32, lpn: Lpn, ppn: Ppn) -> bool {
        if self.state.trims.is_log(lpn)
            && let Some(record) = self.state.trims.records.get(&op).cloned()
        {
            if self.ask_media(|m| m.record_trims(ppn, record)).is_none() {
                return false;
            }
            self.state.trims.records.remove(&op);
        }
        true
    }

    /// Every copy in a block is about to be lost.
    pub(crate) fn hold_trims_of(&mut self, block: BlockId) {
        if self.state.trims.unlogged.is_empty() {
            return;
        }
        for slot in 0..1 << self.state.geometry.slot_shift {
            let ppn = self.state.geometry.ppn(block, slot);
            for (span, version) in self.media.stored(ppn) {
                if !self.state.is_metadata(span.lpn) {
                    self.state.trims.hold(span.lpn, span.mask, version);
                }
            }
        }
        let Some(base) = self.base.as_ref().filter(|_| self.media.holds_base(block)) else { return };
        let plane = self.state.geometry.plane_of(block);
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        for slot in 0..1 << self.state.geometry.slot_shift {
            if let Some(lpn) = base.owner_of(plane, block, slot) {
                self.state.trims.hold(lpn, all, 0);
            }
        }
    }

    /// A unit is on flash, with what its spare area says. Returns whether the media have stored it.
    pub(crate) fn store(&mut self, part: OpId, span: Span, version: u64, ppn: Ppn) -> bool {
        self.sequence += 1;
        if self.state.trims.is_void(part.0, span, version) {
            return self.out.fault.is_none();
        }
        let page = if M::BYTES { self.pages[part.index()].clone() } else { PageData::default() };
        for (mask, version) in self.versions_of(part, span.mask, version) {
            let oob = Oob { span: Span { mask, ..span }, version, sequence: self.sequence };
            if self.ask_media(|m| m.program(ppn, oob, page.clone())).is_none() {
                return false;
            }
        }
        if M::BYTES {
            self.pages[part.index()] = PageData::default();
        }
        self.mixed.remove(&part.0);
        self.store_record(part.0, span.lpn, ppn)
    }

    /// What the first program of a block writes beside its data.
    pub(crate) fn header(&self, block: BlockId) -> BlockHeader {
        let info = &self.state.blocks[block.index()];
        BlockHeader {
            region: RegionId(info.region),
            mode: info.mode(),
            erases: info.erases,
            opened: self.sequence + 1,
        }
    }
}
