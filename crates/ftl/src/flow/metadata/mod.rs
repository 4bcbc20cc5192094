//! Programs of the drive's own tables: a map on flash, and the trim log.

pub(crate) mod demand_map;
pub(crate) mod trim_log;
