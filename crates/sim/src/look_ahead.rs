//! Memory that is asked for ahead of its use. In a drive of many planes what one event of a plane has touched has left the
//! nearest caches when the next one comes. An event that knows what comes next asks for it, while others are worked on.
//! Nothing follows from that but speed, and a drive of few planes does without: it only sees that it has few.

use crate::back_end::BackEnd;
use wordline_ftl::{Ftl, Prefetch, QueueEntry};

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
    if back.planes().are_many() {
        ask_for_its_end(entry, channel, back, ftl);
    }
}

#[inline(never)]
fn ask_for_its_end(entry: QueueEntry, channel: u32, back: &BackEnd, ftl: &Ftl) {
    if entry.is_read() {
        back.planes().delays().prefetch(entry.op);
        ftl.prefetch(Prefetch::BlockOf(entry.op));
        ftl.prefetch(Prefetch::RequestOf(entry.op));
        if let Some(next) = back.planes().queue(entry.plane.index()).head() {
            ftl.prefetch(Prefetch::Op(next.op));
        }
    }
    if let Some(plane) = back.scheduler().buses().foremost(channel as usize) {
        back.planes().prefetch(plane);
    }
}

/// A transfer is over, and what follows from that comes next.
#[inline(always)]
pub(crate) fn transfer_is_over(entry: QueueEntry, channel: usize, back: &BackEnd, ftl: &Ftl) {
    if back.planes().are_many() {
        ask_for_what_follows(entry, channel, back, ftl);
    }
}

#[inline(never)]
fn ask_for_what_follows(entry: QueueEntry, channel: usize, back: &BackEnd, ftl: &Ftl) {
    if entry.is_read()
        && let Some(next) = back.planes().queue(entry.plane.index()).head()
    {
        ftl.prefetch(Prefetch::BlockOf(next.op));
    }
    if let Some(plane) = back.scheduler().buses().foremost(channel) {
        let held = back.planes().registers(plane).current().held;
        // A program still waits in the queue.
        let next = if held.is_none() { back.planes().queue(plane).head() } else { Some(&held) };
        if let Some(next) = next {
            ftl.prefetch(Prefetch::Op(next.op));
        }
    }
}
