//! What a request of the host becomes.

pub(crate) mod complete;
pub(crate) mod fill;
pub(crate) mod flush;
pub(crate) mod read;
pub(crate) mod submit;
pub(crate) mod trim;
pub(crate) mod write;
