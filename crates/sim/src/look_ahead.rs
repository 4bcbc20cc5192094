//! Memory that is asked for ahead of its use. In a drive of many planes what one event of a plane has touched has left the
//! nearest caches when the next one comes. An event that knows what comes next asks for it, while others are worked on.
//! Nothing follows from that but speed, and a drive of few planes does without.

use crate::back_end::BackEnd;
use wordline_ftl::{Ftl, QueueEntry};
use wordline_units::Lpn;

/// Reads of two pages come: of the first later, so that its plane is fetched, and in that of the second there is room for
/// it by now.
#[inline(always)]
pub(crate) fn reads_come([later, sooner]: [Lpn; 2], back: &BackEnd, ftl: &Ftl) {
    if back.planes().are_many() {
        if let Some(plane) = ftl.plane_to_read(later) {
            back.planes().prefetch(plane.index());
        }
        if let Some(plane) = ftl.plane_to_read(sooner) {
            back.planes().queue(plane.index()).prefetch_free();
        }
    }
}

/// A page waits for its bus: its plane will begin the next operation when that has been served.
#[inline(always)]
pub(crate) fn sensed(entry: QueueEntry, back: &BackEnd) {
    if back.planes().are_many() {
        back.planes().queue(entry.plane.index()).prefetch_head();
    }
}

/// A transfer begins. At its end a read is over, for its request too; its plane begins the next operation, and the bus
/// serves another plane.
#[inline(always)]
pub(crate) fn transfer_begins(entry: QueueEntry, channel: u32, back: &BackEnd, ftl: &Ftl) {
    if !back.planes().are_many() {
        return;
    }
    if entry.is_read() {
        back.planes().delays().prefetch(entry.op);
        ftl.prefetch_block(entry.op);
        ftl.prefetch_request(entry.op);
        if let Some(next) = back.planes().queue(entry.plane.index()).head() {
            ftl.prefetch_op(next.op);
        }
    }
    if let Some(plane) = back.scheduler().buses().foremost(channel as usize) {
        back.planes().prefetch(plane);
    }
}

/// A transfer is over, and what follows from that comes next.
#[inline(always)]
pub(crate) fn transfer_is_over(entry: QueueEntry, channel: usize, back: &BackEnd, ftl: &Ftl) {
    if !back.planes().are_many() {
        return;
    }
    if entry.is_read()
        && let Some(next) = back.planes().queue(entry.plane.index()).head()
    {
        ftl.prefetch_block(next.op);
    }
    if let Some(plane) = back.scheduler().buses().foremost(channel) {
        ftl.prefetch_op(back.planes().registers(plane).current().held.op);
    }
}
