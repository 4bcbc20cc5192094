//! What a synthetic workload is to the rest of the program: a name, its parameters and a plan.

use crate::generators::synthetic::bursts::Bursts;
use crate::generators::synthetic::patterns::PatternSpec;
use wordline_trace::Parameter;
use wordline_trace::options::Options;

/// A built-in workload.
pub struct Synthetic {
    /// The word that `--workload` takes.
    pub name: &'static str,
    /// One line for a list.
    pub title: &'static str,
    /// Parameters that only this workload has.
    pub(crate) own: &'static [Parameter],
    /// Whether it also takes the parameters that are common to the patterns.
    pub(crate) has_common: bool,
    pub(crate) plan: fn(&mut Options) -> Plan,
}

/// What a workload does once its parameters are known.
pub(crate) enum Plan {
    /// Kind, size and time by the common parameters, the address by a pattern.
    Pattern(Box<dyn PatternSpec>),
    /// A script of its own.
    Bursts(Box<Bursts>),
}
