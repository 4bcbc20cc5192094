//! The list of synthetic workloads, [`SYNTHETICS`], and one of them with its parameters.

use crate::generators::synthetic::bursts::Bursts;
use crate::generators::synthetic::generator::Generator;
use crate::generators::synthetic::registry::{Plan, Synthetic};
use crate::generators::synthetic::{bursty, hot_cold, mix, sequential, uniform, zipf};
use crate::random::draws::Draws;
use crate::updates::UpdateLaw;
use serde_json::{Value, json};
use wordline_trace::options::Options;
use wordline_trace::{DriveShape, Limit, Overrides, Pacing, Pauses, RequestStream, WorkloadError};

/// Every built-in workload, the default of the demonstration first.
pub static SYNTHETICS: &[&Synthetic] = &[
    &bursty::BURSTY,
    &sequential::SEQUENTIAL,
    &uniform::UNIFORM,
    &zipf::ZIPF,
    &hot_cold::HOT_COLD,
    &mix::MIX,
];

/// Looks a built-in workload up by name.
pub fn synthetic_named(name: &str) -> Option<&'static Synthetic> {
    SYNTHETICS.iter().copied().find(|s| s.name == name)
}

enum Script {
    Generator(Box<Generator>),
    Bursts(Box<Bursts>),
}

/// A built-in workload with its parameters.
pub(crate) struct SyntheticWorkload {
    name: &'static str,
    script: Script,
}

impl SyntheticWorkload {
    /// Reads the parameters.
    pub fn parse(
        synthetic: &Synthetic,
        options: &str,
        over: Overrides,
    ) -> Result<SyntheticWorkload, WorkloadError> {
        let mut o = Options::parse(synthetic.name, options);
        o.check_known(&synthetic.parameters());
        let script = match (synthetic.plan)(&mut o) {
            Plan::Pattern(pattern) => Script::Generator(Box::new(Generator::of(&mut o, over, pattern))),
            Plan::Bursts(mut bursts) => {
                bursts.set(over);
                Script::Bursts(bursts)
            }
        };
        o.finish()?;
        Ok(SyntheticWorkload { name: synthetic.name, script })
    }

    pub fn name(&self) -> &str {
        self.name
    }

    pub fn pacing(&self) -> Pacing {
        match &self.script {
            Script::Generator(g) => g.pacing(),
            Script::Bursts(_) => Pacing::Open,
        }
    }

    pub fn pauses(&self, drive: DriveShape) -> Option<Pauses> {
        match &self.script {
            Script::Generator(g) => g.pauses(drive),
            Script::Bursts(_) => None,
        }
    }

    pub fn limit(&self, drive: DriveShape) -> Limit {
        match &self.script {
            Script::Generator(g) => g.limit(drive),
            Script::Bursts(b) => b.limit(drive),
        }
    }

    pub fn open(&self, drive: DriveShape, draws: Draws) -> Result<RequestStream, WorkloadError> {
        Ok(match &self.script {
            Script::Generator(g) => Box::new(g.open(drive, draws)?),
            Script::Bursts(b) => Box::new(b.open(drive, draws)?),
        })
    }

    /// The requests without limits, unless they end by themselves.
    pub fn unbounded(&self, drive: DriveShape, draws: Draws) -> Result<RequestStream, WorkloadError> {
        Ok(match &self.script {
            Script::Generator(g) => Box::new(g.bounded_by(Limit::default(), drive, draws)?),
            Script::Bursts(b) => Box::new(b.open(drive, draws)?),
        })
    }

    /// The distribution of the writes, if each is independent of the others.
    pub fn update_law(&self, drive: DriveShape, seed: u64) -> Result<Option<UpdateLaw>, WorkloadError> {
        match &self.script {
            Script::Generator(g) => g.update_law(drive, seed),
            Script::Bursts(_) => Ok(None),
        }
    }

    /// The span in blocks, if the stream does not end by itself.
    pub fn endless_span(&self, drive: DriveShape) -> Result<Option<(u64, u64)>, WorkloadError> {
        match &self.script {
            Script::Generator(g) => {
                let limit = g.limit(drive);
                let ends = limit.requests.is_some() || limit.bytes.is_some() || g.pacing() == Pacing::Open;
                if ends { Ok(None) } else { g.span(drive).map(Some) }
            }
            Script::Bursts(_) => Ok(None),
        }
    }

    pub fn resolved(&self) -> Value {
        let parameters = match &self.script {
            Script::Generator(g) => g.resolved(),
            Script::Bursts(b) => b.resolved(),
        };
        json!({ "kind": "synthetic", "name": self.name, "parameters": parameters })
    }
}
