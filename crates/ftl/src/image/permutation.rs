//! A permutation of `0 .. n` by a key. It and its inverse cost a few multiplications and no memory, so that a
//! randomly filled drive can exist without being written.

use serde::{Deserialize, Serialize};
use wordline_hash::{Feistel, mix};

/// A bijection on `0 .. n` chosen by a key, or the identity.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Permutation {
    n: u32,
    half: u32,
    key: Option<u64>,
}

impl Permutation {
    /// The permutation of `0 .. n` that the key names.
    pub fn keyed(n: u32, key: u64) -> Permutation {
        Permutation { n, half: Feistel::over(n as u64).half, key: Some(key) }
    }

    /// Every number in its own place.
    pub fn identity(n: u32) -> Permutation {
        Permutation { n, half: 1, key: None }
    }

    /// n.
    pub fn len(&self) -> u32 {
        self.n
    }

    /// The round function of a half.
    fn round(key: u64) -> impl Fn(usize, u64) -> u64 {
        move |i, half| mix(key.wrapping_add((i as u64) << 56) ^ half)
    }

    fn network(&self) -> Feistel {
        Feistel { n: self.n as u64, half: self.half }
    }

    /// The image of `x < n`.
    pub fn forward(&self, x: u32) -> u32 {
        let Some(key) = self.key else { return x };
        self.network().forward(x as u64, Permutation::round(key)) as u32
    }

    /// The preimage of `y < n`.
    #[inline(always)]
    pub fn inverse(&self, y: u32) -> u32 {
        let Some(key) = self.key else { return y };
        self.network().inverse(y as u64, Permutation::round(key)) as u32
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
