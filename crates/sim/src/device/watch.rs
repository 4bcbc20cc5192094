//! What a probe is told of operations.

use crate::probe::{Begin, Event, Moment, Probe};
use crate::state::plane::Place;
use wordline_ftl::{Ftl, OpId};
use wordline_units::{ChannelId, PlaneId, SimTime};

/// An operation begins at a place; a sector has this many bytes.
pub(crate) fn begin<P: Probe>(probe: &mut P, ftl: &Ftl, id: OpId, place: Place, sector: u64) {
    let (mode, page) = ftl.operation(id).page();
    let op = ftl.op(id);
    let begin = Begin {
        op: op.number(),
        kind: op.kind,
        cause: op.cause(),
        region: ftl.operation(id).region(),
        channel: ChannelId(place.channel),
        die: place.die,
        plane: op.plane,
        ppn: op.ppn,
        slots: ftl.operation(id).slots(),
        mode,
        page,
        bytes: ftl.transfer_sectors(id) as u64 * sector,
        from: ftl.operation(id).source(),
        empties: ftl.operation(id).collecting(),
    };
    probe.begin(&begin, ftl.operation(id).parts());
}

/// An operation is queued.
pub(crate) fn queued<P: Probe>(probe: &mut P, ftl: &Ftl, id: OpId, at: SimTime) {
    let op = ftl.op(id);
    let (op, class, plane) = (op.number(), op.class(), op.plane);
    probe.moment(Moment::Queued { op, class, plane, empties: ftl.operation(id).collecting(), at });
}

/// An operation has its array for a time.
pub(crate) fn array<P: Probe>(
    probe: &mut P,
    ftl: &Ftl,
    id: OpId,
    place: Place,
    (start, end): (SimTime, SimTime),
) {
    let (mode, page) = ftl.operation(id).page();
    let op = ftl.op(id);
    probe.event(Event::Array {
        op: op.number(),
        kind: op.kind,
        cause: op.cause(),
        die: place.die,
        plane: op.plane,
        ppn: op.ppn,
        mode,
        page,
        retries: op.retries().count,
        start,
        end,
    });
}

/// An operation has its bus for a time, to move this many bytes.
pub(crate) fn bus<P: Probe>(
    probe: &mut P,
    ftl: &Ftl,
    id: OpId,
    place: Place,
    bytes: u64,
    (start, end): (SimTime, SimTime),
) {
    let op = ftl.op(id);
    let (op, channel, plane) = (op.number(), ChannelId(place.channel), op.plane);
    probe.event(Event::Bus { op, channel, plane, bytes, start, end });
}

/// An operation has had its effect, and the probe sees which requests that ends: those that have ended but for some before.
pub(crate) fn decided<P: Probe>(probe: &mut P, ftl: &Ftl, op: u64, before: usize, at: SimTime) {
    for ended in &ftl.completed()[before..] {
        let request = ftl.pending(*ended).number;
        probe.moment(Moment::Decided { request, op, at });
    }
}

/// An operation is over, and its plane ready for the next.
pub(crate) fn ready<P: Probe>(probe: &mut P, ftl: &Ftl, id: OpId, at: SimTime) {
    let op = ftl.op(id);
    let (op, plane): (u64, PlaneId) = (op.number(), op.plane);
    probe.event(Event::Ready { op, plane, at });
}
