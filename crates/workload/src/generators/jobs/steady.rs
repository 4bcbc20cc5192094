//! fio's steady state. The job or its group ends when the rates of the seconds in a window keep a limit: on
//! their largest deviation from the mean, or on their slope.

use crate::generators::jobs::policy::Steady;
use std::collections::VecDeque;

const SECOND: u64 = 1_000_000_000;

/// Rates of a job or a group of jobs, by second.
pub(crate) struct Seconds {
    rule: Steady,
    began: u64,
    /// Number of the current second, and its bytes or requests so far.
    second: u64,
    count: u64,
    window: VecDeque<f64>,
}

impl Seconds {
    pub fn new(rule: Steady, began: u64) -> Seconds {
        Seconds { rule, began: began.saturating_add(rule.ramp), second: 0, count: 0, window: VecDeque::new() }
    }

    /// Process a completion. Returns whether the window before it is steady.
    pub fn take(&mut self, bytes: u64, now: u64) -> bool {
        if now < self.began {
            return false;
        }
        let second = (now - self.began) / SECOND;
        let mut is_steady = false;
        while self.second < second && !is_steady {
            is_steady = self.close();
        }
        self.count += if self.rule.bytes { bytes } else { 1 };
        is_steady
    }

    fn close(&mut self) -> bool {
        self.window.push_back(self.count as f64);
        (self.count, self.second) = (0, self.second + 1);
        let n = self.rule.seconds as usize;
        if self.window.len() > n {
            self.window.pop_front();
        }
        if self.window.len() < n {
            return false;
        }
        let mean = self.window.iter().sum::<f64>() / n as f64;
        let found = if self.rule.slope { slope(&self.window, mean) } else { deviation(&self.window, mean) };
        let found = if self.rule.percent { 100.0 * found / mean } else { found };
        found.abs() < self.rule.limit
    }
}

fn deviation(window: &VecDeque<f64>, mean: f64) -> f64 {
    window.iter().map(|y| (y - mean).abs()).fold(0.0, f64::max)
}

/// Slope of the least-squares line through the rates, per second.
fn slope(window: &VecDeque<f64>, mean: f64) -> f64 {
    let middle = (window.len() as f64 - 1.0) / 2.0;
    let (mut over, mut under) = (0.0, 0.0);
    for (x, y) in window.iter().enumerate() {
        let x = x as f64 - middle;
        over += x * (y - mean);
        under += x * x;
    }
    if under > 0.0 { over / under } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends_at(rule: Steady, rate: impl Fn(u64) -> u64) -> Option<u64> {
        let mut seconds = Seconds::new(rule, 0);
        (0..100).find(|s| (0..rate(*s)).any(|n| seconds.take(4096, s * SECOND + n)))
    }

    #[test]
    fn settled_rate_ends_the_job_and_a_falling_one_does_not() {
        let rule = Steady { bytes: false, slope: false, limit: 10.0, percent: true, seconds: 5, ramp: 0 };
        assert_eq!(ends_at(rule, |_| 100), Some(5));
        assert_eq!(ends_at(rule, |s| if s < 7 { 100 + 37 * (s % 2) } else { 100 }), Some(11));
        assert_eq!(ends_at(Steady { ramp: 3 * SECOND, ..rule }, |_| 100), Some(8));
        let slope = Steady { slope: true, limit: 1.0, ..rule };
        assert_eq!(ends_at(slope, |s| 2000 - s.min(50) * 30), Some(55));
    }
}
