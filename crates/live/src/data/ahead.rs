//! Zeroes behind the end of the log, on the disk before records are written into them. A sync that changes neither the
//! length of its file nor its blocks writes nothing but the records, where the file system would have to commit its own
//! journal, too. They are there while few bytes follow each sync: many need not be written twice. Zeroes for a whole segment are
//! written while the one before is used, by the thread that folds the log; only the first segment is continued piece by piece.

use crate::data::segment::{Segment, write_zeroes};
use std::io;

/// Bytes since the last sync up to which zeroes are written ahead, and how many then.
pub(crate) const FEW: u64 = 64 << 10;
const AHEAD: u64 = 1 << 20;

/// The zeroes behind the end of a segment, and what the last sync covered.
pub(crate) struct Ahead {
    /// The end of the zeroes.
    end: u64,
    /// The length of the records at the last sync, and the number of the first record after it.
    length: u64,
    next: u64,
    /// The last sync covered few bytes, and one record of them.
    is_few: bool,
    is_each: bool,
}

impl Ahead {
    /// Of a new log, which begins with this record.
    pub(crate) fn new(next: u64) -> Ahead {
        Ahead { end: 0, length: 0, next, is_few: false, is_each: false }
    }

    /// A sync of all records begins, which have this length in the segment; `next` is the number of the next one. Write
    /// zeroes ahead, if few are left.
    pub(crate) fn sync(&mut self, segment: &Segment, length: u64, next: u64) {
        let (since, records) = (length - self.length, next - self.next);
        (self.length, self.next) = (length, next);
        self.is_each = records == 1 && since <= FEW;
        self.is_few = since > 0 && since <= FEW;
        if !self.is_few || length + FEW <= self.end {
            return;
        }
        let (from, to) = (length.max(self.end), length + AHEAD);
        match write_zeroes(&segment.file, from, to) {
            Ok(()) => self.end = to,
            // The disk may be full, which concerns only who needs the room.
            Err(_) => _ = segment.file.set_len(from),
        }
    }

    /// Whether a sync is likely to follow the last record: it is the first since a sync that covered one, too.
    pub(crate) fn is_soon(&self, next: u64) -> bool {
        self.is_each && next == self.next + 1
    }

    /// Cut off a segment at a length.
    pub(crate) fn cut_off(&mut self, segment: &Segment, length: u64) -> io::Result<()> {
        self.end = self.end.min(length);
        segment.file.set_len(length)
    }

    /// End a segment of this length. The next one begins, with as many zeroes. Returns whether one with zeroes should follow it.
    pub(crate) fn end(&mut self, segment: &Segment, length: u64, zeroes: u64) -> bool {
        let is_few = self.is_few && length - self.length <= FEW;
        if self.end > length {
            // Zeroes that stay only take room.
            let _ = segment.file.set_len(length);
        }
        (self.end, self.length) = (zeroes, 0);
        is_few
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::page_file::write;

    // The file system has nothing to commit but the records.
    #[test]
    fn a_log_with_few_bytes_between_syncs_keeps_its_length() {
        let folder = tempfile::tempdir().unwrap();
        let segment = Segment::create(folder.path(), 1).unwrap();
        let (mut ahead, mut length, mut next) = (Ahead::new(1), 0, 1);
        // Returns whether a sync was likely, and the length of the file after it.
        let mut sync = |records: u64, bytes: u64| {
            write(&segment.file, &mut [&vec![1; (records * bytes) as usize]], length).unwrap();
            (length, next) = (length + records * bytes, next + records);
            let is_soon = ahead.is_soon(next);
            ahead.sync(&segment, length, next);
            (is_soon, segment.file.metadata().unwrap().len())
        };
        let first = 16 << 10;
        assert_eq!(sync(1, first), (false, first + AHEAD));
        for _ in 0..60 {
            assert_eq!(sync(1, first), (true, first + AHEAD));
        }
        assert_eq!(sync(1, first), (true, 62 * first + AHEAD));
        // Many bytes at once are not written twice.
        assert_eq!(sync(20, 100 << 10), (false, 62 * first + (2000 << 10)));
        assert!(!sync(1, 100).0);
        assert_eq!(sync(1, 100), (true, 62 * first + (2000 << 10) + 100 + AHEAD));
        assert!(!sync(2, 100).0);
        assert!(ahead.end(&segment, length, 0));
        assert_eq!(segment.file.metadata().unwrap().len(), length);
    }
}
