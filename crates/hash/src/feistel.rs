//! A permutation of `0 .. n` in constant memory: a Feistel network over the next even number of bits, iterated until
//! the result is in range.

/// Rounds of the network.
pub const ROUNDS: usize = 4;

/// The network over a domain, without keys: the round function of the round number and the other half is the caller's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feistel {
    /// Numbers of the domain.
    pub n: u64,
    /// Bits of a half.
    pub half: u32,
}

impl Feistel {
    /// The network over `0 .. n`.
    pub fn over(n: u64) -> Feistel {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        Feistel { n, half: bits.div_ceil(2).max(1) }
    }

    #[inline(always)]
    fn walk(self, x: u64, pass: impl Fn(u64, u64) -> (u64, u64)) -> u64 {
        let mask = (1u64 << self.half) - 1;
        let mut x = x;
        loop {
            let (left, right) = pass(x >> self.half, x & mask);
            x = left << self.half | right;
            if x < self.n {
                return x;
            }
        }
    }

    /// The image of `x < n`.
    #[inline]
    pub fn forward(self, x: u64, round: impl Fn(usize, u64) -> u64) -> u64 {
        let mask = (1u64 << self.half) - 1;
        let on = |i, (left, right)| (right, left ^ (round(i, right) & mask));
        self.walk(x, |left, right| on(3, on(2, on(1, on(0, (left, right))))))
    }

    /// The preimage of `y < n`.
    #[inline(always)]
    pub fn inverse(self, y: u64, round: impl Fn(usize, u64) -> u64) -> u64 {
        let mask = (1u64 << self.half) - 1;
        let back = |i, (left, right)| (right ^ (round(i, left) & mask), left);
        // All rounds written out: this is asked for each page of an image that collection copies.
        self.walk(y, |left, right| back(0, back(1, back(2, back(3, (left, right))))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split_mix::splitmix;

    #[test]
    fn it_hits_every_number_once_and_goes_back() {
        let round = |i: usize, half: u64| splitmix((i as u64) << 32 ^ half);
        for n in [1, 2, 3, 4, 5, 100, 1000, 4096, 4097] {
            let network = Feistel::over(n);
            let mut seen = vec![false; n as usize];
            for x in 0..n {
                let y = network.forward(x, round);
                assert!(!std::mem::replace(&mut seen[y as usize], true), "{n}: {x} -> {y}");
                assert_eq!(network.inverse(y, round), x);
            }
        }
    }
}
