//! All mutable state of a drive, with its invariants: data, and what maintains them. Nothing here begins an operation.
//!
//! `state.rs` puts the parts together. `blocks` has the blocks, and the functions that alone change them.

pub(crate) mod addressing;
pub(crate) mod aging;
pub(crate) mod backlog;
pub(crate) mod block;
pub(crate) mod blocks;
pub(crate) mod counters;
pub(crate) mod demand_map;
pub(crate) mod dies;
pub(crate) mod gather;
pub(crate) mod id;
pub(crate) mod idle_gc_copies;
pub(crate) mod idle_pace;
pub(crate) mod job;
pub(crate) mod journal;
pub(crate) mod latency;
pub(crate) mod layout_check;
pub(crate) mod merge;
pub(crate) mod min_tree;
pub(crate) mod moves;
pub(crate) mod op;
pub(crate) mod outbox;
pub(crate) mod page_index;
pub(crate) mod planes;
pub(crate) mod progress;
pub(crate) mod read_cache;
pub(crate) mod refresh;
pub(crate) mod region;
pub(crate) mod request;
pub(crate) mod requests;
pub(crate) mod sensing;
pub(crate) mod staging;
pub(crate) mod state;
pub(crate) mod store;
pub(crate) mod superblocks;
pub(crate) mod superpage_parity;
pub(crate) mod times;
pub(crate) mod trim;
pub(crate) mod victim;
pub(crate) mod wear;
pub(crate) mod without_effect;
pub(crate) mod wordline;
pub(crate) mod write_buffer;
pub(crate) mod write_pace;
