//! Draws ranks by Zipf's law: rank k of n has a probability proportional to 1/k^θ. Small domains use an alias
//! table (a draw is one lookup), large ones rejection-inversion with a table for its curve. All real
//! functions come from `libm`.

use crate::random::alias::Alias;
use std::ops::Range;
use wordline_trace::RandomStream;

/// Domains up to this size get a table of every rank: 1 MiB.
const TABLE: u64 = 1 << 16;
/// Number of parts of the curve of a larger domain: 160 KiB.
const PARTS: usize = 1 << 12;

/// Total weight of ranks `0 .. n`, not normalized: the sum of 1/k^θ, where k is rank + 1. Beyond the first
/// thousand the sum is replaced by an integral with the midpoint rule, with a difference below 1e-6.
pub(crate) fn weight(ranks: Range<u64>, theta: f64) -> f64 {
    const SUMMED: u64 = 1000;
    let exact = (ranks.start.min(SUMMED)..ranks.end.min(SUMMED)).map(|k| libm::pow((k + 1) as f64, -theta));
    let (a, b) = (ranks.start.max(SUMMED), ranks.end.max(SUMMED));
    let (a, b) = (libm::log(a as f64 + 0.5), libm::log(b as f64 + 0.5));
    let tail = expm1_by_x((1.0 - theta) * (b - a)) * (b - a) * libm::exp((1.0 - theta) * a);
    exact.sum::<f64>() + tail
}

/// Draws ranks `0 .. n` by Zipf's law; rank 0 is the most likely.
#[derive(Clone, Debug)]
pub struct ZipfLaw(Sampler);

#[derive(Clone, Debug)]
enum Sampler {
    Table(Alias),
    Inversion(Inversion),
}

impl ZipfLaw {
    /// The law over `ranks` ranks. `None` if there are none, or if θ is not between 0 (uniform) and 5.
    pub fn over(ranks: u64, theta: f64) -> Option<ZipfLaw> {
        (ranks > 0 && (0.0..=5.0).contains(&theta)).then(|| ZipfLaw::new(ranks, theta))
    }

    /// The law over `n` ranks, at least 1, with θ of 0 (uniform) or more.
    pub(crate) fn new(n: u64, theta: f64) -> ZipfLaw {
        ZipfLaw(if n <= TABLE {
            let weights: Vec<f64> = (1..=n).map(|k| libm::pow(k as f64, -theta)).collect();
            Sampler::Table(Alias::new(&weights))
        } else {
            Sampler::Inversion(Inversion::new(n, theta))
        })
    }

    /// Draw a rank.
    #[inline]
    pub fn draw(&self, random: &mut RandomStream) -> u64 {
        match &self.0 {
            Sampler::Table(ranks) => ranks.draw(random),
            Sampler::Inversion(law) => law.draw(random),
        }
    }
}

/// A part of the inverted curve, as a cubic polynomial around its middle.
#[derive(Clone, Copy, Debug)]
struct Part {
    middle: f64,
    slopes: [f64; 3],
    /// Its maximum error.
    error: f64,
}

impl Part {
    /// The value at `d` parts from the middle, from −½ to ½.
    #[inline]
    fn at(&self, d: f64) -> f64 {
        let [a, b, c] = self.slopes;
        self.middle + d * (a + d * (b + d * c))
    }
}

