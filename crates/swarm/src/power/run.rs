//! A running drive, and what its host may expect.

use crate::power::watch::{Cell, Change, Tally, Watch};
use crate::rng::Rng;
use std::collections::{BTreeMap, HashMap, HashSet};
use wordline_device::DeviceSpec;
use wordline_ftl::{Bytes, Initial, MapKind, Mapped, Outcome, Scheme};
use wordline_sim::{Completion, Device};
use wordline_units::{HostOp, HostRequest, SimTime};

const SECTOR: usize = 512;

/// A running drive, and what its host may expect.
pub struct Run {
    /// The drive.
    pub device: Device<Watch>,
    /// Its name in error messages.
    pub name: String,
    pub(crate) spec: DeviceSpec,
    pub(crate) scheme: Box<dyn Scheme>,
    pub(crate) cells: Vec<Cell>,
    /// Sectors per cell.
    pub(crate) per_cell: usize,
    pub(crate) per_unit: u64,
    /// The expected data of outstanding reads.
    pub(crate) expected: HashMap<u64, Vec<u64>>,
    pub(crate) under_way: BTreeMap<u64, HostOp>,
    pub(crate) acknowledged: HashSet<u64>,
    /// All requests before this one are flushed.
    pub(crate) flushed: u64,
    stamp: u64,
    pub(crate) tally: Tally,
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
        let per_cell = if device.ftl.layout().map == MapKind::Page { per_unit } else { 1 };
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

    /// Fill the drive: every page is mapped before the first request.
    ///
    /// # Errors
    /// If the drive does not accept the pages.
    pub fn fill(&mut self, seed: u64) -> Result<(), String> {
        let units = self.pages() as u32;
        let initial = Initial::holding(Mapped::First(units));
        self.device.ftl.precondition(&initial, seed).map_err(|e| e.to_string())
    }

    /// Logical capacity in pages.
    pub fn pages(&self) -> u64 {
        self.sectors() / self.per_unit
    }

    /// Logical capacity in sectors.
    pub fn sectors(&self) -> u64 {
        (self.cells.len() * self.per_cell) as u64
    }

    pub(crate) fn error<T>(&self, what: String) -> Result<T, String> {
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
        match self.device.probe.wrong.take() {
            Some(wrong) => self.error(wrong),
            None => Ok(()),
        }
    }

    fn completed(&mut self, c: &Completion) -> Result<(), String> {
        if !matches!(c.outcome, Outcome::Done | Outcome::Uncorrectable) {
            let ignored = self.device.ftl.counters().without_effect.in_words();
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
        if self.device.outstanding() > 0 || !self.device.ftl.inspect().is_quiet() {
            return self.error(format!("{} are left", self.device.ftl.inspect().leftovers()));
        }
        if let Err(e) = self.device.ftl.check() {
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
pub(crate) fn stamps(data: &[u8]) -> Vec<u64> {
    let stamp = |sector: &[u8]| u64::from_le_bytes(std::array::from_fn(|i| sector[i]));
    data.chunks(SECTOR).map(stamp).collect()
}
