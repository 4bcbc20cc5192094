//! Random numbers that are the same bits on every machine: a PCG stream for each component,
//! derived from the run's seed and the component's name, so that adding a component disturbs no
//! other. Integers in a range by Lemire's multiplication, real functions from `libm` only.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// A component's own stream of random numbers.
///
/// Its 128-bit start is `splitmix(seed ^ fnv1a(name))` in the low half and one more `splitmix` of
/// that in the high half, where `fnv1a` is the 64-bit FNV-1a hash and `splitmix` the output
/// function of SplitMix64.
#[derive(Clone, Debug)]
pub struct RandomStream(Pcg64Mcg);

fn fnv1a(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ b as u64).wrapping_mul(0x0100_0000_01b3))
}

/// A hash of a number: SplitMix64.
pub(crate) fn splitmix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

impl RandomStream {
    /// The stream of the component called `name` in a run with this seed.
    pub fn new(seed: u64, name: &str) -> RandomStream {
        let low = splitmix(seed ^ fnv1a(name));
        let high = splitmix(low);
        RandomStream(Pcg64Mcg::new((high as u128) << 64 | low as u128))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `n`, each equally likely; 0 if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        // Lemire, "Fast random integer generation in an interval", ACM TOMACS 29(1), 2019.
        let mut wide = self.bits() as u128 * n as u128;
        if (wide as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (wide as u64) < threshold {
                wide = self.bits() as u128 * n as u128;
            }
        }
        (wide >> 64) as u64
    }

    /// A real number in (0, 1], in steps of 2^−53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// A permutation of `0 .. n` by key, in constant memory: a Feistel network over the next even
/// power of two, walked until it falls inside.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    n: u64,
    half: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// A permutation of `0 .. n`.
    pub fn new(n: u64, random: &mut RandomStream) -> Permutation {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        let half = bits.div_ceil(2).max(1);
        Permutation { n, half, keys: std::array::from_fn(|_| random.bits()) }
    }

    /// Where `x`, below `n`, goes.
    #[inline]
    pub fn of(&self, x: u64) -> u64 {
        let mask = (1u64 << self.half) - 1;
        let mut x = x;
        loop {
            let (mut left, mut right) = (x >> self.half, x & mask);
            for key in self.keys {
                (left, right) = (right, left ^ (splitmix(right ^ key) & mask));
            }
            x = left << self.half | right;
            if x < self.n {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_and_nothing_else() {
        let take = |seed, name: &str| {
            let mut r = RandomStream::new(seed, name);
            [r.bits(), r.bits()]
        };
        assert_eq!(take(1, "a"), take(1, "a"));
        assert_ne!(take(1, "a"), take(2, "a"));
        assert_ne!(take(1, "a"), take(1, "b"));
    }

    #[test]
    fn numbers_below_n_are_equally_likely() {
        // Chi-square of 10 cells, 100,000 draws: 99.9 % of good generators stay below 27.9.
        let mut random = RandomStream::new(7, "test");
        let mut cells = [0u64; 10];
        for _ in 0..100_000 {
            cells[random.below(10) as usize] += 1;
        }
        let chi: f64 = cells.iter().map(|c| (*c as f64 - 1e4).powi(2) / 1e4).sum();
        assert!(chi < 27.9, "{cells:?}");
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn a_permutation_hits_every_number_once() {
        let mut random = RandomStream::new(3, "test");
        for n in [1, 2, 3, 4, 5, 100, 1000, 4096, 4097] {
            let p = Permutation::new(n, &mut random);
            let mut seen = vec![false; n as usize];
            for x in 0..n {
                let y = p.of(x);
                assert!(!std::mem::replace(&mut seen[y as usize], true), "{n}: {x} -> {y}");
            }
        }
    }
}
