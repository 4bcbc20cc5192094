//! Splits client requests, in bytes, into requests of the drive: by sectors, logical pages, and maximum length.

use crate::protocol::request::Verb;
use std::ops::Range;
use wordline_units::{HostOp, HostRequest, LBA_BYTES};

/// Maximum length of a trim request.
const TRIMMED: u64 = 64 << 20;
/// Maximum number of zeroes per write.
const ZEROED: u64 = 1 << 20;

/// Next request of the drive for a command; ranges are in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Piece {
    Read(Range<u64>),
    /// The client's data.
    Write(Range<u64>),
    Zero(Range<u64>),
    Trim(Range<u64>),
    Flush,
}

/// Remaining pieces of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rest {
    verb: Verb,
    left: Range<u64>,
    /// Zeroes must be written as data; a hole is not allowed.
    solid: bool,
    /// The command ends with a flush.
    flush: bool,
}

/// Units of a drive, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Units {
    /// Minimum size of reads and writes.
    pub sector: u64,
    /// Minimum size of trims.
    pub page: u64,
}

impl Rest {
    /// All pieces of a command. With FUA, a trim is followed by a flush, and a write carries the attribute
    /// itself. A trim is a hint: only blocks that lie entirely within it are trimmed.
    pub(crate) fn new(verb: Verb, range: Range<u64>, solid: bool, fua: bool) -> Rest {
        let flush = verb == Verb::Flush || fua && matches!(verb, Verb::Trim | Verb::WriteZeroes);
        let left = match verb {
            Verb::Flush => 0..0,
            Verb::Trim => range.start.next_multiple_of(LBA_BYTES)..range.end / LBA_BYTES * LBA_BYTES,
            _ => range,
        };
        Rest { verb, left, solid, flush }
    }

    /// The next piece. Submit it only when all earlier pieces have completed.
    pub(crate) fn next(&mut self, units: Units) -> Option<Piece> {
        if self.left.is_empty() {
            return std::mem::take(&mut self.flush).then_some(Piece::Flush);
        }
        let (start, end) = (self.left.start, self.left.end);
        // End at the next multiple of a size, so that no unit is split.
        let up_to = |size: u64| (start / size).saturating_add(1).saturating_mul(size).min(end);
        let piece = match self.verb {
            Verb::Read => Piece::Read(start..end),
            Verb::Cache => Piece::Read(start..up_to(ZEROED.next_multiple_of(units.sector))),
            Verb::Write => Piece::Write(start..end),
            Verb::Trim => Piece::Trim(start..up_to(TRIMMED.next_multiple_of(units.page))),
            _ if self.solid => Piece::Zero(start..up_to(ZEROED.next_multiple_of(units.sector))),
            _ => {
                let whole = up_to(TRIMMED.next_multiple_of(units.page)) / units.page * units.page;
                if start.is_multiple_of(units.page) && whole > start {
                    Piece::Trim(start..whole)
                } else {
                    Piece::Zero(start..up_to(units.page))
                }
            }
        };
        let (Piece::Read(done) | Piece::Write(done) | Piece::Zero(done) | Piece::Trim(done)) = &piece else {
            return Some(piece);
        };
        self.left.start = done.end;
        Some(piece)
    }
}

impl Units {
    /// Whether a range consists of whole pages.
    pub(crate) fn are_whole(self, range: &Range<u64>) -> bool {
        range.start.is_multiple_of(self.page) && range.end.is_multiple_of(self.page)
    }

    /// The range, extended to whole sectors, in bytes.
    pub(crate) fn outward(self, range: &Range<u64>) -> Range<u64> {
        range.start / self.sector * self.sector..range.end.next_multiple_of(self.sector)
    }

    /// The sectors that a range covers in part, by their first byte: the first, the last, or one that is
    /// both.
    pub(crate) fn torn(self, range: &Range<u64>) -> impl Iterator<Item = u64> {
        let outer = self.outward(range);
        let first = (outer.start < range.start).then_some(outer.start);
        let last = (range.end < outer.end).then(|| outer.end - self.sector);
        first.into_iter().chain(last.filter(|last| first != Some(*last)))
    }
}

