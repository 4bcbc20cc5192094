//! Draws from a table of weights in constant time: Walker's alias method, initialized as Vose describes.

use std::hint::select_unpredictable;
use wordline_trace::RandomStream;

/// A bin of the table: its own position with a probability of this many in 2^64, otherwise another position.
/// A bin lies within one cache line.
#[derive(Clone, Copy, Debug)]
struct Bin {
    chance: u64,
    other: u64,
}

/// A table of probabilities: 16 bytes per position.
#[derive(Clone, Debug)]
pub(crate) struct Alias(Vec<Bin>);

const CHANCES: f64 = 18_446_744_073_709_551_616.0;

impl Alias {
    /// A table over the positions `0 .. weights.len()`. There must be at least one, and at least one weight
    /// above 0.
    pub fn new(weights: &[f64]) -> Alias {
        let n = weights.len();
        // Sum from the end, where a decreasing distribution has its smallest weights.
        let sum: f64 = weights.iter().rev().sum();
        let mut share: Vec<f64> = weights.iter().map(|w| w * n as f64 / sum).collect();
        let mut bins: Vec<Bin> = (0..n as u64).map(|other| Bin { chance: u64::MAX, other }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| share[*i] < 1.0);
        while let (Some(s), Some(l)) = (small.pop(), large.pop()) {
            bins[s] = Bin { chance: (share[s] * CHANCES) as u64, other: l as u64 };
            share[l] -= 1.0 - share[s];
            if share[l] < 1.0 { small.push(l) } else { large.push(l) }
        }
        Alias(bins)
    }

    /// Draw a position.
    #[inline]
    pub fn draw(&self, random: &mut RandomStream) -> u64 {
        let at = random.below(self.0.len() as u64);
        let bin = self.0[at as usize];
        // Both outcomes are about equally likely: a branch would be mispredicted half of the time.
        select_unpredictable(random.bits() <= bin.chance, at, bin.other)
    }

    /// The share of each position, read back from the table.
    pub fn shares(&self) -> Vec<f64> {
        let n = self.0.len() as f64;
        let mut shares = vec![0.0; self.0.len()];
        for (at, bin) in self.0.iter().enumerate() {
            let own = bin.chance as f64 / CHANCES;
            shares[at] += own / n;
            shares[bin.other as usize] += (1.0 - own) / n;
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_gives_back_its_weights() {
        let weights = [0.0, 3.0, 1.0, 0.5, 5.5];
        let shares = Alias::new(&weights).shares();
        for (share, weight) in shares.iter().zip(weights) {
            assert!((share - weight / 10.0).abs() < 1e-12, "{shares:?}");
        }
    }
}
