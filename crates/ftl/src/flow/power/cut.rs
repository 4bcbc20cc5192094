//! Power fails. What is left is the flash with its metadata, and what is in protected RAM.

use crate::flow::power::power_loss_image::{Kept, KeptFrom, PowerLossImage, Privilege, Worn};
use crate::flow::records::spare_area::hold_trims_of;
use crate::layer::Layer;
use crate::state::block::Phase;
use crate::state::op::{NONE, OpId, Ops, Owner};
use crate::state::requests::Requests;
use crate::state::state::State;
use crate::state::store::Store;
use crate::state::trim::AllTrims;
use std::collections::BTreeSet;
use wordline_counters::OpKind;
use wordline_units::BlockId;

/// Cut the power while the arrays work on `spoiled`. All other work in progress leaves no trace, except in
/// protected RAM.
pub(crate) fn power_cut(layer: Layer, spoiled: &[OpId]) -> PowerLossImage {
    let Layer { mut state, mut store, requests, .. } = layer;
    for id in spoiled {
        let op = &state.ops[*id];
        let (block, slot) = (state.geometry.block_of(op.ppn), state.geometry.slot_of(op.ppn));
        match op.kind {
            OpKind::Read => {}
            OpKind::Program => store.tear_program(block, slot..slot + op.slots as u32),
            OpKind::Erase => {
                hold_trims_of(&mut state, &store, block);
                store.tear_erase(block, state.geometry.slot_shift);
            }
        }
    }
    let in_flight = requests.in_flight();
    let (kept, which) = if state.config.ack.answers_from_ram() {
        (kept_in_buffer(&mut state, &store, &requests), AllTrims::Kept)
    } else {
        (kept_in_program_buffers(&mut state, &store), AllTrims::Held)
    };
    let mut trims = state.trims.kept(which);
    for id in protected_programs(&state.ops) {
        trims.extend(state.trims.record(id, state.ops[id].lpn));
    }
    trims.sort_unstable();
    let under_way = state.staging.iter().map(|s| s.lpn());
    let stale_map = state.demand.as_ref().map_or_else(BTreeSet::new, |map| map.stale(under_way));
    let wear = worn(&state);
    let (media, base) = store.lose_power();
    PowerLossImage { media, base, counters: state.counters, wear, in_flight, trims, stale_map, kept }
}

/// Wear of the flash.
pub(crate) fn worn(state: &State) -> Worn {
    let lives = state.blocks.all().iter().map(|b| b.life_used).collect();
    let is_lost = |b: &BlockId| state.blocks.block(*b).phase == Phase::Retired;
    let lost = (0..state.geometry.blocks).map(BlockId).filter(is_lost).collect();
    Worn { lives, ages: state.aging.ages(), drive: state.wear.clone(), lost }
}

/// A protected buffer holds the newest data of every page on its way.
fn kept_in_buffer(state: &mut State, store: &Store, requests: &Requests) -> Vec<Kept> {
    let mut kept = vec![];
    for stage in state.staging.entries() {
        let entry = state.staging.get(stage);
        let (lpn, mask) = (entry.lpn(), entry.mask());
        if mask.is_empty() || state.is_metadata(lpn) {
            continue;
        }
        let page = store.staged(stage);
        kept.push(Kept { lpn, mask, page, version: requests.version(), from: KeptFrom::Buffer });
    }
    kept
}

/// Programs of moved data that have left their old place for a protected program buffer.
fn protected_programs(ops: &Ops) -> Vec<OpId> {
    let mut programs = ops.alive();
    programs.retain(|id| {
        let op = &ops[*id];
        op.kind == OpKind::Program && op.owner == Owner::Nobody && op.stage != NONE
    });
    programs
}

/// What protected program buffers hold.
fn kept_in_program_buffers(state: &mut State, store: &Store) -> Vec<Kept> {
    let mut kept = vec![];
    for id in protected_programs(&state.ops) {
        let op = &state.ops[id];
        let (lpn, version) = (op.lpn, op.version);
        let all = op.mask;
        let mask = state.staging.get(op.stage).relocating(id);
        if state.is_metadata(lpn) {
            continue; // what it says is kept, and programmed again
        }
        let (route, plane, cause) = (op.route, op.plane, op.cause);
        let privileged = Privilege(op.privileged);
        let page = store.page(id);
        for (part, version) in store.versions_of(id, all, version) {
            // What of it has been trimmed since is not programmed any more, and so is lost.
            state.trims.hold(lpn, part, version);
            let (mask, page) = (mask.and(part), page.clone());
            if !mask.is_empty() {
                let from = KeptFrom::ProgramBuffer { route, plane, cause, privileged };
                kept.push(Kept { lpn, mask, page, version, from });
            }
        }
    }
    kept
}
