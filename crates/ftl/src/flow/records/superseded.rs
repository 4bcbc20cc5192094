//! Bytes of pages that a newer write has replaced. Media may drop them before the block is erased.

use crate::ftl::Ftl;
use crate::plan::span::{Dead, Places, Spans};
use wordline_units::{Lpn, Ppn, SectorMask};

/// Places that are looked at after a commit. Those of blocks that are being read come round again.
const AT_ONCE: usize = 8;

/// A unit has been committed at a place: let the media drop the bytes of what it has replaced, or its own if it is of a page
/// that a newer write had replaced before.
#[cold]
pub(crate) fn drop_replaced(ftl: &mut Ftl, dead: &Dead, ppn: Ppn, born_invalid: Option<Lpn>) {
    for invalidated in dead.iter() {
        ftl.store.note_superseded(invalidated.ppn, ppn);
    }
    if let Some(lpn) = born_invalid {
        let mut located = Places::new();
        let all = SectorMask::first(ftl.state.geometry.sectors_per_unit);
        ftl.state.map.resolve(lpn, all, &mut located);
        if let [at] = located[..] {
            ftl.store.note_superseded(ppn, at.ppn);
        }
    }
    let mut spans = Spans::new();
    for _ in 0..AT_ONCE {
        let Some((old, by)) = ftl.store.next_superseded() else { return };
        if ftl.state.blocks[ftl.state.geometry.block_of(old).index()].readers > 0 {
            ftl.store.note_superseded(old, by);
            continue;
        }
        // Since it was noted, its block may have been erased and written again.
        ftl.state.map.live_in(old, &mut spans);
        if spans.is_empty() {
            ftl.store.drop_superseded(old, by);
        }
    }
}
