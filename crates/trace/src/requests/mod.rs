//! Streams of requests: their fit to a drive, pace and pauses, and touched pages.

pub(crate) mod fit;
pub(crate) mod pace;
pub(crate) mod pages;
pub(crate) mod pauses;
pub(crate) mod stream;
