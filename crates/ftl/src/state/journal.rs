//! Changes of a map on flash that wait in RAM for their map page: by map page the changed entries, and the page with
//! the most. An unbounded journal keeps all of them; a bounded one selects the pages to read so that the rest fits.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use wordline_device::JOURNAL_ENTRY;
use wordline_units::Bytes;

/// Waiting changes, by map page.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Journal {
    /// Entries that may wait; none where RAM has room for all.
    most: Option<u64>,
    pages: BTreeMap<u32, Changes>,
    /// Pages that are not under way, the one with the most entries last, and of equal ones the first page.
    fullest: BTreeSet<(u32, Reverse<u32>)>,
    /// Entries that wait, those among them whose page is under way, and the most that waited at a time.
    entries: u64,
    under_way: u64,
    peak: u64,
    /// How many pages may still be brought in until the next request.
    allowed: u32,
}

/// The entries of one page of the map that have changed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Changes {
    /// A bit for each.
    entries: Vec<u64>,
    count: u32,
    /// Whether the page is being read, and takes them up then, or being programmed, and cannot be read before.
    under_way: bool,
}

impl Journal {
    /// An empty journal with room for this many bytes.
    pub fn new(most: Option<Bytes>) -> Journal {
        Journal { most: most.map(|bytes| bytes.0 / JOURNAL_ENTRY), ..Journal::default() }
    }

    /// Record a changed entry of a page, which may be in transit.
    pub fn note(&mut self, page: u32, entry: u32, under_way: bool) {
        self.pages.entry(page).or_default();
        self.set(page, under_way);
        let Some(changes) = self.pages.get_mut(&page) else { return };
        let (word, bit) = (entry as usize / 64, 1u64 << (entry % 64));
        if changes.entries.len() <= word {
            changes.entries.resize(word + 1, 0);
        }
        if changes.entries[word] & bit != 0 {
            return; // the newer change takes the place of the older
        }
        changes.entries[word] |= bit;
        let before = changes.count;
        changes.count += 1;
        self.entries += 1;
        self.peak = self.peak.max(self.entries);
        if under_way {
            self.under_way += 1;
        } else {
            self.fullest.remove(&(before, Reverse(page)));
            self.list(page, before + 1);
        }
    }

    /// A page with this many changes can be brought in.
    fn list(&mut self, page: u32, count: u32) {
        if self.most.is_some() && count > 0 {
            self.fullest.insert((count, Reverse(page)));
        }
    }

    /// Mark a page as in transit or not: a read of it starts, or its program ends.
    pub fn set(&mut self, page: u32, under_way: bool) {
        let Some(changes) = self.pages.get_mut(&page).filter(|c| c.under_way != under_way) else { return };
        changes.under_way = under_way;
        let count = changes.count;
        if under_way {
            self.under_way += count as u64;
            self.fullest.remove(&(count, Reverse(page)));
        } else {
            self.under_way -= count as u64;
            self.list(page, count);
        }
    }

    /// A page is in RAM and absorbs its changes. Returns whether it had any.
    pub fn take(&mut self, page: u32) -> bool {
        let Some(changes) = self.pages.remove(&page) else { return false };
        self.entries -= changes.count as u64;
        if changes.under_way {
            self.under_way -= changes.count as u64;
        } else {
            self.fullest.remove(&(changes.count, Reverse(page)));
        }
        true
    }

    /// Whether the journal exceeds its bound.
    pub fn is_beyond(&self) -> bool {
        self.most.is_some_and(|most| self.entries > most)
    }

    /// Set how many map pages may be read.
    pub fn allow(&mut self, pages: u32) {
        self.allowed = pages;
    }

    /// The next map page to read, if the changes of pages not in transit exceed the bound.
    pub fn next_to_bring(&mut self) -> Option<u32> {
        let beyond = self.entries - self.under_way > self.most? && self.allowed > 0;
        let (_, Reverse(page)) = *self.fullest.last().filter(|_| beyond)?;
        self.allowed -= 1;
        Some(page)
    }

