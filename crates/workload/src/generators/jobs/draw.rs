//! Draws a job's next request by fio's rules: direction, address and size. The block of a random request
//! comes from a map in which each block occurs once, from a pseudo-random order, or from a distribution. The
//! size is drawn for that address, cut where the map says that the next block is used, and always stays
//! within the job's space.

use crate::generators::jobs::blocks::UsedBlocks;
use crate::generators::jobs::job::{Between, Kinds, Spread};
use crate::generators::jobs::placement::Placed;
use crate::generators::jobs::spell::DIRECTIONS;
use crate::generators::jobs::zones::Zones;
use crate::random::permutation::Permutation;
use crate::random::zipf_law::ZipfLaw;
use wordline_trace::RandomStream;

const WRITE: usize = 1;
const TRIM: usize = 2;

/// The multiplier by which fio scatters ranks over the space (64-bit golden-ratio hashing). If the number of
/// blocks is a power of two, this is a permutation. Otherwise some blocks share a position, and others are
/// never drawn.
const SCATTER: u64 = 0x61c8_8646_80b5_83eb;

/// A request, in bytes from the start of the drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Drawn {
    pub direction: usize,
    pub at: u64,
    pub bytes: u64,
    /// Whether all other requests of the job must complete first.
    pub alone: bool,
}

/// The result of a draw.
pub(crate) enum Next {
    Request(Drawn),
    /// Another job uses the zone: draw again when requests have completed.
    Wait,
    /// This loop has no more requests.
    Over,
}

/// A drawn request before its zone is known.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub direction: usize,
    pub at: u64,
    pub bytes: u64,
    /// Its offset in the map of used blocks, if there is one.
    pub noted: Option<u64>,
    /// The zone after which another zone is searched.
    pub behind: Option<usize>,
}

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

/// The requests of one copy of a job.
pub(crate) struct Draw {
    pub placed: Placed,
    law: Law,
    /// Number of blocks among which ranks are drawn, and the offset by which scattered ranks are rotated.
    ranks: u64,
    turned: u64,
    pub(super) map: Option<UsedBlocks>,
    /// Size in bytes of a block of the map, and of a rank.
    unit: u64,
    /// Start of the job's current addresses, which advances from zone to zone if the job has zones, and the
    /// bytes moved in the current zone.
    pub(super) base: u64,
    pub(super) zone_bytes: u64,
    order: Option<(Permutation, u64)>,
    /// The number of its job, and a drawn request that waits for a zone.
    pub(super) number: u16,
    pub(super) stalled: Option<Candidate>,
    pub(super) last_end: [u64; DIRECTIONS],
    last_start: [Option<u64>; DIRECTIONS],
    until_random: u64,
    issued: [u64; DIRECTIONS],
    direction: usize,
    /// A mixed job keeps its direction while fewer requests of that direction than this were issued.
    keep_until: u64,
    seed: u64,
    name: String,
    random: Streams,
    spread: RandomStream,
}

/// A stream of random numbers for each drawn quantity.
struct Streams {
    offset: RandomStream,
    size: RandomStream,
    mix: RandomStream,
    share: RandomStream,
}

impl Streams {
    fn new(seed: u64, name: &str) -> Streams {
        let of = |part: &str| RandomStream::new(seed, &format!("{name}/{part}"));
        Streams { offset: of("offset"), size: of("size"), mix: of("mix"), share: of("share") }
    }
}

/// A random number from 1 to 100.
fn percent(random: &mut RandomStream) -> u64 {
    random.below(100) + 1
}

