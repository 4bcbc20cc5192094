//! Late commit: changes of state by a completed read, program or erase, and whom they notify.

use crate::flow::collect::job::end_job;
use crate::flow::collect::level::level;
use crate::flow::collect::refresh::{check_after_read, refresh};
use crate::flow::collect::superblock::open_again;
use crate::flow::collect::victim::{collect_for_waiting, collect_if_short};
use crate::flow::fail::ask_media;
use crate::flow::next::Next;
use crate::flow::records::spare_area::{header, hold_trims_of, store_unit};
use crate::inspect::pending::leftovers;
use crate::layer::Layer;
use crate::plan::region::RegionId;
use crate::plan::span::Dead;
use crate::state::block::Phase;
use crate::state::blocks::block_wear::wear_by_erase;
use crate::state::blocks::free_space::is_at_hard_reserve;
use crate::state::blocks::frontier::end_program;
use crate::state::blocks::superblock_members::{is_emptied, members};
use crate::state::blocks::{add_live, capacity};
use crate::state::op::{Op, OpId, Owner};
use crate::state::request::{Effect, Fault, Outcome};
use crate::state::requests::Requests;
use crate::state::state::State;
use crate::state::wordline::wordline_of;
use wordline_counters::Cause;
use wordline_device::Recheck;
use wordline_flash::SlotClass;
use wordline_units::{BlockId, CellMode, Lpn, PlaneId, Ppn};

/// Result for a unit that was programmed.
pub(crate) struct Committed {
    pub lpn: Lpn,
    /// Whether the map has changed.
    pub is_newest: bool,
    /// Who learns of it.
    pub next: Next,
}

/// Handle the end of a read: count it, and its errors.
#[inline]
pub(crate) fn read_done(state: &mut State, requests: &mut Requests, id: OpId) {
    let op = &state.ops[id];
    let info = state.blocks.block(state.geometry.block_of(op.ppn));
    let (region, mode) = (RegionId(info.region), info.mode());
    if op.to_bring.is_some() {
        return; // what the register still held was not read anew
    }
    state.counters.regions[region.index()].reads[op.cause as usize] += 1;
    if state.aging.is_modelled() {
        count_errors(state, requests, id, mode);
    }
}

/// Cost of its errors for a read, and for the request that waits for it.
#[inline(never)]
fn count_errors(state: &mut State, requests: &mut Requests, id: OpId, mode: CellMode) {
    let mode = if state.config.array.has_windows { wordline_of(state, true, &state.ops[id]).0 } else { mode };
    let op = &state.ops[id];
    if let Some(errors) = &mut state.counters.errors {
        errors.count(op.cause, mode, op.retries.count.into(), op.retries.failed);
    }
    check_after_read(state, id);
    let op = &state.ops[id];
    if op.retries.failed
        && let Some(request) = op.owner.request()
    {
        requests[request].outcome = Outcome::Uncorrectable;
    }
}

/// Handle the end of a program: count it, and notify the media.
#[inline]
pub(crate) fn program_done(layer: &mut Layer, lead: OpId, block: BlockId) {
    let op = &layer.state.ops[lead];
    let (first, slots) = (op.ppn, op.slots);
    let region = RegionId(layer.state.blocks.block(block).region);
    count_program(&mut layer.state, lead, region, slots);
    if layer.state.blocks.region(region).region.rule.tells_types() {
        note_bit(&layer.state, &mut layer.requests, lead);
    }
    if layer.store.keeps_metadata() {
        let slot = layer.state.geometry.slot_of(first);
        let header = header(&layer.state.blocks, &layer.store, block);
        ask_media(layer.state.now, &mut layer.store, &mut layer.out, |m| {
            m.programmed(block, slot..slot + slots as u32, header)
        });
    }
}

/// All parts of a program are on flash: its block may be full, and may be a victim.
#[inline]
pub(crate) fn leave_block(layer: &mut Layer, plane: PlaneId, block: BlockId) {
    if let Some(region) = end_program(&mut layer.state.blocks, &layer.state.map, block, plane) {
        collect_for_waiting(layer, region, plane);
    }
}

