//! The NBD protocol, fixed newstyle, as its document has it (https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md,
//! "The NBD protocol"): what is sent and read, and nothing of drives. Numbers are big-endian.

pub(crate) mod fuzz_entry;
pub(crate) mod handshake;
pub(crate) mod numbers;
pub(crate) mod options;
pub(crate) mod reply;
pub(crate) mod request;