impl Draw {
    /// The requests of a copy of a job. `number` is its position among all copies of all jobs.
    pub fn new(placed: Placed, number: usize, seed: u64) -> Draw {
        let job = &placed.job;
        let name = format!("jobs/{number}/{}", job.seed);
        let unit = job.directions().map(|d| job.sizes[d].min).min().unwrap_or(4096);
        let ranks = placed.job.stride.map_or(placed.size, |s| s.range).div_ceil(unit);
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
                let of = |d: usize| by_percent(&zones[d], |z| Draw::blocks_of(&placed, d) * z / 100);
                (Law::Zones(Box::new([of(0), of(1), of(2)])), 0)
            }
            Spread::ZonedAbs(zones) => {
                let of = |d: usize| by_percent(&zones[d], |z| z / placed.job.align[d]);
                (Law::Zones(Box::new([of(0), of(1), of(2)])), 0)
            }
        };
        let needs_map = job.random && job.map;
        let mut draw = Draw {
            law,
            ranks,
            turned,
            map: needs_map.then(|| UsedBlocks::new(ranks)),
            unit,
            base: placed.start,
            zone_bytes: 0,
            order: None,
            number: number as u16,
            stalled: None,
            last_end: [placed.start; DIRECTIONS],
            last_start: [None; DIRECTIONS],
            until_random: job.every,
            issued: [0; DIRECTIONS],
            direction: 0,
            keep_until: 0,
            seed,
            random: Streams::new(seed, &name),
            name,
            spread,
            placed,
        };
        draw.begin_order();
        draw
    }

    /// Number of a direction's alignment units in the space.
    fn blocks_of(placed: &Placed, direction: usize) -> u64 {
        let (align, smallest) = (placed.job.align[direction], placed.job.sizes[direction].min);
        let size = placed.job.stride.map_or(placed.size, |s| s.range);
        size.saturating_sub(smallest.saturating_sub(align)) / align
    }

    pub(super) fn begin_order(&mut self) {
        if self.placed.job.random && self.placed.job.shuffled {
            let blocks = self.placed.job.stride.map_or(self.placed.size, |s| s.range) / self.unit;
            self.order = Some((Permutation::new(blocks, &mut self.random.offset), 0));
        }
    }

    /// Begin the next loop: at the start, with all blocks unused, and with the same random numbers unless the
    /// job says otherwise.
    pub fn begin_anew(&mut self) {
        self.base = self.placed.start;
        self.last_end = [self.placed.start; DIRECTIONS];
        self.last_start = [None; DIRECTIONS];
        if let Some(map) = &mut self.map {
            map.clear();
        }
        if self.placed.job.repeat {
            self.random = Streams::new(self.seed, &self.name);
        }
        self.begin_order();
    }

    /// The direction of the next request. A mixed job draws it again after the direction has had its share.
    pub fn direction(&mut self) -> usize {
        let job = &self.placed.job;
        match job.kinds {
            Kinds::Only(direction) => direction,
            Kinds::TrimWrite if self.last_start[WRITE] == self.last_start[TRIM] => TRIM,
            Kinds::TrimWrite => WRITE,
            Kinds::Mixed => {
                if self.issued[self.direction] >= self.keep_until {
                    let direction = usize::from(percent(&mut self.random.mix) > job.mix_read);
                    if direction != self.direction {
                        let share = [job.mix_read, 100 - job.mix_read][direction];
                        self.keep_until = self.issued[self.direction] * share / 100;
                    }
                    self.direction = direction;
                }
                self.direction
            }
        }
    }

    /// Switch a mixed job to its other direction, which is behind its rate.
    pub fn turn_to(&mut self, direction: usize) {
        self.direction = direction;
    }

    /// The next request of a direction. `busy` says whether the job has outstanding requests.
    pub fn next(&mut self, direction: usize, zones: Option<&mut Zones>, busy: bool) -> Next {
        let mut zones = zones.filter(|_| self.placed.job.zones.is_some());
        let drawn = self.stalled.take().or_else(|| self.candidate(direction, zones.as_deref()));
        let Some(candidate) = drawn else { return Next::Over };
        let mut drawn = match zones.as_deref_mut() {
            Some(zones) => match self.in_zone(candidate, zones, busy) {
                Next::Request(drawn) => drawn,
                other => return other,
            },
            None => Drawn {
                direction: candidate.direction,
                at: candidate.at,
                bytes: candidate.bytes,
                alone: false,
            },
        };
        if drawn.at + drawn.bytes > self.placed.reach {
            return Next::Over;
        }
        if let (Some(map), Some(offset)) = (&mut self.map, candidate.noted) {
            let blocks = map.take_run(offset / self.unit, drawn.bytes.div_ceil(self.unit));
            drawn.bytes = drawn.bytes.min(blocks * self.unit);
        }
        if let (Some(rule), Some(zones)) = (&self.placed.job.zones, zones) {
            zones.take(self.number, rule, drawn.direction == WRITE, drawn.at, drawn.bytes);
        }
        let Drawn { direction, at, bytes, .. } = drawn;
        // A trim may repeat the address of the last write. The pair is only complete once it is written.
        if self.placed.job.kinds == Kinds::TrimWrite && direction == TRIM {
            self.last_start[WRITE] = None;
        }
        self.last_start[direction] = Some(at);
        self.last_end[direction] = at + bytes;
        self.issued[direction] += 1;
        self.zone_bytes += bytes;
        Next::Request(drawn)
    }

    /// Draw a request, regardless of its zone.
    fn candidate(&mut self, direction: usize, zones: Option<&Zones>) -> Option<Candidate> {
        let job = std::sync::Arc::clone(&self.placed.job);
        if job.kinds == Kinds::TrimWrite && direction == WRITE && job.random {
            let at = self.last_start[TRIM]?;
            return Some(Candidate {
                direction,
                at,
                bytes: self.last_end[TRIM] - at,
                noted: None,
                behind: None,
            });
        }
        let direction = zones.map_or(direction, |z| self.direction_in(z, direction));
        if let Some(stride) = job.stride {
            self.enter_zone(stride, direction);
        }
        if let Some(zones) = zones {
            self.leave_zone(zones, direction);
        }
        let (offset, is_random, marks) = self.offset(direction)?;
        let at = self.base + offset;
        let end = self.end();
        if at >= end {
            return None;
        }
        let bytes = self.bytes(direction, at, end, is_random)?;
        if at + bytes > end && zones.is_none() {
            return None;
        }
        Some(Candidate { direction, at, bytes, noted: marks.then_some(offset), behind: None })
    }

    /// Count a read of the job that was not drawn.
    pub fn note_read(&mut self) {
        self.issued[0] += 1;
    }

    /// Offset from the start of the space, whether it is random, and whether the map records it.
    fn offset(&mut self, direction: usize) -> Option<(u64, bool, bool)> {
        let job = std::sync::Arc::clone(&self.placed.job);
        if !job.random {
            return self.sequential(direction).map(|o| (o, false, false));
        }
        self.until_random -= 1;
        if self.until_random == 0 {
            self.until_random = job.every;
            let share = job.percent_random[direction];
            if share == 100 || percent(&mut self.random.share) <= share {
                return self.random_offset(direction).map(|o| (o, true, true));
            }
        } else if job.between == Between::Identical {
            let last = self.last_start[direction].map_or(0, |at| at - self.base);
            return Some((last, false, false));
        }
        let behind = self.sequential(direction).filter(|o| *o < self.placed.size);
        behind.or_else(|| self.random_offset(direction)).map(|o| (o, false, false))
    }

    /// The offset that follows the last request of the direction.
    fn sequential(&mut self, direction: usize) -> Option<u64> {
        let (job, end) = (&self.placed.job, self.end());
        let again = job.time_based || (job.kinds == Kinds::Mixed && self.placed.total > self.placed.size);
        if self.last_end[direction] >= end && again {
            self.last_end[direction] = self.base;
        }
        let (start, size) = (self.base, self.placed.size);
        if job.gap < 0 && self.last_end[direction] == start && start > 0 {
            // fio goes backwards from the address that equals the size.
            self.last_end[direction] = size.max(start);
        }
        let offset = self.last_end[direction].saturating_sub(start);
        if offset >= size {
            return None;
        }
        if offset == 0 || job.gap == 0 {
            return Some(offset);
        }
        match offset.checked_add_signed(job.gap) {
            Some(further) if further < end => Some(further),
            _ if job.gap < 0 => size.checked_add_signed(job.gap),
            _ => Some(0),
        }
    }

    fn random_offset(&mut self, direction: usize) -> Option<u64> {
        let found = self.random_block(direction);
        if found.is_some() || !self.placed.job.time_based {
            return found;
        }
        if let Some(map) = &mut self.map {
            map.clear();
        }
        self.begin_order();
        self.random_block(direction)
    }

    /// The offset of a block by the job's distribution. None if all blocks have been used.
    fn random_block(&mut self, direction: usize) -> Option<u64> {
        let align = self.placed.job.align[direction];
        let rank = match &self.law {
            Law::Even => return self.even(direction),
            Law::Zones(zones) => {
                let (first, count) = zones[direction][self.spread.below(100) as usize];
                return Some((first + self.random.offset.below(count)) * align);
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
            if *next >= self.placed.size / self.unit {
                return None;
            }
            let block = order.of(*next);
            *next += 1;
            return Some(block * self.unit);
        }
        let align = self.placed.job.align[direction];
        let drawn = self.random.offset.below(Draw::blocks_of(&self.placed, direction)) * align;
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

    /// The size of a request at an address. `None` if even the smallest size does not fit.
    fn bytes(&mut self, direction: usize, at: u64, end: u64, is_random: bool) -> Option<u64> {
        let job = &self.placed.job;
        let sizes = &job.sizes[if job.sizes_by_randomness { usize::from(is_random) } else { direction }];
        if sizes.min == sizes.max {
            return Some(sizes.min);
        }
        let fits = |bytes: u64| at + bytes <= end;
        if !fits(sizes.min) {
            return None;
        }
        loop {
            let draw = self.random.size.unit();
            let mut bytes = sizes.max;
            if sizes.split.is_empty() {
                // Mirror (0, 1] to [0, 1), so that each step is equally likely.
                bytes = sizes.min + (sizes.max as f64 * (1.0 - draw)) as u64;
            } else {
                let mut up_to = 0;
                for (size, share) in &sizes.split {
                    bytes = *size;
                    up_to += share;
                    if draw * 100.0 <= up_to as f64 && fits(bytes) {
                        break;
                    }
                }
            }
            bytes = (bytes - bytes % sizes.min).min(sizes.max);
            if fits(bytes) {
                return Some(bytes);
            }
        }
    }
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
