//! Sizes of a twin's requests: the listed ones by weight, complemented to reach the mean by one more size
//! with a solved weight, or by a geometric tail with a solved mean.

use crate::generators::twin::description::{Rest, Side};
use crate::random::alias::Alias;
use wordline_trace::RandomStream;
use wordline_units::{Fraction, LBA_BYTES};

/// Sizes to draw from.
#[derive(Clone)]
pub(crate) struct SizeLaw {
    listed: Vec<u32>,
    by_weight: Alias,
    /// The other sizes, which are not listed.
    others: Vec<u32>,
    by_chance: Alias,
    /// Share of the requests with one of the other sizes.
    pub share: f64,
}

/// Mean of weights over values.
fn mean_of(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (sum, weights) = pairs.fold((0.0, 0.0), |(s, w), (value, weight)| (s + value * weight, w + weight));
    sum / weights
}

/// One of the sizes; a single size needs no draw.
#[inline]
fn one_of(sizes: &[u32], table: &Alias, random: &mut RandomStream) -> u32 {
    match sizes {
        [only] => *only,
        _ => sizes[table.draw(random) as usize],
    }
}

impl SizeLaw {
    /// The sizes of a side.
    ///
    /// # Errors
    /// If no weight or tail gives the mean, with the reachable means.
    pub fn new(side: &Side) -> Result<SizeLaw, String> {
        let listed: Vec<u32> = side.sizes.iter().map(|s| s.0).collect();
        let weights: Vec<f64> = side.sizes.iter().map(|s| s.1).collect();
        let base = mean_of(side.sizes.iter().map(|s| (s.0 as f64, s.1)));
        let mean = side.mean.map_or(base, |m| m / LBA_BYTES as f64);
        let kib = |blocks: f64| format!("{:.2}KiB", blocks * LBA_BYTES as f64 / 1024.0);
        let (others, chances, share) = match side.rest {
            Rest::None => (vec![1], vec![1.0], 0.0),
            Rest::Size(size) => {
                let share = (mean - base) / (size as f64 - base);
                if !(0.0..1.0).contains(&share) {
                    return Err(format!(
                        "a mean of {} is not reachable: the listed sizes have a mean of {}, and \"rest\" \
                         is {}",
                        kib(mean),
                        kib(base),
                        kib(size as f64)
                    ));
                }
                (vec![size], vec![1.0], share)
            }
            Rest::Large { share, .. } if share == Fraction::ZERO => (vec![1], vec![1.0], 0.0),
            Rest::Large { share, most } => {
                let share = share.as_f64();
                let tail = (mean - (1.0 - share) * base) / share / side.page as f64;
                let (least, most) = (2, most / side.page);
                let ratio = geometric(tail, least, most).ok_or_else(|| {
                    let at = |pages: u64| kib((1.0 - share) * base + share * (pages * side.page) as f64);
                    format!(
                        "a mean of {} is not reachable: with large = {} it is between {} and {}",
                        kib(mean),
                        Fraction((share * 1e9) as u64),
                        at(least),
                        at(most)
                    )
                })?;
                let pages = least..=most;
                let sizes = pages.clone().map(|n| (n * side.page) as u32).collect();
                (sizes, pages.map(|n| libm::pow(ratio, (n - least) as f64)).collect(), share)
            }
        };
        Ok(SizeLaw {
            by_weight: Alias::new(&weights),
            listed,
            by_chance: Alias::new(&chances),
            others,
            share,
        })
    }

    /// A size in blocks, if the other sizes have this share, and whether it is a listed one.
    #[inline]
    pub fn draw(&self, share: f64, random: &mut RandomStream) -> (u32, bool) {
        if share > 0.0 && random.unit() <= share {
            (one_of(&self.others, &self.by_chance, random), false)
        } else {
            (one_of(&self.listed, &self.by_weight, random), true)
        }
    }

