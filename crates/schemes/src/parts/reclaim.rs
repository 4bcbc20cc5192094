//! Reclaim by heat (RARO, section IV-E): data that are no longer hot leave their block of few bits, which
//! becomes QLC when it is opened next. The paper names the criteria (free space, the gain of GC, host writes)
//! and gives no formula; here is one.

use crate::parts::read_class::{X, Y, made_for};
use wordline_ftl::{Collect, RegionId, View};
use wordline_units::{BlockId, CellMode, Lpn, PlaneId};

/// A block, and what speaks for it.
struct Candidate {
    collect: Collect,
    regained: u64,
    moved: u64,
    heat: u64,
}

impl Candidate {
    /// Bytes regained per moved page, whose program takes equally long for all; ties go to the coldest.
    fn is_better_than(&self, other: &Candidate) -> bool {
        let (ours, theirs) = (self.regained * other.moved, other.regained * self.moved);
        ours > theirs || (ours == theirs && self.heat < other.heat)
    }
}

/// What is known of pages: whether one has a reason to stay in its region, and how often it was read.
pub(crate) struct Known<B, R> {
    pub belongs: B,
    pub reads_of: R,
}

/// The block of a plane whose reclaim gains most, of those that hold nothing that belongs there.
pub(crate) fn coldest<B: Fn(Lpn, RegionId) -> bool, R: Fn(Lpn) -> u32>(
    plane: PlaneId,
    view: &View,
    known: &Known<B, R>,
    may: impl Fn(BlockId) -> bool,
) -> Option<Collect> {
    let medium = view.geometry().medium_of(plane);
    let mut best: Option<Candidate> = None;
    for region in [X, Y].into_iter().filter(|r| view.collecting(*r, plane).is_none()) {
        let regained = medium.block_bytes(CellMode::Qlc) - medium.block_bytes(made_for(region).0);
        for block in view.full_blocks(region, plane).filter(|b| may(*b)) {
            let sums = view.pages_in(block).try_fold((0, 0), |(moved, heat), lpn| {
                (!(known.belongs)(lpn, region)).then(|| (moved + 1, heat + (known.reads_of)(lpn) as u64))
            });
            let Some((moved, heat)) = sums else { continue };
            let collect = Collect { region, block: Some(block) };
            let found = Candidate { collect, regained, moved, heat };
            if best.as_ref().is_none_or(|best| found.is_better_than(best)) {
                best = Some(found);
            }
        }
    }
    best.map(|b| b.collect)
}
