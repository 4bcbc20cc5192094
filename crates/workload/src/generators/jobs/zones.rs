//! Zones written in order on a drive without zones, by the rules of fio's `zonemode=zbd` on a regular block
//! device. Each zone has a write pointer, which starts at the beginning of the zone. Writes to a zone go to
//! its pointer, wherever they were drawn; reads stay below it. A full zone is reset; the drive is not told.
//! All jobs share the zones. A zone with outstanding requests of a job belongs to that job.

use crate::generators::jobs::policy::ZoneRule;

/// A job's request to the zones. Sizes are in bytes, addresses from the start of the drive.
pub(crate) struct Ask<'a> {
    pub job: u16,
    pub rule: &'a ZoneRule,
    /// The addresses that are currently valid for it, and its own zones.
    pub start: u64,
    pub size: u64,
    pub own: (usize, usize),
    pub writes: bool,
    pub at: u64,
    pub bytes: u64,
    /// The smallest request of its direction, and the smallest write.
    pub smallest: u64,
    pub smallest_write: u64,
    pub random: bool,
    /// Whether it reads back its writes, so that no zone is reset before that.
    pub verifies: bool,
    /// Whether the job has outstanding requests.
    pub busy: bool,
    /// The zone after which it searches for one to open, once its requests have completed.
    pub behind: Option<usize>,
}

/// The answer of the zones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// Issue the request here. If `alone`, all other requests of the job must complete first.
    Go { at: u64, bytes: u64, alone: bool },
    /// Another job uses the zone, or zones must be closed first: try again when requests have completed, then
    /// after this zone.
    Wait(Option<usize>),
    /// There is no space, or nothing to read.
    Nothing,
}

#[derive(Clone, Default)]
struct Zone {
    /// The write pointer, relative to the start of the zone.
    written: u64,
    /// The job that opened it.
    opened: Option<u16>,
    /// Whether the next write resets it.
    ends: bool,
    /// The job with outstanding requests in it, and how many.
    holder: Option<(u16, u32)>,
}

/// The zones of a drive.
pub(crate) struct Zones {
    size: u64,
    capacity: u64,
    most_open: usize,
    zones: Vec<Zone>,
    /// Open zones in the order in which they were opened. Only kept if their number is limited.
    open: Vec<usize>,
    with_data: u64,
    /// Number of writes until a zone above the threshold is reset.
    countdown: u64,
    /// Number of outstanding requests in all zones.
    outstanding: u64,
}

impl Zones {
    /// Maximum number of zones of a drive.
    pub const MOST: u64 = 1 << 20;

    pub fn new(rule: &ZoneRule, end: u64) -> Zones {
        let count = end.div_ceil(rule.size) as usize;
        Zones {
            size: rule.size,
            capacity: rule.capacity,
            most_open: rule.most_open,
            zones: vec![Zone::default(); count],
            open: vec![],
            with_data: 0,
            countdown: u64::MAX,
            outstanding: 0,
        }
    }

    pub fn of(&self, at: u64) -> usize {
        ((at / self.size) as usize).min(self.zones.len())
    }

    fn start(&self, zone: usize) -> u64 {
        zone as u64 * self.size
    }

    /// Whether there is anything to read.
    pub fn have_data(&self) -> bool {
        self.with_data > 0
    }

    /// The write pointer of the zone of an address, as an address.
    pub fn pointer(&self, at: u64) -> u64 {
        let zone = self.of(at);
        self.start(zone) + self.zones.get(zone).map_or(0, |z| z.written)
    }

    /// Begin a loop of a writing job over its zones. For a job that verifies, they are emptied.
    pub fn begin_loop(&mut self, own: (usize, usize), rule: &ZoneRule, verifies: bool) {
        self.with_data = self.zones[own.0..own.1].iter().map(|z| z.written).sum();
        if verifies {
            for zone in own.0..own.1 {
                self.close(zone);
                self.reset(zone);
            }
        }
        self.countdown = rule.reset.map_or(u64::MAX, |r| r.every);
    }

    fn reset(&mut self, zone: usize) {
        self.with_data = self.with_data.saturating_sub(self.zones[zone].written);
        (self.zones[zone].written, self.zones[zone].ends) = (0, false);
    }

