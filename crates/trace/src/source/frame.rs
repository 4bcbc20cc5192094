//! Compresses a block of bytes to a Zstandard frame, and back. Without the feature `compression`, no block is
//! compressed, and a compressed block cannot be read.

/// Creates frames.
#[derive(Default)]
pub(crate) struct FrameEncoder {
    #[cfg(feature = "compression")]
    compressor: Option<zstd::bulk::Compressor<'static>>,
}

impl FrameEncoder {
    /// The block as a frame. Nothing if none can be created.
    #[cfg(feature = "compression")]
    pub fn frame(&mut self, block: &[u8]) -> Option<Vec<u8>> {
        let compressor = match &mut self.compressor {
            Some(compressor) => Some(compressor),
            none => zstd::bulk::Compressor::new(3).ok().map(|c| none.insert(c)),
        };
        compressor.and_then(|c| c.compress(block).ok())
    }

    /// Nothing: this build creates no frames.
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
    /// Fills `block` from a frame. Returns the number of bytes, if the frame is complete.
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

    /// Return an error: this build reads no frames.
    #[cfg(not(feature = "compression"))]
    pub fn read(&mut self, _frame: &[u8], _block: &mut [u8]) -> std::io::Result<Option<usize>> {
        Err(crate::source::compression::not_in_this_build())
    }
}
