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

/// The nearest description that can be written and read.
pub(crate) fn legal(mut d: Description) -> Description {
    d.requests = d.requests.max(1);
    d.write = d.write.min(Fraction::ONE);
    d.run = within(d.run, *RUN.start(), *RUN.end());
    d.arrivals = legal_arrivals(d.arrivals);
    d.reads = legal_side(d.reads);
    d.writes = legal_side(d.writes);
    d
}

/// Remove the envelope if its parts have no length.
fn legal_arrivals(mut a: Arrivals) -> Arrivals {
    if a.span == SimDuration::ZERO {
        return Arrivals::instantaneous(a.closed);
    }
    a.group = a.group.min(ALL_BUT);
    let known = |weights: &[f64]| {
        weights.iter().all(|w| w.is_finite() && *w >= 0.0) && weights.iter().sum::<f64>() > 0.0
    };
    let fits = |e: &Envelope| known(&e.reads) && known(&e.writes) && e.period.0 >= e.reads.len() as u64;
    a.envelope = a.envelope.filter(fits);
    a.memory = a.memory.filter(|m| !m.windows.is_empty());
    if let Some(m) = &mut a.memory {
        for d in m.reads.iter_mut().chain(&mut m.writes) {
            *d = within(*d, 0.0, f64::MAX);
        }
        for c in &mut m.together {
            *c = within(*c, -1.0, 1.0);
        }
    }
    a
}

/// Permitted request sizes, shares that add up to the whole, and a footprint with space for the longest
/// request.
pub(crate) fn legal_side(mut side: Side) -> Side {
    side.sizes = sizes(&side.sizes);
    side.rest = Rest::None;
    (side.mean, side.modulation) = (None, None);
    side.page = side.page.next_multiple_of(side.align);
    side.extent = side.extent.max(LBA_BYTES).next_multiple_of(side.align * LBA_BYTES);
    side.sequential = side.sequential.min(Fraction::ONE);
    side.hot = Fraction(side.hot.0.min(Fraction::ONE.0 - side.sequential.0));
    side.uniform = Fraction(Fraction::ONE.0 - side.sequential.0 - side.hot.0);
    side.rewrite = side.rewrite.min(Fraction::ONE);
    side.hot_space = side.hot_space.clamp(Fraction(1), Fraction::ONE);
    side.item = item_in(side.extent, side.align);
    side.stable = side.stable.min(Fraction::ONE);
    side.drift = within(side.drift, *DRIFT.start(), *DRIFT.end());
    side.theta = within(side.theta, *THETA.start(), *THETA.end());
    side.stretch = side.stretch.map(|bytes| bytes.max(LBA_BYTES));
    let page = side.page * LBA_BYTES;
    side.begin = side.begin.min(FARTHEST) / page * page;
    if let Some(files) = &mut side.files {
        files.bursts = files.bursts.min(Fraction::ONE);
        files.apart = files.apart.min(Fraction::ONE);
        files.near = files.near.min(Fraction::ONE);
    }
    let (parts, blocks) = side.parts();
    side.footprint = side.footprint.max(parts * blocks * LBA_BYTES).next_multiple_of(side.extent);
    if side.room(1).is_err() {
        side.hot_lies = HotLies::Scattered;
    }
    side
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
