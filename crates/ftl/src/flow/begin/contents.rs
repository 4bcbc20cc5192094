//! The block contents of a running drive, from which another run can start: with collections in progress, planes at
//! different fill levels, and pages where the timed order of writes placed them.

use crate::ftl::Ftl;
use crate::image::base::PlanePages;
use crate::initial::initial::Initial;
use crate::initial::sample::Sample;
use crate::initial::steady_types::{Begun, Contents, Law, PlaneBlocks, SteadyError};
use crate::plan::span::Spans;
use crate::start::steady_plan::{SteadyPlan, largest};
use crate::state::block::Phase;
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

impl Ftl {
    /// Current contents of the blocks on a drive that started as `begun` states, under the same law. Data in flight
    /// count at their last committed place. Planes keep their shares of the data if `is_uneven`; otherwise all get
    /// equal shares.
    ///
    /// # Errors
    /// As [`Ftl::precondition_steady`].
    pub fn contents(
        &mut self,
        initial: &Initial,
        law: &Law,
        begun: Begun,
        is_uneven: bool,
    ) -> Result<Contents, SteadyError> {
        let shares = if is_uneven { self.spread(0).shares } else { vec![] };
        let stripe = self.state.stripe.with_shares(&shares);
        let pages = PlanePages::of(&stripe, &initial.mapped, &(0..0));
        let plan = SteadyPlan::new(&self.state, &self.layout);
        let shapes = plan.untimed_shapes(&pages, begun.regime)?;
        let sample = plan.sample_of(law, &initial.mapped, largest(&shapes), begun.regime);
        let planes = pages.iter().map(|p| self.contents_of(p.plane, law, &sample.0)).collect();
        Ok(Contents { begun, shares, planes })
    }

    /// Distribution of this many pages over the planes of the home region.
    pub fn spread(&self, pages: u64) -> Spread {
        let (home, stripe) = (self.state.home, &self.state.stripe);
        let each: Vec<f64> =
            stripe.planes().map(|plane| self.state.at(home, PlaneId(plane)).live as f64).collect();
        let (planes, mean) = (each.len() as f64, each.iter().sum::<f64>() / each.len() as f64);
        let slots = f64::from(self.state.regions[home.index()].slots_per_block);
        Spread {
            is_free: self.state.dynamic && each.len() > 1,
            shares: each.iter().map(|live| live / mean).collect(),
            spare: 1.0 - pages as f64 / (planes * f64::from(self.state.total_blocks(home)) * slots),
        }
    }

    /// Blocks of a plane: first the current victim, then full blocks (oldest first if the victim rule depends on age),
    /// then open blocks.
    fn contents_of(&mut self, plane: PlaneId, law: &Law, sample: &Sample) -> PlaneBlocks {
        let home = self.state.home;
        let blocks = self.state.pool_of(home).blocks_in(&self.state.geometry, plane);
        let ages = self.state.at(home, plane).victims.ages();
        let age = |block: &u32| ages.get((block - blocks.start) as usize).copied().unwrap_or(0);
        let order = |block: &u32| match self.state.blocks[*block as usize].phase {
            Phase::Collecting => Some((0, 0)),
            Phase::Open | Phase::Standby => Some((2, 0)),
            Phase::Full => Some((1, age(block))),
            _ => None,
        };
        let mut held: Vec<((u32, u64), u32)> = blocks.clone().filter_map(|b| Some((order(&b)?, b))).collect();
        held.sort_unstable();
        held.into_iter().map(|(_, block)| self.content_of(BlockId(block), law, sample)).collect()
    }

    /// Number of slots programmed in a block, limited to those that an image of it may have, and of valid pages of
    /// each class.
    fn content_of(&mut self, block: BlockId, law: &Law, sample: &Sample) -> (u32, Vec<u32>) {
        let slots = self.state.regions[self.state.home.index()].slots_per_block;
        let step = SteadyPlan::new(&self.state, &self.layout).step();
        let mut live = vec![0; sample.pages.len()];
        let (mut from, mut spans) = (0, Spans::new());
        while let Some(slot) = self.state.map.next_live(block, from, slots) {
            self.state.map.live_in(self.state.geometry.ppn(block, slot), &mut spans);
            spans.iter().for_each(|span| live[sample.class(law, span.lpn)] += 1);
            from = slot + 1;
        }
        ((slots - self.state.unused_slots(block)).next_multiple_of(step).min(slots), live)
    }
}
