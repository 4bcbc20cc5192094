//! The Analyser of HySSD: the utilization of the superior medium at which an access costs least, and under Life the one
//! by which both media wear out together.

use crate::cost_model::{Hybrid, Mix, grid};
use crate::parameters::Parameters;
use wordline_units::Fraction;

/// Policy for the utilization of the superior medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    Perf,
    Life,
    Static,
}

/// What it chooses among, and by what.
#[derive(Clone, Debug)]
pub(crate) struct Analyser {
    policy: Policy,
    /// From one utilization that it tries to the next.
    grid: Fraction,
    /// How far Life moves in a period.
    step: Fraction,
    /// B.
    capacity: u32,
    /// The fewest and the most pages that the superior medium may hold, so that neither is too full.
    targets: [u32; 2],
    model: Option<Hybrid>,
}

impl Analyser {
    pub fn take(p: &mut Parameters) -> Analyser {
        let policies = [("perf", Policy::Perf), ("life", Policy::Life), ("static", Policy::Static)];
        let policy = p.choice("policy", &policies);
        let grid = p.within("grid", Fraction(1_000_000)..=Fraction::percent(50));
        let step = if p.is("step", "grid") { grid } else { p.within("step", Fraction::ZERO..=Fraction::ONE) };
        Analyser { policy, grid, step, capacity: 0, targets: [0, 0], model: None }
    }

    /// A drive whose superior medium can hold `capacity` pages and may hold from `least` to `most`.
    pub fn set_bounds(&mut self, capacity: u32, least: u32, most: u32) {
        self.capacity = capacity;
        self.targets = [least, most.min(self.pages(0.98))];
    }

    pub fn set_model(&mut self, model: Hybrid) {
        self.model = Some(model);
    }

    /// The model of costs, once the drive is laid out.
    pub fn model(&self) -> Option<Hybrid> {
        self.model
    }

    /// The fewest and the most pages that the superior medium may hold.
    pub fn targets(&self) -> [u32; 2] {
        self.targets
    }

    /// B: pages that the superior medium can hold.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Pages of the superior medium at a utilization.
    pub fn pages(&self, u: f64) -> u32 {
        (u * self.capacity as f64) as u32
    }

    /// The utilization at which the superior medium holds this number of pages.
    pub fn utilisation(&self, pages: u32) -> f64 {
        pages as f64 / self.capacity.max(1) as f64
    }

    /// The utilizations that it may choose.
    pub fn grid(&self) -> impl Iterator<Item = f64> {
        let [least, most] = self.targets;
        let fits = move |target: u32| (least..=most).contains(&target);
        grid(self.grid).filter(move |u| fits(self.pages(*u)))
    }

    /// The model, if the utilization follows it.
    pub fn consulted(&self) -> Option<Hybrid> {
        self.model.filter(|_| self.policy != Policy::Static)
    }

    pub fn is_for_life(&self) -> bool {
        self.policy == Policy::Life
    }

    /// The utilization of Life: that of least cost and an offset, which moves by a step towards the medium with more
    /// remaining lifetime, if both are known, and stays within the grid.
    pub fn balanced(&self, least_cost: f64, [l_s, l_t]: [f64; 2], offset: &mut f64) -> f64 {
        let step = self.step.as_f64();
        if l_s.is_finite() && l_t.is_finite() {
            *offset += if l_s > l_t { step } else { -step };
        }
        let (low, high) =
            self.grid().fold((1.0, 0.0), |(low, high): (f64, f64), u| (low.min(u), high.max(u)));
        let u = (least_cost + *offset).clamp(low, high);
        *offset = u - least_cost;
        u
    }

    /// The utilization of least cost, if the model is asked at all.
    pub fn least_cost(&self, mix: impl Fn(f64) -> Mix) -> Option<f64> {
        Some(self.consulted()?.least_cost(self.grid(), mix)?.0)
    }
}