/// A request for a range of whole 512-byte blocks.
pub(crate) fn asked(op: HostOp, range: &Range<u64>) -> HostRequest {
    let blocks = (range.end.div_ceil(LBA_BYTES) - range.start / LBA_BYTES).min(u64::from(u32::MAX));
    HostRequest::new(op, range.start / LBA_BYTES, blocks as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: Units = Units { sector: 4096, page: 16_384 };

    fn all(mut rest: Rest) -> Vec<Piece> {
        std::iter::from_fn(|| rest.next(UNITS)).collect()
    }

    #[test]
    fn zeroes_are_trimmed_in_whole_pages_and_written_at_edges() {
        let pieces = all(Rest::new(Verb::WriteZeroes, 100..50_000, false, true));
        let wanted = [
            Piece::Zero(100..16_384),
            Piece::Trim(16_384..49_152),
            Piece::Zero(49_152..50_000),
            Piece::Flush,
        ];
        assert_eq!(pieces, wanted);
        assert_eq!(all(Rest::new(Verb::WriteZeroes, 5..9, false, false)), [Piece::Zero(5..9)]);
    }

    #[test]
    fn pieces_cover_a_command_once_and_end_where_units_do() {
        for verb in [Verb::Read, Verb::Write, Verb::Trim, Verb::WriteZeroes] {
            for solid in [false, true] {
                for range in
                    [0..1u64, 1..(200 << 20) + 3, 16_384..32_768, 4095..4097, (64 << 20) - 1..u32::MAX.into()]
                {
                    let (mut at, mut last) = (range.start, range.end);
                    if verb == Verb::Trim {
                        (at, last) = (at.next_multiple_of(LBA_BYTES), last / LBA_BYTES * LBA_BYTES);
                    }
                    for piece in all(Rest::new(verb, range.clone(), solid, false)) {
                        let (Piece::Read(r) | Piece::Write(r) | Piece::Zero(r) | Piece::Trim(r)) = piece
                        else {
                            panic!("no flush was asked for");
                        };
                        assert!(r.start == at && r.end > at, "{verb:?} {range:?}: {r:?} after {at}");
                        let cut = r.end < last;
                        assert!(!cut || r.end.is_multiple_of(UNITS.sector), "{verb:?} {range:?}: {r:?}");
                        assert!(!cut || verb != Verb::Trim || r.end.is_multiple_of(UNITS.page));
                        at = r.end;
                    }
                    assert_eq!(at, last);
                }
            }
        }
        assert_eq!(all(Rest::new(Verb::Flush, 0..0, false, false)), [Piece::Flush]);
    }

    #[test]
    fn a_trim_asks_for_no_byte_beside_it() {
        let trimmed = |range| all(Rest::new(Verb::Trim, range, false, false));
        assert_eq!(trimmed(100..20_000), [Piece::Trim(512..19_968)]);
        assert_eq!(trimmed(512..1024), [Piece::Trim(512..1024)]);
        for nothing in [1..511, 1..1023, 0..511, 513..1024] {
            assert!(trimmed(nothing.clone()).is_empty(), "{nothing:?}");
        }
        assert_eq!(all(Rest::new(Verb::Trim, 1..2, false, true)), [Piece::Flush]);
    }

    #[test]
    fn sectors_that_are_written_in_part_are_found() {
        let torn = |range| UNITS.torn(&range).collect::<Vec<_>>();
        assert!(torn(0..8192).is_empty());
        assert_eq!(torn(1..8192), [0]);
        assert_eq!(torn(1..8191), [0, 4096]);
        assert_eq!(torn(1..4095), [0]);
        assert_eq!(torn(4096..4097), [4096]);
        assert_eq!(torn(0..8193), [8192]);
        assert_eq!(UNITS.outward(&(1..4097)), 0..8192);
        assert_eq!(asked(HostOp::Read, &(4096..8192)), HostRequest::new(HostOp::Read, 8, 8));
        assert_eq!(asked(HostOp::Read, &(513..514)), HostRequest::new(HostOp::Read, 1, 1));
    }
}
