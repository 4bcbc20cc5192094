//! Traces of real drives in the formats that people have on their disks: read, described and written. A trace becomes a
//! stream of `HostRequest`s that a drive of a given shape can serve, the same each time it is opened.
//!
//! Reading: `source` (bytes, decompressed) → `formats` (records) → `trace`: `joined`, `sorted` (several files as one,
//! in order of time), `cursor` (requests in blocks), `trace` (time zero, concatenated volumes, fit, pace). Writing:
//! `source` → `formats` → `pipeline` → `source/encoder`. Nothing here reads a clock, and nothing prints.
//!
//! Compression, tar archives and temporary files are features, on by default. Without them the crate builds for
//! WebAssembly, and reads every format from memory (`Trace::in_memory`).
//!
//! The files are in rooms. Each room imports only from those above it: ARCHITECTURE.md has the list, and
//! `ftl/tests/it/house.rs` checks it.

mod error;
mod formats;
mod inspect;
mod pipeline;
mod random;
mod reading;
mod requests;
mod source;
mod text;
mod trace;

pub use error::{ErrorKind, Problem, WorkloadError, did_you_mean, going_on};
pub use formats::{FORMATS, format_named};
pub use inspect::inspect::{CacheInfo, Inspection, SizeClass, VolumeInfo, inspect, inspect_profiled};
pub use inspect::profile::{Arrivals, HitRatio, Hits, Profile, Reuse};
pub use inspect::render::render_inspection;
pub use pipeline::flow::Align;
pub use pipeline::form::{Form, Losses};
pub use pipeline::pipeline::{Pipeline, Written};
pub use pipeline::step::{NumberRange, Scale, Share, Step, TimeRange};
pub use random::RandomStream;
pub use reading::detection::Confidence;
pub use reading::example::{Asked, Body, Example};
pub use reading::format::{Format, Order, Timing};
pub use reading::record::Position;
pub use requests::fit::{DriveShape, Fit, Placement};
pub use requests::pace::{ByteBound, Limit, Pacing, QueueDepth, Ratio};
pub use requests::pages::{PageSet, RankedPages};
pub use requests::pauses::{Pauses, Pausing};
pub use requests::stream::{Footprint, Overrides, RequestStream, Source, Touched};
pub use source::compression::Compression;
pub use source::source::is_there;
pub use text::numbers::readable_bytes;
pub use text::parameter::Parameter;
pub use text::table::aligned;
pub use trace::options::TRACE_OPTIONS;
pub use trace::scan::{Backwards, StepBack, Unusable, UnusableLine};
pub use trace::spelling::{Parts, TRACES, check_is_there, with_format};
pub use trace::trace::Trace;

/// Parses `key=value,key=value`: options are described by data and read key by key.
pub mod options {
    pub use crate::text::limits::{duration, exponent, number, requests, share};
    pub use crate::text::parameter::{Options, choice, unquoted_parts, value};
}
