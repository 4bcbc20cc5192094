//! A trace as bytes: its location and compression.

pub(crate) mod compression;
pub(crate) mod decoder;
pub(crate) mod encoder;
pub(crate) mod frame;
pub(crate) mod hashing;
#[cfg(feature = "compression")]
pub(crate) mod lz4;
pub(crate) mod session;
pub(crate) mod source;
pub(crate) mod spool;
