//! Flags of a Linux block request, as letters of `blkparse` or bits of `blktrace`, converted to a request. A
//! write with a preflush is a FLUSH followed by the write.

use crate::reading::lines_of::Parsed;
use crate::reading::record::Record;
use crate::text::numbers::excerpt;
use crate::text::parameter::Parameter;
use wordline_units::{Attributes, HostOp};

/// Which event counts as the request, for both forms of a block trace.
pub(crate) const EVENT: Parameter = Parameter {
    key: "event",
    unit: "word",
    default: "D, or Q without D events",
    allowed: "D, Q",
    choices: &["D", "Q"],
    about: "event that counts as the request: D when issued to the device, Q when queued, before merging",
};

/// The flags of a block request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flags {
    /// The operation; none for a request without data.
    pub op: Option<HostOp>,
    /// Whether all earlier writes must be durable first.
    pub preflush: bool,
    /// Whether the data must be durable before completion.
    pub fua: bool,
}

impl Flags {
    /// Parses letters such as `R`, `WS`, `FWFSM`, `D`, `FN`, `WZS`. The kernel writes the preflush first,
    /// then the operation, then FUA, read-ahead, sync, meta and atomic. `WZ` writes zeroes without sending
    /// data: the drive may forget the range. Zone commands (`Z` and what follows) move no data.
    #[inline]
    pub fn of_letters(text: &[u8]) -> Option<Flags> {
        let (preflush, rest) = match text {
            [b'F', rest @ ..] if matches!(rest.first(), Some(b'W' | b'R' | b'D' | b'N' | b'F' | b'Z')) => {
                (true, rest)
            }
            _ => (false, text),
        };
        let (op, rest) = match rest {
            [b'Z', b'R', b'A', rest @ ..] => (None, rest),
            [b'Z', b'R' | b'O' | b'C' | b'F', rest @ ..] => (None, rest),
            [b'W', b'Z', rest @ ..] => (Some(HostOp::Trim), rest),
            [b'D', b'E', rest @ ..] => (Some(HostOp::Trim), rest),
            [b'R', rest @ ..] => (Some(HostOp::Read), rest),
            [b'W', rest @ ..] => (Some(HostOp::Write), rest),
            [b'D', rest @ ..] => (Some(HostOp::Trim), rest),
            [b'F', rest @ ..] => (Some(HostOp::Flush), rest),
            [b'N', rest @ ..] => (None, rest),
            _ => return None,
        };
        let known = |c: &u8| matches!(c, b'F' | b'A' | b'S' | b'M' | b'E' | b'B' | b'U');
        if !rest.iter().all(known) {
            return None;
        }
        Some(Flags { op, preflush, fua: op == Some(HostOp::Write) && rest.contains(&b'F') })
    }

    /// Error message for unknown letters.
    #[cold]
    pub fn fault(text: &[u8]) -> String {
        if text.starts_with(b"ZA") {
            return "ZA appends to a zone, at a place that the drive chooses and the trace does not have"
                .into();
        }
        format!("unknown operation letters \"{}\"", excerpt(text, 16))
    }

    /// From a blktrace action above its lower 16 bits; bits from 16 on came with version 8.
    #[inline]
    pub fn of_bits(bits: u64) -> Flags {
        const WRITE: u64 = 1 << 1;
        const FLUSH: u64 = 1 << 2;
        const DISCARD: u64 = 1 << 13;
        const FUA: u64 = 1 << 15;
        const ZONES: u64 = 0x3f << 16;
        const WRITE_ZEROES: u64 = 1 << 22;
        if bits & ZONES != 0 {
            return Flags { op: None, preflush: bits & FLUSH != 0, fua: false };
        }
        let op = if bits & (DISCARD | WRITE_ZEROES) != 0 {
            HostOp::Trim
        } else if bits & WRITE != 0 {
            HostOp::Write
        } else {
            HostOp::Read
        };
        let fua = op == HostOp::Write && bits & FUA != 0;
        Flags { op: Some(op), preflush: bits & FLUSH != 0, fua }
    }

