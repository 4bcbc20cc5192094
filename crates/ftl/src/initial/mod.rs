//! What a drive can be before its first request, and how a plane is written without time until it is so.

pub(crate) mod sample;
pub(crate) mod untimed;
pub(crate) mod windows;
