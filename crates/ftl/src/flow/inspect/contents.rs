//! What a sector holds, without an operation that takes time.

use crate::ftl::Ftl;
use crate::media::error::MediaError;
use crate::media::page::PageData;
use crate::plan::span::Places;
use wordline_units::{Lpn, SectorMask};

/// The newest bytes of a sector, as a host read would return them now, within their page; none if it was never written.
///
/// # Errors
/// When the media cannot read them.
pub fn newest_page_of(ftl: &mut Ftl, lpn: Lpn, sector: u32) -> Result<PageData, MediaError> {
    let mask = SectorMask::span(sector, sector + 1);
    if let Some(stage) = ftl.state.staging.find(lpn)
        && ftl.state.staging.mask(lpn).covers(mask)
    {
        return Ok(ftl.store.staged(stage));
    }
    let mut located = Places::new();
    ftl.state.map.resolve(lpn, mask, &mut located);
    located.first().map_or(Ok(PageData::default()), |at| ftl.store.read(at.ppn, lpn))
}
