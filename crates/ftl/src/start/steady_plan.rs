//! Planes in the steady state of a workload, as far as they follow from the drive and its layout alone: how many blocks
//! are free, which planes are alike, and what each block holds. `flow/begin/steady.rs` makes the drive such.

use crate::image::base::{Mapped, PlaneBase, PlanePages, Ranks};
use crate::image::permutation::Permutation;
use crate::image::stripe::Stripe;
use crate::initial::sample::{Sample, dealt, shuffled};
use crate::initial::steady_types::{Begun, Law, PlaneBlocks, Regime, SteadyError};
use crate::initial::untimed::{Shape, UntimedPlane};
use crate::initial::windows::Windows;
use crate::plan::flash::{FlashUse, fewest_blocks};
use crate::plan::layout::Layout;
use crate::state::blocks::free_space::{hard_reserve, held_back, total_blocks};
use crate::state::state::State;
use std::collections::BTreeMap;
use std::ops::Range;
use wordline_units::Lpn;

/// Maximum number of slots of the sampled plane, and minimum number of blocks.
const SAMPLE_SLOTS: u32 = 1 << 17;
const SAMPLE_BLOCKS: u32 = 128;
/// Maximum drive writes of a stream.
const STREAM_WINDOWS_MAX: usize = 12;

/// Number of collected pages that a plane completes per host page while host pages are always waiting. It is
/// less than the two pages that a job keeps in flight, since they must be read first. Under dynamic
/// allocation, host pages go to the least busy plane, so no plane ever does only garbage collection. Both
/// values are from runs of `demo-8gb`.
const KEPT_UP: [f64; 2] = [1.2, 2.0];

/// Write amplification of FIFO collection under uniform writes at a utilization, P. Desnoyers, SYSTOR 2012, section
/// 3.1: the valid share of a victim solves x = exp(-(1 - x) / rho).
fn fifo_amplification(rho: f64) -> f64 {
    let mut x = 0.0;
    for _ in 0..200 {
        x = libm::exp(-(1.0 - x) / rho);
    }
    1.0 / (1.0 - x)
}

/// Shape of the plane that holds the most data.
pub(crate) fn largest(shapes: &[Shape]) -> Shape {
    shapes.iter().copied().max_by_key(|s| s.pages).unwrap_or(shapes[0])
}

/// A sampled plane that represents all planes with about the same amount of data.
struct Settled {
    sample: Sample,
    /// Its blocks at several instants.
    planes: Vec<PlaneBlocks>,
    /// How it reached steady state, and the number of pages in all these planes.
    begun: (Begun, f64),
}

/// What follows for the steady state from a drive and its layout, before anything is placed.
#[derive(Clone, Copy)]
pub(crate) struct SteadyPlan<'a> {
    state: &'a State,
    layout: &'a Layout,
}

