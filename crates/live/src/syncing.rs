//! Answers that wait until the drive's folder is on its disk: those to a FLUSH and to writes with FUA, or all that promise
//! something. They are committed when they come here, and a thread of their own writes them through, as many at once as have
//! come meanwhile, so that the drive goes on for everybody else.

use crate::data::folder::Log;
use crate::data::not_written::NotWritten;
use crate::engine::command::Delivery;
use crate::lock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Answers that wait until a folder is on its disk.
pub(crate) struct Syncing {
    log: Log,
    /// Whether all that promise something do.
    always: bool,
    waiting: Mutex<Vec<Delivery>>,
    more: Condvar,
    /// How often the folder was written through.
    pub count: AtomicU64,
}

impl Syncing {
    pub(crate) fn new(log: Log, always: bool) -> Syncing {
        Syncing { log, always, waiting: Mutex::default(), more: Condvar::new(), count: AtomicU64::new(0) }
    }

    /// Take over the answers that wait, and leave the others.
    pub(crate) fn take(&self, out: &mut Vec<Delivery>) {
        let waits = |delivery: &mut Delivery| delivery.synced || self.always && delivery.is_promise();
        let mut taken = out.extract_if(.., waits).peekable();
        if taken.peek().is_some() {
            lock(&self.waiting).extend(taken);
            self.more.notify_one();
        }
    }

    /// Those that wait, when there are some and the log has been written through: failed, where it could not be, with the reason.
    /// Nothing when the server stops and nobody waits any more.
    pub(crate) fn next(&self, stopping: &AtomicBool) -> Option<(Vec<Delivery>, Option<NotWritten>)> {
        let mut waiting = lock(&self.waiting);
        while waiting.is_empty() {
            if stopping.load(Ordering::Relaxed) {
                return None;
            }
            waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let mut out = std::mem::take(&mut *waiting);
        drop(waiting);
        self.count.fetch_add(1, Ordering::Relaxed);
        let failed = self.log.sync().err();
        if let Some(failed) = &failed {
            out.iter_mut().for_each(|delivery| delivery.fail(failed));
        }
        Some((out, failed))
    }

    /// The server stops.
    pub(crate) fn stop(&self) {
        drop(lock(&self.waiting));
        self.more.notify_all();
    }
}
