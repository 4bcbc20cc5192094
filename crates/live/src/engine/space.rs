//! The space of the drive as clients see it: its size, its units, and which parts of it hold data.

use crate::drive::Drive;
use crate::holes::Holes;
use crate::parts::PartTrims;
use crate::pieces::Units;
use crate::protocol::numbers::HOLE_AND_ZERO;
use crate::protocol::reply::Extent;
use std::ops::Range;
use wordline_units::{Lpn, SectorMask};

/// Maximum number of logical pages examined for one block status. A status may cover less than requested, so
/// that other commands are not delayed.
const LOOKED_AT: u64 = 1 << 13;

/// Maximum number of extents in one block status, so that unread replies stay small.
const TOLD: usize = 1 << 12;

/// The parts of a drive that are known to be empty without a look at each page. None, if requests are under way.
fn holes(units: Units, size: u64, drive: &Drive) -> Holes {
    let inspected =
        drive.device().filter(|device| device.outstanding() == 0).map(|device| device.ftl().inspect());
    let is_empty = |pages| inspected.is_some_and(|inspected| inspected.is_untouched(pages));
    let mut holes = Holes::new(size, units.page, is_empty);
    for page in inspected.into_iter().flat_map(|inspected| inspected.staged_pages()) {
        let at = u64::from(page.0) * units.page;
        holes.write(&(at..at + units.page));
    }
    holes
}

/// The space of a drive.
pub(crate) struct Space {
    units: Units,
    /// Size of the drive in bytes.
    size: u64,
    part_trims: PartTrims,
    holes: Holes,
}

impl Space {
    /// The first `size` bytes of a drive.
    pub(crate) fn new(units: Units, size: u64, drive: &Drive) -> Space {
        let part_trims = PartTrims::new(units.sector, units.page);
        Space { units, size, part_trims, holes: holes(units, size, drive) }
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
        self.part_trims.trim(range, self.size)
    }

    /// Note that a range was written.
    pub(crate) fn write(&mut self, range: &Range<u64>) {
        self.part_trims.write(range);
        self.holes.write(range);
    }

    /// After a power cut, which may have undone trims: forget which parts of pages were trimmed, and look for empty parts
    /// of the drive anew.
    pub(crate) fn forget_trims(&mut self, drive: &Drive) {
        self.part_trims.clear();
        self.holes = holes(self.units, self.size, drive);
    }

    /// Which parts of a range hold data, from its start, as far as one reply can state.
    pub(crate) fn extents(&mut self, drive: &Drive, range: &Range<u64>, one: bool) -> Vec<Extent> {
        let mut found: Vec<Extent> = vec![];
        let Some(device) = drive.device() else { return found };
        let view = device.ftl().view();
        let has_left = drive.volatile().has_left();
        let mut at = range.start;
        let mut left = LOOKED_AT;
        // The empty part under examination.
        let mut part: Option<Range<u64>> = None;
        while at < range.end && left > 0 {
            let hole = if has_left { 0 } else { self.holes.from(&(at..range.end)) };
            if hole > 0 {
                let is_all = found.len() == if one { 1 } else { TOLD };
                match found.last_mut() {
                    Some(last) if last.state == HOLE_AND_ZERO => last.length += hole as u32,
                    _ if is_all => return found,
                    _ => found.push(Extent { length: hole as u32, state: HOLE_AND_ZERO }),
                }
                at += hole;
                continue;
            }
            left -= 1;
            part = self.holes.part_at(at).or(part);
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
                part = part.filter(|_| !is_held);
                let length = (end - at) as u32;
                let is_all = found.len() == if one { 1 } else { TOLD };
                match found.last_mut() {
                    Some(last) if last.state == state => last.length += length,
                    _ if is_all => return found,
                    _ => found.push(Extent { length, state }),
                }
                at = end;
            }
            if let Some(whole) = part.take_if(|part| part.end == at) {
                self.holes.found(&whole);
            }
        }
        found
    }
}
