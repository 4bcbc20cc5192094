//! The bytes of one sector, shared with the request that wrote them.

use std::sync::Arc;

/// The bytes of one sector: part of a request's data, or zeroes.
#[derive(Clone, Debug, Default)]
pub struct Content(Option<(Arc<[u8]>, usize)>);

impl Content {
    /// A sector of zeroes.
    pub const ZERO: Content = Content(None);

    /// The sector's bytes from `at` on.
    pub fn of(bytes: &Arc<[u8]>, at: usize) -> Content {
        Content(Some((Arc::clone(bytes), at)))
    }

    /// The first `sector` bytes. None for a sector of zeroes.
    pub fn bytes(&self, sector: usize) -> Option<&[u8]> {
        self.0.as_ref().and_then(|(bytes, at)| bytes.get(*at..*at + sector))
    }

    /// Copy the contents to a sector.
    pub fn copy_to(&self, sector: &mut [u8]) {
        match self.bytes(sector.len()) {
            Some(bytes) => sector.copy_from_slice(bytes),
            None => sector.fill(0),
        }
    }
}
