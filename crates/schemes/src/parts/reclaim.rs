//! Reclaim by heat (RARO, section IV-E): data that are no longer hot leave their block of few bits, which
//! becomes QLC when it is opened next. The paper names the criteria (free space, the gain of GC, host writes)
//! and gives no formula; here is one.

use crate::parts::read_class::Class;
use crate::parts::read_heat::{ByReadHeat, X, Y, Z};
use crate::parts::reclaim_memory::DECAY;
use wordline_ftl::{Collect, Grain, IdleWork, RegionId, View};
use wordline_units::{BlockId, CellMode, HostRequest, Lpn, PlaneId, SimTime};

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

/// The bits of a region's cells, and the heat from which on a page belongs there.
fn made_for(region: RegionId) -> (CellMode, Class) {
    match region {
        X => (CellMode::Slc, Class::Hot),
        Y => (CellMode::Tlc, Class::Warm),
        _ => (CellMode::Qlc, Class::Cold),
    }
}

impl ByReadHeat {
    /// The host writes.
    pub fn admit(&mut self, write: &HostRequest, now: SimTime) {
        let memory = &mut self.learnt.reclaim;
        memory.writes += 1;
        memory.demand = memory.demand(now) + write.bytes() as f64;
        memory.wrote = now;
    }

    /// Whether a page has a reason to stay in its mode.
    pub fn belongs(&self, lpn: Lpn, region: RegionId, view: &View) -> bool {
        self.class(lpn, view) >= made_for(region).1
    }

    /// Whether the free capacity is too small to wait for idle time.
    pub fn is_pressed(&self, view: &View) -> bool {
        self.reclaim.is_some_and(|r| {
            let stored = view.mapped() * r.unit;
            view.usable_bytes().saturating_sub(stored) < r.below.of(stored)
        })
    }

    /// Whether the host is unlikely to need the free space before a block is reclaimed.
    fn has_time(&self, view: &View) -> bool {
        let unit = self.reclaim.map_or(0, |r| r.unit);
        self.learnt.reclaim.demand(view.now) < (view.free_slots_in(Z) * unit) as f64
    }

    /// The block of a plane whose reclaim gains most, of those that hold nothing that belongs there.
    pub fn coldest(&self, plane: PlaneId, view: &View, may: impl Fn(BlockId) -> bool) -> Option<Collect> {
        let medium = view.geometry().medium_of(plane);
        let mut best: Option<Candidate> = None;
        for region in [X, Y].into_iter().filter(|r| view.collecting(*r, plane).is_none()) {
            let regained = medium.block_bytes(CellMode::Qlc) - medium.block_bytes(made_for(region).0);
            for block in view.full_blocks(region, plane).filter(|b| may(*b)) {
                let sums = view.pages_in(block).try_fold((0, 0), |(moved, heat), lpn| {
                    (!self.belongs(lpn, region, view))
                        .then(|| (moved + 1, heat + self.reads_of(lpn, view) as u64))
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

    /// Note which blocks of a plane are full, and since how many reads.
    fn look(&mut self, plane: PlaneId, view: &View) {
        let memory = &mut self.learnt.reclaim;
        for block in [X, Y].into_iter().flat_map(|region| view.full_blocks(region, plane)) {
            let found = (view.erases(block), memory.reads);
            let known = memory.full.entry(block.0).or_insert(found);
            if known.0 != found.0 {
                *known = found;
            }
        }
    }

    /// Work for an idle die: the next page of the block that it reclaims in this idle time.
    pub fn idle(&mut self, plane: PlaneId, view: &View) -> Option<IdleWork> {
        if view.draining() {
            return None;
        }
        let under_way = [X, Y].into_iter().find_map(|region| {
            view.collecting(region, plane).map(|block| Collect { region, block: Some(block) })
        });
        if let Some(collect) = under_way {
            return Some(IdleWork::Collect(collect, Grain::Page));
        }
        let die = view.geometry().die_of(plane).0;
        let so_far = self.learnt.reclaim.writes + self.learnt.reclaim.reads;
        if self.learnt.reclaim.given.get(&die) == Some(&so_far) || self.is_short(plane, view) {
            return None;
        }
        self.look(plane, view);
        let pressed = self.is_pressed(view);
        if !pressed && !self.has_time(view) {
            return None;
        }
        // What came lately has not had the time to show whether it stays hot.
        let (memory, rest) = (&self.learnt.reclaim, self.decay.unwrap_or(DECAY) / 2);
        let has_rested = |b: BlockId| memory.full.get(&b.0).is_some_and(|(_, at)| memory.reads - at >= rest);
        let collect = self.coldest(plane, view, |b| pressed || has_rested(b))?;
        self.learnt.reclaim.given.insert(die, so_far);
        Some(IdleWork::Collect(collect, Grain::Page))
    }
}
