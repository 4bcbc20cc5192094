//! The bytes of one sector, shared with the request that brought them.

use std::sync::Arc;

/// The bytes of one sector: a part of what a request brought, or zeroes.
#[derive(Clone, Debug, Default)]
pub struct Content(Option<(Arc<[u8]>, usize)>);

impl Content {
    /// A sector of zeroes.
    pub const ZERO: Content = Content(None);

    /// The bytes from `at` on, as many as a sector has.
    pub fn of(bytes: &Arc<[u8]>, at: usize) -> Content {
        Content(Some((Arc::clone(bytes), at)))
    }

    /// The first `sector` bytes; none where it is all zeroes by construction.
    pub fn bytes(&self, sector: usize) -> Option<&[u8]> {
        self.0.as_ref().and_then(|(bytes, at)| bytes.get(*at..*at + sector))
    }

    /// Copy it over a sector.
    pub fn copy_to(&self, sector: &mut [u8]) {
        match self.bytes(sector.len()) {
            Some(bytes) => sector.copy_from_slice(bytes),
            None => sector.fill(0),
        }
    }
}
