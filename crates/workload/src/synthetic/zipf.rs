//! `zipf`: extents are chosen by Zipf's law, their ranks scattered over the span by a permutation
//! that stays fixed for the run. Within an extent every aligned address is equally likely.

use super::Synthetic;
use super::patterns::{Pattern, PatternSpec, Space, Wanted, exponent};
use super::registry::Plan;
use crate::error::Problem;
use crate::parameter::{Options, Parameter, value};
use crate::random::{Permutation, RandomStream};
use crate::zipf_law::ZipfLaw;
use serde_json::{Value, json};
use wordline_units::{Bytes, Fraction, LBA_BYTES};

pub(super) const THETA: Parameter =
    value("theta", "number", "0.99", "0 to 5", "skew of Zipf's law; 0 is uniform");

pub(super) const EXTENT: Parameter = value(
    "extent",
    "size",
    "align",
    "a multiple of 512 B",
    "bytes that share one popularity; 64KiB is usual for volumes",
);

pub(super) static ZIPF: Synthetic = Synthetic {
    name: "zipf",
    title: "a few addresses get most of the traffic, by Zipf's law",
    own: &[THETA, EXTENT],
    has_common: true,
    plan: |o| Plan::Pattern(Box::new(Zipf::of(o))),
};

pub(super) struct Zipf {
    theta: Fraction,
    /// Bytes; `None` is the alignment.
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
}

impl PatternSpec for Zipf {
    fn begin(&self, space: Space, random: &mut RandomStream) -> Result<Box<dyn Pattern>, Problem> {
        let extent = self.extent.map_or(space.align, |e| (e / LBA_BYTES).next_multiple_of(space.align));
        let extents = (space.blocks / extent).max(1);
        let law = ZipfLaw::new(extents, self.theta.as_f64());
        let scatter = Permutation::new(extents, random);
        Ok(Box::new(Scattered { space, extent: extent.min(space.blocks), law, scatter }))
    }

    fn resolved(&self) -> Value {
        json!({ "theta": self.theta.as_f64(), "extent": self.extent.map(|e| Bytes(e).to_string()) })
    }
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
