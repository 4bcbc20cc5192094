//! One place for each sector; several logical pages may share a place. Plain tables, for tests: schemes
//! that keep sectors apart do so beside a page map.

use crate::file::saved::sorted;
use crate::image::base::BaseImage;
use crate::plan::span::{Dead, Invalidated, Located, Places, Span, Spans};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_flash::Geometry;
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

/// One place for each sector; several logical pages may share a place.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct SectorMap {
    slot_shift: u32,
    sectors: u32,
    /// Where each sector lies: place and physical sector within it.
    #[serde(serialize_with = "sorted")]
    places: FxHashMap<u64, (u32, u8)>,
    /// What each place holds: logical page and sector of each physical sector.
    #[serde(serialize_with = "sorted")]
    owners: FxHashMap<u32, Vec<Option<(u32, u8)>>>,
    /// Places of each block that hold a live sector. Collection moves a place whole, so these, and
    /// not the sectors, are what emptying a block costs.
    #[serde(serialize_with = "sorted")]
    live_slots: FxHashMap<u32, u32>,
}

impl SectorMap {
    /// Sectors of a page.
    pub fn sectors(&self) -> u32 {
        self.sectors
    }

    fn key(&self, lpn: Lpn, sector: u32) -> u64 {
        lpn.0 as u64 * self.sectors as u64 + sector as u64
    }

    pub fn remove(&mut self, lpn: Lpn, mask: SectorMask, dead: &mut Dead) {
        for s in mask.iter() {
            let key = self.key(lpn, s);
            if let Some((ppn, at)) = self.places.remove(&key) {
                if let Some(owners) = self.owners.get_mut(&ppn) {
                    owners[at as usize] = None;
                    if owners.iter().all(Option::is_none) {
                        *self.live_slots.entry(ppn >> self.slot_shift).or_default() -= 1;
                    }
                }
                dead.push(Invalidated { ppn: Ppn(ppn), sectors: 1 });
            }
        }
    }

    pub fn new(geometry: &Geometry) -> SectorMap {
        SectorMap {
            slot_shift: geometry.slot_shift,
            sectors: geometry.sectors_per_unit,
            ..SectorMap::default()
        }
    }

    /// Take a base image as the contents at time 0.
    pub fn adopt(&mut self, image: &BaseImage) {
        let all = SectorMask::first(self.sectors);
        let shift = self.slot_shift;
        let places = image.blocks().flat_map(|(block, programmed, live)| {
            (programmed - live..programmed).map(move |slot| Ppn(block.0 << shift | slot))
        });
        for ppn in places {
            let block = BlockId(ppn.0 >> shift);
            let owner = |plane| image.owner_of(plane, block, ppn.0 & ((1 << shift) - 1));
            if let Some(lpn) = image.plane_of(block).and_then(owner) {
                self.install(Span { lpn, mask: all, offset: 0 }, all, ppn, &mut Dead::new());
            }
        }
        for (lpn, mask) in &image.lacking {
            self.remove(*lpn, *mask, &mut Dead::new());
        }
    }

    pub fn resolve(&self, lpn: Lpn, wanted: SectorMask, out: &mut Places) {
        for s in wanted.iter() {
            let Some(&(ppn, _)) = self.places.get(&self.key(lpn, s)) else { continue };
            let bit = SectorMask(1 << s);
            match out.iter_mut().find(|l| l.ppn.0 == ppn) {
                Some(l) => l.mask = l.mask.union(bit),
                None => out.push(Located { ppn: Ppn(ppn), mask: bit }),
            }
        }
    }

    pub fn install(&mut self, span: Span, keep: SectorMask, ppn: Ppn, dead: &mut Dead) {
        self.remove(span.lpn, keep, dead);
        let owners = self.owners.entry(ppn.0).or_insert_with(|| vec![None; self.sectors as usize]);
        if !keep.is_empty() && owners.iter().all(Option::is_none) {
            *self.live_slots.entry(ppn.0 >> self.slot_shift).or_default() += 1;
        }
        for (i, s) in span.mask.iter().enumerate() {
            let at = span.offset as usize + i;
            if !keep.covers(SectorMask(1 << s)) {
                continue;
            }
            debug_assert!(owners[at].is_none(), "physical sector {at} of {ppn} is taken");
            owners[at] = Some((span.lpn.0, s as u8));
            self.places.insert(span.lpn.0 as u64 * self.sectors as u64 + s as u64, (ppn.0, at as u8));
        }
    }

    pub fn still_at(&self, span: Span, ppn: Ppn) -> SectorMask {
        let there = |s: &u32| self.places.get(&self.key(span.lpn, *s)).is_some_and(|(p, _)| *p == ppn.0);
        SectorMask(span.mask.iter().filter(there).fold(0, |bits, s| bits | 1 << s))
    }

    pub fn live_in(&self, ppn: Ppn, out: &mut Spans) {
        let Some(owners) = self.owners.get(&ppn.0) else { return };
        for (at, owner) in owners.iter().enumerate() {
            let Some((lpn, s)) = *owner else { continue };
            let bit = SectorMask(1 << s);
            match out.iter_mut().find(|span| span.lpn.0 == lpn) {
                Some(span) => span.mask = span.mask.union(bit),
                None => out.push(Span { lpn: Lpn(lpn), mask: bit, offset: at as u8 }),
            }
        }
    }

    pub fn live_slots(&self, block: BlockId) -> u32 {
        self.live_slots.get(&block.0).copied().unwrap_or(0)
    }

    pub fn next_live(&self, block: BlockId, from: u32, slots: u32) -> Option<u32> {
        (from..slots).find(|slot| {
            let owners = self.owners.get(&(block.0 << self.slot_shift | slot));
            owners.is_some_and(|o| o.iter().any(Option::is_some))
        })
    }

    pub fn erase(&mut self, block: BlockId) {
        for slot in 0..1 << self.slot_shift {
            self.owners.remove(&(block.0 << self.slot_shift | slot));
        }
        self.live_slots.remove(&block.0);
    }

    pub fn held(&self, lpn: Lpn) -> SectorMask {
        let all = SectorMask::first(self.sectors).iter();
        SectorMask(all.filter(|s| self.places.contains_key(&self.key(lpn, *s))).fold(0, |m, s| m | 1 << s))
    }

    pub fn mapped(&self) -> u64 {
        self.places.len() as u64
    }

    pub fn bytes(&self) -> u64 {
        self.places.len() as u64 * 16 + self.owners.len() as u64 * 32
    }
}
