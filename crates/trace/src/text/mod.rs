//! What people and files write: numbers, and options with their values.

pub(crate) mod bounded;
pub(crate) mod numbers;
pub(crate) mod parameter;
