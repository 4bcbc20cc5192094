//! The power is cut and comes back.

use crate::drive::Cut;
use crate::engine::core::Engine;
use crate::faults::{Armed, CutWhen, Due};
use serde_json::Value;
use wordline_hash::SplitMix64;
use wordline_units::SimTime;

impl Engine {
    /// Cut the power at a moment. Returns what the cut did if that is now.
    pub(crate) fn arm(&mut self, when: CutWhen, seed: Option<u64>) -> Option<Cut> {
        match when {
            CutWhen::Now => return self.cut_now(seed),
            CutWhen::AfterWrites(n) => self.armed.push(Armed { due: Due::Writes(n.max(1)), seed }),
            CutWhen::AfterFlushes(n) => self.armed.push(Armed { due: Due::Flushes(n.max(1)), seed }),
            CutWhen::Drawn { seed: drawn, within } => {
                let after = SplitMix64(drawn).bits() % within.max(1);
                let due = Due::At(SimTime(self.drive.now().0.saturating_add(after)));
                self.armed.push(Armed { due, seed: seed.or(Some(drawn)) });
            }
        }
        None
    }

    /// Cut the power if what was waited for has come.
    pub(crate) fn cut_if_due(&mut self) {
        let due = self.armed.iter().find(|a| matches!(a.due, Due::Writes(0) | Due::Flushes(0)));
        if let Some(seed) = due.map(|armed| armed.seed) {
            self.cut_now(seed);
        }
    }

    /// Cut the power, as its time has come.
    pub(crate) fn cut_at(&mut self, at: SimTime) {
        let due = self.armed.iter().find(|a| a.due == Due::At(at));
        let seed = due.and_then(|armed| armed.seed);
        self.cut_now(seed);
    }

    /// Cut the power now. What was answered until now still leaves; all else that was asked is gone with its connections.
    pub(crate) fn cut_now(&mut self, seed: Option<u64>) -> Option<Cut> {
        self.armed.clear();
        self.commands.clear();
        self.forget_requests();
        self.cached = 0;
        match self.drive.cut() {
            Ok(cut) => {
                self.drive.forget_undone_trims();
                let number = self.epoch() + 1;
                self.drive.volatile_mut().cut(seed, number);
                let left = self.drive.volatile().cuts().last().map_or(String::new(), told);
                self.notes.push(format!(
                    "power cut {} at {} ns: {} requests lost, {} pages torn{left}; ready again after {} ns",
                    self.cuts.len() + 1,
                    cut.at.0,
                    cut.lost,
                    cut.torn_pages,
                    cut.ready.since(cut.at).0
                ));
                self.cuts.push(cut);
                Some(cut)
            }
            Err(why) => {
                self.stop(why);
                None
            }
        }
    }
}

/// What of a volatile cache was lost, for the log.
fn told(cut: &Value) -> String {
    format!(
        "; of {} writes that were not durable {} survived, {} were lost, {} torn ({}, seed {})",
        cut["not_durable"],
        cut["survived"],
        cut["lost"],
        cut["torn"],
        cut["model"].as_str().unwrap_or("?"),
        cut["seed"]
    )
}
