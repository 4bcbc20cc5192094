//! What becomes of the power of a served drive: cuts that are waited for, those that were, and the recovery from the last.

use crate::clock::{Clock, TimeScale};
use crate::drive::Cut;
use crate::faults::{Armed, Due};
use std::time::{Duration, Instant};
use wordline_units::SimTime;

/// The power of a served drive.
pub(crate) struct Power {
    pub armed: Vec<Armed>,
    /// The number of the next that is armed, or of the next fault that is planted.
    pub next_number: u64,
    /// Power cuts so far.
    pub cuts: Vec<Cut>,
    /// Those of them that have ended no connection.
    pub resets: u64,
    /// A recovery that has not ended: until then nothing is answered.
    pub recovery: Option<Recovery>,
    /// How much of the modelled time of a recovery passes.
    pub recovery_scale: f64,
    /// A drive that takes no time has something left to do, since others were to come in between.
    pub is_behind: bool,
    /// The server ends.
    pub ends: bool,
    /// Why the server has to end, which its drive does not know of: the folder is gone.
    pub gone: Option<String>,
}

/// A recovery, in wall time and in the drive's.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Recovery {
    pub begun: Instant,
    pub until: Instant,
    /// When the power was cut, and when the drive has recovered.
    pub cut: SimTime,
    pub ready: SimTime,
    /// What is asked meanwhile fails, and does not wait.
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

    /// The instant of a time of the drive within it.
    pub(crate) fn instant(&self, at: SimTime) -> Instant {
        let all = self.ready.since(self.cut).0 as f64;
        let share = if all > 0.0 { at.since(self.cut.min(at)).0 as f64 / all } else { 1.0 };
        self.begun + self.until.saturating_duration_since(self.begun).mul_f64(share.min(1.0))
    }
}

impl Power {
    pub(crate) fn new(recovery_scale: f64) -> Power {
        Power {
            armed: vec![],
            next_number: 1,
            cuts: vec![],
            resets: 0,
            recovery: None,
            recovery_scale,
            is_behind: false,
            ends: false,
            gone: None,
        }
    }

    /// The moment at which the power is cut next, of those that were drawn.
    pub(crate) fn next_cut(&self) -> Option<SimTime> {
        self.armed.iter().filter_map(|a| if let Due::At(at) = a.due { Some(at) } else { None }).min()
    }

    /// When something is due of a recovery.
    pub(crate) fn recovery_due(&self) -> Option<Instant> {
        let recovery = self.recovery?;
        let cut = self.next_cut().filter(|at| *at < recovery.ready).map(|at| recovery.instant(at));
        Some(cut.map_or(recovery.until, |cut| cut.min(recovery.until)))
    }

    /// The drive's time, in a recovery as well, of which the drive itself has only the end.
    pub(crate) fn time(&self, wall: Instant, drive: SimTime) -> SimTime {
        self.recovery.map_or(drive, |recovery| recovery.time(wall))
    }

    /// How long a recovery takes, of that of the model.
    pub(crate) fn wall(&self, cut: Cut, scale: TimeScale) -> Duration {
        if scale == TimeScale::NONE {
            return Duration::ZERO;
        }
        scale.wall(cut.ready.since(cut.at)).mul_f64(self.recovery_scale)
    }

    /// The clock behind a recovery that ends at an instant.
    pub(crate) fn clock(cut: Cut, until: Instant, scale: TimeScale) -> Clock {
        Clock::new(scale, until, cut.ready)
    }
}
