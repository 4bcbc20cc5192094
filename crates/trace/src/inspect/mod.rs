//! What a trace is like.

pub(crate) mod inspect;
pub(crate) mod profile;
pub(crate) mod render;
