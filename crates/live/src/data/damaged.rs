//! Sectors whose data are lost, because the folder does not contain what was written. Reads of them fail
//! until they are written or trimmed, even if the drive has moved them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Sectors whose data are damaged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Damaged {
    sectors: BTreeSet<u64>,
    /// Changes that the folder does not contain.
    unwritten: BTreeMap<u64, bool>,
    /// Newly found damage since the last call, in words.
    found: Vec<String>,
}

/// Maximum number of places that are reported in words.
const FOUND: usize = 64;

impl Damaged {
    /// Damaged sectors recorded in a folder.
    pub(crate) fn of(sectors: BTreeSet<u64>) -> Damaged {
        Damaged { sectors, ..Damaged::default() }
    }

    /// Mark sectors as damaged.
    pub(crate) fn add(&mut self, sectors: impl Iterator<Item = u64>, place: &str) {
        for sector in sectors {
            if self.sectors.insert(sector) {
                self.unwritten.insert(sector, true);
            }
        }
        if self.found.len() < FOUND {
            self.found.push(place.to_string());
        }
    }

    /// Note that sectors have been written or zeroed.
    pub(crate) fn heal(&mut self, sectors: Range<u64>) {
        if self.sectors.is_empty() || sectors.is_empty() {
            return;
        }
        let healed: Vec<u64> = self.sectors.range(sectors).copied().collect();
        for sector in healed {
            self.sectors.remove(&sector);
            self.unwritten.insert(sector, false);
        }
    }

    /// The first damaged sector of a range.
    pub(crate) fn first(&self, sectors: Range<u64>) -> Option<u64> {
        if self.sectors.is_empty() || sectors.is_empty() {
            None
        } else {
            self.sectors.range(sectors).next().copied()
        }
    }

    /// Number of damaged sectors.
    pub(crate) fn count(&self) -> usize {
        self.sectors.len()
    }

    /// Newly found damage since the last call, in words.
    pub(crate) fn take_found(&mut self) -> Vec<String> {
        std::mem::take(&mut self.found)
    }

    /// Whether the folder lacks changes.
    pub(crate) fn is_unwritten(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Changes that the folder lacks: sectors, and whether they are damaged.
    pub(crate) fn take_unwritten(&mut self) -> Vec<(u64, bool)> {
        std::mem::take(&mut self.unwritten).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_sector_stays_so_until_it_is_written() {
        let mut damaged = Damaged::of([3].into());
        damaged.add([3, 4].into_iter(), "page 1");
        assert_eq!((damaged.first(0..4), damaged.first(4..9), damaged.first(5..9)), (Some(3), Some(4), None));
        assert_eq!(damaged.take_unwritten(), [(4, true)]);
        damaged.heal(0..4);
        assert_eq!((damaged.first(0..9), damaged.count()), (Some(4), 1));
        assert_eq!((damaged.take_unwritten(), damaged.is_unwritten()), (vec![(3, false)], false));
        assert_eq!(damaged.take_found(), ["page 1"]);
    }
}
