//! One place for each logical page: leaves that are written out when they are first touched, a bit for
//! each slot that is live, and the base image behind both.

use crate::file::saved::{Saved, saved};
use crate::file::table::{Table, fetch};
use crate::image::base::BaseImage;
use crate::plan::span::{Dead, Invalidated};
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::Arc;
use wordline_flash::Geometry;
use wordline_units::{BlockId, Lpn, Ppn};

/// Logical pages of a leaf.
const LEAF: u32 = 64;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum BaseState {
    /// Holds nothing of the base image that is not in the table of owners, too.
    Not,
    /// Holds the base image, and nothing of it has died.
    Untouched,
    /// Holds the base image, with live bits of its own.
    Touched,
}

/// One place for each logical page.
pub(crate) struct PageMap {
    geometry: Arc<Geometry>,
    /// Leaf of each group of [`LEAF`] logical pages, counted from 1; 0 where nothing was touched.
    directory: Table<u32>,
    /// The places themselves, in the order in which their leaves were first touched.
    leaves: Table<u32>,
    touched_leaves: u32,
    /// Logical page of each slot.
    owners: Table<u32>,
    /// A bit for each slot that is live.
    live: Table<u64>,
    /// Slots of the largest block.
    slots_per_block: u32,
    words_per_block: u32,
    /// Blocks opened so far, for the first time.
    opened_blocks: u32,
    base: Option<BaseImage>,
    base_state: Vec<BaseState>,
    mapped: u32,
}

impl Saved for PageMap {
    saved! { PageMap,
        values: [touched_leaves, opened_blocks, base, base_state, mapped],
        parts: [directory, leaves, owners, live],
        rebuilt: [geometry, slots_per_block, words_per_block],
    }
}

impl PageMap {
    /// Where places are.
    #[inline(always)]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Slots of the largest block.
    pub fn slots_per_block(&self) -> u32 {
        self.slots_per_block
    }

    /// Pages that have a place.
    #[inline(always)]
    pub fn mapped(&self) -> u32 {
        self.mapped
    }

    pub fn new(geometry: &Arc<Geometry>, logical_pages: u32) -> io::Result<PageMap> {
        let slots = geometry.most_slots;
        let words = slots.div_ceil(64);
        let times = |n: usize, each: u32| n.saturating_mul(each as usize); // too many for any table, then
        let (blocks, leaves) = (geometry.blocks as usize, logical_pages.div_ceil(LEAF) as usize);
        Ok(PageMap {
            directory: Table::zeroed(leaves)?,
            leaves: Table::dense(times(leaves, LEAF))?,
            touched_leaves: 0,
            owners: Table::zeroed(times(blocks, slots))?,
            live: Table::zeroed(times(blocks, words))?,
            slots_per_block: slots,
            words_per_block: words,
            opened_blocks: 0,
            base: None,
            base_state: vec![BaseState::Not; blocks],
            mapped: 0,
            geometry: geometry.clone(),
        })
    }

    #[inline]
    pub fn entry(&mut self, lpn: Lpn) -> &mut u32 {
        let leaf = self.directory[(lpn.0 / LEAF) as usize];
        let leaf = if leaf == 0 { self.materialise(lpn.0 / LEAF) } else { leaf };
        &mut self.leaves[((leaf - 1) * LEAF + lpn.0 % LEAF) as usize]
    }

    #[inline]
    pub fn lookup(&mut self, lpn: Lpn) -> Ppn {
        let leaf = self.directory[(lpn.0 / LEAF) as usize];
        if leaf == 0 && self.base.is_none() {
            return Ppn::NONE;
        }
        Ppn(*self.entry(lpn))
    }

    #[cold]
    pub fn materialise(&mut self, index: u32) -> u32 {
        let first = (self.touched_leaves * LEAF) as usize;
        for (i, entry) in self.leaves[first..first + LEAF as usize].iter_mut().enumerate() {
            let place = self.base.as_ref().and_then(|b| b.place_of(Lpn(index * LEAF + i as u32)));
            *entry = place.unwrap_or(Ppn::NONE).0;
        }
        self.touched_leaves += 1;
        self.directory[index as usize] = self.touched_leaves;
        self.touched_leaves
    }

    #[inline(always)]
    pub fn owner_index(&self, ppn: Ppn) -> usize {
        let (block, slot) = (self.geometry.block_of(ppn), self.geometry.slot_of(ppn));
        block.index() * self.slots_per_block as usize + slot as usize
    }

