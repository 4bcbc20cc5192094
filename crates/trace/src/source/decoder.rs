//! Decompression of input. A build without the feature `compression` returns an error instead.

use crate::source::compression::Compression;
use std::io::{self, Read};

/// The content of a stream with this compression.
#[cfg(feature = "compression")]
pub(crate) fn decompressed(
    compression: Compression,
    raw: impl Read + Send + 'static,
) -> io::Result<Box<dyn Read + Send>> {
    match compression {
        // Readers request large blocks themselves.
        Compression::Plain => return Ok(Box::new(raw)),
        Compression::Lz4 => return Ok(Box::new(crate::source::lz4::frames(raw))),
        _ => {}
    }
    let raw = io::BufReader::with_capacity(1 << 17, raw);
    Ok(match compression {
        Compression::Plain | Compression::Lz4 => Box::new(raw),
        Compression::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(raw)),
        Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(raw)),
        Compression::Xz => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(raw)),
        Compression::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(raw)?),
    })
}

/// The content of a stream, if it is not compressed.
#[cfg(not(feature = "compression"))]
pub(crate) fn decompressed(
    compression: Compression,
    raw: impl Read + Send + 'static,
) -> io::Result<Box<dyn Read + Send>> {
    match compression {
        Compression::Plain => Ok(Box::new(raw)),
        _ => Err(crate::source::compression::not_in_this_build()),
    }
}
