//! The schemes of the literature, one file each, and the registry by which everything else finds
//! them: command line, Python, documentation and golden tests follow from it.

mod check;
pub mod cost_model;
mod hyssd_model;
mod parameters;
mod parts;
mod registry;
mod spelling;
mod stacked;

/// The text of a scheme to begin with, which CONTRIBUTING.md shows: a file that compiles.
pub const SAMPLE: &str = include_str!("../tests/sample/my_scheme.rs");

/// The same, compiled.
#[cfg(test)]
#[path = "../tests/sample/my_scheme.rs"]
mod my_scheme;

// A new scheme is its file and its two words here.
mod conventional;
mod conventional_tlc;
mod hierarchy;
mod hot_cold;
mod hotness;
mod hyssd;
mod ips;
mod ips_agc;
mod ips_cooperative;
mod pa_ssd;
mod raro;
mod sa;
mod sector;
mod slc_cache;
mod turbo_write;
const SCHEMES: &[fn() -> Entry] = &[
    conventional::entry,
    slc_cache::entry,
    hot_cold::entry,
    conventional_tlc::entry,
    pa_ssd::entry,
    hyssd::entry,
    turbo_write::entry,
    ips::entry,
    ips_agc::entry,
    ips_cooperative::entry,
    raro::entry,
    hotness::entry,
    sa::entry,
    sector::entry,
    hierarchy::entry,
];

pub use check::check;
pub use conventional::Conventional;
pub use conventional_tlc::ConventionalTlc;
pub use hierarchy::Hierarchy;
pub use hot_cold::HotCold;
pub use hotness::Hotness;
pub use hyssd::Hyssd;
pub use hyssd_model::{Model, ModelError, ModelPoint};
pub use ips::Ips;
pub use ips_agc::IpsAgc;
pub use ips_cooperative::IpsCooperative;
pub use pa_ssd::PaSsd;
pub use parameters::{Parameter, Parameters, Wanted};
pub use raro::Raro;
pub use registry::{Entry, RegistryError, SchemeError};
pub use sa::Sa;
pub use sector::Sector;
pub use slc_cache::SlcCache;
pub use spelling::{Registry, all, build, find, layers};
pub use turbo_write::TurboWrite;
