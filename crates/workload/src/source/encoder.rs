//! Compression on the way out, by the name of the file: what [`Compression`] undoes when it is read.

use crate::source::compression::Compression;
use std::io::{self, Write};

/// A stream that compresses what is written to it. It is whole only after [`Encoder::finish`].
pub(crate) enum Encoder<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Bzip2(bzip2::write::BzEncoder<W>),
    Xz(liblzma::write::XzEncoder<W>),
    Zstd(zstd::stream::write::Encoder<'static, W>),
    Lz4(lz4_flex::frame::FrameEncoder<W>),
}

impl<W: Write> Encoder<W> {
    pub fn new(compression: Compression, out: W) -> io::Result<Encoder<W>> {
        Ok(match compression {
            Compression::Plain => Encoder::Plain(out),
            Compression::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::new(6)))
            }
            Compression::Bzip2 => {
                Encoder::Bzip2(bzip2::write::BzEncoder::new(out, bzip2::Compression::best()))
            }
            Compression::Xz => Encoder::Xz(liblzma::write::XzEncoder::new(out, 6)),
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(out, 3)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            Compression::Lz4 => Encoder::Lz4(lz4_flex::frame::FrameEncoder::with_frame_info(
                lz4_flex::frame::FrameInfo::new().content_checksum(true),
                out,
            )),
        })
    }

    /// Writes what is held back, and the end of the stream.
    pub fn finish(self) -> io::Result<()> {
        let mut out = match self {
            Encoder::Plain(out) => out,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Bzip2(encoder) => encoder.finish()?,
            Encoder::Xz(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
            Encoder::Lz4(encoder) => encoder.finish().map_err(io::Error::other)?,
        };
        out.flush()
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Encoder::Plain(out) => out.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Bzip2(encoder) => encoder.write(bytes),
            Encoder::Xz(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
            Encoder::Lz4(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Encoder::Plain(out) => out.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Bzip2(encoder) => encoder.flush(),
            Encoder::Xz(encoder) => encoder.flush(),
            Encoder::Zstd(encoder) => encoder.flush(),
            Encoder::Lz4(encoder) => encoder.flush(),
        }
    }
}
