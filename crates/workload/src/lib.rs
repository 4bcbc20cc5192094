//! Where requests come from: traces of real drives in the formats that people have on their disks,
//! and synthetic workloads. Both become a stream of `HostRequest`s that a drive of a given shape
//! can take, the same each time it is opened.
//!
//! A trace goes `source` (bytes, decompressed) → `formats` (records) → `joined`, `sorted` (several
//! files as one, in order of time) → `cursor` (requests in blocks) → `trace` (time zero, volumes side by side, `fit`, pace). A synthetic workload goes
//! `synthetic::generator` (kind, size, time) → a pattern (address); a twin is made by `twin::stream`. A fio
//! job file goes `jobs` (keys → jobs → a script that is asked request by request). A trace that is written
//! goes `source` → `formats` → `pipeline` → `compress`. Nothing here reads a clock, and nothing prints.

mod alias;
mod compress;
mod cursor;
mod detect;
mod error;
mod fit;
mod formats;
mod inspect;
mod jobs;
mod joined;
mod lines;
mod lz4;
mod numbers;
mod pace;
mod pages;
mod parameter;
mod pipeline;
mod profile;
mod random;
mod scan;
mod sorted;
mod source;
mod synthetic;
mod table;
mod trace;
pub mod twin;
mod updates;
mod workload;
mod zipf_law;

pub use error::{ErrorKind, Problem, WorkloadError};
pub use fit::{DriveShape, Fit};
pub use formats::{Confidence, FORMATS, Format, Order, Position, Timing, format_named};
pub use inspect::{CacheInfo, Inspection, SizeClass, VolumeInfo, inspect, inspect_profiled};
pub use jobs::{JOB_KEYS, JOB_OPTIONS, JobKey, JobScript, JobWindow, Standing, Turn};
pub use numbers::readable_bytes;
pub use pace::{Limit, Pacing};
pub use parameter::Parameter;
pub use pipeline::{Align, Form, Losses, NumberRange, Pipeline, Scale, Share, Step, TimeRange, Written};
pub use profile::{Arrivals, HitRatio, Hits, Profile, Reuse};
pub use random::RandomStream;
pub use scan::{Backwards, StepBack, Unusable, UnusableLine};
pub use source::Compression;
pub use synthetic::{SYNTHETICS, Synthetic, synthetic_named};
pub use trace::TRACE_OPTIONS;
pub use updates::{UNTOUCHED, UpdateLaw, UpdateStream, Updates};
pub use workload::{
    Footprint, Overrides, RequestStream, Source, Touched, Workload, with_format, with_options,
};
pub use zipf_law::ZipfLaw;
