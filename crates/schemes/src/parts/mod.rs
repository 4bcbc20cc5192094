//! Building blocks of schemes: layouts, caches, windows, read counts. Each is used by several schemes, or is large
//! enough for a file of its own; none knows a scheme.

pub(crate) mod addresses;
pub(crate) mod analyser;
pub(crate) mod cache;
pub(crate) mod classifier;
pub(crate) mod layout;
pub(crate) mod lifetime_use;
pub(crate) mod packing;
pub(crate) mod page_type;
pub(crate) mod pair;
pub(crate) mod read_class;
pub(crate) mod read_heat;
pub(crate) mod reclaim;
pub(crate) mod reclaim_memory;
pub(crate) mod windows;
