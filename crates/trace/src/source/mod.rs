//! A trace as bytes: where it lies, and how it is compressed.

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
