//! The schemes of the literature, one file each, and the registry by which everything else finds
//! them: command line, Python, documentation and golden tests follow from it.

mod conventional;
mod registry;
mod slc_cache;

pub use conventional::Conventional;
pub use registry::{Entry, Parameter, SchemeError, all, build, find};
pub use slc_cache::SlcCache;
