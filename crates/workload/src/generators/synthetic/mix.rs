//! `mix`: each request follows one of the other patterns, chosen by weight, over the same span.

use crate::generators::synthetic::hot_cold::{HOT_SPACE, HOT_TRAFFIC, HotCold};
use crate::generators::synthetic::patterns::{Pattern, PatternSpec, Space, Wanted};
use crate::generators::synthetic::registry::{Plan, Synthetic};
use crate::generators::synthetic::sequential::{STREAMS, Sequential};
use crate::generators::synthetic::uniform::Uniform;
use crate::generators::synthetic::zipf::{EXTENT, THETA, Zipf};
use serde_json::{Value, json};
use wordline_trace::options::{Options, number, share, value};
use wordline_trace::{Problem, RandomStream};
use wordline_units::Fraction;

/// Shares if none is given.
const DEFAULTS: [(&str, u64); 4] = [("sequential", 30), ("uniform", 20), ("zipf", 50), ("hot_cold", 0)];

pub(crate) static MIX: Synthetic = Synthetic {
    name: "mix",
    title: "sequential, uniform, Zipf and hot-cold requests in configurable shares",
    own: &[
        value("sequential", "fraction", "30%", "shares add up to 100%", "share of sequential requests"),
        value("uniform", "fraction", "20%", "shares add up to 100%", "share of uniform requests"),
        value("zipf", "fraction", "50%", "shares add up to 100%", "share of requests by Zipf's law"),
        value("hot_cold", "fraction", "0%", "shares add up to 100%", "share of hot-cold requests"),
        STREAMS,
        THETA,
        EXTENT,
        HOT_SPACE,
        HOT_TRAFFIC,
    ],
    has_common: true,
    plan: |o| Plan::Pattern(Box::new(Mix::of(o))),
};

struct Mix {
    parts: Vec<(&'static str, Fraction, Box<dyn PatternSpec>)>,
}

impl Mix {
    fn of(o: &mut Options) -> Mix {
        // If any share is given, the others are 0.
        let any = DEFAULTS.iter().any(|(key, _)| o.text(key).is_some());
        let shares = DEFAULTS.map(|(key, percent)| {
            (key, share(o, key, if any { Fraction::ZERO } else { Fraction::percent(percent) }))
        });
        let sum = shares.iter().fold(0u64, |sum, s| sum.saturating_add(s.1.0));
        if sum != Fraction::ONE.0 {
            o.reject(
                "mix",
                format!("the shares add up to {}", Fraction(sum)),
                "shares that add up to 100%",
                "",
            );
        }
        let specs: [Box<dyn PatternSpec>; 4] = [
            Box::new(Sequential { streams: number(o, "streams", 1, 1..=65_536) }),
            Box::new(Uniform),
            Box::new(Zipf::of(o)),
            Box::new(HotCold::of(o)),
        ];
        let parts = shares.into_iter().zip(specs).map(|((key, share), spec)| (key, share, spec));
        Mix { parts: parts.filter(|p| p.1 > Fraction::ZERO).collect() }
    }
}

impl PatternSpec for Mix {
    fn begin(&self, space: Space, random: &mut RandomStream) -> Result<Box<dyn Pattern>, Problem> {
        let mut up_to = 0;
        let mut parts = Vec::new();
        for (_, share, spec) in &self.parts {
            up_to += share.0;
            parts.push((up_to, spec.begin(space, random)?));
        }
        Ok(Box::new(Mixed { parts }))
    }

    fn resolved(&self) -> Value {
        let parts = self.parts.iter().map(|(key, share, spec)| {
            (key.to_string(), json!({ "share": share, "pattern": spec.resolved() }))
        });
        Value::Object(parts.collect())
    }
}

struct Mixed {
    parts: Vec<(u64, Box<dyn Pattern>)>,
}

impl Pattern for Mixed {
    fn next(&mut self, wanted: Wanted, random: &mut RandomStream) -> u64 {
        let draw = random.below(Fraction::ONE.0);
        let at = self.parts.partition_point(|p| p.0 <= draw);
        let last = self.parts.len() - 1;
        self.parts[at.min(last)].1.next(wanted, random)
    }
}
