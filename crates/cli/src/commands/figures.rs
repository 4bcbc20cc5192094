//! Numbers and times as notes on standard error have them.

use std::time::Duration;

/// A time in whole seconds or minutes, or in hours.
pub(crate) fn duration(d: Duration) -> String {
    match d.as_secs() {
        s if s < 90 => format!("{s} s"),
        s if s < 5400 => format!("{} min", s.div_ceil(60)),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}
