//! The steady state as the initial state of a drive: each block holds as many valid pages, of each update rate, as the
//! victim rule leaves under the workload.
//!
//! No closed form covers all rules and workloads, and a mean-field model of several update rates under greedy
//! collection has one dimension for each rate. The state is therefore sampled: a plane without timing
//! (`initial/untimed.rs`) is written until its write amplification is constant (`initial/windows.rs`). If the workload
//! is a law, one plane represents all planes (`initial/sample.rs`), with fewer blocks if blocks are many, and its
//! blocks are distributed over the drive; if it is a stream with an order of its own, each plane is written with its
//! part of the stream.

use crate::ftl::Ftl;
use crate::image::base::{BaseImage, Mapped, PlaneBase, PlanePages, Ranks};
use crate::image::permutation::Permutation;
use crate::image::stripe::Stripe;
use crate::initial::initial::Initial;
use crate::initial::sample::{Sample, dealt, shuffled};
use crate::initial::steady_types::{Begun, Contents, Known, Law, PlaneBlocks, Regime, SteadyError, Updates};
use crate::initial::untimed::{Shape, UntimedPlane};
use crate::initial::windows::Windows;
use crate::plan::flash::FlashUse;
use crate::plan::flash::fewest_blocks;
use crate::plan::layout::Hooks;
use crate::plan::map_kind::MapKind;
use std::collections::BTreeMap;
use std::ops::Range;
use wordline_units::{Fraction, Lpn, PlaneId};

/// Maximum number of slots of the sampled plane, and minimum number of blocks.
const SAMPLE_SLOTS: u32 = 1 << 17;
const SAMPLE_BLOCKS: u32 = 128;
/// Maximum drive writes of a stream.
const STREAM_WINDOWS_MAX: usize = 12;

/// Maximum relative difference between the data of two planes that one sample represents.
const LEVEL: f64 = 0.01;

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

/// Planes by amount of data: one group for all, or, if uneven, one for planes that hold about the same amount.
fn levels(shapes: &[Shape], is_uneven: bool) -> Vec<(u32, Shape)> {
    let mean = shapes.iter().map(|s| f64::from(s.pages)).sum::<f64>() / shapes.len() as f64;
    let level =
        |shape: &Shape| if is_uneven { (f64::from(shape.pages) / mean / LEVEL).round() as u32 } else { 0 };
    shapes.iter().map(|shape| (level(shape), *shape)).collect()
}

/// A sampled plane that represents all planes with about the same amount of data.
struct Settled {
    sample: Sample,
    /// Its blocks at several instants.
    planes: Vec<PlaneBlocks>,
    /// How it reached steady state, and the number of pages in all these planes.
    begun: (Begun, f64),
}

impl Ftl {
    /// Put the drive into the steady state of a workload. `initial` gives the pages that hold data, and the
    /// P/E cycles.
    ///
    /// # Errors
    /// If the scheme has several regions or a collection rule of its own, the map is not page-level, or data leave
    /// nothing to collect or fewer free blocks than the trigger requires; the drive must then be discarded.
    pub fn precondition_steady(
        &mut self,
        initial: &Initial,
        updates: Updates,
        known: Known,
        seed: u64,
    ) -> Result<Begun, SteadyError> {
        self.is_plain()?;
        if self.state.wear.spec.bad_blocks > Fraction::ZERO {
            return Err(SteadyError::BadBlocks);
        }
        if self.state.demand.is_some() {
            return Err(SteadyError::MapCache);
        }
        if self.state.has_superblocks(self.state.home) {
            return Err(SteadyError::Superblocks);
        }
        if initial.mapped.count() == 0 {
            return Err(SteadyError::Empty);
        }
        self.begin(initial, seed)?;
        let stripe = self.state.stripe.with_shares(known.shares());
        let pages = PlanePages::of(&stripe, &initial.mapped, &(0..0));
        let pages_a_write = match &updates {
            Updates::Law(law) => law.mean_length(),
            Updates::Stream(_) => 1.0,
        };
        self.trigger_is_reached(&pages)?;
        let (regime, contents) = match known {
            Known::Contents(contents) => (contents.begun.regime, Some(contents)),
            Known::Regime(regime, _) => (regime, None),
            Known::Outstanding(requests, _) => {
                // Pages in a write buffer are in flight, too.
                let buffered = self.state.buffer_pages.unwrap_or(0) as f64;
                let under_way = requests.map_or(0.0, |n| (n as f64 * pages_a_write).max(buffered));
                (Regime::unhurried(self.erased_at_choice(under_way, &pages)), None)
            }
        };
        let (begun, mut planes) = match updates {
            Updates::Law(law) => {
                let shapes = self.untimed_shapes(&pages, regime)?;
                match contents {
                    None => {
                        let levels = levels(&shapes, !known.shares().is_empty());
                        self.by_law(law, &initial.mapped, &pages, &levels, regime, seed)
                    }
                    Some(Contents { begun, planes, .. }) => {
                        let (sample, _) = self.sample_of(law, &initial.mapped, largest(&shapes), regime);
                        let like = planes.iter().map(|blocks| (&sample, blocks.len() as u32, blocks));
                        (*begun, self.dealt_out(law, &pages, like, seed))
                    }
                }
            }
            Updates::Stream(stream) => self.by_stream(stream, &stripe, &pages, regime, seed)?,
        };
        let home = self.state.home;
        let mut planes = planes.drain(..);
        let image = BaseImage::new(
            &self.state.geometry,
            stripe.clone(),
            &initial.mapped,
            &(0..0),
            |plane| self.state.pool_of(home).blocks_in(&self.state.geometry, plane).start,
            |_, _| planes.next().unwrap_or_else(|| (PlaneBase::default(), Ranks::listed(vec![]))),
        );
        drop(planes);
        self.adopt_image(image);
        self.media_hold()?;
        self.state.age_data(initial.retention);
        self.state.recount();
        // Collect planes that are short of space.
        stripe.planes().for_each(|plane| self.collect_if_short(home, PlaneId(plane)));
        Ok(begun)
    }

