//! Pages that are brought together from several places, and the places that are being read for them.

use crate::plan::span::{Located, Places};
use crate::state::job::Job;
use crate::state::op::OpId;
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeMap, BTreeSet};
use wordline_units::{BlockId, Lpn, Ppn};

/// Gathers in progress.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gathering {
    /// Sources of a gathered page, by program.
    places: BTreeMap<u32, SmallVec<[Located; 4]>>,
    /// The program that gathers a page, by page.
    of: BTreeMap<u32, OpId>,
    /// The programs that wait for a place which is being read, by place.
    waiting: BTreeMap<u32, SmallVec<[OpId; 2]>>,
    /// Places in victims that were read before the job reached them.
    read_early: BTreeSet<u32>,
}

impl Gathering {
    /// A program gathers a page from these places.
    pub fn begin(&mut self, id: OpId, lpn: Lpn, places: Places) {
        self.places.insert(id.0, places.into_iter().collect());
        self.of.insert(lpn.0, id);
    }

    /// Make a program wait for a place, if that is being read. Returns whether it waits.
    pub fn wait(&mut self, id: OpId, ppn: Ppn) -> bool {
        let waiting = self.waiting.get_mut(&ppn.0);
        waiting.map(|waiting| waiting.push(id)).is_some()
    }

    /// Read a place for a program,
    pub fn read_for(&mut self, id: OpId, ppn: Ppn) {
        self.waiting.insert(ppn.0, smallvec![id]);
    }

    /// before the job of its block reaches it.
    pub fn read_early(&mut self, ppn: Ppn) {
        self.read_early.insert(ppn.0);
    }

    /// Whether any place of a page is being read.
    #[inline(always)]
    pub fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A place has been read; returns the programs that waited for it.
    pub fn take_waiting(&mut self, ppn: Ppn) -> SmallVec<[OpId; 2]> {
        self.waiting.remove(&ppn.0).unwrap_or_default()
    }

    /// A program has all parts of its page; returns the places that they came from.
    pub fn end(&mut self, id: OpId, lpn: Lpn) -> Places {
        if self.of.get(&lpn.0) == Some(&id) {
            self.of.remove(&lpn.0);
        }
        self.places.remove(&id.0).unwrap_or_default().into_iter().collect()
    }

    /// A job reads a place, for which a gather may wait.
    pub fn note_read(&mut self, ppn: Ppn) {
        self.waiting.entry(ppn.0).or_default();
    }

    /// Whether a place that a job reaches has been read for another program.
    #[inline(always)]
    pub fn was_read(&mut self, ppn: Ppn) -> bool {
        !self.read_early.is_empty() && self.read_early.remove(&ppn.0)
    }

    /// A job has ended.
    pub fn job_over(&mut self, job: &Job, block_of: impl Fn(Ppn) -> BlockId) {
        self.read_early.retain(|ppn| block_of(Ppn(*ppn)) != job.block);
    }

    /// Whether a page is being gathered, from this place among others.
    pub fn takes(&self, lpn: Lpn, from: Ppn) -> bool {
        let places = self.of.get(&lpn.0).and_then(|id| self.places.get(&id.0));
        places.is_some_and(|places| places.iter().any(|at| at.ppn == from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::SectorMask;

    #[test]
    fn waiting_programs_take_a_place_once_it_is_read() {
        let (page, place) = (Lpn(7), Ppn(20));
        let mut gathering = Gathering::default();
        let places: Places =
            [place, Ppn(21)].iter().map(|ppn| Located { ppn: *ppn, mask: SectorMask(1) }).collect();
        gathering.begin(OpId(1), page, places.clone());
        assert!(gathering.takes(page, place) && !gathering.takes(page, Ppn(22)));
        assert!(!gathering.wait(OpId(1), place));
        gathering.read_for(OpId(1), place);
        assert!(gathering.wait(OpId(2), place) && gathering.is_waiting());
        assert_eq!(gathering.take_waiting(place).as_slice(), [OpId(1), OpId(2)]);
        assert!(!gathering.is_waiting());
        assert_eq!(gathering.end(OpId(1), page), places);
        assert!(!gathering.takes(page, place));
    }
}
