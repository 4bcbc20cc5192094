//! Conversion between wall time and the drive's time.

use std::time::{Duration, Instant};
use wordline_units::{SimDuration, SimTime};

/// Seconds of wall time per second of drive time. At 0 the drive takes no time: requests complete
/// immediately, and the drive's time advances only by its operations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TimeScale(f64);

impl TimeScale {
    /// Real time: the drive is as fast as modelled.
    pub const REAL: TimeScale = TimeScale(1.0);
    /// The drive takes no time.
    pub const NONE: TimeScale = TimeScale(0.0);
    /// Largest factor, that of the slowest drive.
    const MOST: f64 = 1e6;
    /// Smallest factor above 0.
    const LEAST: f64 = 1e-6;

    /// The factor.
    pub fn factor(self) -> f64 {
        self.0
    }

    /// A duration of the drive as reported to clients: in wall time, or in drive time if the drive takes none.
    pub(crate) fn told(self, modelled: SimDuration) -> SimDuration {
        if self == TimeScale::NONE { modelled } else { SimDuration(self.wall(modelled).as_nanos() as u64) }
    }

    /// A duration of the drive in wall time.
    pub(crate) fn wall(self, modelled: SimDuration) -> Duration {
        Duration::from_nanos((modelled.0 as f64 * self.0) as u64)
    }
}

impl std::str::FromStr for TimeScale {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeScale, String> {
        let scale = text.parse().ok();
        let fits = |s: &f64| *s == 0.0 || (TimeScale::LEAST..=TimeScale::MOST).contains(s);
        scale.filter(fits).map(|s: f64| TimeScale(s.abs())).ok_or_else(|| {
            format!(
                "{text:?} is not a time scale\n  allowed: 0 (no delays), or 0.000001 (a million times \
                 faster) to 1000000 (a million times slower)"
            )
        })
    }
}

/// Maps wall time to the drive's time and back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// An instant, and the drive's time at that instant.
    origin: (Instant, SimTime),
    scale: TimeScale,
}

impl Clock {
    pub(crate) fn new(scale: TimeScale, wall: Instant, drive: SimTime) -> Clock {
        Clock { origin: (wall, drive), scale }
    }

    pub(crate) fn scale(&self) -> TimeScale {
        self.scale
    }

    /// The drive's time at an instant. Nothing if the drive takes no time.
    #[inline]
    pub(crate) fn drive_time(&self, wall: Instant) -> Option<SimTime> {
        let since = wall.saturating_duration_since(self.origin.0).as_nanos() as u64;
        let modelled = match self.scale {
            TimeScale::NONE => return None,
            TimeScale::REAL => since,
            TimeScale(scale) => (since as f64 / scale) as u64,
        };
        Some(SimTime(self.origin.1.0.saturating_add(modelled)))
    }

    /// The drive's time of an arrival that may precede the start of this clock, as during recovery.
    pub(crate) fn arrival(&self, wall: Instant) -> Option<SimTime> {
        let early = self.origin.0.saturating_duration_since(wall);
        if early.is_zero() || self.scale == TimeScale::NONE {
            return self.drive_time(wall);
        }
        Some(SimTime(self.origin.1.0.saturating_sub((early.as_nanos() as f64 / self.scale.0) as u64)))
    }

    /// The instant of a time of the drive. Nothing if the drive takes no time, or if the time is never
    /// reached.
    #[inline]
    pub(crate) fn instant(&self, drive: SimTime) -> Option<Instant> {
        if self.scale == TimeScale::NONE || drive == SimTime::NEVER {
            return None;
        }
        self.origin.0.checked_add(self.scale.wall(drive.since(self.origin.1.min(drive))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drives_time_follows_from_wall_time_and_back() {
        let wall = Instant::now();
        for scale in ["1", "10", "0.5"] {
            let clock = Clock::new(scale.parse().unwrap(), wall, SimTime(7_000));
            let later = clock.instant(SimTime(1_007_000)).unwrap();
            let factor: f64 = scale.parse().unwrap();
            assert_eq!(later.duration_since(wall).as_nanos(), (1e6 * factor) as u128);
            assert_eq!(clock.drive_time(later), Some(SimTime(1_007_000)));
            assert_eq!(clock.instant(SimTime::NEVER), None);
        }
        let none = Clock::new(TimeScale::NONE, wall, SimTime(7_000));
        assert_eq!((none.drive_time(wall), none.instant(SimTime(9_000))), (None, None));
    }

    #[test]
    fn invalid_scale_is_refused_with_allowed_values() {
        for text in ["-1", "nan", "inf", "1e-9", "x", ""] {
            assert!(text.parse::<TimeScale>().unwrap_err().contains("allowed: 0 "), "{text}");
        }
        assert_eq!("-0".parse(), Ok(TimeScale::NONE));
    }
}