    pub fn words(&self, block: BlockId) -> std::ops::Range<usize> {
        let first = block.index() * self.words_per_block as usize;
        first..first + self.words_per_block as usize
    }

    #[inline(always)]
    pub fn touch_base(&mut self, block: BlockId) {
        if self.base_state[block.index()] == BaseState::Untouched {
            self.write_out_base(block);
        }
    }

    #[cold]
    fn write_out_base(&mut self, block: BlockId) {
        self.base_state[block.index()] = BaseState::Touched;
        let Some(base) = &self.base else { return };
        let range = base.live_slots(self.geometry.plane_of(block), block);
        let words = self.words(block);
        let words = &mut self.live[words];
        for slot in range {
            words[slot as usize / 64] |= 1 << (slot % 64);
        }
    }

    /// A block is about to be emptied: the pages of its valid slots, as far as the base image has them, are looked up
    /// in one pass.
    pub fn begin_emptying(&mut self, block: BlockId) {
        self.touch_base(block);
        let state = std::mem::replace(&mut self.base_state[block.index()], BaseState::Not);
        let plane = self.geometry.plane_of(block);
        let base = self.base.as_ref().filter(|_| state != BaseState::Not);
        let Some(held) = base.and_then(|base| base.held(plane, block)) else { return };
        let live = &self.live[self.words(block)];
        let first = block.index() * self.slots_per_block as usize;
        let owners = &mut self.owners[first..first + held.slots.end as usize];
        let is_live = |slot| live[slot as usize / 64] >> (slot % 64) & 1 == 1;
        held.each_owner(is_live, |slot, lpn| owners[slot as usize] = lpn.0);
    }

    #[inline]
    pub fn bit(&self, ppn: Ppn) -> (usize, u64) {
        let (block, slot) = (ppn.0 >> self.geometry.slot_shift, self.geometry.slot_of(ppn));
        (block as usize * self.words_per_block as usize + (slot / 64) as usize, 1 << (slot % 64))
    }

    #[inline]
    pub fn invalidate(&mut self, ppn: Ppn) -> Invalidated {
        self.touch_base(self.geometry.block_of(ppn));
        let (word, bit) = self.bit(ppn);
        debug_assert!(self.live[word] & bit != 0, "place {ppn} dies twice");
        self.live[word] &= !bit;
        Invalidated { ppn, sectors: self.geometry.sectors_per_unit }
    }

    /// Map a logical page to a physical page.
    #[inline]
    pub fn settle(&mut self, lpn: Lpn, ppn: Ppn) {
        let (word, bit) = self.bit(ppn);
        self.live[word] |= bit;
        let at = self.owner_index(ppn);
        self.owners[at] = lpn.0;
    }

    /// The first valid slot of a block from `from` on.
    #[inline(always)]
    pub fn next_live(&mut self, block: BlockId, from: u32) -> Option<u32> {
        self.touch_base(block);
        let words = &self.live[self.words(block)];
        let mut word = from as usize / 64;
        let mut bits = *words.get(word)? & (u64::MAX << (from % 64));
        loop {
            if bits != 0 {
                return Some(word as u32 * 64 + bits.trailing_zeros());
            }
            word += 1;
            bits = *words.get(word)?;
        }
    }

    /// The page at a place, in a block that does not belong to a base image.
    pub fn page_at(&self, ppn: Ppn) -> Option<Lpn> {
        let (word, bit) = self.bit(ppn);
        if self.live[word] & bit == 0 { None } else { self.owner(ppn) }
    }

    #[inline]
    pub fn owner(&self, ppn: Ppn) -> Option<Lpn> {
        if self.base_state[self.geometry.block_of(ppn).index()] != BaseState::Not
            && let Some(lpn) = self.owner_in_base(ppn)
        {
            return Some(lpn);
        }
        Some(Lpn(self.owners[self.owner_index(ppn)]))
    }

    #[inline(never)]
    fn owner_in_base(&self, ppn: Ppn) -> Option<Lpn> {
        let (block, slot) = (self.geometry.block_of(ppn), self.geometry.slot_of(ppn));
        self.base.as_ref()?.owner_of(self.geometry.plane_of(block), block, slot)
    }

    /// Take a base image as the contents at time 0.
    pub fn adopt(&mut self, image: BaseImage) {
        self.mapped = image.mapped();
        for (block, programmed, _) in image.blocks() {
            if programmed > 0 {
                self.base_state[block.index()] = BaseState::Untouched;
            }
        }
        self.base = Some(image);
    }

