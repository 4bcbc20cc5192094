//! Draws from a table of weights in constant time: Walker's alias method, filled as Vose does.

use crate::random::RandomStream;
use std::hint::select_unpredictable;

/// A table of chances.
#[derive(Clone)]
pub(crate) struct Alias {
    chance: Vec<u64>,
    other: Vec<u32>,
}

impl Alias {
    /// Positions `0 .. weights.len()`, at least one, by weights of which one is above 0.
    pub fn new(weights: &[f64]) -> Alias {
        let n = weights.len();
        let sum: f64 = weights.iter().sum();
        let mut share: Vec<f64> = weights.iter().map(|w| w * n as f64 / sum).collect();
        let mut chance = vec![u64::MAX; n];
        let mut other: Vec<u32> = (0..n as u32).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| share[*i] < 1.0);
        while let (Some(s), Some(l)) = (small.pop(), large.pop()) {
            chance[s] = (share[s] * 18_446_744_073_709_551_616.0) as u64;
            other[s] = l as u32;
            share[l] -= 1.0 - share[s];
            if share[l] < 1.0 { small.push(l) } else { large.push(l) }
        }
        Alias { chance, other }
    }

    /// A position.
    #[inline]
    pub fn draw(&self, random: &mut RandomStream) -> usize {
        let n = self.chance.len() as u64;
        if n == 1 {
            return 0;
        }
        let at = random.below(n) as usize;
        select_unpredictable(random.bits() <= self.chance[at], at, self.other[at] as usize)
    }

    /// The share of each position, read back from the table.
    pub fn shares(&self) -> Vec<f64> {
        let n = self.chance.len() as f64;
        let mut shares = vec![0.0; self.chance.len()];
        for (at, chance) in self.chance.iter().enumerate() {
            let own = *chance as f64 / 18_446_744_073_709_551_616.0;
            shares[at] += own / n;
            shares[self.other[at] as usize] += (1.0 - own) / n;
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
