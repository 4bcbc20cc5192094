//! `uniform`: every aligned address of the span is equally likely.

use crate::generators::synthetic::patterns::{Pattern, PatternSpec, Space, Wanted};
use crate::generators::synthetic::registry::{Plan, Synthetic};
use crate::updates::Classes;
use serde_json::{Value, json};
use wordline_trace::{Problem, RandomStream};

pub(crate) static UNIFORM: Synthetic = Synthetic {
    name: "uniform",
    title: "uniform random addresses, the textbook case of garbage collection",
    own: &[],
    has_common: true,
    plan: |_| Plan::Pattern(Box::new(Uniform)),
};

pub(crate) struct Uniform;

impl PatternSpec for Uniform {
    fn begin(&self, space: Space, _random: &mut RandomStream) -> Result<Box<dyn Pattern>, Problem> {
        Ok(Box::new(space))
    }

    fn classes(&self, space: Space, _: &mut RandomStream, classes: &mut Classes) -> Option<Vec<f64>> {
        classes.mark(0, 0..space.blocks);
        Some(vec![1.0])
    }

    fn resolved(&self) -> Value {
        json!({})
    }
}

impl Pattern for Space {
    fn next(&mut self, wanted: Wanted, random: &mut RandomStream) -> u64 {
        self.anywhere(wanted.blocks, random)
    }
}
