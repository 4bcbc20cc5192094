//! The random numbers from which a case is drawn.

use wordline_hash::SplitMix64;
use wordline_units::{Fraction, SimDuration};

/// SplitMix64, by its state. A case is identified by its seed, so a failure is reproduced by two numbers.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream from this seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// Its state, which is the seed before the first draw.
    pub fn state(&self) -> u64 {
        self.0
    }

    /// A stream of its own, which takes no draw from this one.
    pub(crate) fn aside(&self, salt: u64) -> Rng {
        Rng(self.0 ^ salt)
    }

    /// A number below `n`, which must not be 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let mut stream = SplitMix64::new(self.0);
        let bits = stream.bits();
        self.0 = stream.state();
        bits % n
    }

    /// A number in `low..=high`.
    pub fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// A 32-bit number in `low..=high`.
    pub fn count(&mut self, low: u32, high: u32) -> u32 {
        self.within(low as u64, high as u64) as u32
    }

    /// True in one of `n` cases.
    pub fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of the elements, of which there must be at least one.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    pub(crate) fn percent(&mut self, low: u64, high: u64) -> Fraction {
        Fraction::percent(self.within(low, high))
    }

    /// A duration in this range of microseconds.
    pub(crate) fn time(&mut self, low_us: u64, high_us: u64) -> SimDuration {
        SimDuration(self.within(low_us * 1_000, high_us * 1_000))
    }
}
