//! All that changes as a drive works, with its own invariants: data and the methods that keep them true, and nothing
//! that begins an operation.

pub(crate) mod aging;
pub(crate) mod ahead;
pub(crate) mod backlog;
pub(crate) mod block;
pub(crate) mod counters;
pub(crate) mod demand_map;
pub(crate) mod frontier;
pub(crate) mod journal;
pub(crate) mod latency;
pub(crate) mod members;
pub(crate) mod op;
pub(crate) mod read_cache;
pub(crate) mod space;
pub(crate) mod staging;
pub(crate) mod state;
pub(crate) mod trim;
pub(crate) mod victim;
pub(crate) mod wear;
