//! A running drive, and what its host may expect. Its power is cut and restored, and what is found is compared with what
//! is allowed.

use crate::power::watch::{Cell, Change, Tally, Watch};
use crate::rng::Rng;
use std::collections::{BTreeMap, HashMap, HashSet};
use wordline_device::DeviceSpec;
use wordline_ftl::{Bytes, Initial, Located, MapKind, Mapped, Outcome, Scheme};
use wordline_sim::{Completion, Device};
use wordline_units::{BlockId, HostOp, HostRequest, Lpn, Ppn, SectorMask, SimTime};

const SECTOR: usize = 512;

/// A running drive, and what its host may expect.
pub struct Run {
    device: Device<Watch>,
    /// Its name in error messages.
    name: String,
    spec: DeviceSpec,
    scheme: Box<dyn Scheme>,
    cells: Vec<Cell>,
    /// Sectors per cell.
    per_cell: usize,
    per_unit: u64,
    /// The expected data of outstanding reads.
    expected: HashMap<u64, Vec<u64>>,
    under_way: BTreeMap<u64, HostOp>,
    acknowledged: HashSet<u64>,
    /// All requests before this one are flushed.
    flushed: u64,
    stamp: u64,
    tally: Tally,
}

impl Run {
    /// A scheme on an empty drive.
    ///
    /// # Errors
    /// Why the drive cannot be created.
    pub fn new(spec: DeviceSpec, scheme: Box<dyn Scheme>) -> Result<Run, String> {
        let geometry = spec.geometry().map_err(|e| e.to_string())?;
        let watch = Watch::new(geometry.slot_shift);
        let device = Device::over(&spec, &geometry, scheme.clone(), watch, Bytes::default())
            .map_err(|e| e.to_string())?;
        let sectors = spec.logical_bytes() as usize / SECTOR;
        let per_unit = geometry.sectors_per_unit as usize;
        let per_cell = if device.ftl().layout().map == MapKind::Page { per_unit } else { 1 };
        let cell = |_| Cell { found: vec![0; per_cell], changes: vec![] };
        Ok(Run {
            cells: (0..sectors / per_cell).map(cell).collect(),
            name: format!("{} on {}", scheme.name(), spec.name),
            spec,
            scheme,
            device,
            per_cell,
            per_unit: per_unit as u64,
            expected: HashMap::new(),
            under_way: BTreeMap::new(),
            acknowledged: HashSet::new(),
            flushed: 0,
            stamp: 0,
            tally: Tally::default(),
        })
    }

    /// The same, with the name of a scene in error messages.
    #[must_use]
    pub fn named(self, scene: &str) -> Run {
        Run { name: format!("{scene}, {}", self.name), ..self }
    }

    /// Fill the drive: every page is mapped before the first request.
    ///
    /// # Errors
    /// If the drive does not accept the pages.
    pub fn fill(&mut self, seed: u64) -> Result<(), String> {
        let units = self.pages() as u32;
        let initial = Initial::holding(Mapped::First(units));
        self.device.ftl_mut().setup().precondition(&initial, seed).map_err(|e| e.to_string())
    }

    /// Logical capacity in pages.
    pub fn pages(&self) -> u64 {
        self.sectors() / self.per_unit
    }

    /// Logical capacity in sectors.
    pub fn sectors(&self) -> u64 {
        (self.cells.len() * self.per_cell) as u64
    }

    fn error<T>(&self, what: String) -> Result<T, String> {
        Err(format!("{}: {what}", self.name))
    }

