//! The translation layer alone: without clock, queues and the schemes of the product. A small device of the tests
//! takes operations out of it and ends them in an order that the test chooses.

#![allow(clippy::unwrap_used)] // helpers of tests, beside the test functions

mod begin;
mod bench;
mod buffer;
mod collect;
mod house;
mod inspect;
mod layout;
mod metadata;
mod names;
mod orders;
mod power;
mod program;
mod reach;
mod refused;
mod saved;
mod sources;
mod steps;
mod walls;
mod wear;
