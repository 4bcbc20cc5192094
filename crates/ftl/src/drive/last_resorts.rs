//! Detects a livelock of last resorts. Each last resort ends an operation, or moves it to where there is
//! space. Many in a row without a completed operation or request are a livelock.

use serde::{Deserialize, Serialize};

/// Maximum number of consecutive last resorts: more than the operations that can wait for space on any drive.
const MOST: u32 = 1 << 16;

/// Counts last resorts since the last progress.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct LastResorts {
    /// The progress of the drive at the last count.
    seen: u64,
    count: u32,
    /// The progress of the drive when a last resort last changed nothing, with no request outstanding.
    changed_nothing_at: Option<u64>,
}

impl LastResorts {
    /// Count a last resort, at this progress of the drive, a number that only increases. Returns whether it
    /// is one too many.
    pub fn are_in_vain(&mut self, come: u64) -> bool {
        if come != self.seen {
            (self.seen, self.count) = (come, 0);
        }
        self.count += 1;
        self.count > MOST
    }

    /// Note that a last resort changed nothing, at this progress of the drive.
    pub fn note_nothing_changed(&mut self, come: u64) {
        self.changed_nothing_at = Some(come);
    }

    /// Whether the last one changed nothing, and the drive has made no progress since.
    pub fn have_changed_nothing(&self, come: u64) -> bool {
        self.changed_nothing_at == Some(come)
    }

    /// Start again at time 0: no last resort has been used.
    pub fn start_anew(&mut self) {
        *self = LastResorts::default();
    }

    /// Note that the waiting operations have changed, so that another last resort may help.
    pub fn try_again(&mut self) {
        self.changed_nothing_at = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_resorts_count_from_when_anything_came_of_one() {
        let mut watch = LastResorts::default();
        assert!((0..MOST).all(|_| !watch.are_in_vain(7)));
        assert!(!watch.are_in_vain(8));
        assert!((1..MOST).all(|_| !watch.are_in_vain(8)));
        assert!(watch.are_in_vain(8));
    }

    #[test]
    fn drive_at_time_0_has_all_last_resorts_left() {
        let mut watch = LastResorts::default();
        (0..MOST).for_each(|_| _ = watch.are_in_vain(7));
        watch.note_nothing_changed(0);
        watch.start_anew();
        // As much has come of its work, and to it, as before: both are counted again.
        assert!(!watch.have_changed_nothing(0));
        assert!((0..MOST).all(|_| !watch.are_in_vain(7)) && watch.are_in_vain(7));
    }

    #[test]
    fn resort_that_changed_nothing_is_kept_until_an_event() {
        let mut watch = LastResorts::default();
        assert!(!watch.have_changed_nothing(0));
        watch.note_nothing_changed(7);
        assert!(watch.have_changed_nothing(7) && !watch.have_changed_nothing(8));
        watch.try_again();
        assert!(!watch.have_changed_nothing(7));
    }
}
