//! Properties of a trace.

pub(crate) mod inspect;
pub(crate) mod profile;
pub(crate) mod render;
