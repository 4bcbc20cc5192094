//! Read-modify-write: the missing sectors of a host program are read and added to it. A later write or a trim may make
//! them unnecessary, and the program continues without them.

use crate::ftl::Ftl;
use crate::media::page::PageData;
use crate::plan::decision::Gather;
use crate::plan::map_kind::MapKind;
use crate::plan::span::{Located, Places};
use crate::state::op::{Class, Op, OpId, Owner};
use crate::state::staging::Fill;
use wordline_counters::{Cause, OpKind};
use wordline_units::{Ppn, SectorMask};

impl Ftl {
    /// Complete a program's page from RAM or by a read of the missing sectors. Returns whether a read is on its way.
    #[inline]
    pub(crate) fn gather(&mut self, id: OpId, stage: u32, in_ram: SectorMask, gather: Gather) -> bool {
        if !self.state.map_kind().is_by_page() && gather != Gather::Fill {
            return false;
        }
        let op = &mut self.state.ops[id];
        op.mask = op.mask.union(in_ram);
        let (lpn, mask) = (op.lpn, op.mask);
        if SectorMask::first(self.state.geometry.sectors_per_unit).minus(mask).is_empty() {
            return false;
        }
        let fetches = self.fetch_missing(id, stage);
        if fetches && gather != Gather::Fill {
            let all = SectorMask::first(self.state.geometry.sectors_per_unit);
            self.illegal(
                format!("place logical page {lpn} without its missing sectors"),
                format!(
                    "its sectors {:?} are stored elsewhere, and a page-level map has one entry per page",
                    all.minus(mask)
                ),
            );
        }
        fetches
    }

    /// Read the missing sectors of a program from the first place that has some of them. Returns whether there is one.
    pub(crate) fn fetch_missing(&mut self, id: OpId, stage: u32) -> bool {
        let all = SectorMask::first(self.state.geometry.sectors_per_unit);
        let op = &self.state.ops[id];
        let (lpn, mask, version) = (op.lpn, op.mask, op.version);
        // Of what is newer than the program it has no use.
        let wanted = self.state.staging.get(stage).current(all.minus(mask), version);
        if wanted.is_empty() {
            return false;
        }
        let mut located = Places::new();
        self.state.map.resolve(lpn, wanted, &mut located);
        let first = located.iter().find(|at| self.fills_from(at.ppn)).copied();
        let Some(Located { ppn, mask: missing }) = first else { return false };
        let block = self.state.geometry.block_of(ppn);
        let mut read = Op::new(OpKind::Read, self.state.geometry.plane_of(block), Cause::Rmw, Class::Write);
        (read.lpn, read.ppn, read.mask) = (lpn, ppn, missing);
        read.owner = Owner::Rmw(id);
        self.state.blocks[block.index()].readers += 1;
        let read = self.emit_mapped(read);
        self.state.staging.get(stage).begin_fill(Fill { program: id, read });
        true
    }

    /// Whether missing sectors are taken from a place: under an overlay a page is not split for a run.
    fn fills_from(&self, ppn: Ppn) -> bool {
        match self.state.map_kind() {
            MapKind::Overlay(regions, _) => {
                regions.contains(self.state.region_of(self.state.geometry.block_of(ppn)))
            }
            _ => true,
        }
    }

    /// The missing sectors of a read-modify-write have been read.
    pub(crate) fn fill(&mut self, program: OpId, brought: wordline_units::SectorMask, ppn: Ppn) {
        let op = &self.state.ops[program];
        let (stage, lpn, version) = (op.stage, op.lpn, op.version);
        let entry = self.state.staging.get(stage);
        // After a trim, or with something newer on flash, what was read is old: a page will be born
        // invalid, of sectors the program has fewer.
        let brought = entry.current(brought, version);
        if !brought.is_empty() {
            let mut old = PageData::default();
            if self.store.keeps_bytes() {
                let Some(page) = self.ask_media(|m| m.read(ppn, lpn)) else { return };
                old = page;
            }
            let missing = self.state.staging.get(stage).take_in(brought);
            self.state.ops[program].mask = self.state.ops[program].mask.union(brought);
            if self.store.keeps_bytes() {
                self.store.stage(stage, &old, missing);
                self.load_page(program, stage);
            }
        } else if self.store.keeps_metadata() && !self.state.map_kind().knows_sectors() {
            self.state.trims.make_void(program);
        }
        // What a trim that a cut undid has left in a second place.
        if self.state.map_kind().knows_sectors() && self.fetch_missing(program, stage) {
            return;
        }
        self.filled(program);
    }

    /// A later write or a trim made the read of missing sectors unnecessary; the program continues without them.
    pub(crate) fn cancel_fill(&mut self, fill: Fill) {
        self.state.ops[fill.read].owner = Owner::Nobody;
        self.filled(fill.program);
    }

    /// A program's missing sectors are present, or no longer needed.
    pub(crate) fn filled(&mut self, id: OpId) {
        let op = &self.state.ops[id];
        let (stage, lead) = (op.stage, op.lead);
        self.state.staging.get(stage).end_fill(id);
        self.awaited(if lead.is_none() { id } else { lead });
    }
}
