//! Adjusts a fit to what a twin's file permits. Only here are values rounded, aligned and limited: every
//! value is moved to the nearest permitted one, and combinations that are still invalid are reduced.

use crate::generators::twin::description::{
    Arrivals, DRIFT, Description, Envelope, FARTHEST, HotLies, LONGEST, RUN, Rest, Side, THETA, item_in,
};
use std::collections::BTreeMap;
use wordline_units::{Fraction, LBA_BYTES, SimDuration};

/// The largest share below the whole.
const ALL_BUT: Fraction = Fraction(Fraction::ONE.0 - 1);

/// Maximum number of request sizes in a twin.
pub(crate) const SIZES: usize = 48;

/// Sizes with their frequencies, most frequent first; ties go to the smaller.
pub(crate) fn most_frequent_first(sizes: &mut [(u32, f64)]) {
    sizes.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
}

/// A share between none and all.
pub(crate) fn fraction(x: f64) -> Fraction {
    Fraction((x.clamp(0.0, 1.0) * 1e9).round() as u64)
}

impl Description {
    /// The nearest description that can be written and read.
    pub(crate) fn legal(mut self) -> Description {
        self.requests = self.requests.max(1);
        self.write = self.write.min(Fraction::ONE);
        self.run = within(self.run, *RUN.start(), *RUN.end());
        self.arrivals = self.arrivals.legal();
        self.reads = self.reads.legal();
        self.writes = self.writes.legal();
        self
    }
}

impl Arrivals {
    /// Remove the envelope if its parts have no length.
    fn legal(mut self) -> Arrivals {
        if self.span == SimDuration::ZERO {
            return Arrivals::instantaneous(self.closed);
        }
        self.group = self.group.min(ALL_BUT);
        let known = |weights: &[f64]| {
            weights.iter().all(|w| w.is_finite() && *w >= 0.0) && weights.iter().sum::<f64>() > 0.0
        };
        let fits = |e: &Envelope| known(&e.reads) && known(&e.writes) && e.period.0 >= e.reads.len() as u64;
        self.envelope = self.envelope.filter(fits);
        self.memory = self.memory.filter(|m| !m.windows.is_empty());
        if let Some(m) = &mut self.memory {
            for d in m.reads.iter_mut().chain(&mut m.writes) {
                *d = within(*d, 0.0, f64::MAX);
            }
            for c in &mut m.together {
                *c = within(*c, -1.0, 1.0);
            }
        }
        self
    }
}

impl Side {
    /// Permitted request sizes, shares that add up to the whole, and a footprint with space for the longest
    /// request.
    pub(crate) fn legal(mut self) -> Side {
        self.sizes = sizes(&self.sizes);
        self.rest = Rest::None;
        (self.mean, self.modulation) = (None, None);
        self.page = self.page.next_multiple_of(self.align);
        self.extent = self.extent.max(LBA_BYTES).next_multiple_of(self.align * LBA_BYTES);
        self.sequential = self.sequential.min(Fraction::ONE);
        self.hot = Fraction(self.hot.0.min(Fraction::ONE.0 - self.sequential.0));
        self.uniform = Fraction(Fraction::ONE.0 - self.sequential.0 - self.hot.0);
        self.rewrite = self.rewrite.min(Fraction::ONE);
        self.hot_space = self.hot_space.clamp(Fraction(1), Fraction::ONE);
        self.item = item_in(self.extent, self.align);
        self.stable = self.stable.min(Fraction::ONE);
        self.drift = within(self.drift, *DRIFT.start(), *DRIFT.end());
        self.theta = within(self.theta, *THETA.start(), *THETA.end());
        self.stretch = self.stretch.map(|bytes| bytes.max(LBA_BYTES));
        let page = self.page * LBA_BYTES;
        self.begin = self.begin.min(FARTHEST) / page * page;
        if let Some(files) = &mut self.files {
            files.bursts = files.bursts.min(Fraction::ONE);
            files.apart = files.apart.min(Fraction::ONE);
            files.near = files.near.min(Fraction::ONE);
        }
        let (parts, blocks) = self.parts();
        self.footprint = self.footprint.max(parts * blocks * LBA_BYTES).next_multiple_of(self.extent);
        if self.room(1).is_err() {
            self.hot_lies = HotLies::Scattered;
        }
        self
    }
}

fn within(x: f64, from: f64, to: f64) -> f64 {
    if x.is_nan() { from } else { x.clamp(from, to) }
}

/// Each size once, none of them 0 or too long.
fn sizes(found: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
    for (blocks, weight) in found.iter().filter(|(_, w)| w.is_finite() && *w > 0.0) {
        *weights.entry((*blocks).clamp(1, LONGEST as u32)).or_insert(0.0) += weight;
    }
    if weights.is_empty() {
        weights.insert(crate::generators::twin::addresses::UNIT as u32, 1.0);
    }
    weights.into_iter().collect()
}
