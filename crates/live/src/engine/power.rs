//! The power is cut and comes back.

use crate::drive::Cut;
use crate::engine::core::Engine;
use crate::faults::{Armed, CutWhen};
use wordline_hash::SplitMix64;
use wordline_units::SimTime;

impl Engine {
    /// Cut the power at a moment. Returns what the cut did if that is now.
    pub(crate) fn arm(&mut self, when: CutWhen) -> Option<Cut> {
        match when {
            CutWhen::Now => return self.cut_now(),
            CutWhen::AfterWrites(n) => self.armed.push(Armed::Writes(n.max(1))),
            CutWhen::AfterFlushes(n) => self.armed.push(Armed::Flushes(n.max(1))),
            CutWhen::Drawn { seed, within } => {
                let after = SplitMix64(seed).bits() % within.max(1);
                self.armed.push(Armed::At(SimTime(self.drive.now().0.saturating_add(after))));
            }
        }
        None
    }

    /// Cut the power if what was waited for has come.
    pub(crate) fn cut_if_due(&mut self) {
        if self.armed.iter().any(|a| matches!(a, Armed::Writes(0) | Armed::Flushes(0))) {
            self.cut_now();
        }
    }

    /// Cut the power now. What was answered until now still leaves; all else that was asked is gone with its connections.
    pub(crate) fn cut_now(&mut self) -> Option<Cut> {
        self.armed.clear();
        self.commands.clear();
        self.forget_requests();
        self.cached = 0;
        match self.drive.cut() {
            Ok(cut) => {
                self.drive.forget_undone_trims();
                self.notes.push(format!(
                    "power cut {} at {} ns: {} requests of the drive lost, {} pages torn; it takes requests again after {} ns",
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
