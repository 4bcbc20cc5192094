//! Reads lines of a text of any length in constant memory: one large buffer, newlines found by `memchr`, and
//! no allocation per line. A line longer than the buffer is reported and skipped, so that a binary file read
//! as text cannot exhaust memory.

use std::io::{self, Read};
use std::ops::Range;

/// Size of the buffer in bytes. No line of any trace format is longer.
const BUFFER: usize = 1 << 18;

/// The byte order mark of UTF-8, with which programs on Windows begin a text. It is no part of the first line.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// The next item of the text.
pub(crate) enum Next {
    /// A line without its end, as a range of [`Lines::buffer`].
    Line(Range<usize>),
    /// A line that is longer than the buffer.
    TooLong,
    /// The end of the text.
    End,
}

/// A cursor over lines.
pub(crate) struct Lines {
    input: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    ended: bool,
    number: u64,
    open_end: bool,
}

impl Lines {
    /// A cursor before the first line.
    pub fn new(input: Box<dyn Read + Send>) -> Lines {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Lines { input, buffer, start: 0, end: 0, ended: false, number: 0, open_end: false }
    }

    /// The number of the line last returned, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the last line has been reached and has no newline.
    pub fn open_end(&self) -> bool {
        self.open_end
    }

    /// The bytes of a line.
    #[inline]
    pub fn line(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// Steps to the next line.
    #[inline]
    pub fn advance(&mut self) -> io::Result<Next> {
        let mut searched = self.start;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let range = self.start..searched + at;
                self.start = searched + at + 1;
                self.number += 1;
                return Ok(Next::Line(self.without_return(range)));
            }
            searched = self.end;
            if self.ended {
                if self.start == self.end {
                    return Ok(Next::End);
                }
                let range = self.start..self.end;
                self.start = self.end;
                self.number += 1;
                self.open_end = true;
                return Ok(Next::Line(self.without_return(range)));
            }
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                searched -= self.start;
                self.end -= self.start;
                self.start = 0;
            }
            if self.end == self.buffer.len() {
                self.number += 1;
                return self.step_over_line();
            }
            self.fill()?;
        }
    }

    #[inline]
    fn without_return(&self, range: Range<usize>) -> Range<usize> {
        if range.end > range.start && self.buffer[range.end - 1] == b'\r' {
            range.start..range.end - 1
        } else {
            range
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            if self.number == 0 && self.start == 0 && self.buffer[..self.end].starts_with(MARK) {
                self.start = MARK.len();
            }
            return Ok(());
        }
    }

    #[cold]
    fn step_over_line(&mut self) -> io::Result<Next> {
        loop {
            (self.start, self.end) = (0, 0);
            self.fill()?;
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[..self.end]) {
                self.start = at + 1;
                return Ok(Next::TooLong);
            }
            if self.ended {
                return Ok(Next::TooLong);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn all(text: Vec<u8>) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::new(Box::new(Cursor::new(text)));
        let mut out = Vec::new();
        loop {
            match lines.advance().unwrap() {
                Next::Line(r) => out.push(Some(lines.line(r).to_vec())),
                Next::TooLong => out.push(None),
                Next::End => return out,
            }
        }
    }

    #[test]
    fn last_line_may_lack_its_newline_and_cr_is_dropped() {
        let lines = all(b"a\r\n\nb".to_vec());
        assert_eq!(lines, [Some(b"a".to_vec()), Some(vec![]), Some(b"b".to_vec())]);
        assert!(all(vec![]).is_empty());
    }

    #[test]
    fn byte_order_mark_is_no_part_of_the_first_line() {
        let lines = all(b"\xef\xbb\xbf1,R\n\xef\xbb\xbf2,W".to_vec());
        assert_eq!(lines, [Some(b"1,R".to_vec()), Some(b"\xef\xbb\xbf2,W".to_vec())]);
        assert_eq!(all(b"\xef\xbb\xbf".to_vec()), []);
    }

    #[test]
    fn line_across_buffers_is_whole_and_endless_one_skipped() {
        let mut text = vec![b'x'; BUFFER - 3];
        text.push(b'\n');
        text.extend(b"12345678\n");
        text.extend(vec![b'y'; 3 * BUFFER]);
        text.extend(b"\nlast");
        let lines = all(text);
        assert_eq!(lines.len(), 4);
        assert_eq!(lines[1], Some(b"12345678".to_vec()));
        assert_eq!(lines[2], None);
        assert_eq!(lines[3], Some(b"last".to_vec()));
    }
}
