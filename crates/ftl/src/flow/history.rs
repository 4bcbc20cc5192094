//! A drive without what only tells of its past, so that two drives that will do the same whatever comes are the same
//! bytes ([`Saver::pack`](crate::Saver::pack)): for a search that must know a state again.
//!
//! What is left out counts up and decides nothing: statistics, numbers of operations in their order, entries of slabs
//! that are free. What is compared and counts up (versions) keeps its order and loses its size. All else stays.

use crate::ftl::Ftl;
use crate::plan::region::FreeOrder;
use crate::state::block::Phase;
use crate::state::request::Timer;
use wordline_units::{PlaneId, SimTime};

/// Where the least worn block is opened first, how many more erases than the least worn of its plane count: beyond that
/// blocks are alike.
const MOST_APART: u32 = 2;

/// The controller loop comes with this write at the latest: between two of them lie no more.
const WRITES_TO_TICK: u32 = 2;

impl Ftl {
    /// Forget the history, which cannot affect the future. Versions that others keep are renumbered with those of the
    /// drive, and timers without effect are dropped. Time must be 0, errors and wear off, and [`Self::effects`] and
    /// [`Self::completed`] empty.
    pub fn forget_history(&mut self, versions: &mut [&mut u64], timers: &mut Vec<Timer>) {
        self.number_versions(versions);
        self.number_timers(timers);
        self.state.ops.forget_history();
        self.requests.forget_history();
        self.state.trims.forget_history();
        self.state.map.forget_history();
        self.state.idle_gc_copies.clear();
        self.state.counters = self.state.counters.anew();
        self.progress.start_anew();
        self.state.most_shrunk = self.state.shrunk;
        if let Some(map) = &mut self.state.demand {
            map.start_anew();
        }
        self.writes_until_tick = self.writes_until_tick.min(WRITES_TO_TICK);
        let planes = self.state.geometry.planes;
        let round = planes * self.state.geometry.media.len() as u32;
        self.state.turn %= (1..=planes).product::<u32>().max(round);
        let per_die = self.state.geometry.media.iter().map(|m| m.topology.planes_per_die);
        self.idle_jobs.forget_history(per_die.product());
        let counts = self.state.pools.iter().any(|pool| pool.order == FreeOrder::LeastErased);
        for plane in 0..planes {
            let blocks = self.state.geometry.blocks_of(PlaneId(plane));
            let least = blocks.clone().map(|b| self.state.blocks[b as usize].erases).min().unwrap_or(0);
            for b in blocks {
                let block = &mut self.state.blocks[b as usize];
                block.erases = if counts { (block.erases - least).min(MOST_APART) } else { 0 };
                block.life_used = 0;
                if block.phase == Phase::Free {
                    block.state = Default::default();
                }
            }
        }
        let gone = self.state.ops.capacity();
        self.store.forget_history(gone);
    }

    fn number_versions(&mut self, others: &mut [&mut u64]) {
        let mut all: Vec<u64> = others.iter().map(|v| **v).collect();
        self.each_version(&mut |version| all.push(*version));
        all.push(0);
        all.sort_unstable();
        all.dedup();
        let rank = |version: &mut u64| *version = all.partition_point(|v| v < version) as u64;
        self.each_version(&mut |version| rank(version));
        others.iter_mut().for_each(|version| rank(version));
    }

    fn each_version(&mut self, note: &mut dyn FnMut(&mut u64)) {
        self.requests.each_version(note);
        for id in self.state.ops.alive() {
            note(&mut self.state.ops[id].version);
        }
        self.state.staging.forget_history(&mut *note);
        self.store.each_version(note);
        if let Some(buffer) = &mut self.write_buffer {
            buffer.each_version(note);
        }
    }

    /// Groups and pages of the merge buffer are renumbered, and with them the timers that are for them.
    fn number_timers(&mut self, timers: &mut Vec<Timer>) {
        let (regions, merge) = (&self.state.regions, &self.merge_buffer);
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
        for r in &mut self.state.regions {
            let buffers = r.planes.iter_mut().flat_map(|plane| &mut plane.program_buffers);
            buffers.for_each(|buffer| {
                buffer.generation = 0;
                // A timer that is set rings whenever it likes: no earlier one is wanted beside it.
                if buffer.pad_at != SimTime::NEVER {
                    buffer.pad_at = SimTime(0);
                }
            });
        }
        for (at, page) in self.merge_buffer.pages.iter_mut().enumerate() {
            page.number = at as u64 + 1;
        }
        self.merge_buffer.opened = self.merge_buffer.pages.len() as u64;
    }
}
