//! Where requests come from: traces of real drives in the formats that people have on their disks,
//! and synthetic workloads. Both become a stream of `HostRequest`s that a drive of a given shape
//! can take, the same each time it is opened.
//!
//! A trace goes `source` (bytes, decompressed) → `formats` (records) → `trace`: `joined`, `sorted` (several
//! files as one, in order of time), `cursor` (requests in blocks), `trace` (time zero, volumes side by side, fit, pace).
//! A synthetic workload goes `generators/synthetic/generator` (kind, size, time) → a pattern (address); a twin is made
//! by `generators/twin/stream`. A fio job file goes `generators/jobs` (keys → jobs → a script that is asked request by
//! request). A trace that is written goes `source` → `formats` → `pipeline` → `source/encoder`. Nothing here reads a
//! clock, and nothing prints.
//!
//! Compression, tar archives and temporary files are features, on by default. Without them the crate builds for
//! WebAssembly, with every generator, and every format from memory (`Workload::in_memory`).
//!
//! Its files stand in rooms, each of which imports only from those above it: ARCHITECTURE.md has the list, and
//! `ftl/tests/it/house.rs` holds it.

mod error;
mod fitting;
mod formats;
mod generators;
mod inspect;
mod pipeline;
mod random;
mod requests;
mod source;
mod text;
mod trace;
mod workload;

pub use error::{ErrorKind, Problem, WorkloadError};
pub use formats::detection::Confidence;
pub use formats::format::{Format, Order, Timing};
pub use formats::record::Position;
pub use formats::registry::{FORMATS, format_named};
pub use generators::jobs::keys::{JOB_OPTIONS, JobKey, Standing, job_keys};
pub use generators::jobs::script::{JobScript, Turn};
pub use generators::jobs::step::JobWindow;
pub use generators::synthetic::catalogue::{SYNTHETICS, synthetic_named};
pub use generators::synthetic::registry::Synthetic;
pub use inspect::inspect::{CacheInfo, Inspection, SizeClass, VolumeInfo, inspect, inspect_profiled};
pub use inspect::profile::{Arrivals, HitRatio, Hits, Profile, Reuse};
pub use pipeline::flow::Align;
pub use pipeline::form::{Form, Losses};
pub use pipeline::pipeline::{Pipeline, Written};
pub use pipeline::step::{NumberRange, Scale, Share, Step, TimeRange};
pub use random::stream::RandomStream;
pub use random::zipf_law::ZipfLaw;
pub use requests::fit::{DriveShape, Fit};
pub use requests::pace::{Limit, Pacing};
pub use requests::pauses::Pauses;
pub use requests::stream::{Footprint, Overrides, RequestStream, Source, Touched};
pub use requests::updates::{UNTOUCHED, UpdateLaw, UpdateStream, Updates};
pub use source::compression::Compression;
pub use text::numbers::readable_bytes;
pub use text::parameter::Parameter;
pub use trace::options::TRACE_OPTIONS;
pub use trace::scan::{Backwards, StepBack, Unusable, UnusableLine};
pub use workload::spelling::{with_format, with_options};
pub use workload::workload::Workload;

/// Twins: stand-ins for traces, made of numbers.
pub mod twin {
    pub use crate::fitting::check::{Checked, Criterion, Row, Unit, check};
    pub use crate::fitting::class::{Class, fit_class};
    pub use crate::fitting::fitting::{Fallback, Fitted, fit};
    pub use crate::fitting::verdict::{Aspect, Verdict};
    pub use crate::generators::twin::catalogue::{BuiltinTwin, Spelled, TWINS, TwinBody, twin_named};
    pub use crate::generators::twin::description::{
        Arrivals, Description, Envelope, FileLaw, HotLies, Memory, Modulation, Rest, Side, Straddle, Targets,
    };
    pub use crate::generators::twin::locality::REFERENCE_SHARE;
    pub use crate::generators::twin::named::description_of;
    pub use crate::generators::twin::statistics::{Depth, Statistics};
    pub use crate::generators::twin::twin::TWIN_OPTIONS;
    pub use crate::requests::pace::Depth as QueueDepth;
    pub use crate::workload::originals::with_original;
}
