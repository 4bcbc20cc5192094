//! Array commands: multi-plane operations, and suspension by host reads.
//!
//! **Multi-plane commands.** When an array begins an operation, those that stand ready in its other planes and are alike
//! (`Ftl::are_alike`) go with it, and the array is taken until the longest is done. Programs are moved one after
//! the other before they begin: while the bus brings one to a plane of the die, a like one waits for it. What each
//! further plane adds to a command is the device's (`Medium::further_plane`): to reads and erases on the array, for all
//! of them, to programs on the bus.
//!
//! **Suspension.** When a read is queued at an array that is at a program or an erase, the array stops after the time
//! that the command takes, what it was at is set aside, and all host reads that wait for the array are served. When
//! none is left and the plane is free, the array continues with the rest. Meanwhile nothing else starts there. The
//! flash keeps the data of a suspended program in separate latches, so that the plane's register can serve the reads. A
//! multi-plane command is suspended as one and continues as one, when all of its planes are free.

use crate::state::plane::{Place, Want};
use crate::state::planes::Planes;
use crate::state::resources::{NOTHING, User};
use crate::state::scheduler::{Due, Scheduler};
use wordline_ftl::{Class, Ftl, QueueEntry};
use wordline_units::SimTime;

/// What a plane wants its array for, if it wants it: the first of its queue, or what has its register.
fn wanted(plane: usize, planes: &Planes, scheduler: &Scheduler, ftl: &Ftl) -> Option<QueueEntry> {
    let entry = if planes.wants(plane) == Want::Array {
        planes.first(plane, scheduler, ftl)?
    } else {
        planes.registers(plane).current().held
    };
    Some(entry).filter(|entry| !entry.is_none() && entry.key == scheduler.arrays().wanted(plane))
}

/// The planes that are ready to join an operation that starts, each with the key of its own, in the order of service.
pub(crate) fn ready_to_join(
    lead: QueueEntry,
    planes: &Planes,
    scheduler: &Scheduler,
    ftl: &Ftl,
) -> Vec<(u64, usize)> {
    let Place { array, die, .. } = planes.place(lead.plane.index());
    // While something is set aside, reads of the host alone.
    let reads_alone = scheduler.arrays().serves_reads_alone(array as usize);
    let may_join = |key: u64| key != NOTHING && (!reads_alone || key >> 56 == Class::Read as u64);
    let is_alike = |plane: usize| {
        wanted(plane, planes, scheduler, ftl).is_some_and(|other| ftl.are_alike(lead.op, other.op))
    };
    let keys = planes.of_die(die).map(|plane| (scheduler.arrays().wanted(plane), plane));
    let mut ready: Vec<(u64, usize)> =
        keys.filter(|(key, plane)| may_join(*key) && is_alike(*plane)).collect();
    ready.sort_unstable();
    ready
}

/// Time of the command of a program that has been bound and goes to its plane: that of a further plane where a like
/// one has been brought to another plane of the die and waits for the array.
#[inline(always)]
pub(crate) fn command_of_program(
    entry: QueueEntry,
    planes: &Planes,
    scheduler: &Scheduler,
    ftl: &Ftl,
) -> u64 {
    let medium = planes.place(entry.plane.index()).medium as usize;
    // Looked for only where it makes a difference.
    match scheduler.buses().command_further(medium) {
        Some(further)
            if scheduler.arrays().is_multiplane() && joins_a_program(entry, planes, scheduler, ftl) =>
        {
            further
        }
        _ => scheduler.buses().command(medium),
    }
}

fn joins_a_program(entry: QueueEntry, planes: &Planes, scheduler: &Scheduler, ftl: &Ftl) -> bool {
    let plane = entry.plane.index();
    let Place { array, die, .. } = planes.place(plane);
    let is_brought = |other: usize| {
        let waits = scheduler.arrays().wanted(other) != NOTHING && planes.wants(other) != Want::Array;
        let alike = |brought: QueueEntry| brought.is_program() && ftl.are_alike(brought.op, entry.op);
        other != plane && waits && wanted(other, planes, scheduler, ftl).is_some_and(alike)
    };
    scheduler.arrays().is_wanted(array as usize) && planes.of_die(die).any(is_brought)
}

/// Whether the program that an array would begin is like one that the bus is just bringing to another of
/// its planes, for which nothing else there stands before the array.
pub(crate) fn expects_sibling(array: usize, planes: &Planes, scheduler: &mut Scheduler, ftl: &Ftl) -> bool {
    let Some(plane) = scheduler.first_at_array(array) else { return false };
    let Some(lead) = wanted(plane, planes, scheduler, ftl) else { return false };
    let Some(coming) = scheduler.buses().user(planes.place(plane).channel as usize) else { return false };
    let registers = planes.registers(coming.plane as usize);
    let current = registers.current().held.op;
    registers.register(coming.op).held.is_program()
        && planes.place(coming.plane as usize).array as usize == array
        && (current == coming.op || current.is_none())
        && ftl.are_alike(lead.op, coming.op)
}

/// A host read is queued at a plane: the operation of its array may have to stop for it. Returns the event of that.
pub(crate) fn interrupt(
    entry: QueueEntry,
    planes: &Planes,
    scheduler: &mut Scheduler,
    ftl: &Ftl,
    now: SimTime,
) -> Option<Due> {
    let Place { array, die, .. } = planes.place(entry.plane.index());
    let at = scheduler.arrays().user(array as usize)?;
    if entry.rank() != Class::Read as usize || ftl.is_held(die) {
        return None;
    }
    let kind = planes.registers(at.plane as usize).register(at.op).held.kind();
    scheduler.stop(array as usize, kind, now)
}

/// What was set aside in an array has its planes again, if no read wants the array and they are free. Returns the first
/// of it.
pub(crate) fn resume(
    array: usize,
    planes: &mut Planes,
    scheduler: &Scheduler,
    ftl: &Ftl,
    now: SimTime,
) -> Option<User> {
    let lead = scheduler.arrays().rest(array)?;
    let is_free = |user: User| planes.registers(user.plane as usize).current().held.is_none();
    if !scheduler.arrays().together(lead).all(is_free) {
        return None;
    }
    for user in scheduler.arrays().together(lead) {
        planes.registers_mut(user.plane as usize).resume(ftl.entry_of(user.op), now);
    }
    Some(lead)
}
