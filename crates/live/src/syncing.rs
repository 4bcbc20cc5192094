//! Replies that wait until the drive's folder has been synced: those to FLUSH and to writes with FUA, or all
//! that promise durability. They are committed before they arrive here. A separate thread syncs the folder
//! for all replies that have arrived meanwhile, while the drive continues for other requests.

use crate::data::folder::Log;
use crate::data::not_written::NotWritten;
use crate::engine::command::Delivery;
use crate::lock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Replies that wait for a sync of the folder.
pub(crate) struct Syncing {
    log: Log,
    /// Whether all replies that promise something wait, not only those to FLUSH and FUA.
    always: bool,
    waiting: Mutex<Vec<Delivery>>,
    more: Condvar,
    /// Number of syncs.
    pub count: AtomicU64,
}

impl Syncing {
    pub(crate) fn new(log: Log, always: bool) -> Syncing {
        Syncing { log, always, waiting: Mutex::default(), more: Condvar::new(), count: AtomicU64::new(0) }
    }

    /// Take the replies that must wait, and leave the others.
    pub(crate) fn take(&self, out: &mut Vec<Delivery>) {
        let mut taken = out.extract_if(.., |delivery| delivery.waits_for_sync(self.always)).peekable();
        if taken.peek().is_some() {
            lock(&self.waiting).extend(taken);
            self.more.notify_one();
        }
    }

    /// Wait for replies, sync the log, and return them with the reason if the sync has failed. Nothing if the
    /// server stops and no reply waits.
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

    /// Wake the waiting thread, because the server stops.
    pub(crate) fn stop(&self) {
        drop(lock(&self.waiting));
        self.more.notify_all();
    }
}
