//! Consecutive LZ4 frames. The decoder accepts a file that ends between two blocks, so the frames are also
//! parsed here: a truncated trace must not pass as a shorter one.

use lz4_flex::frame::FrameDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// The content of a file of LZ4 frames.
pub(crate) fn frames(file: impl Read + Send + 'static) -> impl Read + Send {
    Frames(FrameDecoder::new(BufReader::with_capacity(1 << 17, Walked { file, walk: Walk::default() })))
}

struct Frames<R: Read>(FrameDecoder<R>);

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.0.read(buffer)?;
            // No data means the end of a frame, and the end of the file only if nothing follows.
            if n > 0 || buffer.is_empty() || self.0.get_mut().fill_buf()?.is_empty() {
                return Ok(n);
            }
        }
    }
}

/// A file whose end is an error unless a frame ends there.
struct Walked<R> {
    file: R,
    walk: Walk,
}

impl<R: Read> Read for Walked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.walk.step(&buffer[..n]);
        if n == 0 && !buffer.is_empty() && !self.walk.is_between_frames() {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the last frame is incomplete"));
        }
        Ok(n)
    }
}

/// The next item of the file in the LZ4 frame format.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Next {
    #[default]
    Magic,
    /// The length of a skippable frame.
    Length,
    Flags,
    /// The size of a block, 0 after the last.
    Block,
    /// Not a frame; the decoder reports it.
    Unknown,
}

#[derive(Default)]
struct Walk {
    next: Next,
    /// Number of bytes to skip before it.
    pass: u64,
    /// Its bytes so far, at most four.
    word: Vec<u8>,
    flags: u8,
}

const MAGIC: u32 = 0x184d_2204;
/// The lower four bits may have any value.
const SKIPPABLE: u32 = 0x184d_2a50;
const DICTIONARY: u8 = 1;
const CONTENT_CHECKSUM: u8 = 1 << 2;
const CONTENT_SIZE: u8 = 1 << 3;
const BLOCK_CHECKSUM: u8 = 1 << 4;

impl Walk {
    fn is_between_frames(&self) -> bool {
        self.next == Next::Unknown || self.next == Next::Magic && self.pass == 0 && self.word.is_empty()
    }

    fn step(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && self.next != Next::Unknown {
            let passed = self.pass.min(bytes.len() as u64);
            self.pass -= passed;
            bytes = &bytes[passed as usize..];
            let wanted = if self.next == Next::Flags { 1 } else { 4 };
            let taken = bytes.len().min(wanted - self.word.len());
            self.word.extend(&bytes[..taken]);
            bytes = &bytes[taken..];
            if self.word.len() == wanted {
                let word = self.word.iter().rev().fold(0u32, |n, b| n << 8 | *b as u32);
                self.word.clear();
                (self.next, self.pass) = self.after(word);
            }
        }
    }

    /// The item after a word, and the number of bytes before it.
    fn after(&mut self, word: u32) -> (Next, u64) {
        let if_set = |flags: u8, flag: u8, bytes: u64| if flags & flag != 0 { bytes } else { 0 };
        match self.next {
            Next::Magic if word == MAGIC => (Next::Flags, 0),
            Next::Magic if word & !15 == SKIPPABLE => (Next::Length, 0),
            Next::Magic | Next::Unknown => (Next::Unknown, 0),
            Next::Length => (Next::Magic, word as u64),
            Next::Flags => {
                self.flags = word as u8;
                // The flags are followed by a byte on block sizes, and the header ends with its checksum.
                (Next::Block, 2 + if_set(self.flags, CONTENT_SIZE, 8) + if_set(self.flags, DICTIONARY, 4))
            }
            Next::Block if word == 0 => (Next::Magic, if_set(self.flags, CONTENT_CHECKSUM, 4)),
            // The highest bit means that the block is not compressed.
            Next::Block => (Next::Block, (word & 0x7fff_ffff) as u64 + if_set(self.flags, BLOCK_CHECKSUM, 4)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
    use std::io::{Cursor, Write};

    #[test]
    fn a_file_cut_anywhere_but_between_frames_is_an_error() {
        let text: Vec<u8> = (0..9_000u32).flat_map(|i| (i * i).to_le_bytes()).collect();
        for checksums in [false, true] {
            let mut info = FrameInfo::new().block_size(BlockSize::Max64KB);
            info = info.block_checksums(checksums).content_checksum(checksums);
            let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
            encoder.write_all(&text).unwrap();
            let frame = encoder.finish().unwrap();
            let two = [frame.as_slice(), &frame].concat();
            for keep in (0..40).chain(frame.len() - 40..frame.len() + 40).chain([two.len() - 1, two.len()]) {
                let mut out = Vec::new();
                let outcome = frames(Cursor::new(two[..keep].to_vec())).read_to_end(&mut out);
                let whole = [0, frame.len(), two.len()].contains(&keep);
                assert_eq!(outcome.is_ok(), whole, "{keep} of {}: {outcome:?}", two.len());
                assert!(!whole || out.len() == text.len() * (keep / frame.len()));
            }
        }
    }
}
