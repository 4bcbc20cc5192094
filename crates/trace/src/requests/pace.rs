//! When requests are issued and when a workload ends: its pacing and its limits.

use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use wordline_units::{Bytes, SimDuration};

/// What determines when a request is issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pacing {
    /// The workload: each request has its arrival time.
    Open,
    /// The drive: when one of `queue_depth` times `threads` requests completes, the next is issued. Arrival
    /// times are 0.
    Closed {
        /// Outstanding requests per thread.
        queue_depth: u32,
        /// Number of threads.
        threads: u32,
    },
    /// The jobs of a job file, each with its own queue depth, rate and pauses.
    Jobs,
}

/// `32` or `32x4`: queue depth and threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueDepth {
    /// Outstanding requests per thread.
    pub queue_depth: u32,
    /// Number of threads.
    pub threads: u32,
}

impl fmt::Display for QueueDepth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.queue_depth, self.threads)
    }
}

impl FromStr for QueueDepth {
    type Err = String;
    fn from_str(text: &str) -> Result<QueueDepth, String> {
        let (depth, threads) = text.split_once('x').unwrap_or((text, "1"));
        let number = |t: &str| t.trim().parse::<u32>().ok().filter(|n| (1..=65_536).contains(n));
        match (number(depth), number(threads)) {
            (Some(queue_depth), Some(threads)) => Ok(QueueDepth { queue_depth, threads }),
            _ => Err(format!("{text:?} is not a queue depth such as \"32\" or \"32x4\" (with threads)")),
        }
    }
}

/// When a workload ends. Of several limits, the first one reached ends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Limit {
    /// After this many requests. The stream ends by itself.
    pub requests: Option<u64>,
    /// At this simulated time. An open-loop stream ends by itself; the runner ends a closed loop.
    pub duration: Option<SimDuration>,
    /// After this many bytes written by the host, or read if the workload never writes. The stream ends by
    /// itself.
    pub bytes: Option<u64>,
}

/// A limit in bytes, absolute or in drive writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteBound {
    /// This many bytes.
    Bytes(u64),
    /// Thousandths of the logical capacity.
    DriveMilli(u64),
}

impl ByteBound {
    /// The limit in bytes, on a drive of this size.
    pub fn of(self, drive_bytes: u64) -> u64 {
        match self {
            ByteBound::Bytes(n) => n,
            ByteBound::DriveMilli(m) => (drive_bytes as u128 * m as u128 / 1000).min(u64::MAX as u128) as u64,
        }
    }
}

impl FromStr for ByteBound {
    type Err = String;
    fn from_str(text: &str) -> Result<ByteBound, String> {
        if let Some(times) = text.strip_suffix('x') {
            let milli = Ratio::from_str(times)
                .ok()
                .and_then(|r| r.numerator.checked_mul(1000).map(|n| n / r.denominator))
                .filter(|m| *m > 0);
            return milli
                .map(ByteBound::DriveMilli)
                .ok_or_else(|| format!("{text:?} is not a multiple such as \"3x\""));
        }
        match text.parse::<Bytes>() {
            Ok(Bytes(0)) => Err("a limit of 0 bytes leaves no requests".to_string()),
            Ok(Bytes(n)) => Ok(ByteBound::Bytes(n)),
            Err(e) => Err(format!("{e}, nor a multiple of the drive such as \"3x\"")),
        }
    }
}

impl std::fmt::Display for ByteBound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ByteBound::Bytes(n) => Bytes(*n).fmt(f),
            ByteBound::DriveMilli(m) => {
                write!(f, "{}", Ratio { numerator: *m, denominator: 1000 })?;
                f.write_str("x")
            }
        }
    }
}

/// A positive decimal as an exact fraction: `10`, `0.5`, `2.25`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ratio {
    /// The numerator.
    pub numerator: u64,
    /// The denominator, a power of ten.
    pub denominator: u64,
}

impl Ratio {
    /// The ratio 1.
    pub const ONE: Ratio = Ratio { numerator: 1, denominator: 1 };

    /// `t` divided by this ratio, rounded down.
    #[inline]
    pub fn divide(self, t: u64) -> u64 {
        if self == Ratio::ONE {
            return t;
        }
        (t as u128 * self.denominator as u128 / self.numerator as u128).min(u64::MAX as u128) as u64
    }

    /// `t` multiplied by this ratio.
    pub fn times(self, t: u64) -> f64 {
        t as f64 * self.numerator as f64 / self.denominator as f64
    }

    /// `t` multiplied by this ratio, rounded down. Nothing if the result exceeds 64 bits.
    pub fn multiply(self, t: u64) -> Option<u64> {
        u64::try_from(t as u128 * self.numerator as u128 / self.denominator as u128).ok()
    }

    /// `t` multiplied by this ratio, rounded up.
    pub fn multiply_up(self, t: u64) -> u64 {
        (t as u128 * self.numerator as u128).div_ceil(self.denominator as u128).min(u64::MAX as u128) as u64
    }
}

impl FromStr for Ratio {
    type Err = String;
    fn from_str(text: &str) -> Result<Ratio, String> {
        let fail = || format!("{text:?} is not a positive factor such as \"10\" or \"0.5\"");
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |t: &str| t.bytes().all(|c| c.is_ascii_digit());
        if !digits(whole) || !digits(decimals) || whole.len() + decimals.len() > 15 {
            return Err(fail());
        }
        let numerator = format!("{whole}{decimals}").parse::<u64>().map_err(|_| fail())?;
        if numerator == 0 {
            return Err(fail());
        }
        Ok(Ratio { numerator, denominator: 10u64.pow(decimals.len() as u32) })
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, rest) = (self.numerator / self.denominator, self.numerator % self.denominator);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let width = self.denominator.ilog10() as usize;
        write!(f, "{whole}.{}", format!("{rest:0width$}").trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speedup_is_an_exact_fraction() {
        let r: Ratio = "2.5".parse().unwrap();
        assert_eq!(r.divide(1_000_000_000_000_000_001), 400_000_000_000_000_000);
        assert_eq!(r.to_string(), "2.5");
        assert_eq!("0.001".parse::<Ratio>().unwrap().divide(7), 7000);
        for bad in ["0", "-1", "x", "", ".", "1e3", "9999999999999999"] {
            assert!(bad.parse::<Ratio>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_bound_in_bytes_may_be_a_multiple_of_the_drive() {
        assert_eq!("3x".parse::<ByteBound>().unwrap().of(1 << 30), 3 << 30);
        assert_eq!("0.5x".parse::<ByteBound>().unwrap().of(1 << 30), 1 << 29);
        assert_eq!("10GiB".parse::<ByteBound>().unwrap().of(1), 10 << 30);
        for bad in ["0x", "x", "0", "10", "-1x"] {
            assert!(bad.parse::<ByteBound>().is_err(), "{bad}");
        }
        assert_eq!("1.5x".parse::<ByteBound>().unwrap().to_string(), "1.5x");
    }

    #[test]
    fn a_depth_may_name_threads() {
        let d: QueueDepth = "32x4".parse().unwrap();
        assert_eq!((d.queue_depth, d.threads), (32, 4));
        assert!(
            "0".parse::<QueueDepth>().is_err()
                && "1x0".parse::<QueueDepth>().is_err()
                && "x".parse::<QueueDepth>().is_err()
        );
    }
}