    /// The sizes listed, with their shares among themselves.
    pub fn listed(&self) -> impl Iterator<Item = (u32, f64)> {
        self.listed.iter().copied().zip(self.by_weight.shares())
    }

    /// The other sizes, with their shares among themselves.
    pub fn others(&self) -> impl Iterator<Item = (u32, f64)> {
        self.others.iter().copied().zip(self.by_chance.shares())
    }

    /// The longest, in blocks.
    pub fn longest(&self) -> u32 {
        let others = if self.share > 0.0 { self.others.last().copied() } else { None };
        self.listed.iter().copied().chain(others).max().unwrap_or(1)
    }

    /// Shares of sizes, ascending; for pictures and predictions.
    pub fn shares(&self) -> Vec<(u32, f64)> {
        let listed =
            self.listed.iter().zip(self.by_weight.shares()).map(|(s, p)| (*s, p * (1.0 - self.share)));
        let others = self.others.iter().zip(self.by_chance.shares()).map(|(s, p)| (*s, p * self.share));
        let mut all: Vec<(u32, f64)> = listed.chain(others).filter(|(_, p)| *p > 0.0).collect();
        all.sort_by_key(|(s, _)| *s);
        all
    }
}

/// The ratio of a geometric distribution on `least ..= most` with this mean.
fn geometric(mean: f64, least: u64, most: u64) -> Option<f64> {
    let of = |ratio: f64| mean_of((least..=most).map(|n| (n as f64, libm::pow(ratio, (n - least) as f64))));
    if !(mean >= least as f64 && mean <= most as f64) {
        return None;
    }
    let (mut low, mut high) = (0.0, 16.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if of(middle) < mean { low = middle } else { high = middle }
    }
    Some(0.5 * (low + high))
}

/// The changing factors of a modulation in a run, with the overall mean preserved.
#[derive(Clone)]
pub(crate) struct Modulated {
    /// Share of the other sizes in each period. After the end, the last one applies.
    shares: Vec<f64>,
    every: u64,
    drawn: u64,
    at: usize,
}

impl Modulated {
    /// The modulation of a run with this many requests of the side.
    pub fn new(side: &Side, share: f64, requests: u64, random: &mut RandomStream) -> Modulated {
        let Some(m) = &side.modulation else {
            return Modulated { shares: vec![share], every: u64::MAX, drawn: 0, at: 0 };
        };
        let blocks = requests.div_ceil(m.every).clamp(1, 1 << 20);
        let mut factors = Vec::with_capacity(blocks as usize);
        while (factors.len() as u64) < blocks {
            // Each factor is used once before any repeats, so that the mean is reached early although the
            // order is random.
            let mut round = m.factors.clone();
            while !round.is_empty() {
                factors.push(round.swap_remove(random.below(round.len() as u64) as usize));
            }
        }
        factors.truncate(blocks as usize);
        let weight = |i: usize| (requests - i as u64 * m.every).min(m.every) as f64;
        let mean = mean_of(factors.iter().enumerate().map(|(i, f)| (*f, weight(i))));
        let shares = factors.iter().map(|f| if mean > 0.0 { (share * f / mean).min(1.0) } else { share });
        Modulated { shares: shares.collect(), every: m.every, drawn: 0, at: 0 }
    }

    /// The share for the next request.
    #[inline]
    pub fn next(&mut self) -> f64 {
        if self.drawn == self.every {
            self.drawn = 0;
            self.at = (self.at + 1).min(self.shares.len() - 1);
        }
        self.drawn += 1;
        self.shares[self.at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_tail_has_its_solved_mean() {
        for mean in [2.0, 2.1, 4.7, 36.8, 65.0, 100.0] {
            let q = geometric(mean, 2, 128).unwrap();
            let got = mean_of((2..=128u64).map(|n| (n as f64, libm::pow(q, (n - 2) as f64))));
            assert!((got - mean).abs() < 1e-3, "{mean}: {got}");
        }
        assert!(geometric(1.9, 2, 128).is_none() && geometric(128.1, 2, 128).is_none());
    }
}