    fn close(&mut self, zone: usize) {
        if self.zones[zone].opened.take().is_some() {
            self.open.retain(|z| *z != zone);
        }
    }

    fn is_full(&self, zone: usize, smallest: u64) -> bool {
        self.zones[zone].written + smallest > self.capacity
    }

    /// Whether a zone is open for a job's writes, or could be opened.
    fn open(&mut self, zone: usize, ask: &Ask) -> bool {
        if ask.verifies && self.is_full(zone, ask.smallest_write) {
            return false;
        }
        if self.most_open == 0 {
            return true;
        }
        if self.zones[zone].opened.is_some() {
            // A zone that outstanding writes will fill counts as full.
            return self.zones[zone].written < self.capacity;
        }
        if self.open.len() >= self.most_open || self.job_is_at_limit(ask) {
            return false;
        }
        self.open.push(zone);
        self.zones[zone].opened = Some(ask.job);
        true
    }

    fn job_is_at_limit(&self, ask: &Ask) -> bool {
        let mine = || self.open.iter().filter(|z| self.zones[**z].opened == Some(ask.job)).count();
        ask.rule.most_open_of_job > 0 && mine() >= ask.rule.most_open_of_job
    }

    fn is_held(&self, zone: usize, ask: &Ask) -> bool {
        self.zones[zone].holder.is_some_and(|(job, _)| job != ask.job)
    }

    /// Where a request drawn for an address goes.
    pub fn ask(&mut self, ask: &Ask) -> Answer {
        if ask.writes {
            return self.write(ask);
        }
        if ask.rule.reads_beyond {
            return Answer::Go { at: ask.at, bytes: ask.bytes, alone: false };
        }
        self.read(ask)
    }

    fn read(&mut self, ask: &Ask) -> Answer {
        let drawn = self.of(ask.at);
        if drawn >= self.zones.len() {
            return Answer::Nothing;
        }
        let (mut zone, mut at) = (drawn, ask.at);
        let short = |z: &Zone| z.written < ask.smallest;
        if short(&self.zones[zone])
            || (!ask.random && at + ask.smallest > self.start(zone) + self.zones[zone].written)
        {
            let Some(found) = self.readable(zone, ask) else { return Answer::Nothing };
            zone = found;
            if !ask.random {
                at = self.start(zone);
            }
        }
        if self.is_held(zone, ask) {
            return Answer::Wait(None);
        }
        let (start, written) = (self.start(zone), self.zones[zone].written);
        if written <= ask.bytes {
            at = start;
        } else if ask.random {
            let within = (at - self.start(drawn)) % (written - ask.bytes);
            at = start + within / ask.smallest * ask.smallest;
        }
        let bytes = ask.bytes.min(start + written - at) / ask.smallest * ask.smallest;
        Answer::Go { at, bytes, alone: false }
    }

    /// Another zone with enough data to read: the next one, or for random reads the nearest.
    fn readable(&self, from: usize, ask: &Ask) -> Option<usize> {
        let fits = |zone: &usize| self.zones[*zone].written >= ask.smallest;
        let (first, end) = (ask.own.0 as i64, ask.own.1 as i64);
        for far in 1.. {
            let (above, below) = (from as i64 + far, from as i64 - far);
            if above >= end && (below < first || !ask.random) {
                return None;
            }
            let near = [(above < end).then_some(above), (ask.random && below >= first).then_some(below)];
            if let Some(found) = near.into_iter().flatten().map(|z| z as usize).find(fits) {
                return Some(found);
            }
        }
        None
    }

