//! A permutation of `0 .. n` with random keys.

use wordline_hash::{Feistel, ROUNDS, splitmix};
use wordline_trace::RandomStream;

/// A permutation of `0 .. n` by random keys, in constant memory.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    network: Feistel,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// A permutation of `0 .. n`.
    pub fn new(n: u64, random: &mut RandomStream) -> Permutation {
        Permutation { network: Feistel::over(n), keys: std::array::from_fn(|_| random.bits()) }
    }

    /// The image of `x`, below `n`.
    #[inline]
    pub fn of(&self, x: u64) -> u64 {
        self.network.forward(x, |round, half| splitmix(half ^ self.keys[round]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
