//! The blocks of a job's random requests: from a map in which each block occurs once, from a pseudo-random
//! order, or from a distribution.

use crate::generators::jobs::blocks::UsedBlocks;
use crate::generators::jobs::job::{Job, Spread};
use crate::generators::jobs::placement::Placed;
use crate::generators::jobs::spell::DIRECTIONS;
use crate::random::permutation::Permutation;
use crate::random::zipf_law::ZipfLaw;
use std::sync::Arc;
use wordline_trace::RandomStream;

/// The multiplier by which fio scatters ranks over the space (64-bit golden-ratio hashing). If the number of
/// blocks is a power of two, this is a permutation. Otherwise some blocks share a position, and others are
/// never drawn.
const SCATTER: u64 = 0x61c8_8646_80b5_83eb;

/// The distribution of random addresses.
enum Law {
    /// All blocks equally likely.
    Even,
    Zipf(ZipfLaw),
    /// The exponent that follows from `pareto:h`.
    Pareto(f64),
    /// The standard deviation in blocks.
    Normal(u64),
    /// For each direction and percent of accesses: the first block and the number of blocks of its zone.
    Zones(Box<[Vec<(u64, u64)>; DIRECTIONS]>),
}

/// The blocks of a job's random requests, as offsets in bytes.
pub(crate) struct RandomBlocks {
    job: Arc<Job>,
    /// Bytes of the job's space, and of the range in which blocks are drawn.
    size: u64,
    range: u64,
    law: Law,
    /// Number of blocks among which ranks are drawn, and the offset by which scattered ranks are rotated.
    ranks: u64,
    turned: u64,
    map: Option<UsedBlocks>,
    /// Size in bytes of a block of the map, and of a rank.
    unit: u64,
    order: Option<(Permutation, u64)>,
    uniform: RandomStream,
    spread: RandomStream,
}

/// The stream of uniform offsets.
fn uniform(name: &str, seed: u64) -> RandomStream {
    RandomStream::new(seed, &format!("{name}/offset"))
}

impl RandomBlocks {
    /// The blocks of a copy of a job, whose random streams have this name.
    pub fn new(placed: &Placed, name: &str, seed: u64) -> RandomBlocks {
        let job = &placed.job;
        let unit = job.directions().map(|d| job.sizes[d].min).min().unwrap_or(4096);
        let range = job.stride.map_or(placed.size, |s| s.range);
        let ranks = range.div_ceil(unit);
        let mut spread = RandomStream::new(seed, &format!("{name}/spread"));
        let random_turn = spread.bits();
        let turn = |centre: Option<f64>| centre.map_or(random_turn, |c| (ranks as f64 * c) as u64);
        let (law, turned) = match &job.spread {
            Spread::Even => (Law::Even, 0),
            Spread::Zipf(theta, centre) => (Law::Zipf(ZipfLaw::new(ranks, *theta)), turn(*centre)),
            Spread::Pareto(h, centre) => (Law::Pareto(libm::log(*h) / libm::log(1.0 - h)), turn(*centre)),
            Spread::Normal(deviation, centre) => {
                let blocks = if *deviation > 0.0 {
                    (libm::ceil(ranks as f64 * deviation / 100.0) as u64).min(ranks / 2)
                } else {
                    0
                };
                let turned = centre.map_or(0, |c| (ranks as f64 * (c - 0.5)) as i64 as u64);
                (Law::Normal(blocks), turned)
            }
            Spread::Zoned(zones) => {
                let of = |d: usize| by_percent(&zones[d], |z| blocks_of(job, range, d) * z / 100);
                (Law::Zones(Box::new([of(0), of(1), of(2)])), 0)
            }
            Spread::ZonedAbs(zones) => {
                let of = |d: usize| by_percent(&zones[d], |z| z / job.align[d]);
                (Law::Zones(Box::new([of(0), of(1), of(2)])), 0)
            }
        };
        let mut blocks = RandomBlocks {
            job: Arc::clone(job),
            size: placed.size,
            range,
            law,
            ranks,
            turned,
            map: (job.random && job.map).then(|| UsedBlocks::new(ranks)),
            unit,
            order: None,
            uniform: uniform(name, seed),
            spread,
        };
        blocks.begin_order();
        blocks
    }

