//! A trim: what it covers leaves RAM and the map.

use crate::ftl::Ftl;
use crate::media::Media;
use crate::plan::layout::Hooks;
use crate::plan::map_kind::MapKind;
use crate::state::request::Effect;
use crate::state::staging::Fill;
use wordline_units::{HostRequest, Lpn, SectorMask};

impl<M: Media> Ftl<M> {
    pub(super) fn submit_trim(&mut self, request: &HostRequest) {
        self.requests.version += 1;
        // Rounded inward: a sector is forgotten only when all of it is trimmed.
        let first = request.lba.0.div_ceil(self.addressing.lbas_per_sector());
        let end = (request.lba.0 + request.blocks as u64) / self.addressing.lbas_per_sector();
        let per_unit = self.state.geometry.sectors_per_unit as u64;
        let all = SectorMask::first(per_unit as u32);
        let mut sector = first;
        while sector < end {
            let unit = sector / per_unit;
            let stop = end.min((unit + 1) * per_unit);
            let mask = SectorMask::span((sector - unit * per_unit) as u32, (stop - unit * per_unit) as u32);
            sector = stop;
            if self.state.map_kind() == MapKind::Page && mask != all {
                continue;
            }
            self.trim_unit(Lpn(unit as u32), mask);
        }
    }

    fn trim_unit(&mut self, lpn: Lpn, mask: SectorMask) {
        self.read_cache.drop(lpn, mask);
        // A page that is neither mapped nor on its way was never written, or the trim that made it so
        // is known already.
        let mut stale = false;
        if let Some(stage) = self.state.staging.find(lpn) {
            stale = true;
            self.let_page_go(stage);
            let entry = self.state.staging.get(stage);
            entry.commit(mask, self.requests.version);
            entry.mask = entry.mask.minus(mask);
            let fill = entry.fill;
            if let Some(fill) = fill
                && !self.state.map_kind().knows_sectors()
            {
                if M::METADATA {
                    self.state.trims.void.insert(fill.program.0);
                }
                self.cancel_fill(fill);
            }
        }
        let mut dead = std::mem::take(&mut self.scratch.dead);
        self.state.map.unmap(lpn, mask, &mut dead);
        self.state.counters.premature_units += self.state.idle_gc_copies.premature(&dead);
        self.invalidate(&dead);
        for invalidated in dead.drain(..) {
            let plane = self.state.geometry.plane_of(self.state.geometry.block_of(invalidated.ppn));
            self.out.effects.push(Effect::Wake(plane));
            stale = true;
            self.note_map_change(lpn);
        }
        self.scratch.dead = dead;
        if stale {
            self.note_trim(lpn, mask);
        }
        if self.state.map_kind().knows_sectors() {
            self.trim_waiting(lpn, mask);
        }
        if self.enabled_hooks.contains(Hooks::ON_TRIM) {
            self.scheme.on_trim(lpn);
        }
    }

    /// Sectors of a page have been trimmed that programs may hold or lack which are not on their way yet: they
    /// go without.
    fn trim_waiting(&mut self, lpn: Lpn, mask: SectorMask) {
        if !self.merge_buffer.is_empty() {
            self.trim_merged(lpn, mask);
        }
        let Some(stage) = self.state.staging.find(lpn) else { return };
        let Some(Fill { program, read }) = self.state.staging.get(stage).fill else { return };
        let op = &mut self.state.ops[program];
        self.state.trims.hold(lpn, op.mask.and(mask), op.version);
        op.mask = op.mask.minus(mask);
        self.state.ops[read].mask = self.state.ops[read].mask.minus(mask);
    }
}