    /// Pages with changes.
    pub fn pages(&self) -> impl Iterator<Item = u32> {
        self.pages.keys().copied()
    }

    /// Restart the count of the peak.
    pub fn start_anew(&mut self) {
        self.peak = self.entries;
    }

    /// Peak RAM of the changes.
    pub fn peak_bytes(&self) -> u64 {
        self.peak * JOURNAL_ENTRY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: u64, changes: &[(u32, u32)]) -> Journal {
        let mut journal = Journal::new(Some(Bytes(entries * JOURNAL_ENTRY)));
        journal.allow(9);
        changes.iter().for_each(|(page, entry)| journal.note(*page, *entry, false));
        journal
    }

    #[test]
    fn fullest_pages_are_written_until_within_the_bound() {
        let changes = [(0, 5), (1, 0), (1, 1), (1, 1000), (2, 7), (2, 8), (3, 1), (3, 2)];
        let mut journal = of(3, &changes);
        let mut brought = vec![];
        while let Some(page) = journal.next_to_bring() {
            brought.push(page);
            journal.set(page, true);
        }
        // Of two with as many the first: 8 entries, less 3, less 2.
        assert_eq!(brought, [1, 2]);
        assert!(journal.is_beyond());
        // What comes to a page under way does not count again.
        journal.note(1, 2, true);
        assert_eq!(journal.next_to_bring(), None);
        assert!(journal.take(1) && !journal.take(1));
        assert!(journal.is_beyond());
        assert!(journal.take(2) && !journal.is_beyond());
        assert_eq!(journal.pages().collect::<Vec<_>>(), [0, 3]);
        assert_eq!((journal.entries, journal.under_way, journal.peak_bytes()), (3, 0, 9 * JOURNAL_ENTRY));
    }

    #[test]
    fn no_more_pages_are_brought_than_a_request_allows() {
        let mut journal = of(1, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
        let mut bring = |allowed: u32| {
            journal.allow(allowed);
            let mut brought = vec![];
            while let Some(page) = journal.next_to_bring() {
                journal.take(page);
                brought.push(page);
            }
            brought
        };
        assert_eq!([bring(2), bring(0), bring(2), bring(2)], [vec![0, 1], vec![], vec![2], vec![]]);
    }

    #[test]
    fn page_being_programmed_is_written_afterwards() {
        let mut journal = of(1, &[]);
        (0..3).for_each(|entry| journal.note(4, entry, true));
        assert!(journal.is_beyond() && journal.next_to_bring().is_none());
        journal.set(4, false);
        journal.set(5, false);
        assert_eq!(journal.next_to_bring(), Some(4));
        assert!(journal.take(4) && journal.fullest.is_empty() && journal.entries == 0);
    }

    #[test]
    fn page_moved_through_ram_takes_its_changes_along() {
        let mut journal = of(1, &[(4, 0), (4, 1)]);
        journal.note(4, 2, true);
        assert_eq!((journal.under_way, journal.next_to_bring()), (3, None));
        journal.set(4, false);
        assert_eq!((journal.under_way, journal.next_to_bring()), (0, Some(4)));
        journal.note(4, 3, false);
        assert!(journal.take(4) && journal.fullest.is_empty() && journal.entries == 0);
    }

    #[test]
    fn a_second_change_of_an_entry_takes_no_room() {
        let mut journal = of(1, &[(0, 1), (0, 1), (0, 1)]);
        assert!(!journal.is_beyond() && journal.next_to_bring().is_none());
        journal.note(0, 2, false);
        assert_eq!(journal.next_to_bring(), Some(0));
    }

    #[test]
    fn unbounded_journal_writes_nothing_and_keeps_its_peak() {
        let mut journal = Journal::new(None);
        (0..100).for_each(|n| journal.note(n % 7, n, false));
        assert!(!journal.is_beyond() && journal.next_to_bring().is_none());
        (0..7).for_each(|page| assert!(journal.take(page)));
        assert_eq!((journal.entries, journal.peak_bytes()), (0, 100 * JOURNAL_ENTRY));
    }
}
