//! A watch on last resorts: each ends something, or moves it to where there is space. Repeated without a completed
//! operation or request, they would be a livelock.

use serde::{Deserialize, Serialize};

/// Maximum number of consecutive last resorts: more than the operations that can wait for space on any drive.
const MOST: u32 = 1 << 16;

/// Counts last resorts since anything came of one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct LastResorts {
    /// Progress of the drive at that time.
    seen: u64,
    count: u32,
    /// How much had arrived at the drive when one last changed nothing, with no request outstanding.
    changed_nothing_at: Option<u64>,
}

impl LastResorts {
    /// One more last resort, at this progress of the drive: a count that only grows. Returns whether that is one too
    /// many.
    pub fn are_in_vain(&mut self, come: u64) -> bool {
        if come != self.seen {
            (self.seen, self.count) = (come, 0);
        }
        self.count += 1;
        self.count > MOST
    }

    /// Note that a last resort changed nothing, and how much had arrived at the drive by then.
    pub fn note_nothing_changed(&mut self, come: u64) {
        self.changed_nothing_at = Some(come);
    }

    /// Whether the last one changed nothing, without progress since.
    pub fn have_changed_nothing(&self, come: u64) -> bool {
        self.changed_nothing_at == Some(come)
    }

    /// Begin at time 0, with another drive as it were: nothing has come of any, and nothing is known of the last.
    pub fn start_anew(&mut self) {
        *self = LastResorts::default();
    }

    /// The waiting operations have changed, so another last resort may help.
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
    fn drive_that_begins_at_time_0_has_all_last_resorts_before_it() {
        let mut watch = LastResorts::default();
        (0..MOST).for_each(|_| _ = watch.are_in_vain(7));
        watch.note_nothing_changed(0);
        watch.start_anew();
        // As much has come of its work, and to it, as before: both are counted again.
        assert!(!watch.have_changed_nothing(0));
        assert!((0..MOST).all(|_| !watch.are_in_vain(7)) && watch.are_in_vain(7));
    }

    #[test]
    fn one_that_changed_nothing_is_known_until_something_comes() {
        let mut watch = LastResorts::default();
        assert!(!watch.have_changed_nothing(0));
        watch.note_nothing_changed(7);
        assert!(watch.have_changed_nothing(7) && !watch.have_changed_nothing(8));
        watch.try_again();
        assert!(!watch.have_changed_nothing(7));
    }
}
