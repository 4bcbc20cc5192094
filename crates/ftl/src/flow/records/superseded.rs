//! Bytes of pages that a newer write has replaced. Media may drop them before the block is erased.

use crate::media::seam::Media;
use crate::plan::span::{Dead, Places, Spans};
use crate::state::state::State;
use crate::state::store::Store;
use smallvec::SmallVec;
use wordline_units::{Lpn, Ppn, SectorMask};

/// Places of earlier commits that are looked at again after a commit.
const AGAIN: usize = 2;

/// A unit has been committed at a place: let the media drop the bytes of what it has replaced, or its own if it is of a page
/// that a newer write had replaced before. Bytes that have moved stay where they were until newer writes have replaced all
/// of them, since a power cut may bring them back; until then their place is looked at again.
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
    let (waiting, media) = store.superseded();
    let Some(media) = media else { return };
    let again: SmallVec<[(Ppn, Ppn); AGAIN]> = waiting.drain(..AGAIN.min(waiting.len())).collect();
    for (old, by) in dead.iter().map(|old| (old.ppn, ppn)).chain(newer).chain(again) {
        let is_read = state.blocks.block(state.geometry.block_of(old)).readers > 0;
        if is_read || media.superseded(old, &[by]) && has_moved(state, media, old) {
            waiting.push_back((old, by));
        }
    }
}

/// Data have moved to RAM from these places, which are looked at after later commits.
#[cold]
pub(crate) fn look_later(store: &mut Store, dead: &Dead) {
    store.superseded().0.extend(dead.iter().map(|old| (old.ppn, old.ppn)));
}

/// Whether bytes stay at a place where no sector is the newest, though all places of the newest are known.
fn has_moved(state: &mut State, media: &mut dyn Media, old: Ppn) -> bool {
    let (mut spans, mut located) = (Spans::new(), Places::new());
    state.map.live_in(old, &mut spans);
    if !spans.is_empty() {
        return false;
    }
    let mut by: SmallVec<[Ppn; 8]> = SmallVec::new();
    for (span, _) in media.stored(old) {
        state.map.resolve(span.lpn, span.mask, &mut located);
        by.extend(located.iter().map(|place| place.ppn));
    }
    media.superseded(old, &by)
}
