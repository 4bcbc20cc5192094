//! All that changes as a drive works, with its own invariants: data, and the methods that keep them true. Nothing here begins
//! an operation.
//!
//! `state.rs` puts the parts together. What concerns several of them at once is added to it in files that import it:
//! `frontier.rs`, `space.rs`, `capacity.rs`, `lives.rs`, `members.rs`.

pub(crate) mod aging;
pub(crate) mod ahead;
pub(crate) mod backlog;
pub(crate) mod block;
pub(crate) mod capacity;
pub(crate) mod cause;
pub(crate) mod counters;
pub(crate) mod demand_map;
pub(crate) mod frontier;
pub(crate) mod gather;
pub(crate) mod job;
pub(crate) mod journal;
pub(crate) mod latency;
pub(crate) mod lives;
pub(crate) mod members;
pub(crate) mod merge;
pub(crate) mod min_tree;
pub(crate) mod op;
pub(crate) mod read_cache;
pub(crate) mod refresh;
pub(crate) mod region;
pub(crate) mod request;
pub(crate) mod space;
pub(crate) mod stager;
pub(crate) mod staging;
pub(crate) mod state;
pub(crate) mod suits;
pub(crate) mod superblocks;
pub(crate) mod times;
pub(crate) mod trim;
pub(crate) mod victim;
pub(crate) mod wear;
pub(crate) mod write_buffer;
