//! Draws a job's next request by fio's rules: direction, address and size. A random address comes from
//! `random_blocks`, others follow the previous request or the zones, strided or written in order. The size is
//! drawn for that address, cut where the next block is used, and always stays within the job's space.

use crate::generators::jobs::job::{Between, Kinds};
use crate::generators::jobs::placement::Placed;
use crate::generators::jobs::policy::Stride;
use crate::generators::jobs::random_blocks::RandomBlocks;
use crate::generators::jobs::spell::DIRECTIONS;
use crate::generators::jobs::zones::{Answer, Ask, Zones};
use wordline_trace::RandomStream;
use wordline_units::{HostOp, HostRequest, LBA_BYTES};

const READ: usize = 0;
const WRITE: usize = 1;
const TRIM: usize = 2;

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
struct Candidate {
    direction: usize,
    at: u64,
    bytes: u64,
    /// Its offset among the random blocks, of which it takes some.
    noted: Option<u64>,
    /// The zone after which another zone is searched.
    behind: Option<usize>,
}

/// The requests of one copy of a job.
pub(crate) struct Draw {
    placed: Placed,
    blocks: RandomBlocks,
    /// Start of the job's current addresses, which advances from zone to zone if the job has zones, and the
    /// bytes moved in the current zone.
    base: u64,
    zone_bytes: u64,
    /// The number of its job, and a drawn request that waits for a zone.
    number: u16,
    stalled: Option<Candidate>,
    /// Outstanding requests with a zone: their address, and whether they write.
    zoned: Vec<(u64, bool)>,
    last_end: [u64; DIRECTIONS],
    last_start: [Option<u64>; DIRECTIONS],
    until_random: u64,
    issued: [u64; DIRECTIONS],
    direction: usize,
    /// A mixed job keeps its direction while fewer requests of that direction than this were issued.
    keep_until: u64,
    seed: u64,
    name: String,
    random: Streams,
}

/// A stream of random numbers for each drawn quantity.
struct Streams {
    size: RandomStream,
    mix: RandomStream,
    share: RandomStream,
}

impl Streams {
    fn new(seed: u64, name: &str) -> Streams {
        let of = |part: &str| RandomStream::new(seed, &format!("{name}/{part}"));
        Streams { size: of("size"), mix: of("mix"), share: of("share") }
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
        Draw {
            blocks: RandomBlocks::new(&placed, &name, seed),
            base: placed.start,
            zone_bytes: 0,
            number: number as u16,
            stalled: None,
            zoned: vec![],
            last_end: [placed.start; DIRECTIONS],
            last_start: [None; DIRECTIONS],
            until_random: job.every,
            issued: [0; DIRECTIONS],
            direction: 0,
            keep_until: 0,
            seed,
            random: Streams::new(seed, &name),
            name,
            placed,
        }
    }

    #[inline]
    pub fn placed(&self) -> &Placed {
        &self.placed
    }

    /// The number of its job.
    #[inline]
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Begin the next loop: at the start, with all blocks unused, and with the same random numbers unless the
    /// job says otherwise.
    pub fn begin_anew(&mut self) {
        self.base = self.placed.start;
        self.last_end = [self.placed.start; DIRECTIONS];
        self.last_start = [None; DIRECTIONS];
        if self.placed.job.repeat {
            self.random = Streams::new(self.seed, &self.name);
            self.blocks.repeat(&self.name, self.seed);
        }
        self.blocks.begin_anew();
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
        if let Some(offset) = candidate.noted {
            drawn.bytes = self.blocks.take(offset, drawn.bytes);
        }
        if let (Some(rule), Some(zones)) = (&self.placed.job.zones, zones) {
            zones.take(self.number, rule, drawn.direction == WRITE, drawn.at, drawn.bytes);
            self.zoned.push((drawn.at, drawn.direction == WRITE));
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
                return self.blocks.draw(direction).map(|o| (o, true, true));
            }
        } else if job.between == Between::Identical {
            let last = self.last_start[direction].map_or(0, |at| at - self.base);
            return Some((last, false, false));
        }
        let behind = self.sequential(direction).filter(|o| *o < self.placed.size);
        behind.or_else(|| self.blocks.draw(direction)).map(|o| (o, false, false))
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

