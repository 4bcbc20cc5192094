//! The layout of a file, and its special numbers.

use crate::reading::record::Record;
use wordline_units::HostOp;

pub(crate) const MAGIC: &[u8; 8] = b"WLTRACE\x1a";
pub(crate) const VERSION: u32 = 3;
/// The versions that can be read.
pub(crate) const READ: std::ops::RangeInclusive<u32> = 1..=VERSION;
pub(crate) const BLOCK: &[u8; 4] = b"BLK1";
pub(crate) const END: &[u8; 4] = b"END1";
pub(crate) const BLOCK_HEADER: usize = 40;
/// Bytes of the footer before its volumes.
pub(crate) const COUNTS: usize = 80;
/// Requests per block. Their columns fit into a core's L2 cache.
pub(crate) const MOST: usize = 4096;
/// Number of values packed with one width.
pub(crate) const GROUP: usize = 128;
/// Maximum bytes of a payload: five columns of 64 bits, widths and a header.
pub(crate) const LARGEST: usize = 5 * (MOST * 8 + MOST / GROUP + 1) + 3;
/// Maximum width of a packed value that one load of 64 bits reaches from any bit of a byte.
pub(crate) const WIDEST: u32 = 56;
/// Bytes after a payload that such a load may touch.
pub(crate) const MARGIN: usize = 8;
/// Maximum length of a name in bytes.
pub(crate) const LONGEST_NAME: usize = 4096;
pub(crate) const FUA: u64 = 4;
/// Upper limit (exclusive) of a request's kind, by version. Hints are above the third bit, streams above the
/// fifth.
pub(crate) const PAST_KIND: [u64; 3] = [8, 32, 1024];
pub(crate) const HINT_SHIFT: u32 = 3;
pub(crate) const STREAM_SHIFT: u32 = 5;
pub(crate) const KINDS: [HostOp; 4] = [HostOp::Read, HostOp::Write, HostOp::Trim, HostOp::Flush];

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).map_or(0, |b| b.iter().rev().fold(0, |n, b| n << 8 | *b as u32))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u32_at(bytes, at) as u64 | (u32_at(bytes, at + 4) as u64) << 32
}

/// The kind of a request as one number.
pub(crate) fn kind(r: &Record) -> u64 {
    let fua = if r.attributes.is_fua() { FUA } else { 0 };
    let (hint, stream) = (r.attributes.hint() as u64, r.attributes.stream() as u64);
    r.op as u64 | fua | hint << HINT_SHIFT | stream << STREAM_SHIFT
}

/// Whether a number is the kind of a request.
#[inline]
pub(crate) fn is_kind(kind: u64, version: u32) -> bool {
    let (base, past) = (kind & 7, PAST_KIND[version as usize - 1]);
    let writes = base & !FUA == HostOp::Write as u64;
    let fits = if kind >> STREAM_SHIFT > 0 { writes } else { base < 3 || writes };
    kind < past && fits || kind == HostOp::Flush as u64
}