/// A request is as slow as the slowest page type that it gets.
fn note_bit(state: &State, requests: &mut Requests, lead: OpId) {
    let bit = wordline_of(state, state.config.array.has_windows, &state.ops[lead]).1 as u8 + 1;
    let mut part = lead;
    while !part.is_none() {
        let op = &state.ops[part];
        requests.note_bit(part, op.owner.request(), bit);
        part = state.ops[part].chain;
    }
}

/// Bytes and pages of a program, by cause; unwritten parts are padding.
fn count_program(state: &mut State, lead: OpId, region: RegionId, slots: u8) {
    let g = &state.geometry;
    let units_per_page = state.blocks.region(region).units_per_page as u8;
    let (sector, unit) = (g.sector, g.unit);
    let counters = &mut state.counters.regions[region.index()];
    let Op { bound_class: class, owner, copies, .. } = state.ops[lead];
    let apart = matches!(class, SlotClass::Slc | SlotClass::Reprogram);
    let before = apart.then_some((counters.program_bytes, counters.program_pages));
    let mut used = 0;
    let mut page = u8::MAX;
    let mut part = lead;
    if owner == Owner::Parity {
        let pages = slots / units_per_page;
        counters.program_pages[Cause::Parity as usize] += u64::from(pages);
        used = u64::from(slots) * unit;
        counters.program_bytes[Cause::Parity as usize] += used;
        (part, page) = (OpId::NONE, pages - 1);
    }
    while !part.is_none() {
        let op = &state.ops[part];
        let bytes = op.mask.count() as u64 * sector;
        if op.idle && op.cause == Cause::Gc {
            state.counters.idle_gc_bytes += bytes;
        }
        counters.program_bytes[op.cause as usize] += bytes;
        used += bytes;
        if op.slot / units_per_page != page {
            page = op.slot / units_per_page;
            counters.program_pages[op.cause as usize] += 1;
        }
        part = op.chain;
    }
    counters.ops.program_operations += 1;
    counters.ops.copy_backs += copies as u64;
    let padding = slots as u64 * unit - used;
    if padding > 0 {
        counters.program_pages[Cause::Pad as usize] += (slots / units_per_page - 1 - page) as u64;
        counters.program_bytes[Cause::Pad as usize] += padding;
    }
    let Some(before) = before else { return };
    let counters = &mut state.counters.regions[region.index()];
    let some = if class == SlotClass::Slc { &mut counters.as_slc } else { &mut counters.reprogrammed };
    for cause in 0..Cause::COUNT {
        some.bytes[cause] += counters.program_bytes[cause] - before.0[cause];
        some.pages[cause] += counters.program_pages[cause] - before.1[cause];
    }
}

/// A unit has been programmed at a place: it becomes the current copy of its sectors unless newer ones exist; `dead` gets
/// what that invalidated. Returns nothing if the drive has stopped, with this program still in flight.
#[inline]
pub(crate) fn commit(
    layer: &mut Layer,
    part: OpId,
    (plane, block, ppn): (PlaneId, BlockId, Ppn),
    dead: &mut Dead,
) -> Option<Committed> {
    let op = &layer.state.ops[part];
    let Op { from, stage, version, owner, idle, in_window, .. } = *op;
    let (span, is_idle_gc) = (op.span(), idle && op.cause == Cause::Gc);
    if layer.store.keeps_metadata() && !store_unit(layer, part, span, version, ppn) {
        return None;
    }
    let keep = if from.is_none() {
        let staged = layer.state.staging.get(stage);
        let keep = if owner == Owner::Nobody {
            staged.commit_relocation(part)
        } else {
            let keep = staged.current(span.mask, version);
            if !keep.is_empty() {
                staged.commit(keep, version);
            }
            keep
        };
        if !keep.is_empty() {
            layer.state.map.install(span, keep, ppn, dead);
            layer.state.counters.premature_units += layer.state.idle_gc_copies.premature(dead);
        }
        keep
    } else {
        let keep = layer.state.map.relocate(span, from, ppn, dead);
        if !keep.is_empty() {
            layer.state.idle_gc_copies.copied(from, ppn, is_idle_gc);
        }
        keep
    };
    if keep.is_empty() {
        layer.state.counters.born_invalid += 1;
    } else {
        let weight = layer.state.map.weight(keep);
        add_live(&mut layer.state.blocks, plane, block, weight);
    }
    let next = match owner {
        Owner::Job(region) => {
            Next::PageOver { region, plane: layer.state.geometry.plane_at(from), in_window }
        }
        Owner::Move(waits) => Next::MoveOver { lpn: span.lpn, from, idle, waits },
        _ => Next::Settled(part),
    };
    if !matches!(next, Next::Settled(_)) {
        layer.state.ops.remove(part);
    }
    Some(Committed { lpn: span.lpn, is_newest: !keep.is_empty(), next })
}