    /// Where the addresses of a job end. A job with gaps between its zones covers the rest of the drive.
    fn end(&self) -> u64 {
        let job = &self.placed.job;
        let apart = job.stride.is_some() || job.zones.is_some_and(|z| z.skip > 0);
        if apart { self.placed.reach } else { self.placed.start + self.placed.size }
    }

    /// Advance to the next strided zone when this one has had its bytes, otherwise wrap around within it.
    fn enter_zone(&mut self, stride: Stride, direction: usize) {
        if self.zone_bytes >= stride.size {
            self.next_zone(stride.range + stride.skip, direction);
        }
        if self.last_end[direction] >= self.base + stride.range {
            self.last_end[direction] = self.base;
        }
        if self.zone_bytes.is_multiple_of(stride.range) {
            self.blocks.begin_anew();
        }
    }

    fn next_zone(&mut self, further: u64, direction: usize) {
        self.zone_bytes = 0;
        self.base += further;
        if self.base >= self.placed.reach {
            self.base = self.placed.start;
        }
        self.last_end[direction] = self.base;
    }

    /// Let a sequential job leave a zone that is written in order when it has had its bytes.
    fn leave_zone(&mut self, zones: &Zones, direction: usize) {
        let Some(rule) = self.placed.job.zones.filter(|_| !self.placed.job.random) else { return };
        let last = self.last_end[direction];
        let zone = last / rule.size * rule.size;
        if direction == WRITE && last >= zone + rule.capacity {
            self.last_end[direction] = zone + rule.size;
        }
        if rule.skip == 0 {
            return;
        }
        let unwritten = direction == READ && !rule.reads_beyond && last >= zones.pointer(last);
        if self.zone_bytes >= rule.size || unwritten {
            self.next_zone(rule.size + rule.skip, direction);
        }
    }

    /// The direction of a mixed job, which writes first if there are no data to read.
    fn direction_in(&self, zones: &Zones, direction: usize) -> usize {
        let job = &self.placed.job;
        let beyond = job.zones.is_some_and(|z| z.reads_beyond);
        if direction == READ && job.kinds == Kinds::Mixed && !beyond && !zones.have_data() {
            return WRITE;
        }
        direction
    }

    /// The job's own zones: the first, and one past the last.
    fn own_zones(&self, zones: &Zones) -> (usize, usize) {
        let placed = &self.placed;
        (zones.of(placed.start), zones.of(placed.start + placed.size))
    }

    /// Begin a loop of a job.
    pub fn begin_zones(&self, zones: Option<&mut Zones>) {
        let job = &self.placed.job;
        if let (Some(rule), Some(zones), true) = (&job.zones, zones, job.kinds.uses(WRITE)) {
            zones.begin_loop(self.own_zones(zones), rule, job.verify.is_some());
        }
    }

    /// Place a request according to its zone.
    fn in_zone(&mut self, candidate: Candidate, zones: &mut Zones, busy: bool) -> Next {
        let (placed, Candidate { direction, at, bytes, behind, .. }) = (&self.placed, candidate);
        let Some(rule) = &placed.job.zones else { return Next::Over };
        let ask = Ask {
            job: self.number,
            rule,
            start: self.base,
            size: placed.size,
            own: self.own_zones(zones),
            writes: direction == WRITE,
            at,
            bytes,
            smallest: placed.job.sizes[direction].min,
            smallest_write: placed.job.sizes[WRITE].min,
            random: placed.job.random,
            verifies: placed.job.verify.is_some(),
            busy,
            behind,
        };
        match zones.ask(&ask) {
            Answer::Go { at, bytes, alone } => Next::Request(Drawn { direction, at, bytes, alone }),
            Answer::Wait(behind) => {
                self.stalled = Some(Candidate { behind, ..candidate });
                Next::Wait
            }
            Answer::Nothing => Next::Over,
        }
    }

    /// Note for its zone that a request has completed.
    pub fn ended(&mut self, request: &HostRequest, zones: Option<&mut Zones>) {
        let (Some(rule), Some(zones)) = (&self.placed.job.zones, zones) else { return };
        let (at, writes) = (request.lba.0 * LBA_BYTES, request.op == HostOp::Write);
        if let Some(n) = self.zoned.iter().position(|z| *z == (at, writes)) {
            self.zoned.swap_remove(n);
            zones.ended(rule, writes, at, request.bytes());
        }
    }
}