impl<'a> SteadyPlan<'a> {
    pub fn new(state: &'a State, layout: &'a Layout) -> SteadyPlan<'a> {
        SteadyPlan { state, layout }
    }

    /// Number of blocks of a plane that hold data of the home region if `free` blocks are free.
    fn holding_blocks(self, free: f64) -> f64 {
        total_blocks(&self.state.blocks, self.state.blocks.home()) as f64 - free
    }

    /// Check that the data leave as many free blocks as the trigger requires.
    pub fn trigger_is_reached(self, pages: &[PlanePages]) -> Result<(), SteadyError> {
        let (home, geometry) = (self.state.blocks.home(), &self.state.geometry);
        let data = pages.iter().map(|p| u64::from(p.count)).max().unwrap_or(0);
        let live = data * self.state.blocks.stripe().planes().len() as u64 * geometry.unit;
        let Some(limit) = FlashUse::new(self.layout, geometry).trigger_out_of_reach(home, live) else {
            return Ok(());
        };
        let (asked, total) =
            (held_back(&self.state.blocks, home) + 1, total_blocks(&self.state.blocks, home));
        // The number is whole, apart from rounding.
        let reachable = (limit.reachable * f64::from(total) + 1e-6) as u32;
        // The caller must refuse a plane that is too full for any collection.
        if reachable < hard_reserve(&self.state.blocks, home) {
            return Ok(());
        }
        Err(SteadyError::Unreachable { asked, total, reachable })
    }

    /// Number of erased blocks of a plane when a victim is chosen. If collection keeps up, as many as the trigger
    /// states. A host with a deep queue consumes slots faster than collection frees them: between two host pages a
    /// plane serves at most [`KEPT_UP`] collected ones, and a host page costs A - 1 of them (A estimated as for FIFO).
    /// Free blocks then decrease towards the hard reserve, where collection becomes urgent: half the way, or all of it
    /// if the host demands twice as much.
    pub fn erased_at_choice(self, outstanding: f64, pages: &[PlanePages]) -> f64 {
        let home = self.state.blocks.home();
        let (held, reserve) = (held_back(&self.state.blocks, home), hard_reserve(&self.state.blocks, home));
        let planes = self.state.blocks.stripe().planes().len() as f64;
        let closed = total_blocks(&self.state.blocks, home).saturating_sub(held + 1);
        let slots = closed as f64 * self.state.blocks.region(home).slots_per_block as f64;
        let data = pages.iter().map(|p| p.count).max().unwrap_or(0) as f64;
        let asked = outstanding / planes * (fifo_amplification(data / slots) - 1.0);
        let kept_up = if self.state.config.goes_anywhere() { KEPT_UP[0] } else { KEPT_UP[1] };
        match asked / kept_up {
            x if x < 1.0 => held as f64,
            x if x < 2.0 => (held + reserve) as f64 / 2.0,
            _ => reserve as f64,
        }
    }

    /// The untimed planes that represent all planes in a regime. If the number of free blocks is not whole,
    /// the fraction determines how many planes have one more than the others.
    pub fn untimed_shapes(self, pages: &[PlanePages], regime: Regime) -> Result<Vec<Shape>, SteadyError> {
        let (r, free) = (&self.state.blocks.region(self.state.blocks.home()), regime.free_blocks);
        let up_to = |planes: u32| (planes as f64 * free.fract() + 0.5) as u32;
        let lost = r.units_per_page * r.pages_per_program;
        // Each block must have more invalid slots than a program writes. None if blocks have no more slots
        // than that.
        let each = r.slots_per_block.checked_sub(lost + 2).map(|left| left + 1);
        let fewest = |pages: u32| Some(fewest_blocks(pages.into(), each?.into()).max(2) as u32);
        let shape = |(number, pages): (u32, &PlanePages)| {
            let closed = self.holding_blocks((free as u32 + up_to(number + 1) - up_to(number)) as f64);
            let shape = Shape {
                closed: closed.max(0.0) as u32,
                slots: r.slots_per_block,
                lost,
                pages: pages.count,
                victim: r.region.victim,
                dead_first: self.state.config.gc.dead_first,
                padding: regime.padding,
            };
            if fewest(pages.count).is_none_or(|blocks| shape.closed < blocks) {
                let (plane, blocks) = (pages.plane, shape.closed);
                return Err(SteadyError::Full { plane, pages: pages.count, blocks, slots: shape.slots });
            }
            Ok(shape)
        };
        (0..).zip(pages).map(shape).collect()
    }

    /// Number of slots by which a block of the home region may be partly full.
    pub fn step(self) -> u32 {
        let r = &self.state.blocks.region(self.state.blocks.home());
        r.units_per_page * r.region.rule.fills_by(r.shape)
    }

    /// Number of pages that a host write of this size writes to one plane. The write is spread over as many
    /// planes as it has physical pages.
    fn lengths(self, law: &Law) -> Vec<(u32, f64)> {
        let (planes, units) =
            (self.state.blocks.stripe().planes().len() as u32, self.state.blocks.stripe().units_per_page());
        let mut found: Vec<(u32, f64)> = vec![];
        for (pages, weight) in &law.lengths {
            let hit = pages.div_ceil(units).min(planes).max(1);
            let (low, over) = (pages / hit, pages % hit);
            for (length, times) in [(low, hit - over), (low + 1, over)] {
                if length > 0 && times > 0 {
                    found.push((length, weight * times as f64));
                }
            }
        }
        found
    }

    /// The plane that represents others under a law, and its shape.
    pub fn sample_of(self, law: &Law, mapped: &Mapped, of: Shape, regime: Regime) -> (Sample, Shape) {
        let counts = law.pages_of_classes(mapped);
        // The sample has whole blocks, and its number of pages compensates for the rounding.
        let holding = self.holding_blocks(regime.free_blocks);
        let closed = (holding.round() as u32).min((SAMPLE_SLOTS / of.slots).max(SAMPLE_BLOCKS));
        let scaled = (of.pages as f64 * closed as f64 / holding) as u32;
        let sample = Sample::new(law, &counts, self.lengths(law), scaled);
        let shape = Shape { closed, pages: sample.pages.iter().sum(), ..of };
        (sample, shape)
    }

    /// Planes written under a law: one for all planes that hold about the same amount.
    pub fn by_law(
        self,
        law: &Law,
        mapped: &Mapped,
        pages: &[PlanePages],
        levels: &[(u32, Shape)],
        regime: Regime,
        seed: u64,
    ) -> (Begun, Vec<(PlaneBase, Ranks)>) {
        let mut alike: BTreeMap<u32, Vec<Shape>> = BTreeMap::new();
        levels.iter().for_each(|(level, shape)| alike.entry(*level).or_default().push(*shape));
        let settled = alike.into_iter().map(|(level, shapes)| {
            let (sample, shape) = self.sample_of(law, mapped, largest(&shapes), regime);
            let (begun, planes) = sample.settle(shape, self.step(), regime, seed);
            let held = shapes.iter().map(|s| f64::from(s.pages)).sum();
            (level, Settled { sample, planes, begun: (begun, held) })
        });
        let settled: BTreeMap<u32, Settled> = settled.collect();
        let begun: Vec<(Begun, f64)> = settled.values().map(|settled| settled.begun).collect();
        let like = levels.iter().enumerate().map(|(at, (level, shape))| {
            let Settled { sample, planes, .. } = &settled[level];
            (sample, shape.closed, &planes[at % planes.len()])
        });
        let begun = if let [(only, _)] = begun[..] { only } else { Begun::of_all(&begun) };
        (begun, self.dealt_out(law, pages, like, seed))
    }

    /// The pages of each plane, distributed over blocks like those of the sampled plane.
    pub fn dealt_out<'b>(
        self,
        law: &Law,
        pages: &[PlanePages],
        like: impl Iterator<Item = (&'b Sample, u32, &'b PlaneBlocks)>,
        seed: u64,
    ) -> Vec<(PlaneBase, Ranks)> {
        let shortest = self.lengths(law).iter().map(|l| l.0).min();
        let together = shortest.filter(|_| law.aligned).unwrap_or(1);
        let plane = |(pages, (sample, blocks, like)): (&PlanePages, (&Sample, u32, &PlaneBlocks))| {
            let key = seed ^ (pages.plane.0 as u64) << 32;
            if sample.pages.len() == 1 && together == 1 {
                let (base, _) = dealt(like, blocks, &[pages.count]);
                return (base, Ranks::Keyed(Permutation::keyed(pages.count, key)));
            }
            let lists = shuffled(pages, law, sample, together, key);
            let totals: Vec<u32> = lists.iter().map(|l| l.len() as u32).collect();
            let (base, each) = dealt(like, blocks, &totals);
            let mut from = vec![0usize; lists.len()];
            let mut page_at = Vec::with_capacity(pages.count as usize);
            for counts in each {
                for (class, count) in counts.into_iter().enumerate() {
                    page_at.extend_from_slice(&lists[class][from[class]..from[class] + count as usize]);
                    from[class] += count as usize;
                }
            }
            (base, Ranks::listed(page_at))
        };
        pages.iter().zip(like).map(plane).collect()
    }

    pub fn by_stream(
        self,
        stream: &mut dyn Iterator<Item = Range<u32>>,
        stripe: &Stripe,
        pages: &[PlanePages],
        regime: Regime,
        seed: u64,
    ) -> Result<(Begun, Vec<(PlaneBase, Ranks)>), SteadyError> {
        let shapes = self.untimed_shapes(pages, regime)?;
        let first = stripe.planes().start;
        let mut planes: Vec<UntimedPlane> =
            shapes.iter().zip(seed..).map(|(s, seed)| UntimedPlane::packed(*s, seed)).collect();
        let all: u64 = shapes.iter().map(|s| s.pages as u64).sum();
        let mut windows = Windows::new();
        let (mut written, mut begins_again) = (0, false);
        for run in stream {
            begins_again |= run.is_empty();
            let done = windows.is_still() || windows.count() >= STREAM_WINDOWS_MAX;
            if done && (run.is_empty() || !begins_again) {
                break;
            }
            for lpn in run {
                let (plane, position) = stripe.home(Lpn(lpn));
                let at = (plane.0 - first) as usize;
                let Some(number) = pages[at].find(position) else { continue };
                planes[at].write(number);
                written += 1;
                if written % all == 0 {
                    windows.end(written, planes.iter().map(UntimedPlane::programmed).sum());
                }
            }
        }
        let step = self.step();
        let plane = |plane: &UntimedPlane| {
            let mut base = PlaneBase { programmed: vec![], before: vec![0] };
            let mut page_at = vec![];
            for (block, programmed) in plane.blocks() {
                page_at.extend(plane.live_pages(block));
                base.programmed.push(programmed.next_multiple_of(step));
                base.before.push(page_at.len() as u32);
            }
            (base, Ranks::listed(page_at))
        };
        Ok((windows.begun(all, regime), planes.iter().map(plane).collect()))
    }
}
