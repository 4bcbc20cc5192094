//! A keyed permutation of `0 .. n`: a Feistel network over the next even number of bits, walked
//! until it lands inside the domain. It and its inverse cost a few multiplications and no storage,
//! which is what lets a randomly filled drive exist without being written.

use serde::{Deserialize, Serialize};

/// A bijection on `0 .. n` chosen by a key, or the identity.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Permutation {
    n: u32,
    half: u32,
    key: Option<u64>,
}

const ROUNDS: u64 = 4;

/// 2^64 over the golden ratio, the step of SplitMix64.
pub(crate) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64.
pub(crate) fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Permutation {
    /// The permutation of `0 .. n` that the key names.
    pub fn keyed(n: u32, key: u64) -> Permutation {
        let bits = 32 - n.saturating_sub(1).leading_zeros();
        Permutation { n, half: bits.div_ceil(2).max(1), key: Some(key) }
    }

    /// Every number in its own place.
    pub fn identity(n: u32) -> Permutation {
        Permutation { n, half: 1, key: None }
    }

    /// n.
    pub fn len(&self) -> u32 {
        self.n
    }

    fn walk(&self, x: u32, round: impl Fn(u32, u32) -> (u32, u32)) -> u32 {
        let mask = (1u32 << self.half) - 1;
        let mut at = x;
        loop {
            let (left, right) = round(at >> self.half, at & mask);
            at = left << self.half | right;
            if at < self.n {
                return at;
            }
        }
    }

    /// Where `x < n` goes.
    pub fn forward(&self, x: u32) -> u32 {
        let Some(key) = self.key else { return x };
        let mask = (1u32 << self.half) - 1;
        self.walk(x, |mut l, mut r| {
            for i in 0..ROUNDS {
                let f = mix(key.wrapping_add(i << 56) ^ r as u64) as u32 & mask;
                (l, r) = (r, l ^ f);
            }
            (l, r)
        })
    }

    /// What comes to `y < n`.
    pub fn inverse(&self, y: u32) -> u32 {
        let Some(key) = self.key else { return y };
        let mask = (1u32 << self.half) - 1;
        self.walk(y, |mut l, mut r| {
            for i in (0..ROUNDS).rev() {
                let f = mix(key.wrapping_add(i << 56) ^ l as u64) as u32 & mask;
                (l, r) = (r ^ f, l);
            }
            (l, r)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_permutation_is_a_bijection_with_its_inverse() {
        for n in [1, 2, 3, 7, 64, 100, 1000, 4097] {
            let p = Permutation::keyed(n, 42);
            let mut seen = vec![false; n as usize];
            for x in 0..n {
                let y = p.forward(x);
                assert!(!std::mem::replace(&mut seen[y as usize], true));
                assert_eq!(p.inverse(y), x);
            }
        }
    }

    #[test]
    fn different_keys_give_different_orders() {
        let (a, b) = (Permutation::keyed(1000, 1), Permutation::keyed(1000, 2));
        assert!((0..1000).filter(|x| a.forward(*x) == b.forward(*x)).count() < 20);
    }
}
