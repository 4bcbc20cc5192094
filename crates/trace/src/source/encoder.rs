//! Compression of output, chosen by file name: the inverse of [`Compression`].

use crate::source::compression::Compression;
use std::io::{self, Write};

/// A compressing output stream. It is complete only after [`Encoder::finish`].
pub(crate) enum Encoder<W: Write> {
    Plain(W),
    #[cfg(feature = "compression")]
    Gzip(flate2::write::GzEncoder<W>),
    #[cfg(feature = "compression")]
    Bzip2(bzip2::write::BzEncoder<W>),
    #[cfg(feature = "compression")]
    Xz(liblzma::write::XzEncoder<W>),
    #[cfg(feature = "compression")]
    Zstd(zstd::stream::write::Encoder<'static, W>),
    #[cfg(feature = "compression")]
    Lz4(lz4_flex::frame::FrameEncoder<W>),
}

impl<W: Write> Encoder<W> {
    pub fn new(compression: Compression, out: W) -> io::Result<Encoder<W>> {
        Ok(match compression {
            Compression::Plain => Encoder::Plain(out),
            #[cfg(feature = "compression")]
            Compression::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::new(6)))
            }
            #[cfg(feature = "compression")]
            Compression::Bzip2 => {
                Encoder::Bzip2(bzip2::write::BzEncoder::new(out, bzip2::Compression::best()))
            }
            #[cfg(feature = "compression")]
            Compression::Xz => Encoder::Xz(liblzma::write::XzEncoder::new(out, 6)),
            #[cfg(feature = "compression")]
            Compression::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(out, 3)?;
                encoder.include_checksum(true)?;
                Encoder::Zstd(encoder)
            }
            #[cfg(feature = "compression")]
            Compression::Lz4 => Encoder::Lz4(lz4_flex::frame::FrameEncoder::with_frame_info(
                lz4_flex::frame::FrameInfo::new().content_checksum(true),
                out,
            )),
            #[cfg(not(feature = "compression"))]
            _ => return Err(crate::source::compression::not_in_this_build()),
        })
    }

    /// Writes buffered data, and the end of the stream.
    pub fn finish(self) -> io::Result<()> {
        #[allow(clippy::infallible_destructuring_match)] // one kind is left without `compression`
        let mut out = match self {
            Encoder::Plain(out) => out,
            #[cfg(feature = "compression")]
            Encoder::Gzip(encoder) => encoder.finish()?,
            #[cfg(feature = "compression")]
            Encoder::Bzip2(encoder) => encoder.finish()?,
            #[cfg(feature = "compression")]
            Encoder::Xz(encoder) => encoder.finish()?,
            #[cfg(feature = "compression")]
            Encoder::Zstd(encoder) => encoder.finish()?,
            #[cfg(feature = "compression")]
            Encoder::Lz4(encoder) => encoder.finish().map_err(io::Error::other)?,
        };
        out.flush()
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Encoder::Plain(out) => out.write(bytes),
            #[cfg(feature = "compression")]
            Encoder::Gzip(encoder) => encoder.write(bytes),
            #[cfg(feature = "compression")]
            Encoder::Bzip2(encoder) => encoder.write(bytes),
            #[cfg(feature = "compression")]
            Encoder::Xz(encoder) => encoder.write(bytes),
            #[cfg(feature = "compression")]
            Encoder::Zstd(encoder) => encoder.write(bytes),
            #[cfg(feature = "compression")]
            Encoder::Lz4(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Encoder::Plain(out) => out.flush(),
            #[cfg(feature = "compression")]
            Encoder::Gzip(encoder) => encoder.flush(),
            #[cfg(feature = "compression")]
            Encoder::Bzip2(encoder) => encoder.flush(),
            #[cfg(feature = "compression")]
            Encoder::Xz(encoder) => encoder.flush(),
            #[cfg(feature = "compression")]
            Encoder::Zstd(encoder) => encoder.flush(),
            #[cfg(feature = "compression")]
            Encoder::Lz4(encoder) => encoder.flush(),
        }
    }
}
