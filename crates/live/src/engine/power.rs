//! Power cuts and power-on.

use crate::clock::{Clock, TimeScale};
use crate::drive::Cut;
use crate::engine::core::Engine;
use crate::engine::recovery::{Power, Recovery};
use crate::faults::{Armed, CutWhen, Due};
use crate::protocol::numbers::NbdError;
use serde_json::Value;
use std::time::{Duration, Instant};
use wordline_hash::SplitMix64;
use wordline_units::SimTime;

/// Duration of a recovery above which a hint is given.
const LONG: Duration = Duration::from_secs(5);

/// Effect of a power cut on connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Connections {
    /// They end, and requests on new ones wait for the recovery.
    End,
    /// They stay: outstanding requests fail, and so do new ones until the drive has recovered, and for a minimum time.
    Stay(Duration),
}

impl Engine {
    /// Cut the power at a moment. Returns what the cut did if that is now.
    pub(crate) fn arm(&mut self, when: CutWhen, seed: Option<u64>) -> Option<Cut> {
        let (due, seed) = match when {
            CutWhen::Now => return self.cut_now(seed, Connections::End),
            CutWhen::AfterWrites(n) => (Due::Writes(n.max(1)), seed),
            CutWhen::AfterFlushes(n) => (Due::Flushes(n.max(1)), seed),
            CutWhen::Drawn { seed: drawn, within } => {
                let after = SplitMix64::new(drawn).bits() % within.max(1);
                (
                    Due::At(SimTime(
                        self.power.time(Instant::now(), self.drive.now()).0.saturating_add(after),
                    )),
                    seed.or(Some(drawn)),
                )
            }
        };
        let number = self.power.next_number;
        self.power.next_number += 1;
        self.power.armed.push(Armed { number, due, seed });
        None
    }

    /// Cut the power if an armed cut is due.
    pub(crate) fn cut_if_due(&mut self) {
        let due = self.power.armed.iter().find(|a| matches!(a.due, Due::Writes(0) | Due::Flushes(0)));
        if let Some(seed) = due.map(|armed| armed.seed) {
            self.cut_now(seed, Connections::End);
        }
    }

    /// Cut the power at its due time.
    pub(crate) fn cut_at(&mut self, at: SimTime) {
        let due = self.power.armed.iter().find(|a| a.due == Due::At(at));
        let seed = due.and_then(|armed| armed.seed);
        let wall = match self.power.recovery {
            Some(recovery) => Some(recovery.instant(at)),
            None => self.clock.instant(at),
        };
        self.cut(at, wall.unwrap_or_else(Instant::now), seed, Connections::End);
    }

    /// Cut the power now.
    pub(crate) fn cut_now(&mut self, seed: Option<u64>, connections: Connections) -> Option<Cut> {
        let wall = Instant::now();
        self.cut(self.power.time(wall, self.drive.now()), wall, seed, connections)
    }

    /// Cut the power. Replies completed by now are still sent; all other requests are lost, usually with their
    /// connections. A power cut during a recovery restarts it.
    fn cut(
        &mut self,
        at: SimTime,
        wall: Instant,
        seed: Option<u64>,
        connections: Connections,
    ) -> Option<Cut> {
        self.power.armed.clear();
        self.forget_requests();
        self.part_trims.clear();
        self.cache.used = 0;
        if connections == Connections::End {
            self.commands.clear();
            self.held.clear();
        }
        let cut = match self.drive.cut(at) {
            Ok(cut) => cut,
            Err(why) => {
                self.stop(why);
                return None;
            }
        };
        self.drive.forget_undone_trims();
        let number = self.power.cuts.len() as u64 + 1;
        self.drive.volatile_mut().cut(seed, number);
        let left = self.drive.volatile().cuts().last().map_or(String::new(), told);
        let scale = self.clock.scale();
        let takes = self.power.wall(cut, scale);
        let hint = if takes >= LONG && self.power.recovery_scale > 0.0 {
            format!(", {:.1} s from now (serve --recovery-scale shortens this)", takes.as_secs_f64())
        } else {
            String::new()
        };
        self.notes.lines.push(format!(
            "power cut {number} at {} ns: {} requests lost, {} pages torn{left}; ready again after {} ns{hint}",
            cut.at.0,
            cut.lost,
            cut.torn_pages,
            cut.ready.since(cut.at).0
        ));
        self.power.cuts.push(cut);
        let (until, fails) = match connections {
            Connections::End => (wall + takes, false),
            Connections::Stay(least) => {
                self.power.resets += 1;
                (wall + takes.max(least), true)
            }
        };
        self.power.recovery =
            (until > wall).then_some(Recovery { begun: wall, until, cut: cut.at, ready: cut.ready, fails });
        self.clock = Power::clock(cut, until, scale);
        if fails {
            self.fail_all(NbdError::Io, "the drive was reset");
        }
        Some(cut)
    }

    /// End the recovery if its time has come, and submit the requests that waited for it. Returns whether a
    /// recovery is still in progress.
    pub(crate) fn is_recovering(&mut self, wall: Instant) -> bool {
        while let Some(recovery) = self.power.recovery {
            let cut = self.power.next_cut().filter(|at| *at < recovery.ready && *at <= recovery.time(wall));
            if let Some(at) = cut {
                self.cut_at(at);
                continue;
            }
            if wall < recovery.until {
                return true;
            }
            self.power.recovery = None;
            for held in std::mem::take(&mut self.held) {
                self.accept(&held.reply_queue, held.request, held.data, held.arrived);
            }
        }
        false
    }

    /// Change the time scale, also for the rest of a recovery.
    pub(crate) fn set_scale(&mut self, scale: TimeScale) {
        let now = Instant::now();
        let (then, drive) = (self.clock.scale(), self.drive.now());
        match self.power.recovery.filter(|recovery| recovery.until > now) {
            Some(recovery) if scale != TimeScale::NONE && then != TimeScale::NONE => {
                let ratio = scale.factor() / then.factor();
                let cut = recovery.time(now);
                let until = now + recovery.until.saturating_duration_since(now).mul_f64(ratio);
                self.power.recovery = Some(Recovery { begun: now, until, cut, ..recovery });
                self.clock = Clock::new(scale, until, drive);
            }
            Some(recovery) if recovery.fails && then == TimeScale::NONE => {
                self.clock = Clock::new(scale, recovery.until, drive);
            }
            _ => {
                self.power.recovery = self.power.recovery.map(|recovery| Recovery { until: now, ..recovery });
                self.clock = Clock::new(scale, now, drive);
            }
        }
    }

    /// Outstanding requests fail, and so do those that wait for a recovery.
    pub(crate) fn fail_all(&mut self, error: NbdError, why: &str) {
        self.forget_requests();
        let mut ids: Vec<u64> = self.commands.keys().copied().collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(command) = self.commands.get_mut(&id) {
                command.error = Some((error, why.to_string()));
            }
            self.finish(id);
        }
        for held in std::mem::take(&mut self.held) {
            self.refuse(&held.reply_queue, &held.request, held.arrived, (error, why.to_string()));
        }
    }
}

/// Data lost from a volatile cache, for the log.
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
