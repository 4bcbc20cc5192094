//! Programs that found no slot in their plane, and wait for one.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use wordline_ftl::OpId;

/// Programs that are set aside, by plane, in the order in which they came.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SetAside {
    by_plane: Vec<VecDeque<OpId>>,
}

impl SetAside {
    /// Of so many planes, none.
    pub fn new(planes: u32) -> SetAside {
        SetAside { by_plane: vec![VecDeque::new(); planes as usize] }
    }

    /// One more in a plane, the last of those there.
    pub fn add(&mut self, plane: usize, id: OpId) {
        self.by_plane[plane].push_back(id);
    }

    /// The last of a plane's waits no longer.
    #[inline(always)]
    pub fn take_last(&mut self, plane: usize) -> Option<OpId> {
        self.by_plane[plane].pop_back()
    }

    /// All of them, plane by plane.
    pub fn all(&self) -> Vec<OpId> {
        self.by_plane.iter().flatten().copied().collect()
    }

    /// Those that this says no to wait no longer: it is asked plane by plane, in the order in which they came.
    pub fn retain(&mut self, mut still_waits: impl FnMut(OpId) -> bool) {
        self.by_plane.iter_mut().for_each(|waiting| waiting.retain(|id| still_waits(*id)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_a_plane_keep_their_order() {
        let mut aside = SetAside::new(2);
        for (plane, id) in [(1, 5), (0, 3), (1, 4), (1, 6)] {
            aside.add(plane, OpId(id));
        }
        assert_eq!(aside.all(), [3, 5, 4, 6].map(OpId));
        aside.retain(|id| id != OpId(4));
        assert_eq!([1, 1, 1].map(|plane| aside.take_last(plane)), [Some(OpId(6)), Some(OpId(5)), None]);
        assert_eq!(aside.all(), [OpId(3)]);
    }
}
