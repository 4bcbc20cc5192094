//! `hot-cold`: two parts of the span, each with uniform addresses. A small hot part, at the beginning of the
//! span, gets most of the traffic.

use crate::generators::synthetic::patterns::{Pattern, PatternSpec, Space, Wanted};
use crate::generators::synthetic::registry::{Plan, Synthetic};
use crate::updates::Classes;
use serde_json::{Value, json};
use wordline_trace::options::{Options, share, value};
use wordline_trace::{ErrorKind, Parameter, Problem, RandomStream};
use wordline_units::Fraction;

pub(crate) const HOT_SPACE: Parameter =
    value("hot_space", "fraction", "20%", "above 0%, below 100%", "share of the span that is hot");
pub(crate) const HOT_TRAFFIC: Parameter =
    value("hot_traffic", "fraction", "80%", "0% to 100%", "share of the requests that go to the hot part");

pub(crate) static HOT_COLD: Synthetic = Synthetic {
    name: "hot-cold",
    title: "a hot part of the span gets most requests, uniform within each part",
    own: &[HOT_SPACE, HOT_TRAFFIC],
    has_common: true,
    plan: |o| Plan::Pattern(Box::new(HotCold::of(o))),
};

pub(crate) struct HotCold {
    space: Fraction,
    traffic: Fraction,
}

impl HotCold {
    pub fn of(o: &mut Options) -> HotCold {
        let space = share(o, "hot_space", Fraction::percent(20));
        if space == Fraction::ZERO || space == Fraction::ONE {
            o.reject("hot_space", format!("{space} leaves one part empty"), "above 0%, below 100%", "");
        }
        HotCold { space, traffic: share(o, "hot_traffic", Fraction::percent(80)) }
    }

    /// Number of blocks of the hot part.
    fn hot(&self, space: Space) -> u64 {
        self.space.of(space.blocks) / space.align * space.align
    }
}

impl PatternSpec for HotCold {
    fn begin(&self, space: Space, _random: &mut RandomStream) -> Result<Box<dyn Pattern>, Problem> {
        let hot = self.hot(space);
        let cold = space.blocks - hot;
        if hot < space.largest || cold < space.largest {
            let what = format!("hot_space={} leaves a part smaller than one request", self.space);
            return Err(Problem::new(ErrorKind::Option, "hot_space", what).allowed("a larger part or span"));
        }
        let part = |blocks| Space { blocks, ..space };
        Ok(Box::new(Parts { hot: part(hot), cold: part(cold), traffic: self.traffic }))
    }

    fn classes(&self, space: Space, _: &mut RandomStream, classes: &mut Classes) -> Option<Vec<f64>> {
        let hot = self.hot(space);
        classes.mark(0, 0..hot);
        classes.mark(1, hot..space.blocks);
        Some(vec![self.traffic.as_f64(), 1.0 - self.traffic.as_f64()])
    }

    fn resolved(&self) -> Value {
        json!({ "hot_space": self.space, "hot_traffic": self.traffic })
    }
}

struct Parts {
    hot: Space,
    cold: Space,
    traffic: Fraction,
}

impl Pattern for Parts {
    fn next(&mut self, wanted: Wanted, random: &mut RandomStream) -> u64 {
        if random.below(Fraction::ONE.0) < self.traffic.0 {
            self.hot.anywhere(wanted.blocks, random)
        } else {
            self.hot.blocks + self.cold.anywhere(wanted.blocks, random)
        }
    }
}
