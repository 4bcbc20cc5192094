//! Draws for jobs with zones: strided zones, and zones that are written in order.

use crate::generators::jobs::draw::{Candidate, Draw, Drawn, Next};
use crate::generators::jobs::job::Kinds;
use crate::generators::jobs::policy::Stride;
use crate::generators::jobs::zones::{Answer, Ask, Zones};

const READ: usize = 0;
const WRITE: usize = 1;

impl Draw {
    /// Where the addresses of a job end. A job with gaps between its zones covers the rest of the drive.
    pub(super) fn end(&self) -> u64 {
        let job = &self.placed.job;
        let apart = job.stride.is_some() || job.zones.is_some_and(|z| z.skip > 0);
        if apart { self.placed.reach } else { self.placed.start + self.placed.size }
    }

    /// Advance to the next strided zone when this one has had its bytes, otherwise wrap around within it.
    pub(super) fn enter_zone(&mut self, stride: Stride, direction: usize) {
        if self.zone_bytes >= stride.size {
            self.next_zone(stride.range + stride.skip, direction);
        }
        if self.last_end[direction] >= self.base + stride.range {
            self.last_end[direction] = self.base;
        }
        if self.zone_bytes.is_multiple_of(stride.range) {
            if let Some(map) = &mut self.map {
                map.clear();
            }
            self.begin_order();
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
    pub(super) fn leave_zone(&mut self, zones: &Zones, direction: usize) {
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
    pub(super) fn direction_in(&self, zones: &Zones, direction: usize) -> usize {
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
    pub(super) fn in_zone(&mut self, candidate: Candidate, zones: &mut Zones, busy: bool) -> Next {
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
}
