//! The schemes of the literature, one file each, and the registry by which everything else finds
//! them: command line, Python, documentation and golden tests follow from it.

mod layout;
mod registry;

// A new scheme is its file and its two words here.
mod conventional;
mod hot_cold;
mod slc_cache;
const SCHEMES: &[Entry] = &[conventional::ENTRY, slc_cache::ENTRY, hot_cold::ENTRY];

pub use conventional::Conventional;
pub use hot_cold::HotCold;
pub use registry::{Entry, Parameter, SchemeError, all, build, find};
pub use slc_cache::SlcCache;
