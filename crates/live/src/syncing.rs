//! Replies that wait until the drive's folder has been synced: those to FLUSH and to writes with FUA, or all
//! that promise durability. They are committed before they arrive here. The thread of a connection syncs for a
//! reply that nothing else of its client waits behind. Otherwise a separate thread syncs the folder for all
//! replies that have arrived meanwhile, while the drive continues for other requests.

use crate::data::folder::Log;
use crate::data::not_written::NotWritten;
use crate::engine::command::Delivery;
use crate::lock;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// Replies that wait for a sync of the folder.
pub(crate) struct Syncing {
    log: Log,
    /// Whether all replies that promise something wait, not only those to FLUSH and FUA.
    always: bool,
    waiting: Mutex<Waiting>,
    more: Condvar,
    /// Number of syncs, and how many of them the thread of a connection has done.
    count: AtomicU64,
    own: AtomicU64,
}

#[derive(Default)]
struct Waiting {
    replies: Vec<Delivery>,
    /// A thread syncs.
    busy: bool,
}

impl Syncing {
    pub(crate) fn new(log: Log, always: bool) -> Syncing {
        Syncing {
            log,
            always,
            waiting: Mutex::default(),
            more: Condvar::new(),
            count: AtomicU64::new(0),
            own: AtomicU64::new(0),
        }
    }

    /// Take the replies that must wait, and leave the others. A thread that may wait for the disk itself (`is_free`)
    /// gets the reply for which it must: it calls [`Self::sync`] then.
    pub(crate) fn take(&self, out: &mut Vec<Delivery>, is_free: bool) -> Option<Delivery> {
        let mut taken: Vec<Delivery> =
            out.extract_if(.., |delivery| delivery.waits_for_sync(self.always)).collect();
        if taken.is_empty() {
            return None;
        }
        let mut waiting = lock(&self.waiting);
        // Replies that arrive during a sync share the next.
        if is_free && taken.len() == 1 && taken[0].is_last() && waiting.replies.is_empty() && !waiting.busy {
            waiting.busy = true;
            self.own.fetch_add(1, Ordering::Relaxed);
            return taken.pop();
        }
        waiting.replies.extend(taken);
        self.more.notify_one();
        None
    }

    /// Wait for replies, and take them. Nothing if the server stops and no reply waits.
    pub(crate) fn next(&self, stopping: &AtomicBool) -> Option<Vec<Delivery>> {
        let mut waiting = lock(&self.waiting);
        while waiting.replies.is_empty() || waiting.busy {
            if waiting.replies.is_empty() && stopping.load(Ordering::Relaxed) {
                return None;
            }
            waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.busy = true;
        Some(std::mem::take(&mut waiting.replies))
    }

    /// Sync the log for replies that were taken. Returns why the sync has failed, if so; then the replies are errors.
    pub(crate) fn sync(&self, out: &mut [Delivery]) -> Option<NotWritten> {
        self.count.fetch_add(1, Ordering::Relaxed);
        let failed = self.log.sync().err();
        if let Some(failed) = &failed {
            out.iter_mut().for_each(|delivery| delivery.fail(failed));
        }
        let mut waiting = lock(&self.waiting);
        waiting.busy = false;
        if !waiting.replies.is_empty() {
            self.more.notify_one();
        }
        failed
    }

    /// Let the system begin to write what is likely to be synced next: replies that need no sync have left.
    pub(crate) fn begin_writing(&self) {
        self.log.begin_writing();
    }

    /// Wake the waiting thread, because the server stops.
    pub(crate) fn stop(&self) {
        drop(lock(&self.waiting));
        self.more.notify_all();
    }

    /// Add the numbers of syncs to the status of the folder.
    pub(crate) fn add_to(&self, folder: &mut Value) {
        let number = |of: &AtomicU64| of.load(Ordering::Relaxed);
        folder["syncs"] = number(&self.count).into();
        folder["syncs_by_connections"] = number(&self.own).into();
        folder["disk_waits"] = self.log.waits().into();
    }
}
