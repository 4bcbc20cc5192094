//! The schemes of the literature, one file each, and the registry by which everything else finds
//! them: command line, Python, documentation and golden tests follow from it.

mod layout;
mod page_type;
mod registry;

// A new scheme is its file and its two words here.
mod conventional;
mod conventional_tlc;
mod hot_cold;
mod pa_ssd;
mod slc_cache;
const SCHEMES: &[Entry] =
    &[conventional::ENTRY, slc_cache::ENTRY, hot_cold::ENTRY, conventional_tlc::ENTRY, pa_ssd::ENTRY];

pub use conventional::Conventional;
pub use conventional_tlc::ConventionalTlc;
pub use hot_cold::HotCold;
pub use pa_ssd::PaSsd;
pub use registry::{Entry, Parameter, SchemeError, all, build, find};
pub use slc_cache::SlcCache;
