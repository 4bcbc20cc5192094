//! What the drive at work tells of itself.

use crate::drive::Cut;
use crate::engine::core::Engine;
use serde_json::{Value, json};

impl Engine {
    /// The drive and what was done to it, as JSON. Times are the drive's, in nanoseconds.
    pub(crate) fn to_json(&self) -> Value {
        let Some(device) = self.drive.device() else {
            return json!({ "stopped": self.stopped });
        };
        let counters = device.ftl.counters();
        json!({
            "time_ns": self.drive.now().0,
            "scheme": self.drive.scheme(),
            "bytes": self.size,
            "mapped_units": device.ftl.mapped(),
            "requests": device.submitted(),
            "under_way": device.outstanding(),
            "commands_under_way": self.commands.len(),
            "lost_blocks": { "from_the_beginning": device.ftl.lost_blocks().0, "retired": device.ftl.lost_blocks().1 },
            "programmed_bytes": counters.programmed_bytes(),
            "host_bytes": counters.host.write_page_bytes,
            "stopped": self.stopped,
            "folder": self.folder_to_json(),
            "write_cache": {
                "bytes": self.write_cache,
                "used": self.cached,
                "failed_behind": self.failed_behind,
                "power_loss": self.drive.volatile().loss(),
            },
            "faults": {
                "read_errors": self.faults.read_errors.len(),
                "early_flushes": self.faults.early_flushes.left,
                "failed_reads": self.faults.failed_reads,
                "lied_flushes": self.faults.early_flushes.met,
                "no_space": self.faults.no_space.left,
                "refused_writes": self.faults.no_space.met,
                "slow_dies": self.drive.slow_dies().map(|(die, x)| json!({ "die": die.0, "factor": x })).collect::<Vec<_>>(),
            },
            "cuts": self.cuts.iter().enumerate().map(|(at, cut)| self.cut_to_json(at, *cut)).collect::<Vec<_>>(),
            "last_cut": self.drive.volatile().last_cut(),
        })
    }

    /// A cut, and in a few numbers what it lost of a volatile cache.
    fn cut_to_json(&self, at: usize, cut: Cut) -> Value {
        let mut told = cut.to_json();
        if let Some(lost) = self.drive.volatile().cuts().get(at) {
            told["write_cache"] = lost.clone();
        }
        told
    }

    /// What of its folder is told.
    fn folder_to_json(&self) -> Option<Value> {
        let folder = self.folder.as_ref()?;
        Some(json!({ "path": folder.path(), "commits": folder.commits }))
    }
}

impl Cut {
    /// The cut as JSON; times are the drive's, in nanoseconds.
    pub(crate) fn to_json(self) -> Value {
        json!({
            "at_ns": self.at.0,
            "lost_requests": self.lost,
            "torn_pages": self.torn_pages,
            "protected_pages": self.protected_pages,
            "recovery_ns": self.ready.since(self.at).0,
        })
    }
}
