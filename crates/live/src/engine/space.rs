//! The space of the drive as clients see it: its size, its units, and which parts of it hold data.

use crate::drive::Drive;
use crate::parts::PartTrims;
use crate::pieces::Units;
use crate::protocol::numbers::HOLE_AND_ZERO;
use crate::protocol::reply::Extent;
use crate::uniform::Uniform;
use std::ops::Range;
use wordline_units::{Lpn, SectorMask};

/// Maximum number of logical pages examined for one block status. A status may cover less than requested, so
/// that other commands are not delayed.
const LOOKED_AT: u64 = 1 << 13;

/// Maximum number of extents in one block status, so that unread replies stay small.
const TOLD: usize = 1 << 12;

/// Whether requests of the drive are in flight, each of which may change the map.
fn is_busy(drive: &Drive) -> bool {
    drive.device().is_none_or(|device| device.outstanding() > 0)
}

/// The parts of a drive that are known to be uniform without a look at each page. None, while requests are in flight.
fn uniform(units: Units, size: u64, drive: &Drive) -> Uniform {
    let inspected = drive.device().filter(|_| !is_busy(drive)).map(|device| device.ftl().inspect());
    let mut uniform = Uniform::new(size, units.page, |pages| inspected?.uniform(pages));
    let mut forget = |at: u64, bytes: u64| {
        uniform.write(&(at..at + bytes));
        uniform.trim(&(at..at + bytes));
    };
    for page in inspected.into_iter().flat_map(|inspected| inspected.mixed_pages()) {
        forget(u64::from(page.0) * units.page, units.page);
    }
    for sector in drive.volatile().left_sectors() {
        forget(sector * units.sector, units.sector);
    }
    uniform
}

/// The space of a drive.
pub(crate) struct Space {
    units: Units,
    /// Size of the drive in bytes.
    size: u64,
    part_trims: PartTrims,
    uniform: Uniform,
    /// Whether `uniform` still lacks what is known, since the drive has begun with requests in flight.
    begins: bool,
}

impl Space {
    /// The first `size` bytes of a drive.
    pub(crate) fn new(units: Units, size: u64, drive: &Drive) -> Space {
        let part_trims = PartTrims::new(units.sector, units.page);
        Space { units, size, part_trims, uniform: uniform(units, size, drive), begins: is_busy(drive) }
    }

    pub(crate) fn units(&self) -> Units {
        self.units
    }

    /// Size of the drive in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Trim a range. Returns the range to trim in whole pages.
    pub(crate) fn trim(&mut self, range: Range<u64>) -> Range<u64> {
        self.uniform.trim(&range);
        self.part_trims.trim(range, self.size)
    }

    /// Note that a range was written.
    pub(crate) fn write(&mut self, range: &Range<u64>) {
        self.part_trims.write(range);
        self.uniform.write(range);
    }

    /// After a power cut, which may have undone writes and trims: forget which parts of pages were trimmed, and look for
    /// uniform parts of the drive anew.
    pub(crate) fn look_anew(&mut self, drive: &Drive) {
        self.part_trims.clear();
        self.uniform = uniform(self.units, self.size, drive);
    }

    /// Which parts of a range hold data, from its start, as far as one reply can state.
    pub(crate) fn extents(&mut self, drive: &Drive, range: &Range<u64>, one: bool) -> Vec<Extent> {
        let mut found: Vec<Extent> = vec![];
        let Some(device) = drive.device() else { return found };
        let view = device.ftl().view();
        let has_left = drive.volatile().has_left();
        let mut at = range.start;
        let mut left = LOOKED_AT;
        if self.begins && !is_busy(drive) {
            self.uniform = uniform(self.units, self.size, drive);
            self.begins = false;
        }
        // The part under examination, and whether it holds data so far.
        let mut part: Option<(Range<u64>, Option<bool>)> = None;
        while at < range.end && left > 0 {
            if let Some((bytes, has_data)) = self.uniform.from(&(at..range.end)) {
                let state = if has_data { 0 } else { HOLE_AND_ZERO };
                let is_all = found.len() == if one { 1 } else { TOLD };
                match found.last_mut() {
                    Some(last) if last.state == state => last.length += bytes as u32,
                    _ if is_all => return found,
                    _ => found.push(Extent { length: bytes as u32, state }),
                }
                at += bytes;
                continue;
            }
            left -= 1;
            part = self.uniform.part_at(at).map(|part| (part, None)).or(part);
            let page = at / self.units.page;
            let held = view.sectors(Lpn(page as u32));
            let sectors = self.units.page / self.units.sector;
            let is_alike = !has_left && (held.is_empty() || held == SectorMask::first(sectors as u32));
            for sector in (at % self.units.page) / self.units.sector..sectors {
                let next = if is_alike { sectors } else { sector + 1 };
                let end = (page * self.units.page + next * self.units.sector).min(range.end);
                if end <= at {
                    break;
                }
                let number = page * sectors + sector;
                let is_held = held.iter().any(|s| u64::from(s) == sector)
                    || drive.volatile().has_left_data(number, self.units.sector);
                let state = if is_held { 0 } else { HOLE_AND_ZERO };
                part = part.filter(|(_, so_far)| so_far.is_none_or(|held| held == is_held));
                part = part.map(|(part, _)| (part, Some(is_held)));
                let length = (end - at) as u32;
                let is_all = found.len() == if one { 1 } else { TOLD };
                match found.last_mut() {
                    Some(last) if last.state == state => last.length += length,
                    _ if is_all => return found,
                    _ => found.push(Extent { length, state }),
                }
                at = end;
            }
            if let Some((whole, Some(has_data))) = part.take_if(|(part, _)| part.end == at) {
                self.uniform.found(&whole, has_data);
            }
        }
        found
    }
}
