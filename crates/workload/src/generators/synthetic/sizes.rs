//! Request sizes: one size, or several with weights (`4KiB@60/16KiB@40`).

use std::str::FromStr;
use wordline_trace::RandomStream;
use wordline_units::{Bytes, LBA_BYTES};

/// A distribution of sizes in blocks of 512 bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sizes {
    /// Size in blocks, and cumulative sum of the weights.
    steps: Vec<(u32, u64)>,
}

/// Maximum length of a request in bytes.
const LONGEST: u64 = 1 << 30;

impl Sizes {
    pub fn one(bytes: u64) -> Sizes {
        Sizes { steps: vec![((bytes / LBA_BYTES) as u32, 1)] }
    }

    /// A size in blocks.
    #[inline]
    pub fn draw(&self, random: &mut RandomStream) -> u32 {
        if let [(blocks, _)] = self.steps.as_slice() {
            return *blocks;
        }
        let at = random.below(self.steps.last().map_or(0, |s| s.1));
        self.steps[self.steps.partition_point(|s| s.1 <= at)].0
    }

    /// Each size in blocks with its weight.
    pub fn weights(&self) -> impl Iterator<Item = (u32, u64)> {
        let before = std::iter::once(0).chain(self.steps.iter().map(|s| s.1));
        self.steps.iter().zip(before).map(|((blocks, up_to), before)| (*blocks, up_to - before))
    }

    pub fn largest(&self) -> u32 {
        self.steps.iter().map(|s| s.0).max().unwrap_or(0)
    }

    pub fn blocks(&self) -> impl Iterator<Item = u64> {
        self.steps.iter().map(|s| s.0 as u64)
    }
}

impl FromStr for Sizes {
    type Err = String;
    fn from_str(text: &str) -> Result<Sizes, String> {
        let mut steps = Vec::new();
        let mut sum = 0u64;
        for part in text.split('/') {
            let (size, weight) = part.split_once('@').unwrap_or((part, "1"));
            let Bytes(bytes) = size.parse().map_err(|e: wordline_units::QuantityError| e.to_string())?;
            if bytes == 0 || !bytes.is_multiple_of(LBA_BYTES) || bytes > LONGEST {
                return Err(format!("{size:?} is not a multiple of 512 B from 512 B to 1 GiB"));
            }
            let weight = weight.trim().trim_end_matches('%').parse::<u32>().ok().filter(|w| *w > 0);
            sum += weight.ok_or_else(|| format!("{part:?} has no weight such as 60 after the @"))? as u64;
            steps.push(((bytes / LBA_BYTES) as u32, sum));
        }
        Ok(Sizes { steps })
    }
}

impl std::fmt::Display for Sizes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut before = 0;
        for (i, (blocks, sum)) in self.steps.iter().enumerate() {
            let size = Bytes(*blocks as u64 * LBA_BYTES);
            match self.steps.len() {
                1 => write!(f, "{size}")?,
                _ => write!(f, "{}{size}@{}", if i == 0 { "" } else { "/" }, sum - before)?,
            }
            before = *sum;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_draws_by_weight_and_prints_as_given() {
        let sizes: Sizes = "4KiB@60/16KiB@40".parse().unwrap();
        assert_eq!(sizes.to_string(), "4KiB@60/16KiB@40");
        let mut random = RandomStream::new(1, "test");
        let small = (0..100_000).filter(|_| sizes.draw(&mut random) == 8).count();
        // Five standard deviations of a binomial distribution: 775.
        assert!((small as i64 - 60_000).abs() < 775, "{small}");
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for bad in ["0", "1000B", "4", "4KiB@", "4KiB@0", "", "4KiB/", "2GiB"] {
            assert!(bad.parse::<Sizes>().is_err(), "{bad}");
        }
    }
}
