//! `zipf`: extents are chosen by Zipf's law. Their ranks are scattered over the span by a permutation that
//! stays fixed during the run. Within an extent, all aligned addresses are equally likely.

use crate::generators::synthetic::patterns::{Pattern, PatternSpec, Space, Wanted};
use crate::generators::synthetic::registry::{Plan, Synthetic};
use crate::random::permutation::Permutation;
use crate::random::zipf_law::{ZipfLaw, weight};
use crate::updates::Classes;
use serde_json::{Value, json};
use std::ops::Range;
use wordline_trace::options::{Options, exponent, value};
use wordline_trace::{Parameter, Problem, RandomStream};
use wordline_units::{Bytes, Fraction, LBA_BYTES};

pub(crate) const THETA: Parameter =
    value("theta", "number", "0.99", "0 to 5", "skew of Zipf's law; 0 is uniform");

pub(crate) const EXTENT: Parameter = value(
    "extent",
    "size",
    "align",
    "a multiple of 512 B",
    "granularity of popularity; 64KiB is typical of volumes",
);

pub(crate) static ZIPF: Synthetic = Synthetic {
    name: "zipf",
    title: "Zipf-distributed addresses: a few get most requests",
    own: &[THETA, EXTENT],
    has_common: true,
    plan: |o| Plan::Pattern(Box::new(Zipf::of(o))),
};

pub(crate) struct Zipf {
    theta: Fraction,
    /// Size in bytes. `None` means the alignment.
    extent: Option<u64>,
}

impl Zipf {
    pub fn of(o: &mut Options) -> Zipf {
        let theta = exponent(o, Fraction(990_000_000));
        let extent = o.get::<Bytes>("extent", "a multiple of 512 B").map(|b| b.0);
        if extent.is_some_and(|e| e == 0 || !e.is_multiple_of(LBA_BYTES)) {
            o.reject("extent", "it is not a multiple of 512 B".into(), "512 B or more", "");
        }
        Zipf { theta, extent }
    }

    /// Blocks per extent, and number of extents.
    fn extents(&self, space: Space) -> (u64, u64) {
        let extent = self.extent.map_or(space.align, |e| (e / LBA_BYTES).next_multiple_of(space.align));
        (extent, (space.blocks / extent).max(1))
    }
}

impl PatternSpec for Zipf {
    fn begin(&self, space: Space, random: &mut RandomStream) -> Result<Box<dyn Pattern>, Problem> {
        let (extent, extents) = self.extents(space);
        let law = ZipfLaw::new(extents, self.theta.as_f64());
        let scatter = Permutation::new(extents, random);
        Ok(Box::new(Scattered { space, extent: extent.min(space.blocks), law, scatter }))
    }

    fn classes(&self, space: Space, random: &mut RandomStream, classes: &mut Classes) -> Option<Vec<f64>> {
        let (extent, extents) = self.extents(space);
        if space.largest > extent {
            return None; // a request reaches into the next extent, which has another rate
        }
        let scatter = Permutation::new(extents, random);
        let ranks = half_octaves(extents);
        for (class, ranks) in ranks.iter().enumerate() {
            for rank in ranks.clone() {
                let start = scatter.of(rank) * extent;
                classes.mark(class as u8, start..(start + extent).min(space.blocks));
            }
        }
        let weights: Vec<f64> = ranks.iter().map(|r| weight(r.clone(), self.theta.as_f64())).collect();
        let all: f64 = weights.iter().sum();
        Some(weights.into_iter().map(|w| w / all).collect())
    }

    fn resolved(&self) -> Value {
        json!({ "theta": self.theta.as_f64(), "extent": self.extent.map(|e| Bytes(e).to_string()) })
    }
}

/// Ranks `0 .. n`, divided so that no rank of a part is more than one and a half times another.
fn half_octaves(n: u64) -> Vec<Range<u64>> {
    let mut parts = vec![];
    let mut from = 0;
    while from < n {
        // Ranks count from 0, popularity from 1. The parts are 1, 2, 3, 4 to 5, 6 to 8, 9 to 12, ...
        let to = (from + 1 + (from + 1).div_ceil(2) - u64::from(from < 3)).min(n);
        parts.push(from..to.max(from + 1));
        from = to.max(from + 1);
    }
    parts
}

struct Scattered {
    space: Space,
    extent: u64,
    law: ZipfLaw,
    scatter: Permutation,
}

impl Pattern for Scattered {
    fn next(&mut self, wanted: Wanted, random: &mut RandomStream) -> u64 {
        let start = self.scatter.of(self.law.draw(random)) * self.extent;
        let slots = (self.extent.saturating_sub(wanted.blocks as u64)) / self.space.align + 1;
        let inside = if slots > 1 { random.below(slots) * self.space.align } else { 0 };
        self.space.fitting(start + inside, wanted.blocks)
    }
}
