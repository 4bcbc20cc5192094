//! The block contents of a running drive, from which another run can start: with collections in progress, planes at
//! different fill levels, and pages where the timed order of writes placed them.

use crate::image::base::PlanePages;
use crate::initial::initial::Initial;
use crate::initial::sample::Sample;
use crate::initial::steady_types::{Begun, Contents, Law, PlaneBlocks, SteadyError};
use crate::layer::{Layer, Seat};
use crate::plan::span::Spans;
use crate::start::steady_plan::{SteadyPlan, largest};
use crate::state::block::Phase;
use crate::state::blocks::Blocks;
use crate::state::blocks::free_space::{total_blocks, unused_slots};
use crate::state::state::{Config, State};
use wordline_units::{BlockId, PlaneId};

/// Distribution of data over planes.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Whether pages may be written to planes other than those that their addresses determine, so that planes may hold
    /// different amounts.
    pub is_free: bool,
    /// Share of the data in each plane, as a multiple of an equal share.
    pub shares: Vec<f64>,
    /// Over-provisioned share of the blocks.
    pub spare: f64,
}

/// Current contents of the blocks on a drive that started as `begun` states, under the same law. Data in flight
/// count at their last committed place. Planes keep their shares of the data if `is_uneven`; otherwise all get
/// equal shares.
///
/// # Errors
/// As of `precondition_steady`.
pub(crate) fn contents(
    layer: &mut Layer,
    initial: &Initial,
    law: &Law,
    begun: Begun,
    is_uneven: bool,
) -> Result<Contents, SteadyError> {
    let shares = if is_uneven { spread(&layer.state.config, &layer.state.blocks, 0).shares } else { vec![] };
    let stripe = layer.state.blocks.stripe().with_shares(&shares);
    let pages = PlanePages::of(&stripe, &initial.mapped, &(0..0));
    let plan = SteadyPlan::new(&layer.state, &layer.seat.layout);
    let shapes = plan.untimed_shapes(&pages, begun.regime)?;
    let sample = plan.sample_of(law, &initial.mapped, largest(&shapes), begun.regime);
    let planes =
        pages.iter().map(|p| contents_of(&mut layer.state, &layer.seat, p.plane, law, &sample.0)).collect();
    Ok(Contents { begun, shares, planes })
}

/// Distribution of this many pages over the planes of the home region.
pub(crate) fn spread(config: &Config, blocks: &Blocks, pages: u64) -> Spread {
    let (home, stripe) = (blocks.home(), &blocks.stripe());
    let each: Vec<f64> = stripe.planes().map(|plane| blocks.at(home, PlaneId(plane)).live as f64).collect();
    let (planes, mean) = (each.len() as f64, each.iter().sum::<f64>() / each.len() as f64);
    let slots = f64::from(blocks.region(home).slots_per_block);
    Spread {
        is_free: config.goes_anywhere() && each.len() > 1,
        shares: each.iter().map(|live| live / mean).collect(),
        spare: 1.0 - pages as f64 / (planes * f64::from(total_blocks(blocks, home)) * slots),
    }
}

/// Blocks of a plane: first the current victim, then full blocks (oldest first if the victim rule depends on age),
/// then open blocks.
fn contents_of(state: &mut State, seat: &Seat, plane: PlaneId, law: &Law, sample: &Sample) -> PlaneBlocks {
    let home = state.blocks.home();
    let blocks = state.blocks.pool_of(home).blocks_in(&state.geometry, plane);
    let ages = state.blocks.at(home, plane).victims.ages();
    let age = |block: &u32| ages.get((block - blocks.start) as usize).copied().unwrap_or(0);
    let order = |block: &u32| match state.blocks.all()[*block as usize].phase {
        Phase::Collecting => Some((0, 0)),
        Phase::Open | Phase::Standby => Some((2, 0)),
        Phase::Full => Some((1, age(block))),
        _ => None,
    };
    let mut held: Vec<((u32, u64), u32)> = blocks.clone().filter_map(|b| Some((order(&b)?, b))).collect();
    held.sort_unstable();
    held.into_iter().map(|(_, block)| content_of(state, seat, BlockId(block), law, sample)).collect()
}

/// Number of slots programmed in a block, limited to those that an image of it may have, and of valid pages of
/// each class.
fn content_of(state: &mut State, seat: &Seat, block: BlockId, law: &Law, sample: &Sample) -> (u32, Vec<u32>) {
    let slots = state.blocks.region(state.blocks.home()).slots_per_block;
    let step = SteadyPlan::new(state, &seat.layout).step();
    let mut live = vec![0; sample.pages.len()];
    let (mut from, mut spans) = (0, Spans::new());
    while let Some(slot) = state.map.next_live(block, from, slots) {
        state.map.live_in(state.geometry.ppn(block, slot), &mut spans);
        spans.iter().for_each(|span| live[sample.class(law, span.lpn)] += 1);
        from = slot + 1;
    }
    ((slots - unused_slots(&state.blocks, block)).next_multiple_of(step).min(slots), live)
}
