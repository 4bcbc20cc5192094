//! Host requests and the operations that they create. Reads are resolved in RAM first, then by the map; writes are cut
//! into parcels, placed by the scheme and staged; trims and flushes act on both.

pub(crate) mod fill;
pub(crate) mod flush;
pub(crate) mod read;
pub(crate) mod submit;
pub(crate) mod trim;
pub(crate) mod write;
