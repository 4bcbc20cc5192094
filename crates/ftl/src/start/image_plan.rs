//! The contents of a drive before its first request, as an image: which blocks hold how much, and in what order.

use crate::image::base::{BaseImage, Mapped, PlaneBase, Ranks};
use crate::image::permutation::Permutation;
use crate::initial::initial::{Initial, InitialError, Order, stream};
use crate::plan::region::RegionId;
use crate::state::blocks::capacity::lost_in;
use crate::state::blocks::free_space::total_blocks;
use crate::state::blocks::make::stripe_of;
use crate::state::state::State;
use std::ops::Range;
use wordline_units::{Fraction, PlaneId};

/// An initial state on a drive, by a seed.
#[derive(Clone, Copy)]
pub(crate) struct ImagePlan<'a> {
    state: &'a State,
    initial: &'a Initial,
    seed: u64,
}

impl<'a> ImagePlan<'a> {
    pub fn new(state: &'a State, initial: &'a Initial, seed: u64) -> ImagePlan<'a> {
        ImagePlan { state, initial, seed }
    }

    /// The image of a drive with a second home region, which holds its share of the pages.
    pub fn drawn_image(self, second_home: RegionId, pages: u32) -> Result<BaseImage, InitialError> {
        let ImagePlan { initial, seed, .. } = self;
        let all = initial.mapped.count();
        let there = (all as u64 * pages as u64 / self.state.config.logical_pages.max(1) as u64)
            .min(all as u64) as u32;
        let home = self.image(self.state.blocks.home(), &Mapped::First(all - there), &(0..0))?;
        let second_home = self.image(second_home, &Mapped::First(there), &(0..0))?;
        Ok(BaseImage::drawn(home, second_home, &initial.mapped, stream(seed, "ftl/base", "outpost", 0)))
    }

    /// An image of a region that holds certain pages, followed by a run of pages.
    pub fn image(
        self,
        home: RegionId,
        mapped: &Mapped,
        behind: &Range<u32>,
    ) -> Result<BaseImage, InitialError> {
        let ImagePlan { initial, seed, .. } = self;
        let r = &self.state.blocks.region(home);
        let slots = r.slots_per_block;
        let step = r.units_per_page * r.region.rule.fills_by(r.shape);
        let per_block = (initial.valid.of(slots as u64) as u32).clamp(1, slots);
        let aged = initial.aged_blocks.of(total_blocks(&self.state.blocks, home) as u64) as u32;
        let windows = initial.aged_windows > Fraction::ZERO && r.region.rule.reprograms();
        let most = initial.aged_windows.of((slots / step) as u64) as u32;
        let mut error: Option<InitialError> = None;
        // Live pages of a block that would do in every plane.
        let mut would_do = Some(per_block);
        let key = match initial.order {
            Order::Sequential => None,
            Order::Random => Some(seed ^ 0x6261_7365_696d_6167),
        };
        let image = BaseImage::new(
            &self.state.geometry,
            stripe_of(&self.state.blocks, home),
            mapped,
            behind,
            |plane| self.state.blocks.pool_of(home).blocks_in(&self.state.geometry, plane).start,
            |plane, pages| {
                let count = pages.count;
                let ranks = Ranks::Keyed(match key {
                    Some(k) => Permutation::keyed(count, k ^ (plane.0 as u64) << 32),
                    None => Permutation::identity(count),
                });
                let available = fillable(self.state, home, plane);
                let aged = aged.min(available);
                let apart = if initial.data_apart { aged } else { 0 };
                let needed = count.div_ceil(per_block) + apart;
                let base = if windows {
                    let turn =
                        Permutation::keyed(available, seed ^ 0x7769_6e64_6f77_7321 ^ (plane.0 as u64) << 32);
                    PlaneBase::windows(count, available, |block| turn.forward(block) % (most + 1) * step)
                } else if initial.data_apart {
                    let packed = PlaneBase::packed(count, per_block, slots, step);
                    (needed <= available).then(|| PlaneBase::behind(aged, packed, slots))
                } else if aged > 0 && count <= aged * slots {
                    Some(PlaneBase::spread(count, aged, slots))
                } else {
                    (needed <= available).then(|| PlaneBase::packed(count, per_block, slots, step))
                };
                if base.is_none() {
                    let blocks = available.saturating_sub(apart);
                    let live = count.checked_div(blocks).map(|live| live + u32::from(live * blocks < count));
                    would_do = would_do.zip(live).map(|(a, b)| a.max(b)).filter(|live| *live <= slots);
                    error.get_or_insert(InitialError::TooMuch {
                        plane,
                        region: r.region.name.to_string(),
                        needed,
                        available,
                        valid: initial.valid,
                        would_do: None,
                    });
                }
                (base.unwrap_or_else(|| PlaneBase::packed(0, 1, slots, step)), ranks)
            },
        );
        match error {
            Some(InitialError::TooMuch { plane, region, needed, available, valid, .. }) => {
                let would_do = would_do.map(|live| tenth_above(live, slots));
                Err(InitialError::TooMuch { plane, region, needed, available, valid, would_do })
            }
            Some(e) => Err(e),
            None => Ok(image),
        }
    }
}

/// A share of valid pages, rounded up to a tenth of a percent.
fn tenth_above(live: u32, slots: u32) -> Fraction {
    let tenth = Fraction::ONE.0 / 1000;
    let share = (live as u64 * Fraction::ONE.0).div_ceil(slots.max(1) as u64);
    Fraction((share.div_ceil(tenth) * tenth).min(Fraction::ONE.0))
}

/// Blocks of a plane that initial data may fill: all but the GC reserve and one block for the first write.
pub(crate) fn fillable(state: &State, region: RegionId, plane: PlaneId) -> u32 {
    let pool = state.blocks.pool_of(region);
    let lost = lost_in(&state.blocks, state.blocks.region(region).region.pool, plane);
    pool.blocks_per_plane.saturating_sub(pool.reserve + 1 + lost)
}
