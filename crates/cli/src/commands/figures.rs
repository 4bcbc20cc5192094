//! Numbers and times as notes on standard error have them.

use std::time::Duration;

/// Three digits.
pub(crate) fn significant(x: f64) -> String {
    let decimals = (2 - x.abs().max(1e-3).log10().floor() as i32).max(0) as usize;
    format!("{x:.decimals$}")
}

/// A time in whole seconds or minutes, or in hours.
pub(crate) fn duration(d: Duration) -> String {
    match d.as_secs() {
        s if s < 90 => format!("{s} s"),
        s if s < 5400 => format!("{} min", s.div_ceil(60)),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}
