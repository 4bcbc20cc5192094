//! Trim: the sectors that it covers are removed from RAM and the map.

use crate::ftl::Ftl;
use crate::plan::layout::Hooks;
use crate::plan::map_kind::MapKind;
use crate::plan::span::Dead;
use crate::state::request::Effect;
use crate::state::staging::Fill;
use wordline_units::{HostRequest, Lpn, SectorMask};

/// The sectors of a trim, page by page.
pub(crate) struct Trimmed {
    /// First remaining sector, and the end.
    sector: u64,
    end: u64,
    per_unit: u64,
    /// Whether partial pages are excluded.
    whole: bool,
}

impl Iterator for Trimmed {
    type Item = (Lpn, SectorMask);

    fn next(&mut self) -> Option<(Lpn, SectorMask)> {
        while self.sector < self.end {
            let unit = self.sector / self.per_unit;
            let (first, next) = (unit * self.per_unit, (unit + 1) * self.per_unit);
            let stop = self.end.min(next);
            let mask = SectorMask::span((self.sector - first) as u32, (stop - first) as u32);
            self.sector = stop;
            if !self.whole || mask == SectorMask::first(self.per_unit as u32) {
                return Some((Lpn(unit as u32), mask));
            }
        }
        None
    }
}

impl Ftl {
    /// A trim is admitted: the sectors that it covers, rounded inward to whole sectors.
    pub(crate) fn submit_trim(&mut self, request: &HostRequest) -> Trimmed {
        self.requests.next_version();
        let lbas_per_sector = self.addressing.lbas_per_sector();
        Trimmed {
            sector: request.lba.0.div_ceil(lbas_per_sector),
            end: (request.lba.0 + u64::from(request.blocks)) / lbas_per_sector,
            per_unit: u64::from(self.state.geometry.sectors_per_unit),
            whole: self.state.map_kind() == MapKind::Page,
        }
    }

    /// Sectors of a page leave RAM. Returns whether there is a page on its way.
    pub(crate) fn trim_staged(&mut self, lpn: Lpn, mask: SectorMask) -> bool {
        self.read_cache.drop(lpn, mask);
        let Some(stage) = self.state.staging.find(lpn) else { return false };
        let entry = self.state.staging.get(stage);
        entry.commit(mask, self.requests.version());
        entry.drop(mask);
        if let Some(fill) = entry.fill()
            && !self.state.map_kind().knows_sectors()
        {
            if self.store.keeps_metadata() {
                self.state.trims.make_void(fill.program);
            }
            self.cancel_fill(fill);
        }
        true
    }

    /// Sectors of a page leave the map.
    pub(crate) fn trim_mapped(&mut self, lpn: Lpn, mask: SectorMask, is_staged: bool) {
        let mut dead = Dead::new();
        self.state.map.unmap(lpn, mask, &mut dead);
        self.state.counters.premature_units += self.state.idle_gc_copies.premature(&dead);
        self.invalidate(&dead);
        // A page that is neither mapped nor on its way was never written, or the trim that made it so
        // is known already.
        let is_stale = is_staged || !dead.is_empty();
        for invalidated in dead.iter() {
            let plane = self.state.geometry.plane_of(self.state.geometry.block_of(invalidated.ppn));
            self.out.ask(Effect::Wake(plane));
            self.note_map_change(lpn);
        }
        if is_stale {
            self.note_trim(lpn, mask);
        }
        if self.state.map_kind().knows_sectors() {
            self.trim_waiting(lpn, mask);
        }
        if self.enabled_hooks.contains(Hooks::ON_TRIM) {
            self.scheme.on_trim(lpn);
        }
    }

    /// Sectors of a page have been trimmed that programs not issued yet may hold or lack: the programs
    /// continue without them.
    fn trim_waiting(&mut self, lpn: Lpn, mask: SectorMask) {
        if !self.merge_buffer.is_empty() {
            self.trim_merged(lpn, mask);
        }
        let Some(stage) = self.state.staging.find(lpn) else { return };
        let Some(Fill { program, read }) = self.state.staging.get(stage).fill() else { return };
        let op = &mut self.state.ops[program];
        self.state.trims.hold(lpn, op.mask.and(mask), op.version);
        op.mask = op.mask.minus(mask);
        self.state.ops[read].mask = self.state.ops[read].mask.minus(mask);
    }
}
