//! What people and files write: numbers, and options with their values.

pub(crate) mod limits;
pub(crate) mod numbers;
pub(crate) mod parameter;