    /// The request at `time` for this many bytes from `offset`.
    #[inline]
    pub fn request(self, time: u64, offset: u64, bytes: u64, volume: u16) -> Parsed {
        let flush =
            Record { time, offset: 0, bytes: 0, op: HostOp::Flush, attributes: Attributes::NONE, volume };
        match self.op {
            // A write without data that has a preflush, or a flush operation, is only a FLUSH.
            Some(HostOp::Flush) => Parsed::Request(flush),
            _ if bytes == 0 && self.preflush => Parsed::Request(flush),
            None => Parsed::Aside,
            Some(op) => {
                let record = Record {
                    time,
                    offset,
                    bytes,
                    op,
                    attributes: Attributes::NONE.with_fua(self.fua),
                    volume,
                };
                if self.preflush { Parsed::AfterFlush(record) } else { Parsed::Request(record) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_read_in_the_order_of_the_kernel() {
        let flags = |t: &str| Flags::of_letters(t.as_bytes()).map(|f| (f.op, f.preflush, f.fua));
        assert_eq!(flags("R"), Some((Some(HostOp::Read), false, false)));
        assert_eq!(flags("RAM"), Some((Some(HostOp::Read), false, false)));
        assert_eq!(flags("WS"), Some((Some(HostOp::Write), false, false)));
        assert_eq!(flags("WFS"), Some((Some(HostOp::Write), false, true)));
        assert_eq!(flags("FWS"), Some((Some(HostOp::Write), true, false)));
        assert_eq!(flags("FWFSM"), Some((Some(HostOp::Write), true, true)));
        assert_eq!(flags("D"), Some((Some(HostOp::Trim), false, false)));
        assert_eq!(flags("F"), Some((Some(HostOp::Flush), false, false)));
        assert_eq!(flags("FN"), Some((None, true, false)));
        assert_eq!(flags("N"), Some((None, false, false)));
        assert_eq!(flags("WFSU"), Some((Some(HostOp::Write), false, true)));
        assert_eq!(flags("WZS"), Some((Some(HostOp::Trim), false, false)));
        assert_eq!(flags("FWZS"), Some((Some(HostOp::Trim), true, false)));
        assert_eq!(flags("DE"), Some((Some(HostOp::Trim), false, false)));
        for zones in ["ZR", "ZRAS", "ZO", "ZF"] {
            assert_eq!(flags(zones), Some((None, false, false)));
        }
        assert_eq!((flags("WZX"), flags("ZX"), flags("Z"), flags("ZA")), (None, None, None, None));
        assert_eq!(flags("X"), None);
        assert_eq!(flags("Read"), None);
        assert_eq!(flags(""), None);
    }

    // Without data it is a flush.
    #[test]
    fn preflush_with_data_is_a_flush_and_a_write() {
        let of = |t: &[u8], bytes| Flags::of_letters(t).unwrap().request(5, 4096, bytes, 0);
        assert!(
            matches!(of(b"FWFS", 512), Parsed::AfterFlush(r) if r.attributes.is_fua() && r.op == HostOp::Write)
        );
        for (letters, bytes) in [(&b"FWS"[..], 0), (b"FN", 0), (b"F", 0), (b"FS", 512)] {
            assert!(matches!(of(letters, bytes), Parsed::Request(r) if r.op == HostOp::Flush));
        }
        assert!(matches!(of(b"N", 0), Parsed::Aside));
        let discard = Flags::of_bits(1 << 13 | 1 << 1);
        assert_eq!((discard.op, discard.fua), (Some(HostOp::Trim), false));
        let zeroes = Flags::of_bits(1 << 22 | 1 << 1 | 1 << 3);
        assert_eq!((zeroes.op, Flags::of_bits(1 << 17 | 1 << 1).op), (Some(HostOp::Trim), None));
        let commit = Flags::of_bits(0x901e);
        assert_eq!((commit.op, commit.preflush, commit.fua), (Some(HostOp::Write), true, true));
    }
}
