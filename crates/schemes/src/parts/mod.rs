//! What schemes are put together from: layouts, caches, windows, counts of heat. Each is used by several of them, or is
//! large enough to stand beside the one that uses it; none knows a scheme.

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
