//! A trace as bytes: where it lies, and how it is compressed.

pub(crate) mod compression;
pub(crate) mod encoder;
pub(crate) mod hashing;
pub(crate) mod lz4;
pub(crate) mod source;
