//! The numbers of the protocol document ("Values"), under its names.

/// `NBDMAGIC`, the first bytes that a server sends.
pub(crate) const NBDMAGIC: u64 = 0x4e42_444d_4147_4943;
/// `IHAVEOPT`, before each option.
pub(crate) const IHAVEOPT: u64 = 0x4948_4156_454f_5054;
/// Before each reply to an option.
pub(crate) const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// Before each request.
pub(crate) const REQUEST: u32 = 0x2560_9513;
/// Before a simple reply.
pub(crate) const SIMPLE_REPLY: u32 = 0x6744_6698;
/// Before each chunk of a structured reply.
pub(crate) const STRUCTURED_REPLY: u32 = 0x668e_33ef;

/// Handshake flags of both server and client.
pub(crate) const FIXED_NEWSTYLE: u16 = 1;
/// See [`FIXED_NEWSTYLE`].
pub(crate) const NO_ZEROES: u16 = 2;

/// Options.
pub(crate) mod option {
    pub(crate) const EXPORT_NAME: u32 = 1;
    pub(crate) const ABORT: u32 = 2;
    pub(crate) const LIST: u32 = 3;
    pub(crate) const STARTTLS: u32 = 5;
    pub(crate) const INFO: u32 = 6;
    pub(crate) const GO: u32 = 7;
    pub(crate) const STRUCTURED_REPLY: u32 = 8;
    pub(crate) const LIST_META_CONTEXT: u32 = 9;
    pub(crate) const SET_META_CONTEXT: u32 = 10;
}

/// Replies to options. Errors have the highest bit set.
pub(crate) mod answer {
    pub(crate) const ACK: u32 = 1;
    pub(crate) const SERVER: u32 = 2;
    pub(crate) const INFO: u32 = 3;
    pub(crate) const META_CONTEXT: u32 = 4;
    pub(crate) const ERR_UNSUP: u32 = 1 << 31 | 1;
    pub(crate) const ERR_POLICY: u32 = 1 << 31 | 2;
    pub(crate) const ERR_INVALID: u32 = 1 << 31 | 3;
    pub(crate) const ERR_TLS_REQD: u32 = 1 << 31 | 5;
    pub(crate) const ERR_UNKNOWN: u32 = 1 << 31 | 6;
}

/// Information in reply to `NBD_OPT_INFO` and `NBD_OPT_GO`.
pub(crate) mod info {
    pub(crate) const EXPORT: u16 = 0;
    pub(crate) const NAME: u16 = 1;
    pub(crate) const DESCRIPTION: u16 = 2;
    pub(crate) const BLOCK_SIZE: u16 = 3;
}

/// Transmission flags: what an export supports.
pub(crate) mod can {
    pub(crate) const HAS_FLAGS: u16 = 1;
    pub(crate) const READ_ONLY: u16 = 1 << 1;
    pub(crate) const FLUSH: u16 = 1 << 2;
    pub(crate) const FUA: u16 = 1 << 3;
    pub(crate) const TRIM: u16 = 1 << 5;
    pub(crate) const WRITE_ZEROES: u16 = 1 << 6;
    pub(crate) const DF: u16 = 1 << 7;
    pub(crate) const MULTI_CONN: u16 = 1 << 8;
    pub(crate) const CACHE: u16 = 1 << 10;
    pub(crate) const FAST_ZERO: u16 = 1 << 11;
}

/// Requests.
pub(crate) mod command {
    pub(crate) const READ: u16 = 0;
    pub(crate) const WRITE: u16 = 1;
    pub(crate) const DISC: u16 = 2;
    pub(crate) const FLUSH: u16 = 3;
    pub(crate) const TRIM: u16 = 4;
    pub(crate) const CACHE: u16 = 5;
    pub(crate) const WRITE_ZEROES: u16 = 6;
    pub(crate) const BLOCK_STATUS: u16 = 7;
}

/// Flags of requests.
pub(crate) mod flag {
    pub(crate) const FUA: u16 = 1;
    pub(crate) const NO_HOLE: u16 = 2;
    pub(crate) const DF: u16 = 4;
    pub(crate) const REQ_ONE: u16 = 8;
    pub(crate) const FAST_ZERO: u16 = 16;
}

/// Types of chunks of a structured reply.
pub(crate) mod chunk {
    pub(crate) const NONE: u16 = 0;
    pub(crate) const OFFSET_DATA: u16 = 1;
    pub(crate) const BLOCK_STATUS: u16 = 5;
    pub(crate) const ERROR: u16 = 1 << 15 | 1;
    /// The flag of the last chunk.
    pub(crate) const DONE: u16 = 1;
}

/// States of `base:allocation`.
pub(crate) const HOLE_AND_ZERO: u32 = 3;
/// The number that this server assigns to `base:allocation`.
pub(crate) const ALLOCATION: u32 = 1;
/// The only metadata context.
pub(crate) const BASE_ALLOCATION: &str = "base:allocation";

/// Error codes of replies ("Error values").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum NbdError {
    /// The export is read-only.
    NotPermitted = 1,
    /// The drive cannot read or store the data.
    Io = 5,
    /// The request is invalid.
    Invalid = 22,
    /// A write beyond the end, or on a drive without space.
    NoSpace = 28,
    /// Zeroing would be no faster than writing.
    NotSupported = 95,
    /// The server is shutting down.
    Shutdown = 108,
}

/// Maximum bytes of a read or a write, as in `NBD_INFO_BLOCK_SIZE`.
pub(crate) const MAX_PAYLOAD: u32 = 64 << 20;
/// Maximum bytes of a write that is refused and whose data are received and dropped, as nbdkit does. A larger one ends the
/// connection.
pub(crate) const MAX_SKIPPED: u32 = 2 * MAX_PAYLOAD;
/// Maximum bytes of a name ("a client MUST NOT send a string longer than 4096 bytes").
pub(crate) const MAX_STRING: usize = 4096;
/// Maximum bytes of an option's data.
pub(crate) const MAX_OPTION: u32 = 16 << 10;
/// Maximum number of options of a handshake.
pub(crate) const MAX_OPTIONS: u32 = 256;
