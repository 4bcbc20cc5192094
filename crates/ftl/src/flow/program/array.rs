//! Demands of an operation on its array and bus: duration, sensing operations, transfers, and energy.

use crate::plan::region::RegionId;
use crate::state::blocks::Blocks;
use crate::state::op::{Op, OpId, Ops};
use crate::state::sensing;
use crate::state::state::{Config, State};
use crate::state::times::ArrayTime;
use crate::state::wordline::{page_number, wordline_of};
use wordline_counters::OpKind;
use wordline_flash::{Geometry, SlotClass};
use wordline_units::SimDuration;

/// Start an operation on an array, and return its duration. A read determines its number of retries, which take
/// array time, too, unless each attempt includes a transfer.
#[inline(always)]
pub(crate) fn begin_on_array(state: &mut State, id: OpId) -> ArrayTime {
    if state.aging.is_modelled() && state.ops[id].kind == OpKind::Read {
        return begin_read(state, id);
    }
    ArrayTime { all: array_time(state, id), again: SimDuration::ZERO }
}

/// Like it, for a read that may have errors; separate, since drives without errors do not need it.
#[inline(never)]
fn begin_read(state: &mut State, id: OpId) -> ArrayTime {
    let once = array_time(state, id);
    if state.ops[id].repeated > 0 {
        return ArrayTime { all: state.config.array.decode + once, again: SimDuration::ZERO };
    }
    let retries = sense(state, id);
    let again =
        if state.config.array.retransfer { 0 } else { (once + state.config.array.decode).0 * retries as u64 };
    ArrayTime { all: once + SimDuration(again), again: SimDuration(again) }
}

/// Determine the number of retries of a read.
#[inline]
pub(crate) fn sense(state: &mut State, id: OpId) -> u8 {
    let op = &state.ops[id];
    let (mode, bit) = wordline_of(state, state.config.array.has_windows, op);
    let block = state.geometry.block_of(op.ppn);
    let page = page_number(&state.geometry, op);
    let retries = sensing::sense(state, block, page, mode, bit);
    state.ops[id].retries = retries;
    retries.count
}

/// The data of a read have been transferred: whether they must be read again, since the decoder at the other end of
/// the bus has failed.
#[inline(always)]
pub(crate) fn repeat(config: &Config, ops: &mut Ops, id: OpId) -> bool {
    config.array.retransfer && repeat_by_bus(ops, id)
}

#[inline(never)]
fn repeat_by_bus(ops: &mut Ops, id: OpId) -> bool {
    let op = &mut ops[id];
    let again = op.repeated < op.retries.count;
    op.repeated += again as u8;
    again
}

/// Whether a sensed read must be sensed again after its transfer.
pub(crate) fn will_repeat(config: &Config, ops: &Ops, id: OpId) -> bool {
    let op = &ops[id];
    config.array.retransfer && op.repeated < op.retries.count
}

/// Array time of one attempt of an operation.
#[inline(always)]
fn array_time(state: &State, id: OpId) -> SimDuration {
    let op = &state.ops[id];
    let (mode, bit) = wordline_of(state, state.config.array.has_windows, op);
    let times = state.config.array.of(state.geometry.medium_index(op.plane), mode);
    SimDuration(match op.kind {
        OpKind::Erase => times.erase,
        OpKind::Read => times.read[bit],
        OpKind::Program if op.copies => times.copy_back,
        OpKind::Program => {
            let block = state.geometry.block_of(op.ppn);
            let region = state.blocks.block(block).region as usize;
            if state.config.array.has_windows && written_whole(&state.blocks, op, region) {
                times.program[bit]
            } else {
                times.program[bit] + state.config.array.reread(RegionId(region as u8), bit)
            }
        }
    })
}

/// Whether two operations in different planes can be one multi-plane command: of the same kind, cell mode and time;
/// with [`MultiplanePages::Same`](wordline_device::MultiplanePages::Same) also on pages with the same number in
/// their blocks, except for erases.
pub(crate) fn are_alike(state: &State, one: OpId, other: OpId) -> bool {
    let (a, b) = (&state.ops[one], &state.ops[other]);
    let mode = |op: &Op| wordline_of(state, state.config.array.has_windows, op).0;
    let page = |op: &Op| page_number(&state.geometry, op);
    a.kind == b.kind
        && a.copies == b.copies
        && mode(a) == mode(b)
        && array_time(state, one) == array_time(state, other)
        && (state.config.array.pairs_any || a.kind == OpKind::Erase || page(a) == page(b))
}

/// Whether a program belongs to a window that is written wordline by wordline, whose bits are in RAM.
fn written_whole(blocks: &Blocks, op: &Op, region: usize) -> bool {
    op.bound_class == SlotClass::Next && blocks.regions()[region].region.rule.reprograms()
}

/// Sectors that an operation transfers: the wanted ones of a read, whole pages of a program, since the register
/// must be filled.
#[inline(always)]
pub(crate) fn transfer_sectors(geometry: &Geometry, ops: &Ops, id: OpId) -> u32 {
    let op = &ops[id];
    match op.kind {
        OpKind::Read => op.to_bring.map_or_else(|| op.mask.count(), u32::from),
        OpKind::Program if op.copies => 0,
        OpKind::Program => op.slots as u32 * geometry.sectors_per_unit,
        OpKind::Erase => 0,
    }
}

/// Energy of an operation, by cause.
#[inline(never)]
pub(crate) fn count_energy(state: &mut State, id: OpId) {
    let op = &state.ops[id];
    let medium = state.geometry.medium_of(op.plane);
    let (mode, bit) = wordline_of(state, state.config.array.has_windows, op);
    let Some((byte, array)) = medium.energy.as_ref().and_then(|e| Some((e.byte, e.modes[mode.index()]?)))
    else {
        return;
    };
    // What a register still held is not sensed again.
    let senses = if op.to_bring.is_none() { op.retries.count as u64 + 1 } else { 0 };
    let transfers = if state.config.array.retransfer { senses.max(1) } else { 1 };
    let moved = transfer_sectors(&state.geometry, &state.ops, id) as u64 * state.geometry.sector * transfers;
    let (cause, kind, copies) = (op.cause as usize, op.kind, op.copies);
    let region = state.blocks.block(state.geometry.block_of(op.ppn)).region as usize;
    let rereads = kind == OpKind::Program
        && state.config.array.reread(RegionId(region as u8), bit) > 0
        && !(state.config.array.has_windows && written_whole(&state.blocks, op, region));
    let Some(used) = &mut state.counters.energy else { return };
    let used = &mut used[cause];
    match kind {
        OpKind::Read => used.read_j.0 += array.read[bit].0 * senses,
        OpKind::Erase => used.erase_j += array.erase,
        OpKind::Program => {
            used.program_j += array.program[bit];
            let again = if copies { bit..bit + 1 } else { 0..if rereads { bit } else { 0 } };
            array.read[again].iter().for_each(|e| used.read_j += *e);
        }
    }
    used.transfer_j.0 += byte.0 * moved;
}
