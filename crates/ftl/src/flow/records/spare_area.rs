//! Metadata on flash: versions and sequence numbers in spare areas, and the records of the trim log. A drive is
//! recovered from them; they are kept if the media store metadata.

use crate::ftl::Ftl;
use crate::media::found::BlockHeader;
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use crate::state::op::{Op, OpId};
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

impl Ftl {
    /// A program that copies the metadata of its source.
    #[inline(always)]
    pub(crate) fn carry(&mut self, mut op: Op) -> OpId {
        op.version = 0;
        if self.store.keeps_metadata() { self.carry_stored(op) } else { self.add_op(op) }
    }

    #[cold]
    fn carry_stored(&mut self, mut op: Op) -> OpId {
        let (from, lpn) = (op.from, op.lpn);
        let versions = self.store.stored_versions(from, lpn, op.mask);
        op.version = versions.iter().map(|(_, version)| *version).max().unwrap_or(0);
        let id = self.add_op(op);
        self.store.set_versions(id, versions);
        if self.store.keeps_bytes() {
            self.ask_media(|store| store.bring(id, from, lpn));
        }
        self.load_record(id, lpn, from);
        id
    }

    /// A relocation of a log page copies the records of its source.
    fn load_record(&mut self, op: OpId, lpn: Lpn, from: Ppn) {
        if self.state.trims.is_log(lpn)
            && let Some(record) = self.store.trims(from)
        {
            self.state.trims.set_record(op, record);
        }
    }

    /// A log page is on flash. Returns whether the media have stored what it says.
    fn store_record(&mut self, op: OpId, lpn: Lpn, ppn: Ppn) -> bool {
        if self.state.trims.is_log(lpn)
            && let Some(record) = self.state.trims.record_of(op)
        {
            if self.ask_media(|store| store.record_trims(ppn, record)).is_none() {
                return false;
            }
            self.state.trims.end_program(op);
        }
        true
    }

    /// Every copy in a block is about to be lost.
    #[cold]
    pub(crate) fn hold_trims_of(&mut self, block: BlockId) {
        if !self.state.trims.has_unlogged() {
            return;
        }
        for slot in 0..1 << self.state.geometry.slot_shift {
            let ppn = self.state.geometry.ppn(block, slot);
            for (span, version) in self.store.stored(ppn) {
                if !self.state.is_metadata(span.lpn) {
                    self.state.trims.hold(span.lpn, span.mask, version);
                }
            }
        }
        let Some(base) = self.store.base_in(block) else { return };
        let plane = self.state.geometry.plane_of(block);
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        for slot in 0..1 << self.state.geometry.slot_shift {
            if let Some(lpn) = base.owner_of(plane, block, slot) {
                self.state.trims.hold(lpn, all, 0);
            }
        }
    }

    /// A unit is on flash, with its spare area. Returns whether the media have stored it.
    #[cold]
    pub(crate) fn store_unit(&mut self, part: OpId, span: Span, version: u64, ppn: Ppn) -> bool {
        self.store.count_unit();
        if self.state.trims.is_void(part, span, version) {
            return self.out.fault().is_none();
        }
        self.ask_media(|store| store.program(part, span, version, ppn)).is_some()
            && self.store_record(part, span.lpn, ppn)
    }

    /// Metadata that the first program of a block writes.
    pub(crate) fn header(&self, block: BlockId) -> BlockHeader {
        let info = &self.state.blocks[block.index()];
        BlockHeader {
            region: RegionId(info.region),
            mode: info.mode(),
            erases: info.erases,
            opened: self.store.next_unit(),
        }
    }
}
