//! Independent tables of a device file: their meaning, and how they are read and written.

pub(crate) mod dram;
pub(crate) mod errors;
pub(crate) mod queues;
pub(crate) mod service;
pub(crate) mod wear;
pub(crate) mod words;
