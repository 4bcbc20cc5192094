//! Asks the scheme where data go, in one place, so that all answers are checked by the same rules.

use crate::flow::fail::{has_failed, illegal};
use crate::flow::next::Next;
use crate::layer::{Layer, Seat};
use crate::plan::decision::{Gather, Move, Origin, Parcel, Place, PlanePick, Route};
use crate::plan::layout::Hooks;
use crate::plan::region::RegionId;
use crate::plan::span::Span;
use crate::state::blocks::Blocks;
use crate::state::op::{OpId, Ops};
use crate::state::outbox::Outbox;
use crate::state::state::State;
use crate::view::View;
use wordline_units::PlaneId;

/// Placement of host data, if the scheme can decide, and the moves that must come first.
pub(crate) fn place_host(
    state: &State,
    seat: &mut Seat,
    out: &mut Outbox,
    parcel: &Parcel,
) -> Option<(Place, Vec<Move>)> {
    let mut moves = vec![];
    if seat.hooks.contains(Hooks::MAKE_ROOM) {
        seat.scheme.make_room(parcel, &View::of(state), &mut moves);
        if has_failed(state, seat, out, "make_room") {
            return None;
        }
    }
    let place = seat.scheme.place(parcel, &View::of(state));
    if has_failed(state, seat, out, "place") || !leads_somewhere(state, seat, out, &place) {
        return None;
    }
    Some((place, moves))
}

/// Placement of a sealed page of the merge buffer, if the scheme can decide.
pub(crate) fn place_sealed(
    state: &State,
    seat: &mut Seat,
    out: &mut Outbox,
    spans: &[Span],
    home: PlaneId,
) -> Option<Place> {
    let parcel = Parcel { origin: Origin::Sealed, spans, home };
    place_on_flash(state, seat, out, &parcel, "sealed")
}

/// Placement of a collected page: the scheme decides, if it can, except for pages of the drive's own
/// tables.
#[inline(always)]
pub(crate) fn place_collected(
    layer: &mut Layer,
    region: RegionId,
    spans: &[Span],
    home: PlaneId,
) -> Option<Place> {
    if spans.first().is_some_and(|s| layer.state.is_metadata(s.lpn)) {
        return Some(metadata_place(&layer.state.blocks));
    }
    let parcel = Parcel { origin: Origin::Collected(region), spans, home };
    place_on_flash(&layer.state, &mut layer.seat, &mut layer.out, &parcel, "collected")
}

/// Placement of data that must not wait in the merge buffer.
#[inline(always)]
fn place_on_flash(
    state: &State,
    seat: &mut Seat,
    out: &mut Outbox,
    parcel: &Parcel,
    kind: &str,
) -> Option<Place> {
    let place = seat.scheme.place(parcel, &View::of(state));
    if has_failed(state, seat, out, "place") {
        return None;
    }
    if place.route.buffer_key().is_some() {
        let why = format!("the merge buffer takes host data only, and the page is {kind}");
        illegal(state.now, seat, out, format!("place a {kind} page in the merge buffer"), why);
        return None;
    }
    leads_somewhere(state, seat, out, &place).then_some(place)
}

/// Whether a decision names the merge buffer or an existing region; any other is refused.
#[inline]
fn leads_somewhere(state: &State, seat: &Seat, out: &mut Outbox, place: &Place) -> bool {
    let region = place.route.region();
    let is_there = place.route.buffer_key().is_some() || region.index() < state.blocks.regions().len();
    if !is_there {
        illegal(state.now, seat, out, format!("place in region {}", region.0), "unknown region".into());
    }
    is_there
}

/// Placement of pages of the drive's own tables: always the home region.
pub(crate) fn metadata_place(blocks: &Blocks) -> Place {
    let home = blocks.home();
    let r = &blocks.region(home);
    let route = Route::classes(home, r.region.rule.classes(r.shape));
    Place { gather: Gather::AsIs, plane: PlanePick::Home, route }
}

/// Issue a program once the reads and the moves that it waits for have ended.
#[inline]
pub(crate) fn send_after(ops: &mut Ops, lead: OpId, reads: u32, moves: Vec<Move>) -> Next {
    let waits = reads + moves.len() as u32;
    if waits == 0 {
        return Next::Send(lead);
    }
    // What it waits for finds the program by its lead, which counts.
    ops[lead].awaits = waits;
    if moves.is_empty() { Next::Nothing } else { Next::Moves(lead, moves) }
}