/// W. Hörmann and G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996. The inverse of the integral is smooth, and usually only the nearest
/// rank is needed. A cubic polynomial finds it unless the value is near the end of a rank's interval.
#[derive(Clone, Debug)]
struct Inversion {
    n: f64,
    theta: f64,
    low: f64,
    high: f64,
    squeeze: f64,
    /// In the half below k, less than θ(θ + 1)/24 divided by k² is rejected: the integral from k − ½ to k + ½
    /// exceeds the density at k by its curvature over 24.
    refused: f64,
    parts: Vec<Part>,
    parts_by_y: f64,
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
        let n = n as f64;
        let (parts, [low, high, squeeze, refused, parts_by_y]) = (vec![], [0.0; 5]);
        let mut law = Inversion { n, theta, low, high, squeeze, refused, parts, parts_by_y };
        law.low = law.integral(1.5) - 1.0;
        law.high = law.integral(law.n + 0.5);
        law.squeeze = 2.0 - law.inverse(law.integral(2.5) - law.density(2.0));
        law.refused = theta * (theta + 1.0) / 24.0;
        law.parts_by_y = PARTS as f64 / (law.high - law.low);
        law.parts = (0..PARTS).map(|at| law.part(at as f64 + 0.5)).collect();
        law
    }

    /// The part around this position of the table: a Taylor polynomial, since x' = x^θ. Its error grows
    /// towards both ends of the part. The remainder covers the rounding of all these functions.
    fn part(&self, place: f64) -> Part {
        let step = 1.0 / self.parts_by_y;
        let of = |place: f64| self.inverse(self.low + place * step);
        let (x, theta) = (of(place), self.theta);
        let a = step * libm::pow(x, theta);
        let b = a / x * a * theta / 2.0;
        let c = b / x * a * (2.0 * theta - 1.0) / 3.0;
        let part = Part { middle: x, slopes: [a, b, c], error: 0.0 };
        let off = |d: f64| libm::fabs(part.at(d) - of(place + d));
        Part { error: 2.0 * libm::fmax(off(-0.5), off(0.5)) + 1e-11 * x, ..part }
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
            if let Some(k) = self.plainly(y).or_else(|| self.exactly(y)) {
                return k - 1;
            }
        }
    }

    /// The k of a y that is accepted, if the table determines it with certainty.
    #[inline]
    fn plainly(&self, y: f64) -> Option<u64> {
        let place = (y - self.low) * self.parts_by_y;
        let at = place as i64;
        let part = self.parts.get(at as usize)?;
        let x = part.at(place - at as f64 - 0.5);
        let k = (x + 0.5) as i64;
        let (beyond, square) = (k as f64 - x, k as f64 * k as f64);
        let room = 0.5 - part.error - beyond;
        let accepted = beyond <= self.squeeze - part.error || room * square >= self.refused;
        (accepted && beyond > part.error - 0.5).then_some(k as u64)
    }

    /// The k of a y, if it is accepted.
    #[cold]
    fn exactly(&self, y: f64) -> Option<u64> {
        let x = self.inverse(y);
        let k = libm::fmin(libm::fmax(libm::floor(x + 0.5), 1.0), self.n);
        (k - x <= self.squeeze || y >= self.integral(k + 0.5) - self.density(k)).then_some(k as u64)
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
    fn a_large_domain_follows_the_law_in_every_part() {
        const DRAWS: u64 = 400_000;
        for (n, theta) in [(1 << 20, 0.5), (1 << 28, 0.99), (1 << 40, 1.2)] {
            let law = ZipfLaw::new(n, theta);
            let mut random = RandomStream::new(3, "test");
            let ends = [0, 1, 10, 130, 140, 1_000, 1_500, 9_000, 70_000, 100_000, n / 2, n];
            let mut count = [0u64; 11];
            for _ in 0..DRAWS {
                let rank = law.draw(&mut random);
                count[ends.partition_point(|end| *end <= rank) - 1] += 1;
            }
            for (part, drawn) in ends.windows(2).zip(count) {
                let want = weight(part[0]..part[1], theta) / weight(0..n, theta);
                let share = drawn as f64 / DRAWS as f64;
                let tolerance = 5.0 * (want / DRAWS as f64).sqrt() + 1e-6;
                assert!((share - want).abs() < tolerance, "θ {theta}, {part:?}: {share} against {want}");
            }
        }
    }

    #[test]
    fn what_is_refused_below_a_rank_falls_with_its_square() {
        for theta in [0.1, 0.5, 0.99, 1.0, 1.2, 2.0, 5.0] {
            let law = Inversion::new(1 << 20, theta);
            for k in (2..100).map(f64::from) {
                let refused = law.inverse(law.integral(k + 0.5) - law.density(k)) - (k - 0.5);
                assert!(refused * k * k <= law.refused, "θ {theta}, {k}: {refused}");
            }
        }
    }

    #[test]
    fn the_table_of_the_curve_says_what_the_curve_does() {
        for (n, theta) in
            [(50, 0.0), (1 << 17, 1.0), (1 << 28, 0.5), (1 << 28, 1.2), (1 << 40, 0.99), (1 << 20, 5.0)]
        {
            let law = Inversion::new(n, theta);
            let mut random = RandomStream::new(9, "test");
            let mut plain = 0;
            for _ in 0..200_000 {
                let y = law.high + random.unit() * (law.low - law.high);
                if let Some(k) = law.plainly(y) {
                    assert_eq!(Some(k), law.exactly(y), "{n} ranks, θ {theta}");
                    plain += 1;
                }
            }
            assert!(plain > 160_000, "{n} ranks, θ {theta}: {plain}");
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