    fn begin_order(&mut self) {
        if self.job.random && self.job.shuffled {
            let order = Permutation::new(self.range / self.unit, &mut self.uniform);
            self.order = Some((order, 0));
        }
    }

    /// Begin with all blocks unused.
    pub fn begin_anew(&mut self) {
        if let Some(map) = &mut self.map {
            map.clear();
        }
        self.begin_order();
    }

    /// Use the same random numbers again.
    pub fn repeat(&mut self, name: &str, seed: u64) {
        self.uniform = uniform(name, seed);
    }

    /// Take the blocks of a request from the map. Returns how many of its bytes are in unused blocks.
    #[inline]
    pub fn take(&mut self, offset: u64, bytes: u64) -> u64 {
        let Some(map) = &mut self.map else { return bytes };
        bytes.min(map.take_run(offset / self.unit, bytes.div_ceil(self.unit)) * self.unit)
    }

    /// The offset of a request of a direction. None if all blocks have been used, unless only time ends the job.
    #[inline]
    pub fn draw(&mut self, direction: usize) -> Option<u64> {
        let found = self.block(direction);
        if found.is_some() || !self.job.time_based {
            return found;
        }
        self.begin_anew();
        self.block(direction)
    }

    /// The offset of a block by the job's distribution. None if all blocks have been used.
    fn block(&mut self, direction: usize) -> Option<u64> {
        let align = self.job.align[direction];
        let rank = match &self.law {
            Law::Even => return self.even(direction),
            Law::Zones(zones) => {
                let (first, count) = zones[direction][self.spread.below(100) as usize];
                return Some((first + self.uniform.below(count)) * align);
            }
            Law::Zipf(law) => law.draw(&mut self.spread),
            Law::Pareto(power) => ((self.ranks - 1) as f64 * libm::pow(self.spread.unit(), *power)) as u64,
            Law::Normal(deviation) => {
                let deviation = *deviation;
                self.bell(deviation)
            }
        };
        Some(self.scattered(rank) * align)
    }

    fn scattered(&self, rank: u64) -> u64 {
        rank.wrapping_mul(SCATTER).wrapping_add(self.turned) % self.ranks
    }

    /// The mean of twelve uniform numbers, shifted by another one: fio's normal distribution.
    fn bell(&mut self, deviation: u64) -> u64 {
        let sum: u64 = (0..12).map(|_| self.spread.below(self.ranks + 1)).sum();
        let mean = sum.div_ceil(12) as i64;
        let mut by = self.spread.below(deviation) as i64 - (deviation / 2) as i64;
        while mean + by < 0 || mean + by >= self.ranks as i64 {
            if by == 0 {
                return (mean as u64).min(self.ranks - 1);
            }
            by /= 2;
        }
        (mean + by) as u64
    }

    /// A uniformly distributed block; with a map, the next unused block after it.
    fn even(&mut self, direction: usize) -> Option<u64> {
        if let Some((order, next)) = &mut self.order {
            if *next >= self.size / self.unit {
                return None;
            }
            let block = order.of(*next);
            *next += 1;
            return Some(block * self.unit);
        }
        let align = self.job.align[direction];
        let drawn = self.uniform.below(blocks_of(&self.job, self.range, direction)) * align;
        let Some(map) = &self.map else { return Some(drawn) };
        let first = map.next_free(drawn / self.unit)?;
        let mut free = first;
        // If directions have different sizes, a free block need not be aligned for this direction.
        while !(free * self.unit).is_multiple_of(align) {
            free = map.next_free(free + 1)?;
            if free == first {
                return None;
            }
        }
        Some(free * self.unit)
    }
}

/// Number of a direction's alignment units in a range.
fn blocks_of(job: &Job, range: u64, direction: usize) -> u64 {
    let (align, smallest) = (job.align[direction], job.sizes[direction].min);
    range.saturating_sub(smallest.saturating_sub(align)) / align
}

/// The zone of each percent of accesses: its first block and number of blocks. `up_to` maps a cumulative size
/// to the block at which it ends.
fn by_percent<T: Copy + Into<u64>>(zones: &[(u32, T)], up_to: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
    let mut all = Vec::with_capacity(100);
    let mut before = 0;
    for (access, size) in zones {
        let after = before + (*size).into();
        let (first, end) = (up_to(before), up_to(after));
        all.extend(std::iter::repeat_n((first, (end - first).max(1)), *access as usize));
        before = after;
    }
    all
}
