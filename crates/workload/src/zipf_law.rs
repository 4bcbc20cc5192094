//! Ranks by Zipf's law: rank k of n is drawn with a probability proportional to 1/k^θ. The law is exact
//! up to the rounding of 64 bits, and a draw costs the same whatever n. Small domains use an alias table
//! (a draw is one look-up). Large ones are covered by steps: the first ranks alone, the others in runs
//! that grow by a factor, each as likely as if all its ranks were as likely as its first. A rank of a run
//! is then kept with the probability that it has of that, which is nearly always, so nearly always
//! one comparison with the least such probability of the run decides. All real functions come from `libm`.

use crate::random::RandomStream;

/// Domains up to this size get a table: 12 bytes an entry, 768 KiB.
const TABLE: u64 = 1 << 16;

/// Steps of one rank, and steps of more: 32 bytes each, 256 KiB.
const SINGLE: u64 = 1 << 12;
const RUNS: u64 = 1 << 12;

/// A sampler of ranks `0 .. n`, most likely first.
#[derive(Clone)]
pub(crate) enum ZipfLaw {
    Table { chance: Vec<u64>, other: Vec<u32> },
    Steps { steps: Vec<Step>, theta: f64 },
}

/// A run of ranks, and its entry in the alias table of runs.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    chance: u64,
    other: u32,
    first: u64,
    /// The last rank is kept with this probability, the others with more.
    least: f64,
}

/// Walker's alias method, filled as Vose does: each column's chance of itself, in 2^−64, and the other
/// one that it stands for.
fn alias(weights: &[f64]) -> (Vec<u64>, Vec<u32>) {
    let n = weights.len();
    let sum: f64 = weights.iter().rev().sum();
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
    (chance, other)
}

/// The likelihood of a rank, not normalised.
fn density(rank: u64, theta: f64) -> f64 {
    libm::pow((rank + 1) as f64, -theta)
}

impl ZipfLaw {
    /// Over `n` ranks; θ is 0 (uniform) or more.
    pub fn new(n: u64, theta: f64) -> ZipfLaw {
        if n <= TABLE { ZipfLaw::table(n, theta) } else { ZipfLaw::steps(n, theta) }
    }

    fn table(n: u64, theta: f64) -> ZipfLaw {
        let weights: Vec<f64> = (0..n).map(|rank| density(rank, theta)).collect();
        let (chance, other) = alias(&weights);
        ZipfLaw::Table { chance, other }
    }

    fn steps(n: u64, theta: f64) -> ZipfLaw {
        let single = SINGLE.min(n);
        let growth = libm::log(n as f64 / single as f64) / RUNS as f64;
        let begin = |run: u64| (single as f64 * libm::exp(growth * run as f64)) as u64;
        let mut firsts: Vec<u64> = (0..single).collect();
        firsts.extend((0..RUNS).map(begin).filter(|first| *first < n));
        // The first run begins at the end of the single ranks; where runs would be empty, there are fewer.
        firsts.dedup();
        let ends = firsts.iter().skip(1).copied().chain([n]);
        let runs: Vec<(u64, u64)> = firsts.iter().copied().zip(ends).collect();
        let weights: Vec<f64> =
            runs.iter().map(|(first, end)| density(*first, theta) * (end - first) as f64).collect();
        let (chance, other) = alias(&weights);
        let step = |((first, end), (chance, other)): ((u64, u64), (u64, u32))| Step {
            chance,
            other,
            first,
            least: density(end - 1, theta) / density(first, theta),
        };
        let mut steps: Vec<Step> = runs.into_iter().zip(chance.into_iter().zip(other)).map(step).collect();
        // The end of the last run.
        steps.push(Step { chance: 0, other: 0, first: n, least: 1.0 });
        ZipfLaw::Steps { steps, theta }
    }

    /// A rank.
    #[inline]
    pub fn draw(&self, random: &mut RandomStream) -> u64 {
        match self {
            ZipfLaw::Table { chance, other } => {
                let at = random.below(chance.len() as u64) as usize;
                if random.bits() <= chance[at] { at as u64 } else { other[at] as u64 }
            }
            ZipfLaw::Steps { steps, theta } => loop {
                let at = random.below(steps.len() as u64 - 1) as usize;
                let at = if random.bits() <= steps[at].chance { at } else { steps[at].other as usize };
                let Step { first, least, .. } = steps[at];
                let length = steps[at + 1].first - first;
                if length == 1 {
                    return first;
                }
                let rank = first + random.below(length);
                let draw = random.unit();
                if draw <= least || draw * density(first, *theta) <= density(rank, *theta) {
                    return rank;
                }
            },
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
            for law in [ZipfLaw::table(n, theta), ZipfLaw::steps(n, theta)] {
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
    fn steps_follow_the_law_rank_by_rank_and_far_out() {
        // Chi-square over cells of at least 200 expected draws: single ranks first, then ever more in one.
        const DRAWS: u64 = 1_000_000;
        for (n, theta) in [(70_000, 0.5), (200_000, 0.99), (200_000, 1.2), (1_000_000, 1.0), (100_000, 0.0)] {
            let law = ZipfLaw::new(n, theta);
            assert!(matches!(law, ZipfLaw::Steps { .. }));
            let density: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-theta)).collect();
            let sum: f64 = density.iter().rev().sum();
            let (mut cell_of, mut wanted) = (vec![0usize; n as usize], vec![0.0]);
            for (rank, d) in density.iter().enumerate() {
                if wanted[wanted.len() - 1] >= 200.0 {
                    wanted.push(0.0);
                }
                let cell = wanted.len() - 1;
                cell_of[rank] = cell;
                wanted[cell] += d / sum * DRAWS as f64;
            }
            let mut seen = vec![0u64; wanted.len()];
            let mut random = RandomStream::new(17, "test");
            for _ in 0..DRAWS {
                seen[cell_of[law.draw(&mut random) as usize]] += 1;
            }
            // The last cell may have too few to count.
            let cells = wanted.len() - 1;
            let chi: f64 = (0..cells).map(|c| (seen[c] as f64 - wanted[c]).powi(2) / wanted[c]).sum();
            // Mean and five standard deviations of chi-square.
            let freedom = cells as f64 - 1.0;
            let most = freedom + 5.0 * (2.0 * freedom).sqrt();
            assert!(chi < most, "{n} ranks, θ {theta}: {chi} over {cells} cells, {most} allowed");
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