    /// Map a page to a place.
    #[inline(always)]
    pub fn install(&mut self, lpn: Lpn, ppn: Ppn, dead: &mut Dead) {
        let old = Ppn(std::mem::replace(self.entry(lpn), ppn.0));
        if old.is_none() {
            self.mapped += 1;
        } else {
            dead.push(self.invalidate(old));
        }
        self.settle(lpn, ppn);
    }

    /// Map a page to a place if it is still mapped to `from`. Returns whether it did.
    #[inline]
    pub fn relocate(&mut self, lpn: Lpn, from: Ppn, ppn: Ppn, dead: &mut Dead) -> bool {
        let entry = self.entry(lpn);
        if *entry != from.0 {
            return false;
        }
        *entry = ppn.0;
        dead.push(self.invalidate(from));
        self.settle(lpn, ppn);
        true
    }

    /// Unmap a page: its slot becomes invalid.
    pub fn unmap(&mut self, lpn: Lpn, dead: &mut Dead) {
        if self.lookup(lpn).is_none() {
            return;
        }
        let old = Ppn(std::mem::replace(self.entry(lpn), Ppn::NONE.0));
        self.mapped -= 1;
        dead.push(self.invalidate(old));
    }

    /// The valid page at a place, if any.
    #[inline]
    pub fn live_at(&mut self, ppn: Ppn) -> Option<Lpn> {
        if self.is_live(ppn) { self.owner(ppn) } else { None }
    }

    /// Whether a place holds a valid page.
    #[inline]
    pub fn is_live(&mut self, ppn: Ppn) -> bool {
        self.touch_base(self.geometry.block_of(ppn));
        let (word, bit) = self.bit(ppn);
        self.live[word] & bit != 0
    }

    /// Valid slots of a block.
    pub fn live_slots(&self, block: BlockId) -> u32 {
        let untouched = self.base.as_ref().filter(|_| self.base_state[block.index()] == BaseState::Untouched);
        let in_base = untouched.map_or(0..0, |b| b.live_slots(self.geometry.plane_of(block), block));
        in_base.len() as u32 + self.live[self.words(block)].iter().map(|w| w.count_ones()).sum::<u32>()
    }

    /// Forget the pages of invalid slots.
    pub fn forget_history(&mut self) {
        for block in 0..self.geometry.blocks {
            for slot in 0..self.slots_per_block {
                let ppn = self.geometry.ppn(BlockId(block), slot);
                if !self.is_live(ppn) {
                    let at = self.owner_index(ppn);
                    self.owners[at] = 0;
                }
            }
        }
    }

    /// A block is opened for the first time.
    pub fn open_first(&mut self) {
        self.opened_blocks += 1;
    }

    /// A block without valid data is erased.
    pub fn erase(&mut self, block: BlockId) {
        self.touch_base(block);
        self.base_state[block.index()] = BaseState::Not;
        let words = self.words(block);
        debug_assert!(
            self.live[words.clone()].iter().all(|w| *w == 0),
            "block {block} is erased with live data"
        );
        self.live[words].fill(0);
    }

    /// Bytes of the map and its inverse that are in use.
    pub fn bytes(&self) -> u64 {
        let block = self.slots_per_block as u64 * 4 + self.words_per_block as u64 * 8;
        self.directory.len() as u64 * 4
            + self.touched_leaves as u64 * LEAF as u64 * 4
            + self.opened_blocks as u64 * block
            + self.base_state.len() as u64
            + self.base.as_ref().map_or(0, BaseImage::bytes)
    }

    /// Prefetch the data that [`Self::prefetch`] will access.
    #[inline]
    pub fn prefetch_leaf(&self, lpn: Lpn) {
        fetch(&self.directory, (lpn.0 / LEAF) as usize);
    }

    /// The place of a page, as far as it is known without changing the map.
    #[inline(always)]
    pub fn peek(&self, lpn: Lpn) -> Option<Ppn> {
        let leaf = self.directory.get((lpn.0 / LEAF) as usize)?.checked_sub(1)?;
        Some(Ppn(self.leaves[(leaf * LEAF + lpn.0 % LEAF) as usize])).filter(|ppn| !ppn.is_none())
    }

