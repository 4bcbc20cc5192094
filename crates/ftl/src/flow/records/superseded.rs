//! Bytes of pages that a newer write has replaced. Media may drop them before the block is erased.

use crate::plan::span::{Dead, Places, Spans};
use crate::state::state::State;
use crate::state::store::{Store, Use};
use wordline_units::{Lpn, Ppn, SectorMask};

/// A unit has been committed at a place: let the media drop the bytes of what it has replaced, or its own if it is of a page
/// that a newer write had replaced before.
#[cold]
pub(crate) fn drop_replaced(
    state: &mut State,
    store: &mut Store,
    dead: &Dead,
    ppn: Ppn,
    born_invalid: Option<Lpn>,
) {
    let mut located = Places::new();
    if let Some(lpn) = born_invalid {
        let all = SectorMask::first(state.geometry.sectors_per_unit);
        state.map.resolve(lpn, all, &mut located);
    }
    let newer = if let [at] = located[..] { Some((ppn, at.ppn)) } else { None };
    let mut spans = Spans::new();
    store.drop_superseded(dead.iter().map(|old| (old.ppn, ppn)).chain(newer), |old| {
        if state.blocks.block(state.geometry.block_of(old)).readers > 0 {
            return Use::Read;
        }
        state.map.live_in(old, &mut spans);
        if spans.is_empty() { Use::Nothing } else { Use::Mapped }
    });
}