    /// Submit a request for some sectors at a time in nanoseconds, and note what it changes.
    ///
    /// # Errors
    /// The first error up to that time.
    pub fn submit(&mut self, op: HostOp, first: u64, last: u64, at: u64) -> Result<(), String> {
        let range = first as usize..last as usize;
        let mut data = vec![];
        self.stamp += 1;
        let blocks = if op == HostOp::Flush { 0 } else { (last - first) as u32 };
        let request = HostRequest::new(op, first, blocks).at(SimTime(at));
        if op == HostOp::Write {
            data = self.stamp.to_le_bytes().repeat(SECTOR / 8 * range.len());
        }
        // Requests that have completed by then precede this one.
        self.collect(SimTime(at))?;
        let number = match self.device.submit_with(request, SimTime(at), &data) {
            Ok(number) => number,
            Err(e) => return self.error(e.to_string()),
        };
        self.under_way.insert(number, op);
        let per = self.per_cell;
        match op {
            HostOp::Read => {
                let all: Vec<u64> = range.clone().map(|s| self.cells[s / per].now()[s % per]).collect();
                self.expected.insert(number, all);
            }
            HostOp::Write | HostOp::Trim => {
                for cell in first as usize / per..(last as usize).div_ceil(per) {
                    let (from, to) = (cell * per, (cell + 1) * per);
                    let is_trim = op == HostOp::Trim;
                    if is_trim && (from < range.start || to > range.end) {
                        continue;
                    }
                    let mut after = self.cells[cell].now().to_vec();
                    let part = from.max(range.start) - from..to.min(range.end) - from;
                    after[part].fill(if is_trim { 0 } else { self.stamp });
                    self.cells[cell].changes.push(Change { number, is_trim, after });
                }
            }
            HostOp::Flush => {}
        }
        Ok(())
    }

    /// Submit a random request.
    ///
    /// # Errors
    /// The first error up to that time.
    pub fn step(&mut self, rng: &mut Rng) -> Result<(), String> {
        let longest = [1, 5_000, 400_000][rng.below(3) as usize];
        let at = self.device.now().0 + rng.below(longest);
        let all = self.sectors();
        // Half of the requests go to a few places, so that they overtake one another.
        let first = if rng.below(2) == 0 { rng.below(all) } else { rng.below(all.min(12)) };
        let last = (first + 1 + rng.below(11)).min(all);
        let op = match rng.below(20) {
            0..=11 => HostOp::Write,
            12..=14 => HostOp::Read,
            15..=17 => HostOp::Trim,
            _ => HostOp::Flush,
        };
        self.submit(op, first, last, at)
    }

    /// The time.
    pub fn now(&self) -> SimTime {
        self.device.now()
    }

    /// When something happens next. None if nothing is under way.
    pub fn next_event(&self) -> Option<SimTime> {
        self.device.next_event()
    }

    /// Times at which something has happened, in nanoseconds.
    pub fn moments(&self) -> &[u64] {
        &self.device.probe().moments
    }

    /// Let time go on to this time, before which all completions have been processed.
    ///
    /// # Errors
    /// If the drive stops.
    pub fn advance_to(&mut self, at: SimTime) -> Result<(), String> {
        self.device.advance_to(at).or_else(|_| self.error("the drive stops".into()))
    }

    /// Process completions up to a time.
    ///
    /// # Errors
    /// If a read returns other than the newest data, a request fails, or an operation violates the rules.
    pub fn collect(&mut self, until: SimTime) -> Result<(), String> {
        loop {
            match self.device.next_completion(until) {
                Ok(Some(c)) => self.completed(&c)?,
                Ok(None) => break,
                Err(e) => return self.error(e.to_string()),
            }
        }
        match self.device.probe_mut().wrong.take() {
            Some(wrong) => self.error(wrong),
            None => Ok(()),
        }
    }

    fn completed(&mut self, c: &Completion) -> Result<(), String> {
        if !matches!(c.outcome, Outcome::Done | Outcome::Uncorrectable) {
            let ignored = self.device.ftl().counters().without_effect.in_words();
            return self.error(format!("request {} ends {:?}{ignored}", c.number, c.outcome));
        }
        match self.under_way.remove(&c.number) {
            None => return self.error(format!("request {} completes, and was not under way", c.number)),
            Some(HostOp::Write) => _ = self.acknowledged.insert(c.number),
            Some(HostOp::Flush) => self.flushed = self.flushed.max(c.number),
            Some(HostOp::Read | HostOp::Trim) => {}
        }
        let Some(expected) = self.expected.remove(&c.number) else { return Ok(()) };
        let found = stamps(&c.data);
        if let Some(i) = (0..found.len()).find(|i| found[*i] != expected[*i]) {
            let (sector, found, expected) = (c.request.lba.0 + i as u64, found[i], expected[i]);
            return self.error(format!(
                "request {} reads sector {sector} as {found} instead of {expected}",
                c.number
            ));
        }
        Ok(())
    }

