//! Ranks by Zipf's law: rank k of n is drawn with a probability proportional to 1/k^θ. Small
//! domains use an alias table (a draw is one look-up), large ones rejection-inversion, which needs
//! no table. All real functions come from `libm`.

use crate::random::RandomStream;
use std::hint::select_unpredictable;
use std::ops::Range;

/// Domains up to this size get a table: 16 bytes an entry, 1 MiB.
const TABLE: u64 = 1 << 16;

/// How likely ranks `0 .. n` are together, not normalised: the sum of 1/k^θ from rank + 1 on. Beyond the
/// first thousand the sum is an integral, by the midpoint rule; they differ by less than 1e-6.
pub(crate) fn weight(ranks: Range<u64>, theta: f64) -> f64 {
    const SUMMED: u64 = 1000;
    let exact = (ranks.start.min(SUMMED)..ranks.end.min(SUMMED)).map(|k| libm::pow((k + 1) as f64, -theta));
    let (a, b) = (ranks.start.max(SUMMED), ranks.end.max(SUMMED));
    let (a, b) = (libm::log(a as f64 + 0.5), libm::log(b as f64 + 0.5));
    let tail = expm1_by_x((1.0 - theta) * (b - a)) * (b - a) * libm::exp((1.0 - theta) * a);
    exact.sum::<f64>() + tail
}

/// A sampler of ranks `0 .. n`, most likely first, by Zipf's law.
#[derive(Clone, Debug)]
pub struct ZipfLaw(Sampler);

/// A bin of the table: a rank of its own with so many chances of 2^64, else another. They lie in one line
/// of a core's cache.
#[derive(Clone, Copy, Debug)]
struct Bin {
    chance: u64,
    other: u64,
}

#[derive(Clone, Debug)]
enum Sampler {
    Table(Vec<Bin>),
    Inversion(Inversion),
}

impl ZipfLaw {
    /// Over `ranks` ranks; `None` if there are none, or θ is not between 0 (uniform) and 5.
    pub fn over(ranks: u64, theta: f64) -> Option<ZipfLaw> {
        (ranks > 0 && (0.0..=5.0).contains(&theta)).then(|| ZipfLaw::new(ranks, theta))
    }

    /// Over `n` ranks, 1 or more; θ is 0 (uniform) or more.
    pub(crate) fn new(n: u64, theta: f64) -> ZipfLaw {
        ZipfLaw(if n <= TABLE {
            Sampler::table(n as usize, theta)
        } else {
            Sampler::Inversion(Inversion::new(n, theta))
        })
    }

    /// A rank.
    #[inline]
    pub fn draw(&self, random: &mut RandomStream) -> u64 {
        match &self.0 {
            Sampler::Table(bins) => {
                let at = random.below(bins.len() as u64);
                let bin = bins[at as usize];
                // As likely as not: a branch would be foretold wrongly every other time.
                select_unpredictable(random.bits() <= bin.chance, at, bin.other)
            }
            Sampler::Inversion(law) => law.draw(random),
        }
    }
}

impl Sampler {
    /// Walker's alias method, filled as Vose does.
    fn table(n: usize, theta: f64) -> Sampler {
        let weights: Vec<f64> = (1..=n).map(|k| libm::pow(k as f64, -theta)).collect();
        let sum: f64 = weights.iter().rev().sum();
        let mut share: Vec<f64> = weights.iter().map(|w| w * n as f64 / sum).collect();
        let mut bins: Vec<Bin> = (0..n as u64).map(|other| Bin { chance: u64::MAX, other }).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| share[*i] < 1.0);
        while let (Some(s), Some(l)) = (small.pop(), large.pop()) {
            bins[s] = Bin { chance: (share[s] * 18_446_744_073_709_551_616.0) as u64, other: l as u64 };
            share[l] -= 1.0 - share[s];
            if share[l] < 1.0 { small.push(l) } else { large.push(l) }
        }
        Sampler::Table(bins)
    }
}

