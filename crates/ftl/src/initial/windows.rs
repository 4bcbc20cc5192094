//! Whether the WAF is steady: its course per drive write.

use crate::initial::steady_types::{Begun, Regime, Settling};
use std::ops::Range;

/// Minimum drive writes for a steady WAF.
const WINDOWS_MIN: usize = 6;
/// Maximum relative difference of two windows from the two before.
const STILL: f64 = 0.005;

/// Write amplification, drive write by drive write.
pub(crate) struct Windows {
    waf: Vec<f64>,
    host: u64,
    programmed: u64,
}

impl Windows {
    pub fn new() -> Windows {
        Windows { waf: vec![], host: 0, programmed: 0 }
    }

    /// A window ends after this many pages written and programmed in total.
    pub fn end(&mut self, host: u64, programmed: u64) {
        self.waf.push((programmed - self.programmed) as f64 / (host - self.host).max(1) as f64);
        (self.host, self.programmed) = (host, programmed);
    }

    fn mean(&self, windows: Range<usize>) -> f64 {
        let of = &self.waf[windows];
        of.iter().sum::<f64>() / of.len().max(1) as f64
    }

    fn last(&self) -> f64 {
        self.mean(self.waf.len().saturating_sub(2)..self.waf.len())
    }

    /// The two windows before the last two, over these, less one.
    fn drift(&self) -> f64 {
        match self.waf.len() {
            n if n >= 4 => self.mean(n - 4..n - 2) / self.last() - 1.0,
            _ => f64::INFINITY,
        }
    }

    /// Number of completed windows.
    pub fn count(&self) -> usize {
        self.waf.len()
    }

    /// Whether it is steady.
    pub fn is_still(&self) -> bool {
        self.waf.len() >= WINDOWS_MIN && self.drift().abs() <= STILL
    }

    /// The remark about it, for this many pages of data written in a regime.
    pub fn begun(&self, pages: u64, regime: Regime) -> Begun {
        Begun {
            waf: self.last() * regime.programmed_share,
            drift: self.drift(),
            drive_writes: self.host as f64 / pages.max(1) as f64,
            sampled_pages: pages,
            settling: if self.is_still() { Settling::Settled } else { Settling::Unsettled },
            regime,
        }
    }
}
