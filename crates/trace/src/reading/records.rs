//! Reads binary files through one large buffer: a window moves over the content, so that a record no longer
//! than the window is complete in memory without an allocation.

use crate::reading::record::Input;
use std::io;

/// Size of the window in bytes. It exceeds the longest record (blktrace's, 64 KiB) and fits into a core's L2
/// cache.
const WINDOW: usize = 1 << 18;

/// A window over a binary file.
pub(crate) struct Window {
    input: Input,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    ended: bool,
    offset: u64,
}

impl Window {
    pub fn new(input: Input) -> Window {
        let buffer = vec![0; WINDOW].into_boxed_slice();
        Window { input, buffer, start: 0, end: 0, ended: false, offset: 0 }
    }

    /// Byte of the file at which the window begins.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The content from here on: at least `bytes`, or all that is left.
    #[inline]
    pub fn at_least(&mut self, bytes: usize) -> io::Result<&[u8]> {
        if self.end - self.start < bytes && !self.ended {
            self.fill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Skip this many of the bytes seen.
    #[inline]
    pub fn skip(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.end - self.start);
        self.start += bytes;
        self.offset += bytes as u64;
    }

    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while !self.ended && self.end < self.buffer.len() {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}
