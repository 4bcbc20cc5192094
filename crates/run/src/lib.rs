//! One experiment, from the specification to the report: resolve names and files, build the drive, set its initial
//! state, run the workload, and write the results.
//!
//! Overview: a [`RunSpec`] is the specification; [`Setup::resolve`] turns everything but the scheme into a device, a
//! workload and an initial state, each problem a [`RunError`]; [`run`] and [`compare`] execute it, each replica of each
//! scheme separately; [`rerun`] repeats it from a report alone. Command line and Python are two interfaces of these
//! four.

#![allow(clippy::disallowed_methods, reason = "a report says how fast the engine was")]

mod ask;
mod begin;
mod error;
mod execute;
mod feed;
mod fill;
mod host;
mod plane_shares;
mod record;
mod regime;
mod stepping;
mod study;

pub use ask::initial::{Filled, InitialSpec};
pub use ask::length::{RunLength, run_length, verdict_bytes};
pub use ask::report_path::{report_file, report_text};
pub use ask::saved::{Snapshot, unnamed};
pub use ask::setup::{Setup, device, device_of_run};
pub use ask::spec::{
    DEFAULT_INITIAL, DEFAULT_SEED, Executor, Job, JobProgress, JobResult, LifetimeSpec, OnProgress,
    REPLICAS_MAX, RunSpec, VERSION,
};
pub use begin::device_over;
pub use error::{Blame, RunError};
pub use execute::{Progress, run_on, run_recorded};
pub use feed::Feed;
pub use record::recorder::{Files, Recording};
pub use record::timeline::Window;
pub use stepping::{Blocks, SteppedDrive};
pub use study::compare::{ALL_COMPATIBLE, admitted, compare, compare_finished, ignored_scheme_keys, run};
pub use study::division::divided;
pub use study::lifetime::{LifeProgress, Lives, WhichLife, lifetime};
pub use study::model::model;
pub use study::requests::{Numbers, OfRequests, Requests, Words, requests};
pub use study::rerun::{Rerun, rerun, rerun_with};
pub use study::sensitivity::{SHIFT_POINTS, sensitivity};
pub use study::why::why;
pub use study::why_sums::{Slowest, WhyAsked};
pub use wordline_sim::EndOfLife;
