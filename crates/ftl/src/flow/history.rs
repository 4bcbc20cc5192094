//! A drive without what only tells of its past, so that two drives that will do the same whatever comes are the same
//! bytes ([`Saver::pack`](crate::Saver::pack)): for a search that must know a state again.
//!
//! What is left out counts up and decides nothing: statistics, numbers of operations in their order, entries of slabs
//! that are free. What is compared and counts up (versions) keeps its order and loses its size. All else stays.

use crate::layer::Layer;
use crate::plan::region::FreeOrder;
use crate::state::block::Phase;
use crate::state::blocks::Blocks;
use crate::state::blocks::at_rest::{block_mut, forget_most_shrunk, regions_mut, wrap_turn};
use crate::state::merge::MergeBuffer;
use crate::state::request::Timer;
use wordline_units::{BlockId, PlaneId, SimTime};

/// Where the least worn block is opened first, how many more erases than the least worn of its plane count: beyond that
/// blocks are alike.
const MOST_APART: u32 = 2;

/// The controller loop comes with this write at the latest: between two of them lie no more.
const WRITES_TO_TICK: u32 = 2;

/// Forget the history, which cannot affect the future. Versions that others keep are renumbered with those of the
/// drive, and timers without effect are dropped. Time must be 0, errors and wear off, and `effects` and
/// `completed` empty.
pub(crate) fn forget_history(layer: &mut Layer, versions: &mut [&mut u64], timers: &mut Vec<Timer>) {
    number_versions(layer, versions);
    number_timers(&mut layer.state.blocks, &mut layer.merge_buffer, timers);
    layer.state.ops.forget_history();
    layer.requests.forget_history();
    layer.state.trims.forget_history();
    layer.state.map.forget_history();
    layer.state.idle_gc_copies.clear();
    layer.state.counters = layer.state.counters.anew();
    layer.progress.start_anew();
    forget_most_shrunk(&mut layer.state.blocks);
    if let Some(map) = &mut layer.state.demand {
        map.start_anew();
    }
    layer.seat.writes_until_tick = layer.seat.writes_until_tick.min(WRITES_TO_TICK);
    let planes = layer.state.geometry.planes;
    let round = planes * layer.state.geometry.media.len() as u32;
    wrap_turn(&mut layer.state.blocks, (1..=planes).product::<u32>().max(round));
    let per_die = layer.state.geometry.media.iter().map(|m| m.topology.planes_per_die);
    layer.idle_jobs.forget_history(per_die.product());
    let counts = layer.state.blocks.pools().iter().any(|pool| pool.order == FreeOrder::LeastErased);
    for plane in 0..planes {
        let blocks = layer.state.geometry.blocks_of(PlaneId(plane));
        let least = blocks.clone().map(|b| layer.state.blocks.all()[b as usize].erases).min().unwrap_or(0);
        for b in blocks {
            let block = block_mut(&mut layer.state.blocks, BlockId(b));
            block.erases = if counts { (block.erases - least).min(MOST_APART) } else { 0 };
            block.life_used = 0;
            if block.phase == Phase::Free {
                block.state = Default::default();
            }
        }
    }
    let gone = layer.state.ops.capacity();
    layer.store.forget_history(gone);
}

fn number_versions(layer: &mut Layer, others: &mut [&mut u64]) {
    let mut all: Vec<u64> = others.iter().map(|v| **v).collect();
    each_version(layer, &mut |version| all.push(*version));
    all.push(0);
    all.sort_unstable();
    all.dedup();
    let rank = |version: &mut u64| *version = all.partition_point(|v| v < version) as u64;
    each_version(layer, &mut |version| rank(version));
    others.iter_mut().for_each(|version| rank(version));
}

fn each_version(layer: &mut Layer, note: &mut dyn FnMut(&mut u64)) {
    layer.requests.each_version(note);
    for id in layer.state.ops.alive() {
        note(&mut layer.state.ops[id].version);
    }
    layer.state.staging.forget_history(&mut *note);
    layer.store.each_version(note);
    if let Some(buffer) = &mut layer.write_buffer {
        buffer.each_version(note);
    }
}

/// Groups and pages of the merge buffer are renumbered, and with them the timers that are for them.
fn number_timers(blocks: &mut Blocks, merge_buffer: &mut MergeBuffer, timers: &mut Vec<Timer>) {
    let (regions, merge) = (blocks.regions(), &*merge_buffer);
    timers.retain_mut(|timer| match timer {
        Timer::Pad { region, plane, stream, generation } => {
            let r = &regions[region.index()];
            let buffer = &r.planes[(plane.0 - r.first_plane) as usize].program_buffers[*stream as usize];
            std::mem::take(generation) == buffer.generation
        }
        Timer::Merge { page } => match merge.pages.iter().position(|open| open.number == *page) {
            Some(at) => {
                *page = at as u64 + 1;
                true
            }
            None => false,
        },
        Timer::MergeIdle | Timer::IdlePace | Timer::WritePace => true,
    });
    for r in regions_mut(blocks) {
        let buffers = r.planes.iter_mut().flat_map(|plane| &mut plane.program_buffers);
        buffers.for_each(|buffer| {
            buffer.generation = 0;
            // A timer that is set rings whenever it likes: no earlier one is wanted beside it.
            if buffer.pad_at != SimTime::NEVER {
                buffer.pad_at = SimTime(0);
            }
        });
    }
    for (at, page) in merge_buffer.pages.iter_mut().enumerate() {
        page.number = at as u64 + 1;
    }
    merge_buffer.opened = merge_buffer.pages.len() as u64;
}
