//! Compression of one block of bytes to one Zstandard frame, and back. Without the feature `compression` no block is
//! compressed, and one that is cannot be read.

/// Makes frames.
#[derive(Default)]
pub(crate) struct FrameEncoder {
    #[cfg(feature = "compression")]
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl FrameEncoder {
    /// The block as a frame; nothing where none can be made.
    #[cfg(feature = "compression")]
    pub fn frame(&mut self, block: &[u8]) -> Option<Vec<u8>> {
        let compressor = match &mut self.compressor {
            Some(compressor) => Some(compressor),
            none => zstd::bulk::Compressor::new(3).ok().map(|c| none.insert(c)),
        };
        compressor.and_then(|c| c.compress(block).ok())
    }

    /// Nothing.
    #[cfg(not(feature = "compression"))]
    pub fn frame(&mut self, _block: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// Reads frames.
#[derive(Default)]
pub(crate) struct FrameDecoder {
    #[cfg(feature = "compression")]
    decompressor: Option<zstd::bulk::Decompressor<'static>>,
}

impl FrameDecoder {
    /// Fills `block` from a frame; returns the number of bytes, if it is complete.
    ///
    /// # Errors
    /// Where no frame can be read at all.
    #[cfg(feature = "compression")]
    pub fn read(&mut self, frame: &[u8], block: &mut [u8]) -> std::io::Result<Option<usize>> {
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(zstd::bulk::Decompressor::new()?),
        };
        Ok(decompressor.decompress_to_buffer(frame, block).ok())
    }

    /// That there are no frames in this build.
    #[cfg(not(feature = "compression"))]
    pub fn read(&mut self, _frame: &[u8], _block: &mut [u8]) -> std::io::Result<Option<usize>> {
        Err(crate::source::compression::not_in_this_build())
    }
}
