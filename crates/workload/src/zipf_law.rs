//! Ranks by Zipf's law: rank k of n is drawn with a probability proportional to 1/k^θ. Few ranks have a
//! table of all of them, many one of steps. All real functions come from `libm`.

use crate::alias::Alias;
use crate::random::RandomStream;
use std::ops::Range;

/// Domains up to this size get a table of every rank: 1 MiB.
const TABLE: u64 = 1 << 16;
/// A step that begins at rank k has k over this many ranks: its ends differ by θ per cent or less.
const FINENESS: u64 = 128;

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

#[derive(Clone, Debug)]
enum Sampler {
    Table(Alias),
    Steps(Steps),
}

impl ZipfLaw {
    /// Over `ranks` ranks; `None` if there are none, or θ is not between 0 (uniform) and 5.
    pub fn over(ranks: u64, theta: f64) -> Option<ZipfLaw> {
        (ranks > 0 && (0.0..=5.0).contains(&theta)).then(|| ZipfLaw::new(ranks, theta))
    }

    /// Over `n` ranks, 1 or more; θ is 0 (uniform) or more.
    pub(crate) fn new(n: u64, theta: f64) -> ZipfLaw {
        ZipfLaw(if n <= TABLE {
            let weights: Vec<f64> = (0..n).map(|rank| density(rank, theta)).collect();
            Sampler::Table(Alias::new(&weights))
        } else {
            Sampler::Steps(Steps::new(n, theta, FINENESS))
        })
    }

    /// A rank.
    #[inline]
    pub fn draw(&self, random: &mut RandomStream) -> u64 {
        match &self.0 {
            Sampler::Table(ranks) => ranks.draw(random),
            Sampler::Steps(steps) => steps.draw(random),
        }
    }
}

/// How likely a rank is, not normalised.
fn density(rank: u64, theta: f64) -> f64 {
    libm::pow((rank + 1) as f64, -theta)
}

/// Neighbouring ranks.
#[derive(Clone, Copy, Debug)]
struct Step {
    first: u64,
    ranks: u64,
    /// How likely the last is over how likely the first is.
    least: f64,
}

/// A step function above the law, and rejection (L. Devroye, *Non-Uniform Random Variate Generation*,
/// Springer 1986, section II.3): a step by its table, any rank of it, kept with the share that its own
/// density has of the first rank's. Nearly all are kept without that share being worked out, since it is
/// nowhere below the last rank's.
#[derive(Clone, Debug)]
struct Steps {
    table: Alias,
    steps: Vec<Step>,
    theta: f64,
}

impl Steps {
    fn new(n: u64, theta: f64, fineness: u64) -> Steps {
        let (mut steps, mut weights, mut first) = (vec![], vec![], 0);
        while first < n {
            let ranks = (first / fineness).clamp(1, n - first);
            let (most, least) = (density(first, theta), density(first + ranks - 1, theta));
            steps.push(Step { first, ranks, least: least / most });
            weights.push(most * ranks as f64);
            first += ranks;
        }
        Steps { table: Alias::new(&weights), steps, theta }
    }

    #[inline]
    fn draw(&self, random: &mut RandomStream) -> u64 {
        loop {
            let step = &self.steps[self.table.draw(random) as usize];
            let rank = step.first + random.below(step.ranks);
            let share = random.unit();
            if share <= step.least || share <= self.share(step, rank) {
                return rank;
            }
        }
    }

    #[cold]
    fn share(&self, step: &Step, rank: u64) -> f64 {
        libm::pow((step.first + 1) as f64 / (rank + 1) as f64, self.theta)
    }
}

/// `(exp(x) − 1) / x`, and 1 at 0.
fn expm1_by_x(x: f64) -> f64 {
    if libm::fabs(x) > 1e-8 { libm::expm1(x) / x } else { 1.0 + x * 0.5 * (1.0 + x / 3.0) }
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
    fn all_samplers_follow_the_law() {
        const DRAWS: u64 = 400_000;
        for theta in [0.0, 0.5, 0.99, 1.0, 1.5, 3.0] {
            let n = 50;
            let sum: f64 = (1..=n).map(|k| (k as f64).powf(-theta)).sum();
            let steps = |fineness| ZipfLaw(Sampler::Steps(Steps::new(n, theta, fineness)));
            // Steps as coarse as can be reject most.
            for law in [ZipfLaw::new(n, theta), steps(4), steps(1)] {
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
    fn a_huge_domain_is_drawn_from_in_full_range() {
        let n = 1u64 << 40;
        let law = ZipfLaw::new(n, 0.5);
        let mut random = RandomStream::new(5, "test");
        let highest = (0..10_000).map(|_| law.draw(&mut random)).max().unwrap();
        assert!(highest < n && highest > n / 2);
    }
}
