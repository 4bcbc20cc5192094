//! Simulated time: instants and durations, in whole nanoseconds.

use crate::quantity_text::{QuantityError, split, text_serde, unknown_unit, whole};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

/// An instant of simulated time: nanoseconds since the run began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SimTime(pub u64);

impl SimTime {
    /// Later than every instant of a run.
    pub const NEVER: SimTime = SimTime(u64::MAX);

    /// Time since `earlier`; zero if `earlier` is later.
    #[inline(always)]
    pub const fn since(self, earlier: SimTime) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for SimTime {
    /// As people read it: `7 ns`, `12.345 us`, `113.766 ms`, `4.711 s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_reached = |(_, size): &&(&str, u64)| self.0 >= *size;
        match TIME_UNITS[1..4].iter().rev().find(is_reached) {
            // Cut, not rounded: 999.9996 us are not a millisecond.
            Some((unit, size)) => write!(f, "{}.{:03} {unit}", self.0 / size, self.0 % size / (size / 1000)),
            None => write!(f, "{} ns", self.0),
        }
    }
}

impl Add<SimDuration> for SimTime {
    type Output = SimTime;
    #[inline(always)]
    fn add(self, d: SimDuration) -> SimTime {
        SimTime(self.0.saturating_add(d.0))
    }
}

/// A span of simulated time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SimDuration(pub u64);

impl SimDuration {
    /// No time at all.
    pub const ZERO: SimDuration = SimDuration(0);

    /// Whether it is no time at all.
    pub fn is_zero(&self) -> bool {
        *self == SimDuration::ZERO
    }

    /// Microseconds, for display and arithmetic on results.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Seconds, for display and arithmetic on results.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for SimDuration {
    type Output = SimDuration;
    #[inline(always)]
    fn add(self, o: SimDuration) -> SimDuration {
        SimDuration(self.0 + o.0)
    }
}

impl AddAssign for SimDuration {
    #[inline(always)]
    fn add_assign(&mut self, o: SimDuration) {
        self.0 += o.0;
    }
}

impl Sub for SimDuration {
    type Output = SimDuration;
    #[inline(always)]
    fn sub(self, o: SimDuration) -> SimDuration {
        SimDuration(self.0.saturating_sub(o.0))
    }
}

const TIME_UNITS: [(&str, u64); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("µs", 1_000),
    ("μs", 1_000),
];

impl FromStr for SimDuration {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<SimDuration, QuantityError> {
        const WHAT: &str = "a time such as \"75us\"";
        let s = split(text, WHAT)?;
        if s.mantissa == 0 && s.unit.is_empty() {
            return Ok(SimDuration::ZERO);
        }
        match TIME_UNITS.iter().find(|(u, _)| *u == s.unit) {
            Some((_, m)) => whole(&s, *m as u128, text, WHAT).map(SimDuration),
            None => Err(unknown_unit(text, s.unit, "ns, us, ms, s, min, h, d", WHAT)),
        }
    }
}

impl fmt::Display for SimDuration {
    /// As configurations have it, in seconds at most; `{:#}` as people type it, in whole minutes, hours or days too: `2h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_whole = |(_, size): &&(&str, u64)| self.0 > 0 && self.0.is_multiple_of(*size);
        if let Some((unit, size)) = TIME_UNITS[4..7].iter().rev().find(is_whole).filter(|_| f.alternate()) {
            return write!(f, "{}{unit}", self.0 / size);
        }
        let (unit, m) = TIME_UNITS[..4]
            .iter()
            .rev()
            .find(|(_, m)| self.0 >= *m && self.0.is_multiple_of(*m / if *m == 1 { 1 } else { 1000 }))
            .unwrap_or(&TIME_UNITS[0]);
        if self.0.is_multiple_of(*m) {
            write!(f, "{}{unit}", self.0 / m)
        } else {
            let digits = format!("{:03}", self.0 % m / (m / 1000));
            write!(f, "{}.{}{unit}", self.0 / m, digits.trim_end_matches('0'))
        }
    }
}

text_serde!(SimDuration);
