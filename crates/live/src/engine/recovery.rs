//! The power of a served drive: its clock, past power cuts, and the recovery from the last.

use crate::clock::{Clock, TimeScale};
use crate::drive::Cut;
use serde_json::Value;
use std::time::{Duration, Instant};
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

/// The power of a served drive.
pub(crate) struct Power {
    clock: Clock,
    /// Power cuts so far.
    cuts: Vec<Cut>,
    /// Number of cuts that ended no connection.
    resets: u64,
    /// A recovery in progress: no requests are served until it ends.
    recovery: Option<Recovery>,
    /// Share of the modelled recovery time that passes.
    recovery_scale: f64,
}

/// A recovery, in wall time and in drive time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Recovery {
    pub begun: Instant,
    pub until: Instant,
    /// Time of the power cut, and end of the recovery.
    pub cut: SimTime,
    pub ready: SimTime,
    /// Requests fail during the recovery instead of waiting.
    pub fails: bool,
}

impl Recovery {
    /// The drive's time at an instant of the recovery.
    pub(crate) fn time(&self, wall: Instant) -> SimTime {
        let all = self.until.saturating_duration_since(self.begun).as_secs_f64();
        let gone = wall.saturating_duration_since(self.begun).as_secs_f64();
        let share = if all > 0.0 { (gone / all).min(1.0) } else { 1.0 };
        SimTime(self.cut.0 + (self.ready.since(self.cut).0 as f64 * share) as u64)
    }

    /// The instant of a time of the drive during the recovery.
    pub(crate) fn instant(&self, at: SimTime) -> Instant {
        let all = self.ready.since(self.cut).0 as f64;
        let share = if all > 0.0 { at.since(self.cut.min(at)).0 as f64 / all } else { 1.0 };
        self.begun + self.until.saturating_duration_since(self.begun).mul_f64(share.min(1.0))
    }
}

impl Power {
    pub(crate) fn new(clock: Clock, recovery_scale: f64) -> Power {
        Power { clock, cuts: vec![], resets: 0, recovery: None, recovery_scale }
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Power cuts so far.
    pub(crate) fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// Number of power cuts that have ended connections.
    pub(crate) fn epoch(&self) -> u64 {
        self.cuts.len() as u64 - self.resets
    }

    /// The recovery in progress.
    pub(crate) fn recovery(&self) -> Option<Recovery> {
        self.recovery
    }

    /// The drive's time, also during a recovery, for which the drive itself knows only the end.
    pub(crate) fn time(&self, wall: Instant, drive: SimTime) -> SimTime {
        self.recovery.map_or(drive, |recovery| recovery.time(wall))
    }

    /// The instant of a time of the drive, also during a recovery.
    pub(crate) fn instant(&self, at: SimTime) -> Option<Instant> {
        match self.recovery {
            Some(recovery) => Some(recovery.instant(at)),
            None => self.clock.instant(at),
        }
    }

    /// When the recovery is due to end, or the next power cut during it.
    pub(crate) fn recovery_due(&self, next_cut: Option<SimTime>) -> Option<Instant> {
        let recovery = self.recovery?;
        let cut = next_cut.filter(|at| *at < recovery.ready).map(|at| recovery.instant(at));
        Some(cut.map_or(recovery.until, |cut| cut.min(recovery.until)))
    }

    /// Recover from a cut at an instant. Returns how long that takes.
    pub(crate) fn recover(&mut self, cut: Cut, wall: Instant, connections: Connections) -> Duration {
        let scale = self.clock.scale();
        let takes = match scale {
            TimeScale::NONE => Duration::ZERO,
            scale => scale.wall(cut.ready.since(cut.at)).mul_f64(self.recovery_scale),
        };
        self.cuts.push(cut);
        let (until, fails) = match connections {
            Connections::End => (wall + takes, false),
            Connections::Stay(least) => {
                self.resets += 1;
                (wall + takes.max(least), true)
            }
        };
        self.recovery =
            (until > wall).then_some(Recovery { begun: wall, until, cut: cut.at, ready: cut.ready, fails });
        self.clock = Clock::new(scale, until, cut.ready);
        takes
    }

    pub(crate) fn end_recovery(&mut self) {
        self.recovery = None;
    }

    /// Change the time scale, also for the rest of a recovery. `drive` is the drive's time.
    pub(crate) fn set_scale(&mut self, scale: TimeScale, drive: SimTime) {
        let now = Instant::now();
        let then = self.clock.scale();
        match self.recovery.filter(|recovery| recovery.until > now) {
            Some(recovery) if scale != TimeScale::NONE && then != TimeScale::NONE => {
                let ratio = scale.factor() / then.factor();
                let cut = recovery.time(now);
                let until = now + recovery.until.saturating_duration_since(now).mul_f64(ratio);
                self.recovery = Some(Recovery { begun: now, until, cut, ..recovery });
                self.clock = Clock::new(scale, until, drive);
            }
            Some(recovery) if recovery.fails && then == TimeScale::NONE => {
                self.clock = Clock::new(scale, recovery.until, drive);
            }
            _ => {
                self.recovery = self.recovery.map(|recovery| Recovery { until: now, ..recovery });
                self.clock = Clock::new(scale, now, drive);
            }
        }
    }
}

/// A power cut, the data lost from a volatile cache, and how long the recovery takes, for the log.
pub(crate) fn told(number: u64, cut: Cut, lost: Option<&Value>, takes: Duration) -> String {
    let left = lost.map_or(String::new(), |lost| {
        format!(
            "; of {} writes that were not durable {} survived, {} were lost, {} torn ({}, seed {})",
            lost["not_durable"],
            lost["survived"],
            lost["lost"],
            lost["torn"],
            lost["model"].as_str().unwrap_or("?"),
            lost["seed"]
        )
    });
    let hint = if takes >= LONG {
        format!(", {:.1} s from now (serve --recovery-scale shortens this)", takes.as_secs_f64())
    } else {
        String::new()
    };
    format!(
        "power cut {number} at {}: {} requests lost, {} pages torn{left}; ready again after {:.1} ms{hint}",
        cut.at,
        cut.lost,
        cut.torn_pages,
        cut.ready.since(cut.at).0 as f64 / 1e6
    )
}
