//! What a request of the host becomes.

pub(crate) mod write;