    /// Whether all pages of a range have a place, or none has, as far as that is known without a look at each.
    pub fn uniform(&self, pages: std::ops::Range<u32>) -> Option<bool> {
        let leaves = (pages.start / LEAF) as usize..pages.end.div_ceil(LEAF) as usize;
        let is_untouched = self.directory[leaves].iter().all(|leaf| *leaf == 0);
        if is_untouched { self.base.as_ref().map_or(Some(false), |base| base.uniform(&pages)) } else { None }
    }

    /// The place of a page.
    pub fn locate(&self, lpn: Lpn) -> Option<Ppn> {
        match self.directory.get((lpn.0 / LEAF) as usize)? {
            0 => self.base.as_ref()?.place_of(lpn),
            _ => self.peek(lpn),
        }
    }

    /// Prefetch the data that the collection of the following slots will access, one step further with each slot: their
    /// owners, then the addresses of their entries, then the entries.
    #[inline]
    pub fn prefetch_behind(&self, ppn: Ppn) {
        let at = self.owner_index(ppn);
        if let Some(behind) = self.owners.get(at..at + 16) {
            fetch(&self.owners, at + 16);
            self.prefetch_leaf(Lpn(behind[8]));
            self.prefetch(Lpn(behind[4]));
        }
    }

    /// Prefetch the map entry that a request will need.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        if let Some(leaf) = self.directory.get((lpn.0 / LEAF) as usize)
            && *leaf != 0
        {
            fetch(&self.leaves, ((leaf - 1) * LEAF + lpn.0 % LEAF) as usize);
        }
    }

    /// Prefetch the data that a program to `ppn` will access at its commit, and return the place of the page until
    /// then: `from`, if it is moved from there.
    #[inline(always)]
    pub fn prefetch_commit(&self, lpn: Lpn, from: Ppn, ppn: Ppn) -> Option<Ppn> {
        fetch(&self.live, self.bit(ppn).0);
        fetch(&self.owners, self.owner_index(ppn));
        let old = if from.is_none() {
            self.peek(lpn)?
        } else {
            self.prefetch(lpn);
            from
        };
        fetch(&self.live, self.bit(old).0);
        Some(old)
    }

    /// Unmap a page.
    pub fn clear_entry(&mut self, lpn: Lpn) {
        *self.entry(lpn) = Ppn::NONE.0;
        self.mapped -= 1;
    }

    /// Logical pages that it can map.
    pub fn logical_pages(&self) -> u32 {
        self.leaves.len() as u32
    }

    /// Slots of the blocks that were ever opened.
    pub fn slots_in_use(&self) -> u64 {
        self.opened_blocks as u64 * self.slots_per_block as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::base::{Mapped, PlaneBase, Ranks};
    use crate::image::permutation::Permutation;
    use crate::image::stripe::Stripe;
    use wordline_device::Level;

    #[test]
    fn emptied_block_keeps_the_pages_of_its_image() {
        let spec = wordline_device::find("demo-8gb").unwrap().spec(&[]).unwrap();
        let geometry = Arc::new(spec.geometry().unwrap());
        let levels = [Level::Channel, Level::Chip, Level::Die, Level::Plane];
        let stripe = Stripe::new(geometry.media[0].topology, 0, geometry.units_per_page(0), levels);
        let (pages, slots) = (20_000, geometry.most_slots);
        let first_block = |plane| geometry.blocks_of(plane).start;
        let image =
            BaseImage::new(&geometry, stripe, &Mapped::First(pages), &(0..0), first_block, |_, of| {
                let ranks = Ranks::Keyed(Permutation::keyed(of.count, 7));
                (PlaneBase::packed(of.count, slots / 2, slots, 1), ranks)
            });
        let mut map = PageMap::new(&geometry, pages).unwrap();
        map.adopt(image);
        let gone = map.lookup(Lpn(5));
        map.unmap(Lpn(5), &mut Dead::new());
        let block = geometry.block_of(gone);
        let owners = |map: &mut PageMap| -> Vec<Option<Lpn>> {
            (0..slots).map(|slot| map.live_at(geometry.ppn(block, slot))).collect()
        };
        let before = owners(&mut map);
        map.begin_emptying(block);
        assert_eq!(owners(&mut map), before);
        assert_eq!(before[geometry.slot_of(gone) as usize], None);
        let live: Vec<(u32, Lpn)> = (0..).zip(before).filter_map(|(slot, lpn)| Some((slot, lpn?))).collect();
        assert!(!live.is_empty() && live.iter().all(|(s, lpn)| map.lookup(*lpn) == geometry.ppn(block, *s)));
    }
}
