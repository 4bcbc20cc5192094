//! What lies in the blocks of a drive that runs, so that another can begin like it: with collections half done, planes
//! ahead of and behind each other, and pages where the timed order of writes has put them.

use crate::flow::begin::steady::largest;
use crate::ftl::Ftl;
use crate::image::base::PlanePages;
use crate::initial::initial::Initial;
use crate::initial::sample::Sample;
use crate::initial::steady_types::{Begun, Contents, Law, PlaneBlocks, SteadyError};
use crate::plan::span::Spans;
use crate::state::block::Phase;
use wordline_units::{BlockId, PlaneId};

/// How data lie over planes.
#[derive(Clone, Debug)]
pub struct Spread {
    /// Whether pages go to planes that their addresses do not decide, so that planes may come to hold more or less.
    pub is_free: bool,
    /// The share of the data that each plane holds, in multiples of an equal one.
    pub shares: Vec<f64>,
    /// What blocks have above the data, as a part of all.
    pub spare: f64,
}

impl Ftl {
    /// What the blocks hold now on a drive that began as `begun` says, under the same law. What is on its way counts where
    /// it was last committed. Planes keep their shares of the data if `is_uneven`; else all are to hold the same.
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
        let shapes = self.untimed_shapes(&pages, begun.regime)?;
        let sample = self.sample_of(law, &initial.mapped, largest(&shapes), begun.regime);
        let planes = pages.iter().map(|p| self.contents_of(p.plane, law, &sample.0)).collect();
        Ok(Contents { begun, shares, planes })
    }

    /// How the data lie over the planes of the home region, which has to hold this many pages.
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

    /// The blocks of a plane: the one being emptied first, then those that are full, the oldest first where the victim rule
    /// goes by age, then those that are open.
    fn contents_of(&mut self, plane: PlaneId, law: &Law, sample: &Sample) -> PlaneBlocks {
        let home = self.state.home;
        let blocks = self.blocks_of(home, plane);
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

    /// Slots programmed in a block, as many as an image of it may have, and live pages of each class.
    fn content_of(&mut self, block: BlockId, law: &Law, sample: &Sample) -> (u32, Vec<u32>) {
        let slots = self.state.regions[self.state.home.index()].slots_per_block;
        let mut live = vec![0; sample.pages.len()];
        let (mut from, mut spans) = (0, Spans::new());
        while let Some(slot) = self.state.map.next_live(block, from, slots) {
            self.state.map.live_in(self.state.geometry.ppn(block, slot), &mut spans);
            spans.iter().for_each(|span| live[sample.class(law, span.lpn)] += 1);
            from = slot + 1;
        }
        ((slots - self.state.unused_slots(block)).next_multiple_of(self.step()).min(slots), live)
    }
}
