//! Pages that are brought together from several places, and the places that are being read for them.

use crate::plan::span::Located;
use crate::state::job::Job;
use crate::state::op::OpId;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};
use wordline_units::{BlockId, Lpn, Ppn};

/// What is being gathered.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gathering {
    /// Where a page is gathered from, by its program.
    pub places: BTreeMap<u32, SmallVec<[Located; 4]>>,
    /// The program that gathers a page, by page.
    pub of: BTreeMap<u32, OpId>,
    /// The programs that wait for a place which is being read, by place.
    pub waiting: BTreeMap<u32, SmallVec<[OpId; 2]>>,
    /// Places in victims that were read before the job came to them.
    pub read_early: BTreeSet<u32>,
}

impl Gathering {
    /// A job reads a place: whoever gathers from it may wait for that.
    pub fn note_read(&mut self, ppn: Ppn) {
        self.waiting.entry(ppn.0).or_default();
    }

    /// Whether a place that a job comes to has been read for another.
    pub fn was_read(&mut self, ppn: Ppn) -> bool {
        self.read_early.remove(&ppn.0)
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