/// A block has been erased: its job ends, and it returns to its pool with the others of its superblock.
pub(crate) fn erase_done(layer: &mut Layer, id: OpId) {
    let op = &layer.state.ops[id];
    let (ppn, plane) = (op.ppn, op.plane);
    let block = layer.state.geometry.block_of(ppn);
    if layer.store.keeps_metadata() {
        hold_trims_of(&mut layer.state, &layer.store, block);
        let slot_shift = layer.state.geometry.slot_shift;
        if ask_media(layer.state.now, &mut layer.store, &mut layer.out, |store| {
            store.erase(block, slot_shift)
        })
        .is_none()
        {
            return;
        }
    }
    layer.state.ops.remove(id);
    let info = layer.state.blocks.block(block);
    let (region, mode) = (RegionId(info.region), info.mode());
    let retires = wear_by_erase(&mut layer.state.blocks, &mut layer.state.wear, block, mode);
    layer.state.counters.erases[mode.index()] += 1;
    watch_progress(layer);
    layer.state.counters.regions[region.index()].counts.erases += 1;
    layer.state.map.erase(block);
    if layer.store.keeps_metadata() && layer.state.wear.spec.acceleration > 1 {
        let erases = layer.state.blocks.block(block).erases;
        ask_media(layer.state.now, &mut layer.store, &mut layer.out, |m| m.wear(block, erases));
    }
    layer.state.wear.lost.retired += retires as u32;
    end_job(layer, region, plane);
    layer.state.refreshing.forget(block);
    let members = members(&layer.state.blocks, region, plane, block);
    if members.clone().any(|(p, b)| is_emptied(&layer.state.blocks, region, p, b)) {
        return; // the erases of others have not ended
    }
    if members.clone().all(|(_, b)| layer.state.blocks.block(b).phase == Phase::Erasing) {
        members.for_each(|(p, b)| give_back(layer, region, p, b, retires));
    } else {
        open_again(&mut layer.state, &mut layer.out, region, members);
    }
}

/// One more block has been erased: the run ends if that is too many for the progress of the host.
fn watch_progress(layer: &mut Layer) {
    let counters = &layer.state.counters;
    let come = counters.program_bytes(Cause::Host) + counters.host_requests.iter().sum::<u64>();
    let Some(erases) = layer.progress.erased(come) else { return };
    let (time, left) = (layer.state.now, leftovers(&layer.state, layer.moves.waiting.len()));
    layer.out.fail(|| Fault::NoProgress { erases, time, left });
}

/// Return a block to its pool, or retire it.
fn give_back(layer: &mut Layer, region: RegionId, plane: PlaneId, block: BlockId, retires: bool) {
    let pool = layer.state.blocks.region(region).region.pool;
    capacity::give_back(&mut layer.state.blocks, region, plane, block, retires);
    layer.out.ask(Effect::Wake(plane));
    for other in (0..layer.state.blocks.regions().len() as u8).map(RegionId) {
        let again = layer.state.config.gc.recheck == Recheck::Erase;
        if layer.state.blocks.reaches(other, plane)
            && (again || is_at_hard_reserve(&layer.state.blocks, other, plane))
        {
            collect_if_short(layer, other, plane);
        }
    }
    level(layer, pool, plane);
    refresh(layer, plane);
}
