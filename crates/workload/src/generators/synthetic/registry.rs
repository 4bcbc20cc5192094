//! Interface of a synthetic workload: a name, its parameters and a plan.

use crate::generators::synthetic::bursts::Bursts;
use crate::generators::synthetic::generator::{BOUNDS, COMMON, PLACE};
use crate::generators::synthetic::patterns::PatternSpec;
use wordline_trace::Parameter;
use wordline_trace::options::Options;

/// A built-in workload.
pub struct Synthetic {
    /// The word that `--workload` takes.
    pub name: &'static str,
    /// One-line description.
    pub title: &'static str,
    /// Parameters that only this workload has.
    pub(crate) own: &'static [Parameter],
    /// Whether it also has the common parameters of patterns.
    pub(crate) has_common: bool,
    pub(crate) plan: fn(&mut Options) -> Plan,
}

impl Synthetic {
    /// All parameters: its own, then those that others share.
    pub fn parameters(&self) -> Vec<Parameter> {
        let common: &[Parameter] = if self.has_common { &COMMON } else { &[] };
        [self.own, common, &PLACE, &BOUNDS].concat()
    }
}

/// The plan of a workload with known parameters.
pub(crate) enum Plan {
    /// A pattern for the address. Kind, size and time follow the common parameters.
    Pattern(Box<dyn PatternSpec>),
    /// A script.
    Bursts(Box<Bursts>),
}
