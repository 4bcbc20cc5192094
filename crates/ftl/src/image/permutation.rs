//! A permutation of `0 .. n` by a key. It and its inverse cost a few multiplications and no memory, so that a
//! randomly filled drive can exist without being written.

use serde::{Deserialize, Serialize};
use wordline_hash::{Feistel, ROUNDS, mix};

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
    pub fn inverse(&self, y: u32) -> u32 {
        let Some(key) = self.key else { return y };
        self.network().inverse(y as u64, Permutation::round(key)) as u32
    }
}

/// The inverse of a permutation with its rounds in a table, for whoever asks often: some `16 * sqrt(n)` bytes.
#[derive(Clone, Debug)]
pub(crate) struct Inverse {
    network: Feistel,
    /// What each round makes of each half; nothing for the identity.
    rounds: Vec<[u16; ROUNDS]>,
}

impl Inverse {
    pub fn of(order: Permutation) -> Inverse {
        let halves = 0..order.key.map_or(0, |_| 1 << order.half);
        let key = order.key.unwrap_or(0);
        let rounds = halves.map(|half| std::array::from_fn(|i| Permutation::round(key)(i, half) as u16));
        Inverse { network: order.network(), rounds: rounds.collect() }
    }

    /// The preimage of `y < n`.
    #[inline(always)]
    pub fn at(&self, y: u32) -> u32 {
        if self.rounds.is_empty() {
            return y;
        }
        self.network.inverse(y as u64, |i, half| self.rounds[half as usize][i].into()) as u32
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
                assert_eq!((p.inverse(y), Inverse::of(p).at(y)), (x, x));
            }
            assert!((0..n).all(|y| Inverse::of(Permutation::identity(n)).at(y) == y));
        }
    }

    #[test]
    fn different_keys_give_different_orders() {
        let (a, b) = (Permutation::keyed(1000, 1), Permutation::keyed(1000, 2));
        assert!((0..1000).filter(|x| a.forward(*x) == b.forward(*x)).count() < 20);
    }
}
