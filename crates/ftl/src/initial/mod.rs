//! States of a drive before its first request, and untimed writes of a plane until it is steady. Nothing here knows the
//! drive: planes consist of shapes and numbers.

pub(crate) mod initial;
pub(crate) mod sample;
pub(crate) mod steady_types;
pub(crate) mod untimed;
pub(crate) mod windows;
