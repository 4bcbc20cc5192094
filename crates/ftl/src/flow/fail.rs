//! What ends a run: a refused decision, a scheme or media that failed, a broken invariant.

use crate::inspect::pending::describe_room;
use crate::layer::Seat;
use crate::media::error::MediaError;
use crate::state::outbox::Outbox;
use crate::state::request::{Fault, Outcome};
use crate::state::state::State;
use crate::state::store::Store;
use wordline_units::SimTime;

/// A decision of the scheme that its layout does not allow.
pub(crate) fn illegal(now: SimTime, seat: &Seat, out: &mut Outbox, decision: String, why: String) {
    let (scheme, time) = (seat.scheme.name(), now);
    out.fail(|| Fault::IllegalDecision { scheme: scheme.to_string(), decision, time, state: why });
}

/// Whether the scheme has failed in this hook: then nothing is done.
#[inline(always)]
pub(crate) fn has_failed(state: &State, seat: &Seat, out: &mut Outbox, hook: &'static str) -> bool {
    state.complaint.get().is_some() && undecided(state, seat, out, hook)
}

#[cold]
fn undecided(state: &State, seat: &Seat, out: &mut Outbox, hook: &'static str) -> bool {
    let (scheme, time) = (seat.scheme.name().to_string(), state.now);
    let reason = state.complaint.get().map_or(String::new(), |reason| reason.to_string());
    out.fail(|| Fault::Undecided { scheme, hook, time, reason });
    true
}

/// An invariant is broken.
pub(crate) fn internal(now: SimTime, out: &mut Outbox, what: String) {
    out.internal(what, now);
}

/// Have the media do something. A media failure stops the drive: its tables would claim data that the media do not
/// hold. Nothing more is asked of them then.
pub(crate) fn ask_media<T>(
    now: SimTime,
    store: &mut Store,
    out: &mut Outbox,
    what: impl FnOnce(&mut Store) -> Result<T, MediaError>,
) -> Option<T> {
    if out.fault().is_some() {
        return None;
    }
    match what(store) {
        Ok(done) => Some(done),
        Err(error) => {
            stop_for(now, out, error);
            None
        }
    }
}

#[cold]
fn stop_for(now: SimTime, out: &mut Outbox, error: MediaError) {
    let time = now;
    out.fail(|| Fault::Media { error, time });
}

/// A host write has no place and none can be freed: the drive is full or worn out.
pub(crate) fn no_place(state: &mut State, out: &mut Outbox) -> Outcome {
    if state.wear.lost.retired == 0 {
        if out.first_full().is_none() {
            let how_full = format!("at {}: {}", state.now, describe_room(state));
            out.note_full(how_full);
        }
        return Outcome::OutOfSpace;
    }
    state.wear.over.get_or_insert(state.now);
    Outcome::WornOut
}
