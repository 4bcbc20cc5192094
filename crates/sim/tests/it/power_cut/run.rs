//! A drive at work beside what its host may expect of it.

use crate::power_cut::watch::{Cell, Change, Tally, Watch};
use std::collections::{BTreeMap, HashMap, HashSet};
use wordline_device::DeviceSpec;
use wordline_ftl::{Bytes, MapKind, Outcome, Scheme};
use wordline_sim::{Completion, Device};
use wordline_swarm::Rng;
use wordline_units::{HostOp, HostRequest, SimTime};

pub const SECTOR: usize = 512;

/// A drive at work beside what its host may expect.
pub struct Run {
    pub spec: DeviceSpec,
    pub scheme: Box<dyn Scheme>,
    pub device: Device<Watch, Bytes>,
    pub cells: Vec<Cell>,
    /// Sectors of a cell.
    pub per_cell: usize,
    pub per_unit: u64,
    /// What reads under way shall find.
    pub expected: HashMap<u64, Vec<u64>>,
    pub under_way: BTreeMap<u64, HostOp>,
    pub acknowledged: HashSet<u64>,
    /// Everything before this request is flushed.
    pub flushed: u64,
    stamp: u64,
    pub name: String,
    pub tally: Tally,
}

impl Run {
    /// A scheme on a device, of which the drive holds nothing yet.
    pub fn new(spec: DeviceSpec, scheme: Box<dyn Scheme>) -> Run {
        let geometry = spec.geometry().unwrap();
        let watch = Watch { slot_shift: geometry.slot_shift, ..Watch::default() };
        let device = Device::new(&spec, &geometry, scheme.clone(), watch).unwrap_or_else(|e| panic!("{e}"));
        let sectors = spec.logical_bytes() as usize / SECTOR;
        let per_unit = geometry.sectors_per_unit as usize;
        let per_cell = if device.ftl.layout().map == MapKind::Page { per_unit } else { 1 };
        let cell = |_| Cell { found: vec![0; per_cell], changes: vec![] };
        Run {
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
        }
    }

    pub fn sectors(&self) -> u64 {
        (self.cells.len() * self.per_cell) as u64
    }

    pub fn error<T>(&self, what: String) -> Result<T, String> {
        Err(format!("{}: {what}", self.name))
    }

    /// Submit a request over some sectors, and note what it changes.
    pub fn submit(&mut self, op: HostOp, first: u64, last: u64, at: u64) -> Result<(), String> {
        let range = first as usize..last as usize;
        let mut data = vec![];
        self.stamp += 1;
        let blocks = if op == HostOp::Flush { 0 } else { (last - first) as u32 };
        let request = HostRequest::new(op, first, blocks).at(SimTime(at));
        if op == HostOp::Write {
            data = self.stamp.to_le_bytes().repeat(SECTOR / 8 * range.len());
        }
        // What has ended by then has ended before the request.
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

    pub fn step(&mut self, rng: &mut Rng) -> Result<(), String> {
        let longest = [1, 5_000, 400_000][rng.below(3) as usize];
        let at = self.device.now().0 + rng.below(longest);
        let all = self.sectors();
        // Half of the requests meet in a few places, so that they overtake one another.
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

    pub fn completed(&mut self, c: &Completion) -> Result<(), String> {
        if !matches!(c.outcome, Outcome::Done | Outcome::Uncorrectable) {
            return self.error(format!("request {} ends {:?}", c.number, c.outcome));
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
                "request {} reads sector {sector} as {found}, which is {expected}",
                c.number
            ));
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<Tally, String> {
        self.collect(SimTime::NEVER)?;
        if let Err(e) = self.device.drain() {
            return self.error(e.to_string());
        }
        self.collect(SimTime::NEVER)?;
        if self.device.outstanding() > 0 || !self.device.ftl.is_quiet() {
            return self.error(format!("{} are left", self.device.ftl.leftovers()));
        }
        if let Err(e) = self.device.ftl.check() {
            return self.error(e.to_string());
        }
        let now = self.device.now().0;
        self.submit(HostOp::Read, 0, self.sectors(), now)?;
        self.collect(SimTime::NEVER)?;
        assert!(self.expected.is_empty(), "a read never completed");
        Ok(self.tally)
    }
}

pub fn stamps(data: &[u8]) -> Vec<u64> {
    data.chunks(SECTOR).map(|s| u64::from_le_bytes(s[..8].try_into().unwrap())).collect()
}