    fn write(&mut self, ask: &Ask) -> Answer {
        let mut zone = self.of(ask.at);
        if ask.bytes > self.size || zone >= self.zones.len() {
            return Answer::Nothing;
        }
        if ask.behind.is_none() && self.is_held(zone, ask) {
            return Answer::Wait(None);
        }
        if ask.behind.is_some() || !self.open(zone, ask) {
            let found = match ask.behind {
                Some(zone) => self.next_behind(zone, ask),
                None => self.other(ask),
            };
            match found {
                Ok(found) => zone = found,
                Err(answer) => return answer,
            }
            if self.is_held(zone, ask) {
                return Answer::Wait(None);
            }
        }
        if let Some(rule) = ask.rule.reset
            && self.with_data as f64 >= ask.size as f64 * rule.threshold
        {
            self.countdown -= 1;
            if self.countdown == 0 {
                (self.countdown, self.zones[zone].ends) = (rule.every, true);
            }
        }
        let alone = self.zones[zone].ends || self.is_full(zone, ask.smallest);
        if alone {
            self.reset(zone);
        }
        let at = self.start(zone) + self.zones[zone].written;
        let bytes = ask.bytes.min(self.capacity - self.zones[zone].written) / ask.smallest * ask.smallest;
        if bytes == 0 || at.wrapping_sub(ask.start) >= ask.size {
            return Answer::Nothing;
        }
        Answer::Go { at, bytes, alone }
    }

    /// An open zone with space for a write whose own zone cannot be opened, or one that can be opened.
    fn other(&mut self, ask: &Ask) -> Result<usize, Answer> {
        let within = |zone: usize| zone.clamp(ask.own.0, ask.own.1 - 1);
        let mut zone = within(self.of(ask.at));
        if self.most_open > 0 && !self.open.is_empty() {
            let pick = (ask.at - ask.start) as u128 * self.open.len() as u128 / ask.size as u128;
            let from = (pick as usize).min(self.open.len() - 1);
            let turned = self.open[from..].iter().chain(&self.open[..from]);
            let mine = |z: &&usize| (ask.own.0..ask.own.1).contains(*z);
            zone = *turned.into_iter().find(mine).ok_or(Answer::Nothing)?;
        }
        let has_room = |zones: &Zones, z: usize| zones.zones[z].written + ask.smallest <= self.capacity;
        if (self.most_open == 0 || !self.open.is_empty()) && has_room(self, zone) {
            return Ok(zone);
        }
        let at_limit = self.open.len() == ask.own.1 - ask.own.0
            || (self.most_open > 0 && self.open.len() == self.most_open)
            || self.job_is_at_limit(ask);
        if at_limit && ask.busy {
            return Err(Answer::Wait(Some(zone)));
        }
        self.next_behind(zone, ask)
    }

    /// The next zone that can be opened, or an open one with space.
    fn next_behind(&mut self, behind: usize, ask: &Ask) -> Result<usize, Answer> {
        let mut zone = behind;
        for _ in 0..ask.size / self.size {
            zone = if zone + 1 < ask.own.1 { zone + 1 } else { ask.own.0 };
            if self.zones[zone].opened.is_none() && self.open(zone, ask) {
                return Ok(zone);
            }
        }
        let mine = |z: &&usize| (ask.own.0..ask.own.1).contains(*z);
        let room = self.open.iter().filter(mine).copied().find(|z| !self.is_full(*z, ask.smallest));
        room.ok_or(if self.outstanding > 0 { Answer::Wait(Some(behind)) } else { Answer::Nothing })
    }

    /// Account for a drawn request: its zone is in use, and a write advances the pointer.
    pub fn take(&mut self, job: u16, rule: &ZoneRule, writes: bool, at: u64, bytes: u64) {
        if !writes && rule.reads_beyond {
            return;
        }
        let zone = self.of(at);
        let (start, capacity) = (self.start(zone), self.capacity);
        let Some(z) = self.zones.get_mut(zone) else { return };
        if writes {
            let end = (at + bytes - start).min(capacity);
            self.with_data += end.saturating_sub(z.written);
            z.written = end;
        }
        z.holder = Some((job, z.holder.map_or(0, |(_, n)| n) + 1));
        self.outstanding += 1;
    }

    /// Note that a request has completed. A zone that it filled is closed, and a zone without other requests
    /// is released.
    pub fn ended(&mut self, rule: &ZoneRule, writes: bool, at: u64, bytes: u64) {
        if !writes && rule.reads_beyond {
            return;
        }
        let zone = self.of(at);
        if zone >= self.zones.len() {
            return;
        }
        if writes && at + bytes >= self.start(zone) + self.capacity {
            self.close(zone);
        }
        self.zones[zone].holder = match self.zones[zone].holder {
            Some((job, n)) if n > 1 => Some((job, n - 1)),
            _ => None,
        };
        self.outstanding = self.outstanding.saturating_sub(1);
    }
}
