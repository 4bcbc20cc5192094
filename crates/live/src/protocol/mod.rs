//! The NBD protocol, fixed newstyle, as specified (https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md,
//! "The NBD protocol"): messages only, independent of drives. Numbers are big-endian.

pub(crate) mod fuzz_entry;
pub(crate) mod handshake;
pub(crate) mod numbers;
pub(crate) mod options;
pub(crate) mod reply;
pub(crate) mod request;
