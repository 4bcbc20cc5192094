//! What a drive can be before its first request, and how a plane is written without time until nothing changes any more.
//! Nothing here knows the drive: planes are made of shapes and numbers.

pub(crate) mod initial;
pub(crate) mod sample;
pub(crate) mod steady_types;
pub(crate) mod untimed;
pub(crate) mod windows;