    fn places(&mut self) -> Vec<Vec<Located>> {
        let end = self.device.ftl().inspect().own_pages().end;
        (0..end).map(|lpn| self.device.ftl_mut().tables().locate(Lpn(lpn))).collect()
    }

    /// Cut and restore the power now, and compare what is found with what is allowed.
    ///
    /// # Errors
    /// If acknowledged or flushed data are lost, if data are found that were never written, or if the drive
    /// contradicts itself.
    pub fn cut(mut self) -> Result<Run, String> {
        self.collect(self.device.now())?;
        let committed = self.places();
        let wear: Vec<_> = self.device.ftl().inspect().wear().map(|(_, erases)| erases).collect();
        let mut off = self.device.power_cut();
        let (at, protected) = (off.at, off.image.protected_pages().collect::<HashSet<Lpn>>());
        let metadata = off.image.media.metadata().ok_or("the media keep no metadata")?;
        let torn = metadata.torn(off.probe.slot_shift);
        let mut gone: Vec<u64> = off.lost.clone();
        gone.sort_unstable();
        let geometry = self.spec.geometry().map_err(|e| e.to_string())?;
        let log = metadata.trim_pages().count() as u64;
        self.tally.cuts += 1;
        self.tally.lost_requests += gone.len() as u64;
        self.tally.protected += protected.len() as u64;
        self.tally.logged += log;
        self.tally.torn_programs += torn.len() as u64;
        self.tally.torn_erases += (0..geometry.blocks)
            .filter(|b| {
                let found = metadata.block(BlockId(*b));
                found.is_some_and(|f| f.half_erased)
            })
            .count() as u64;
        off.probe.torn = torn.iter().copied().collect();
        self.device = Device::power_on(&self.spec, &geometry, self.scheme.clone(), off)
            .map_err(|e| format!("{}: {e}", self.name))?;
        if self.device.now() < at {
            return self.error("time runs backwards".into());
        }
        if gone != self.under_way.keys().copied().collect::<Vec<_>>() {
            return self.error(format!("{:?} are in flight, but {gone:?} are lost", self.under_way));
        }
        self.under_way.clear();
        self.expected.clear();
        let found_wear: Vec<_> = self.device.ftl().inspect().wear().map(|(_, erases)| erases).collect();
        if wear != found_wear {
            return self.error("erase counts differ".into());
        }
        if let Err(e) = self.device.ftl_mut().tables().check() {
            return self.error(format!("after recovery: {e}"));
        }
        self.compare_maps(&committed, &protected, &torn)?;
        self.read_everything()
    }

    /// Compare the recovered mapping table with the committed one. A page that was trimmed but not flushed
    /// may be mapped again. A page in protected RAM may be found at the place that it left.
    fn compare_maps(
        &mut self,
        committed: &[Vec<Located>],
        protected: &HashSet<Lpn>,
        torn: &[Ppn],
    ) -> Result<(), String> {
        let geometry = self.spec.geometry().map_err(|e| e.to_string())?;
        let recovered = self.places();
        let logical = self.device.ftl().inspect().trim_log().start;
        let safe = self.device.ftl().layout().regions.iter().any(|r| r.protected);
        for lpn in (0..committed.len() as u32).map(Lpn) {
            let (was, is) = (&committed[lpn.0 as usize], &recovered[lpn.0 as usize]);
            if let Some(torn) = is.iter().find(|l| torn.contains(&l.ppn)) {
                return self.error(format!("logical page {lpn} is mapped to the torn place {}", torn.ppn));
            }
            let moved = lpn.0 >= logical && was.is_empty() && safe;
            if protected.contains(&lpn) || moved {
                continue;
            }
            for sector in 0..self.per_unit as u32 {
                let bit = SectorMask(1 << sector);
                let at = |l: &[Located]| l.iter().find(|l| l.mask.covers(bit)).map(|l| l.ppn);
                let (was, is) = (at(was), at(is));
                if was == is || (lpn.0 < logical && self.trimmed_since_flush(lpn, sector)) {
                    continue;
                }
                let metadata = self.device.ftl().media().metadata();
                let order = |ppn: Ppn| {
                    let oobs = metadata?.page(ppn).iter().filter(|o| o.span.lpn == lpn);
                    oobs.filter(|o| self.per_cell > 1 || o.span.mask.covers(bit))
                        .map(|o| (o.version, o.sequence))
                        .next()
                };
                let block = |ppn| geometry.block_of(ppn);
                let twins = was.zip(is).is_some_and(|(was, is)| {
                    let ended = torn.iter().any(|ppn| block(*ppn) == block(was));
                    let (was, is) = (order(was).unwrap_or_default(), order(is).unwrap_or_default());
                    was.0 == is.0 && (was.1 < is.1 || ended)
                });
                if !twins {
                    return self.error(format!(
                        "sector {sector} of logical page {lpn} is committed at {was:?} and recovered at {is:?}"
                    ));
                }
                self.tally.twins += 1;
            }
        }
        Ok(())
    }

