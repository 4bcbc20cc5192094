//! One experiment, from what a user asked for to the report: resolve names and files, build the
//! drive, put it into its initial state, drive it with the workload, and write down what came out.
//!
//! The way through: a [`RunSpec`] is what was asked; [`Setup::resolve`] turns all of it but the
//! scheme into a device, a workload and an initial state, each problem a [`RunError`]; [`run`] and
//! [`compare`] do the work, each replica of each scheme by itself; [`rerun`] does it again from a report alone. Command line and Python
//! are two faces of these four.

mod begin;
mod compare;
mod completions;
mod error;
mod execute;
mod fill;
mod given;
mod given_report;
mod hints;
mod initial;
mod jobs;
mod lifetime;
mod model;
mod output;
mod queues;
mod record;
mod rerun;
mod saved;
mod sensitivity;
mod setup;
mod spec;
mod steady;
mod timeline;
mod why;
mod why_sums;

pub use compare::{ALL_COMPATIBLE, admitted, compare};
pub use error::{Blame, RunError};
pub use execute::{Progress, run, run_on, run_recorded};
pub use given_report::report_file;
pub use initial::{Filled, InitialSpec};
pub use lifetime::{LifeProgress, LifetimeSpec, lifetime};
pub use model::model;
pub use record::{Files, Recording};
pub use rerun::{Rerun, rerun, rerun_with};
pub use saved::Snapshot;
pub use sensitivity::{SHIFT_POINTS, sensitivity};
pub use setup::{Setup, device};
pub use spec::{DEFAULT_INITIAL, DEFAULT_SEED, REPLICAS_MAX, RunSpec};
pub use timeline::Window;
pub use why::{WhyAsked, why};
pub use why_sums::Slowest;
pub use wordline_sim::EndOfLife;

/// The version that reports carry.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
