//! Tables of a device file that stand for themselves: what each says, how it is read and written.

pub(crate) mod dram;
pub(crate) mod errors;
pub(crate) mod queues;
pub(crate) mod service;
pub(crate) mod wear;
pub(crate) mod words;