    fn trimmed_since_flush(&self, lpn: Lpn, sector: u32) -> bool {
        let cell = (lpn.0 as u64 * self.per_unit + sector as u64) as usize / self.per_cell;
        self.cells[cell].changes.iter().any(|c| c.is_trim && c.number >= self.flushed)
    }

    /// Read every cell. It may hold the state after the last change that is certainly durable, or after any
    /// later change. From now on it must keep what was found.
    fn read_everything(mut self) -> Result<Run, String> {
        let request = HostRequest::new(HostOp::Read, 0, self.sectors() as u32).at(self.device.now());
        if let Err(e) = self.device.submit(request, self.device.now()) {
            return self.error(e.to_string());
        }
        let read = match self.device.next_completion(SimTime::NEVER) {
            Ok(Some(c)) => c,
            other => return self.error(format!("the drive cannot be read: {other:?}")),
        };
        let found = stamps(&read.data);
        for (i, found) in found.chunks(self.per_cell).enumerate() {
            let cell = &self.cells[i];
            let lasted =
                |c: &Change| c.number < self.flushed || (!c.is_trim && self.acknowledged.contains(&c.number));
            let floor = cell.changes.iter().rposition(lasted);
            let later = cell.changes[floor.unwrap_or(0)..].iter().map(|c| c.after.as_slice());
            let first = floor.is_none().then_some(cell.found.as_slice());
            let allowed: Vec<&[u64]> = first.into_iter().chain(later).collect();
            if !allowed.contains(&found) {
                let cell: Vec<String> = cell
                    .changes
                    .iter()
                    .map(|c| format!("{}{}:{:?}", if c.is_trim { "trim " } else { "" }, c.number, c.after))
                    .collect();
                return self.error(format!(
                    "cell {i} is found as {found:?}, but only {allowed:?} can be; flushed before {}, changes {cell:?}",
                    self.flushed
                ));
            }
            let is_back = self.cells[i].changes.last().is_some_and(|c| c.is_trim && c.after != found);
            self.tally.undone_trims += is_back as u64;
        }
        for (cell, found) in self.cells.iter_mut().zip(found.chunks(self.per_cell)) {
            *cell = Cell { found: found.to_vec(), changes: vec![] };
        }
        self.acknowledged.clear();
        Ok(self)
    }

    /// Wait until everything has completed, and read all data.
    ///
    /// # Errors
    /// If something is wrong or left over.
    pub fn finish(mut self) -> Result<Tally, String> {
        self.collect(SimTime::NEVER)?;
        if let Err(e) = self.device.drain() {
            return self.error(e.to_string());
        }
        self.collect(SimTime::NEVER)?;
        if self.device.outstanding() > 0 || !self.device.ftl().inspect().is_quiet() {
            return self.error(format!("{} are left", self.device.ftl().inspect().leftovers()));
        }
        if let Err(e) = self.device.ftl_mut().tables().check() {
            return self.error(e.to_string());
        }
        let now = self.device.now().0;
        self.submit(HostOp::Read, 0, self.sectors(), now)?;
        self.collect(SimTime::NEVER)?;
        if !self.expected.is_empty() {
            return self.error("a read never completed".into());
        }
        Ok(self.tally)
    }
}

/// The stamp at the beginning of each sector.
fn stamps(data: &[u8]) -> Vec<u64> {
    let stamp = |sector: &[u8]| u64::from_le_bytes(std::array::from_fn(|i| sector[i]));
    data.chunks(SECTOR).map(stamp).collect()
}
