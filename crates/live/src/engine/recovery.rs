//! The power of a served drive: armed and past power cuts, and the recovery from the last.

use crate::clock::{Clock, TimeScale};
use crate::drive::Cut;
use crate::faults::{Armed, Due};
use std::time::{Duration, Instant};
use wordline_units::SimTime;

/// The power of a served drive.
pub(crate) struct Power {
    pub armed: Vec<Armed>,
    /// Number of the next armed power cut or injected fault.
    pub next_number: u64,
    /// Power cuts so far.
    pub cuts: Vec<Cut>,
    /// Number of cuts that ended no connection.
    pub resets: u64,
    /// A recovery in progress: no requests are served until it ends.
    pub recovery: Option<Recovery>,
    /// Share of the modelled recovery time that passes.
    pub recovery_scale: f64,
    /// A drive that takes no time has work left, because other threads were let in.
    pub is_behind: bool,
    /// The server ends.
    pub ends: bool,
    /// Why the server must end for a reason other than its drive: the folder is gone.
    pub gone: Option<String>,
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

    /// Time of the next power cut, among those with a drawn time.
    pub(crate) fn next_cut(&self) -> Option<SimTime> {
        self.armed.iter().filter_map(|a| if let Due::At(at) = a.due { Some(at) } else { None }).min()
    }

    /// When the recovery is due to end, or the next cut during it.
    pub(crate) fn recovery_due(&self) -> Option<Instant> {
        let recovery = self.recovery?;
        let cut = self.next_cut().filter(|at| *at < recovery.ready).map(|at| recovery.instant(at));
        Some(cut.map_or(recovery.until, |cut| cut.min(recovery.until)))
    }

    /// The drive's time, also during a recovery, for which the drive itself knows only the end.
    pub(crate) fn time(&self, wall: Instant, drive: SimTime) -> SimTime {
        self.recovery.map_or(drive, |recovery| recovery.time(wall))
    }

    /// Duration of a recovery, from that of the model.
    pub(crate) fn wall(&self, cut: Cut, scale: TimeScale) -> Duration {
        if scale == TimeScale::NONE {
            return Duration::ZERO;
        }
        scale.wall(cut.ready.since(cut.at)).mul_f64(self.recovery_scale)
    }

    /// The clock after a recovery that ends at an instant.
    pub(crate) fn clock(cut: Cut, until: Instant, scale: TimeScale) -> Clock {
        Clock::new(scale, until, cut.ready)
    }
}
