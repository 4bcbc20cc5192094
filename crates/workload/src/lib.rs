//! Where requests come from: traces, and what makes its requests itself. Each becomes a stream of `HostRequest`s that a
//! drive of a given shape can take, the same each time it is opened.
//!
//! A trace is read by `wordline_trace`. A synthetic workload goes `generators/synthetic/generator` (kind, size, time) → a
//! pattern (address); a twin is made by `generators/twin/stream`. A fio job file goes `generators/jobs` (keys → jobs → a
//! script that is asked request by request). Nothing here reads a clock, and nothing prints.
//!
//! Compression, tar archives and temporary files are features, on by default. Without them the crate builds for
//! WebAssembly, with every generator, and every format from memory (`Workload::in_memory`).
//!
//! Its files are in rooms, each of which imports only from those above it: ARCHITECTURE.md has the list, and
//! `ftl/tests/it/house.rs` holds it.

mod fitting;
mod generators;
mod random;
mod updates;
mod workload;

pub use generators::jobs::keys::{JOB_OPTIONS, JobKey, Standing, job_keys};
pub use generators::jobs::script::{JobScript, Turn};
pub use generators::jobs::step::JobWindow;
pub use generators::synthetic::catalogue::{SYNTHETICS, synthetic_named};
pub use generators::synthetic::registry::Synthetic;
pub use random::zipf_law::ZipfLaw;
pub use updates::{UNTOUCHED, UpdateLaw, UpdateStream, Updates};
pub use workload::spelling::{check_is_trace, with_options};
pub use workload::workload::Workload;

/// Twins: stand-ins for traces, made of numbers.
pub mod twin {
    pub use crate::fitting::check::{Checked, Criterion, Row, Unit, check};
    pub use crate::fitting::class::{Class, fit_class};
    pub use crate::fitting::fitting::{Fallback, Fitted, fit};
    pub use crate::fitting::verdict::{Aspect, Verdict};
    pub use crate::generators::twin::by_name::description_of;
    pub use crate::generators::twin::catalogue::{BuiltinTwin, Spelled, TWINS, TwinBody, twin_named};
    pub use crate::generators::twin::description::{
        Arrivals, Description, Envelope, FileLaw, HotLies, Memory, Modulation, Rest, Side, Straddle, Targets,
    };
    pub use crate::generators::twin::locality::REFERENCE_SHARE;
    pub use crate::generators::twin::statistics::{Depth, Statistics};
    pub use crate::generators::twin::twin::TWIN_OPTIONS;
    pub use crate::workload::originals::with_original;
}
