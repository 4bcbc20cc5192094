//! The device as its users drive it: all integration tests of this crate, as one program, so that the engine is
//! compiled for them once.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod allocation;
mod cache_register;
mod changing_modes;
mod client;
mod energy;
mod hierarchy;
mod hierarchy_paper;
mod hot_cold;
mod hyssd;
mod in_place_switch;
mod interleavings;
mod map_cache;
mod media;
mod multiplane;
mod packing;
mod page_types;
mod parity;
mod place_asked;
mod power_cut;
mod program_buffer;
mod progress;
mod queues;
mod read_cache;
mod read_retries;
mod regressions;
mod service;
mod slc_cache;
mod snapshot;
mod stepping;
mod superblock;
mod support;
mod two_media;
mod undecided;
mod unloaded_latency;
mod watched;
mod wear;
mod write_buffer;
mod write_pace;
