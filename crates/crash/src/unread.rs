//! States that differ from a passed state only in sectors that the check did not read.
//!
//! A check that sees the drive only over NBD depends on the sectors that it reads and on the marks. In
//! another state with the same contents of these, the check reads the same sectors and passes again.

use crate::lock;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use wordline_volatile::{Image, Sectors};

/// Maximum number of sets of sectors kept.
const MOST: usize = 64;

/// What passed checks have read.
#[derive(Default)]
pub(crate) struct Unread(Mutex<Vec<Known>>);

/// A set of sectors that checks have read, a hash of their contents, and the number of marks.
struct Known {
    read: Arc<Sectors>,
    passed: HashSet<(u128, usize)>,
}

impl Unread {
    /// Note that a check passed on an image, and which sectors it read.
    pub(crate) fn passed(&self, read: Sectors, image: &Image, marks: usize) {
        let key = (image.hash_of_sectors(&read), marks);
        let mut all = lock(&self.0);
        if let Some(known) = all.iter_mut().find(|known| *known.read == read) {
            known.passed.insert(key);
            return;
        }
        if all.len() >= MOST {
            all.remove(0);
        }
        all.push(Known { read: Arc::new(read), passed: HashSet::from([key]) });
    }

    /// Whether a passed check has read nothing in which this image differs.
    pub(crate) fn has(&self, image: &Image, marks: usize) -> bool {
        let sets: Vec<Arc<Sectors>> =
            lock(&self.0).iter().rev().map(|known| Arc::clone(&known.read)).collect();
        sets.iter().any(|read| {
            let key = (image.hash_of_sectors(read), marks);
            lock(&self.0).iter().any(|known| Arc::ptr_eq(&known.read, read) && known.passed.contains(&key))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_volatile::Content;

    #[test]
    fn states_equal_in_what_passed_checks_read_are_equal() {
        let image = |filled: &[u64]| {
            let mut image = Image::new(1 << 16, 512);
            filled.iter().for_each(|at| image.set(*at, &Content::of(&vec![1; 512].into(), 0)));
            image
        };
        let sectors = |read: std::ops::Range<u64>| {
            let mut set = Sectors::default();
            set.insert(read);
            set
        };
        let unread = Unread::default();
        assert!(!unread.has(&image(&[]), 0));
        unread.passed(sectors(0..2), &image(&[1, 9]), 3);
        assert!(unread.has(&image(&[1, 7]), 3), "sectors 7 and 9 were not read");
        assert!(!unread.has(&image(&[1, 9]), 4), "another mark");
        assert!(!unread.has(&image(&[0, 1]), 3));
        unread.passed(sectors(0..1), &image(&[0]), 3);
        assert!(unread.has(&image(&[0, 1]), 3), "another check read sector 0 alone");
        (1..=MOST as u64).for_each(|end| unread.passed(sectors(0..end + 4), &image(&[]), 0));
        assert!(!unread.has(&image(&[1, 7]), 3), "the oldest sets are forgotten");
    }
}
