//! What follows as data move between array, registers and bus.
//!
//! In a plane of one register, a page that was sensed waits there for the bus, and one that was brought in for the
//! array. With a cache register beside it, data go over from one to the other, and the plane may begin its next
//! operation.

use crate::state::plane::Place;
use crate::state::planes::Planes;
use crate::state::registers::Next;
use crate::state::scheduler::Scheduler;
use wordline_ftl::{Ftl, QueueEntry};
use wordline_units::SimTime;

/// An operation, which has its plane again, continues with what its register holds: only the bus is wanted.
pub(crate) fn continue_with(entry: QueueEntry, planes: &mut Planes, scheduler: &mut Scheduler, now: SimTime) {
    let plane = entry.plane.index();
    planes.registers_mut(plane).note_goes_on(entry.op, now);
    let place = planes.place(plane);
    scheduler.want_bus(place, entry);
    scheduler.ask_bus_if_due(place.channel);
}

/// A page has been sensed: it wants the bus. Returns where it is if its transfer begins now.
#[inline(always)]
pub(crate) fn sensed(
    entry: QueueEntry,
    planes: &mut Planes,
    scheduler: &mut Scheduler,
    ftl: &Ftl,
    now: SimTime,
) -> Option<Place> {
    let plane = entry.plane.index();
    let (registers, place) = planes.at(plane);
    registers.note_sensed(ftl.op(entry.op).repeated() == 0, now);
    if registers.brings_out() {
        bring_out(plane, planes, scheduler, ftl, now);
        return None;
    }
    if scheduler.buses().is_idle(place.channel as usize) {
        return Some(place);
    }
    scheduler.want_bus(place, entry);
    None
}

/// The data of an operation have been brought to its page register: it wants the array. Returns whether it begins there
/// now.
#[inline(always)]
pub(crate) fn brought(
    entry: QueueEntry,
    planes: &mut Planes,
    scheduler: &mut Scheduler,
    now: SimTime,
) -> bool {
    let (arrays, (registers, place)) = (scheduler.arrays(), planes.at(entry.plane.index()));
    if !entry.is_read() {
        registers.note_brought(now);
    }
    let begins = arrays.is_idle(place.array as usize) && !arrays.goes_by_commands();
    if !begins {
        scheduler.want_array(place, entry);
    }
    begins
}

/// A page has been sensed. It goes over to the cache register if that is free, and the next can be sensed; one that must
/// be sensed again after its transfer stays.
#[inline(never)]
fn bring_out(plane: usize, planes: &mut Planes, scheduler: &mut Scheduler, ftl: &Ftl, now: SimTime) {
    let registers = planes.registers_mut(plane);
    if !registers.may_bring_out() {
        return;
    }
    let entry = registers.current().held;
    let leaves = !ftl.will_repeat(entry.op);
    if leaves {
        registers.bring_out(now);
    }
    let place = planes.place(plane);
    scheduler.want_bus(place, entry);
    if leaves {
        scheduler.ask_plane(plane as u32);
    }
    scheduler.ask_bus_if_due(place.channel);
}

/// A page is in the cache register. It goes over to the page register if that is free, and the next can be brought in.
#[inline(never)]
pub(crate) fn bring_in(plane: usize, planes: &mut Planes, scheduler: &mut Scheduler, now: SimTime) {
    let Some(entry) = planes.registers_mut(plane).bring_in(now) else { return };
    let place = planes.place(plane);
    scheduler.want_array(place, entry);
    scheduler.ask_plane(plane as u32);
    scheduler.ask_array_if_due(place.array);
}

/// An operation has left its plane of two registers: data that waited for one go over to it. Returns whether there are
/// none, so that the plane offers what is next.
pub(crate) fn go_on(
    plane: usize,
    planes: &mut Planes,
    scheduler: &mut Scheduler,
    ftl: &Ftl,
    now: SimTime,
) -> bool {
    match planes.registers(plane).next() {
        Next::BringOut => bring_out(plane, planes, scheduler, ftl, now),
        Next::BringIn => bring_in(plane, planes, scheduler, now),
        Next::Offer => return true,
    }
    false
}
