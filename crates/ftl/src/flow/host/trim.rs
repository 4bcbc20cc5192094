//! Trim: the sectors that it covers are removed from RAM and the map.

use crate::flow::buffer::merge::trim_merged;
use crate::flow::collect::invalidate::invalidate;
use crate::flow::host::fill::cancel_fill;
use crate::flow::metadata::demand_map::note_map_change;
use crate::flow::metadata::trim_log::note_trim;
use crate::layer::Layer;
use crate::plan::layout::Hooks;
use crate::plan::region::MapKind;
use crate::plan::span::Dead;
use crate::state::request::Effect;
use crate::state::requests::Requests;
use crate::state::staging::Fill;
use crate::state::state::State;
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

/// A trim is admitted: the sectors that it covers, rounded inward to whole sectors.
pub(crate) fn submit_trim(state: &State, requests: &mut Requests, request: &HostRequest) -> Trimmed {
    requests.next_version();
    let lbas_per_sector = state.config.addressing.lbas_per_sector();
    Trimmed {
        sector: request.lba.0.div_ceil(lbas_per_sector),
        end: (request.lba.0 + u64::from(request.blocks)) / lbas_per_sector,
        per_unit: u64::from(state.geometry.sectors_per_unit),
        whole: state.map_kind() == MapKind::Page,
    }
}

/// Sectors of a page leave RAM. Returns whether there is a page on its way.
pub(crate) fn trim_staged(layer: &mut Layer, lpn: Lpn, mask: SectorMask) -> bool {
    layer.read_cache.drop(lpn, mask);
    let Some(stage) = layer.state.staging.find(lpn) else { return false };
    let entry = layer.state.staging.get(stage);
    entry.commit(mask, layer.requests.version());
    entry.drop(mask);
    if let Some(fill) = entry.fill()
        && !layer.state.map_kind().knows_sectors()
    {
        if layer.store.keeps_metadata() {
            layer.state.trims.make_void(fill.program);
        }
        cancel_fill(&mut layer.state, fill);
    }
    true
}

/// Sectors of a page leave the map.
pub(crate) fn trim_mapped(layer: &mut Layer, lpn: Lpn, mask: SectorMask, is_staged: bool) {
    let mut dead = Dead::new();
    layer.state.map.unmap(lpn, mask, &mut dead);
    layer.state.counters.premature_units += layer.state.idle_gc_copies.premature(&dead);
    invalidate(layer, &dead);
    // A page that is neither mapped nor on its way was never written, or the trim that made it so
    // is known already.
    let is_stale = is_staged || !dead.is_empty();
    for invalidated in dead.iter() {
        let plane = layer.state.geometry.plane_of(layer.state.geometry.block_of(invalidated.ppn));
        layer.out.ask(Effect::Wake(plane));
        note_map_change(layer, lpn);
    }
    if is_stale {
        note_trim(&mut layer.state.trims, &mut layer.store, &layer.requests, lpn, mask);
    }
    if layer.state.map_kind().knows_sectors() {
        trim_waiting(layer, lpn, mask);
    }
    if layer.seat.hooks.contains(Hooks::ON_TRIM) {
        layer.seat.scheme.on_trim(lpn);
    }
}

/// Sectors of a page have been trimmed that programs not issued yet may hold or lack: the programs
/// continue without them.
fn trim_waiting(layer: &mut Layer, lpn: Lpn, mask: SectorMask) {
    if !layer.merge_buffer.pages.is_empty() {
        trim_merged(layer, lpn, mask);
    }
    let Some(stage) = layer.state.staging.find(lpn) else { return };
    let Some(Fill { program, read }) = layer.state.staging.get(stage).fill() else { return };
    let op = &mut layer.state.ops[program];
    layer.state.trims.hold(lpn, op.mask.and(mask), op.version);
    op.mask = op.mask.minus(mask);
    layer.state.ops[read].mask = layer.state.ops[read].mask.minus(mask);
}
