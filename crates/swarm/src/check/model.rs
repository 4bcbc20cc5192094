//! What the host may expect: a plain array of sectors.

use crate::case::Case;
use std::collections::HashSet;
use wordline_ftl::{Initial, Mapped};
use wordline_units::{HostOp, HostRequest};

/// A value that a sector has had, and the request that wrote it.
#[derive(Clone, Copy)]
struct Value {
    stamp: u64,
    request: u64,
}

/// What the host may expect: every value that each sector was given, in order of arrival, which is the order
/// of linearization.
pub(crate) struct Model {
    sectors: Vec<Vec<Value>>,
    /// Whether each unit (under a page map) or sector (under a sector map) holds data.
    held: Vec<bool>,
    per_unit: u64,
    per_sector: u64,
    by_page: bool,
    failed: HashSet<u64>,
}

/// A read when it was submitted: its first sector, and the number of values of each sector at that time.
pub(crate) struct Expected {
    first: u64,
    pub(crate) values: Vec<usize>,
}

impl Model {
    /// The model of a case whose drive begins in this state.
    pub(crate) fn new(case: &Case, initial: &Initial) -> Model {
        let per_unit = case.drive.geometry.sectors_per_unit as u64;
        let sectors = case.drive.spec.logical_bytes() / case.drive.spec.sector.0;
        let granule = if case.drive.by_page() { per_unit } else { 1 };
        let mut held = vec![false; (sectors / granule) as usize];
        let units = per_unit / granule;
        let mut hold = |unit: u64| held[(unit * units) as usize..((unit + 1) * units) as usize].fill(true);
        match &initial.mapped {
            Mapped::First(n) => (0..*n as u64).for_each(&mut hold),
            Mapped::Set(set) => set.iter().for_each(|lpn| hold(lpn.0 as u64)),
        }
        if granule == 1 {
            for (lpn, mask) in &initial.lacking {
                mask.iter().for_each(|s| held[(lpn.0 as u64 * per_unit + s as u64) as usize] = false);
            }
        }
        Model {
            sectors: vec![vec![]; sectors as usize],
            held,
            per_unit,
            per_sector: case.drive.spec.sector.0 / 512,
            by_page: case.drive.by_page(),
            failed: HashSet::new(),
        }
    }

    /// Sectors of a request: reads and writes are rounded outward, trims inward.
    fn span(&self, r: &HostRequest) -> (u64, u64) {
        let (from, to) = (r.lba.0, r.lba.0 + r.blocks as u64);
        match r.op {
            HostOp::Trim => {
                let first = from.div_ceil(self.per_sector);
                (first, (to / self.per_sector).max(first))
            }
            _ => (from / self.per_sector, to.div_ceil(self.per_sector)),
        }
    }

    /// Its size in blocks of 512 bytes.
    pub(crate) fn blocks(&self) -> u64 {
        self.sectors.len() as u64 * self.per_sector
    }

    /// Note that a request has failed.
    pub(crate) fn fail(&mut self, request: u64) {
        self.failed.insert(request);
    }

    /// Whether a request has failed.
    pub(crate) fn has_failures(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Give a written sector a value of no request. Returns its stamp.
    #[cfg(test)]
    pub(crate) fn forge(&mut self) -> u64 {
        let written = self.sectors.iter_mut().find(|s| s.last().is_some_and(|v| v.stamp > 0));
        let forged = Value { stamp: u64::MAX, request: u64::MAX };
        written.expect("a case that writes").push(forged);
        forged.stamp
    }

    /// Number of mapped pages, if each has a place of its own; otherwise of sectors with data.
    pub(crate) fn mapped(&self, by_page: bool) -> u64 {
        let each = if by_page && !self.by_page { self.per_unit as usize } else { 1 };
        self.held.chunks(each).filter(|sectors| sectors.contains(&true)).count() as u64
    }

    fn hold(&mut self, sector: u64, holds: bool) {
        let granule = if self.by_page { self.per_unit } else { 1 };
        self.held[(sector / granule) as usize] = holds;
    }

    pub(crate) fn write(&mut self, r: &HostRequest, request: u64, stamp: u64, bytes: usize) -> Vec<u8> {
        let (first, last) = self.span(r);
        for s in first..last {
            self.sectors[s as usize].push(Value { stamp, request });
            self.hold(s, true);
        }
        stamp.to_le_bytes().repeat(bytes / 8 * (last - first) as usize)
    }

    pub(crate) fn trim(&mut self, r: &HostRequest, request: u64) {
        let (first, last) = self.span(r);
        for s in first..last {
            let unit = s / self.per_unit * self.per_unit;
            if !self.by_page || (unit >= first && unit + self.per_unit <= last) {
                self.sectors[s as usize].push(Value { stamp: 0, request });
                self.hold(s, false);
            }
        }
    }

    pub(crate) fn expect(&self, r: &HostRequest) -> Expected {
        let (first, last) = self.span(r);
        let values = self.sectors[first as usize..last as usize].iter().map(Vec::len).collect();
        Expected { first, values }
    }

    /// Check the data of a read. A write that failed for lack of space may have left its data or not; all
    /// others must have.
    pub(crate) fn judge(&self, expected: &Expected, found: &[u64]) -> Result<(), String> {
        for (i, (found, count)) in found.iter().zip(&expected.values).enumerate() {
            let sector = expected.first + i as u64;
            let given = &self.sectors[sector as usize][..*count];
            let stands = given.iter().rposition(|v| !self.failed.contains(&v.request));
            let before = if stands.is_none() { Some(0) } else { None };
            let may = given[stands.unwrap_or(0)..].iter().map(|v| v.stamp).chain(before);
            if !may.clone().any(|stamp| stamp == *found) {
                let newest = may.max().unwrap_or(0);
                return Err(format!("sector {sector} is read as {found} instead of {newest}"));
            }
        }
        Ok(())
    }
}