    /// Number of blocks of a plane that hold data of the home region if `free` blocks are free.
    fn holding_blocks(&self, free: f64) -> f64 {
        self.state.total_blocks(self.state.home) as f64 - free
    }

    /// Check that the data leave as many free blocks as the trigger requires.
    fn trigger_is_reached(&self, pages: &[PlanePages]) -> Result<(), SteadyError> {
        let (home, geometry) = (self.state.home, &self.state.geometry);
        let data = pages.iter().map(|p| u64::from(p.count)).max().unwrap_or(0);
        let live = data * self.state.stripe.planes().len() as u64 * geometry.unit;
        let Some(limit) = FlashUse::new(&self.layout, geometry).trigger_out_of_reach(home, live) else {
            return Ok(());
        };
        let (asked, total) = (self.state.held_back(home) + 1, self.state.total_blocks(home));
        // The number is whole, apart from rounding.
        let reachable = (limit.reachable * f64::from(total) + 1e-6) as u32;
        // The caller must refuse a plane that is too full for any collection.
        if reachable < self.state.hard_reserve(home) {
            return Ok(());
        }
        Err(SteadyError::Unreachable { asked, total, reachable })
    }

    fn is_plain(&self) -> Result<(), SteadyError> {
        let no = |why| Err(SteadyError::Scheme { scheme: self.scheme.name().to_string(), why });
        if self.state.regions.len() > 1 {
            return no("has more than one region");
        }
        if self.enabled_hooks.contains(Hooks::COLLECT) {
            return no("chooses its own victims");
        }
        if self.state.map.kind() != MapKind::Page {
            return no("maps sectors instead of pages");
        }
        Ok(())
    }

    /// Number of erased blocks of a plane when a victim is chosen. If collection keeps up, as many as the trigger
    /// states. A host with a deep queue consumes slots faster than collection frees them: between two host pages a
    /// plane serves at most [`KEPT_UP`] collected ones, and a host page costs A - 1 of them (A estimated as for FIFO).
    /// Free blocks then decrease towards the hard reserve, where collection becomes urgent: half the way, or all of it
    /// if the host demands twice as much.
    fn erased_at_choice(&self, outstanding: f64, pages: &[PlanePages]) -> f64 {
        let home = self.state.home;
        let (held, reserve) = (self.state.held_back(home), self.state.hard_reserve(home));
        let planes = self.state.stripe.planes().len() as f64;
        let closed = self.state.total_blocks(home).saturating_sub(held + 1);
        let slots = closed as f64 * self.state.regions[home.index()].slots_per_block as f64;
        let data = pages.iter().map(|p| p.count).max().unwrap_or(0) as f64;
        let asked = outstanding / planes * (fifo_amplification(data / slots) - 1.0);
        let kept_up = if self.state.dynamic { KEPT_UP[0] } else { KEPT_UP[1] };
        match asked / kept_up {
            x if x < 1.0 => held as f64,
            x if x < 2.0 => (held + reserve) as f64 / 2.0,
            _ => reserve as f64,
        }
    }

    /// The untimed planes that represent all planes in a regime. If the number of free blocks is not whole,
    /// the fraction determines how many planes have one more than the others.
    pub(crate) fn untimed_shapes(
        &self,
        pages: &[PlanePages],
        regime: Regime,
    ) -> Result<Vec<Shape>, SteadyError> {
        let (r, free) = (&self.state.regions[self.state.home.index()], regime.free_blocks);
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
                dead_first: self.state.gc.dead_first,
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
    pub(crate) fn step(&self) -> u32 {
        let r = &self.state.regions[self.state.home.index()];
        r.units_per_page * r.region.rule.fills_by(r.shape)
    }

    /// Number of pages that a host write of this size writes to one plane. The write is spread over as many
    /// planes as it has physical pages.
    fn lengths(&self, law: &Law) -> Vec<(u32, f64)> {
        let (planes, units) = (self.state.stripe.planes().len() as u32, self.state.stripe.units_per_page());
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
    pub(crate) fn sample_of(&self, law: &Law, mapped: &Mapped, of: Shape, regime: Regime) -> (Sample, Shape) {
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
    fn by_law(
        &self,
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
    fn dealt_out<'a>(
        &self,
        law: &Law,
        pages: &[PlanePages],
        like: impl Iterator<Item = (&'a Sample, u32, &'a PlaneBlocks)>,
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

    fn by_stream(
        &self,
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