/// W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996.
#[derive(Clone, Debug)]
struct Inversion {
    n: f64,
    theta: f64,
    low: f64,
    high: f64,
    squeeze: f64,
}

/// `(exp(x) − 1) / x`, and 1 at 0.
fn expm1_by_x(x: f64) -> f64 {
    if libm::fabs(x) > 1e-8 { libm::expm1(x) / x } else { 1.0 + x * 0.5 * (1.0 + x / 3.0) }
}

/// `ln(1 + x) / x`, and 1 at 0.
fn ln1p_by_x(x: f64) -> f64 {
    if libm::fabs(x) > 1e-8 { libm::log1p(x) / x } else { 1.0 - x * (0.5 - x / 3.0) }
}

impl Inversion {
    fn new(n: u64, theta: f64) -> Inversion {
        let mut law = Inversion { n: n as f64, theta, low: 0.0, high: 0.0, squeeze: 0.0 };
        law.low = law.integral(1.5) - 1.0;
        law.high = law.integral(law.n + 0.5);
        law.squeeze = 2.0 - law.inverse(law.integral(2.5) - law.density(2.0));
        law
    }

    fn density(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    fn integral(&self, x: f64) -> f64 {
        let ln = libm::log(x);
        expm1_by_x((1.0 - self.theta) * ln) * ln
    }

    fn inverse(&self, y: f64) -> f64 {
        let t = libm::fmax(y * (1.0 - self.theta), -1.0);
        libm::exp(ln1p_by_x(t) * y)
    }

    #[inline]
    fn draw(&self, random: &mut RandomStream) -> u64 {
        loop {
            let y = self.high + random.unit() * (self.low - self.high);
            let x = self.inverse(y);
            let k = libm::fmin(libm::fmax(libm::floor(x + 0.5), 1.0), self.n);
            if k - x <= self.squeeze || y >= self.integral(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(law: &ZipfLaw, n: usize, draws: u64) -> Vec<f64> {
        let mut random = RandomStream::new(11, "test");
        let mut count = vec![0u64; n];
        for _ in 0..draws {
            count[law.draw(&mut random) as usize] += 1;
        }
        count.into_iter().map(|c| c as f64 / draws as f64).collect()
    }

    #[test]
    fn both_samplers_follow_the_law() {
        const DRAWS: u64 = 400_000;
        for theta in [0.0, 0.5, 0.99, 1.0, 1.5, 3.0] {
            let n = 50;
            let sum: f64 = (1..=n).map(|k| (k as f64).powf(-theta)).sum();
            for law in [ZipfLaw::new(n, theta), ZipfLaw(Sampler::Inversion(Inversion::new(n, theta)))] {
                for (i, share) in shares(&law, n as usize, DRAWS).into_iter().enumerate() {
                    let want = ((i + 1) as f64).powf(-theta) / sum;
                    // Five standard deviations of a binomial share.
                    let tolerance = 5.0 * (want / DRAWS as f64).sqrt() + 1e-9;
                    assert!((share - want).abs() < tolerance, "θ {theta}, rank {i}: {share} against {want}");
                }
            }
        }
    }

    #[test]
    fn weights_of_parts_add_up_to_the_sum() {
        for theta in [0.0, 0.5, 0.99, 1.0, 1.5] {
            let sum: f64 = (1..=50_000).map(|k| (k as f64).powf(-theta)).sum();
            let parts: f64 = [0..3, 3..700, 700..1200, 1200..40_000, 40_000..50_000]
                .into_iter()
                .map(|ranks| weight(ranks, theta))
                .sum();
            assert!((parts / sum - 1.0).abs() < 1e-6, "{theta}: {parts} {sum}");
        }
    }

    #[test]
    fn a_huge_domain_is_drawn_from_in_full_range() {
        let n = 1u64 << 40;
        let law = ZipfLaw::new(n, 0.5);
        let mut random = RandomStream::new(5, "test");
        let highest = (0..10_000).map(|_| law.draw(&mut random)).max().unwrap();
        assert!(highest < n && highest > n / 2);
    }
}
