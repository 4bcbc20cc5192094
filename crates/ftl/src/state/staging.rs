//! Data in transit: one index from logical page to its contents in RAM. Reads consult it before the map, and a
//! program commits only if nothing newer has.

use crate::state::id::OpId;
use crate::state::page_index::PageIndex;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use wordline_units::{Lpn, SectorMask};

/// A program that lacks sectors of its page, into which later writes merge, and the read that brings them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Fill {
    pub program: OpId,
    pub read: OpId,
}

/// A logical page with data in RAM or programs under way.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Staged {
    lpn: Lpn,
    /// Sectors whose newest data are in RAM.
    mask: SectorMask,
    /// Sectors that have left their place on flash for protected RAM, and that nothing newer has replaced, with
    /// the programs that bring them back.
    relocating: SmallVec<[(OpId, SectorMask); 2]>,
    /// Programs that will commit to this page.
    pending: u32,
    /// Version of the newest commit or trim since the entry was created; 0 for none.
    committed: u64,
    /// The same by sector, under a map that knows sectors; empty under a page map, where a page
    /// commits as a whole.
    by_sector: SmallVec<[u64; 4]>,
    /// The program of this page that waits for missing sectors.
    fill: Option<Fill>,
}

impl Staged {
    /// An empty entry of a page; `sectors` is the number of sectors of a page.
    fn new(lpn: Lpn, sectors: usize) -> Staged {
        Staged {
            lpn,
            mask: SectorMask::EMPTY,
            relocating: SmallVec::new(),
            pending: 0,
            committed: 0,
            by_sector: SmallVec::from_elem(0, sectors),
            fill: None,
        }
    }

    /// The same where one stood that has gone.
    #[inline]
    fn use_again(&mut self, lpn: Lpn) {
        (self.lpn, self.mask, self.pending, self.committed, self.fill) = (lpn, SectorMask::EMPTY, 0, 0, None);
        if !self.relocating.is_empty() {
            self.relocating.clear();
        }
        if !self.by_sector.is_empty() {
            self.by_sector.fill(0);
        }
    }

    /// The page.
    #[inline(always)]
    pub fn lpn(&self) -> Lpn {
        self.lpn
    }

    /// Sectors whose newest data are in RAM.
    #[inline(always)]
    pub fn mask(&self) -> SectorMask {
        self.mask
    }

    /// RAM has the newest data of these sectors. Returns those that it did not have.
    #[inline(always)]
    pub fn take_in(&mut self, sectors: SectorMask) -> SectorMask {
        let new = sectors.minus(self.mask);
        self.mask = self.mask.union(sectors);
        new
    }

    /// The data of these sectors in RAM are no longer those of the page.
    pub fn drop(&mut self, sectors: SectorMask) {
        self.mask = self.mask.minus(sectors);
    }

    /// One more program will commit to the page.
    #[inline(always)]
    pub fn add_program(&mut self) {
        self.pending += 1;
    }

    /// A program of several has joined another.
    pub fn join_programs(&mut self) {
        self.pending -= 1;
    }

    /// The program of this page that waits for missing sectors.
    #[inline(always)]
    pub fn fill(&self) -> Option<Fill> {
        self.fill
    }

    /// A program of this page waits for missing sectors.
    pub fn begin_fill(&mut self, fill: Fill) {
        self.fill = Some(fill);
    }

    /// It waits no longer, if this is the program.
    pub fn end_fill(&mut self, program: OpId) {
        if self.fill.is_some_and(|fill| fill.program == program) {
            self.fill = None;
        }
    }

    /// The sectors of a program that no newer data have replaced.
    #[inline]
    pub fn current(&self, mask: SectorMask, version: u64) -> SectorMask {
        if self.by_sector.is_empty() {
            return if version >= self.committed { mask } else { SectorMask::EMPTY };
        }
        let newer = mask.iter().filter(|s| self.by_sector[*s as usize] > version);
        newer.fold(mask, |m, s| m.minus(SectorMask(1 << s)))
    }

    /// Sectors have left flash for RAM, until a program writes them back.
    pub fn begin_relocation(&mut self, by: OpId, sectors: SectorMask) {
        self.relocating.push((by, sectors));
    }

    /// The sectors of such a program that no newer data have replaced.
    pub fn relocating(&self, by: OpId) -> SectorMask {
        self.relocating.iter().filter(|(op, _)| *op == by).fold(SectorMask::EMPTY, |m, (_, s)| m.union(*s))
    }

    /// The same at its end, when the relocation commits.
    pub fn commit_relocation(&mut self, by: OpId) -> SectorMask {
        let home = self.relocating(by);
        self.relocating.retain(|(op, _)| *op != by);
        home
    }

    /// Sectors are committed, or trimmed, by a version.
    #[inline]
    pub fn commit(&mut self, mask: SectorMask, version: u64) {
        self.committed = self.committed.max(version);
        let whole = self.by_sector.is_empty();
        for (_, sectors) in &mut self.relocating {
            *sectors = if whole { SectorMask::EMPTY } else { sectors.minus(mask) };
        }
        if !self.by_sector.is_empty() {
            for s in mask.iter() {
                self.by_sector[s as usize] = version;
            }
        }
    }
}

/// The index. Entries are found by page once, and by number from then on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Staging {
    index: PageIndex,
    entries: Vec<Staged>,
    free: Vec<u32>,
    /// Sectors of a page where each has a version of its own, else 0.
    sectors: usize,
}

impl Staging {
    /// An empty index; `sectors` of a page have their own versions, 0 if pages commit as a whole.
    pub fn new(sectors: u32) -> Staging {
        Staging { sectors: sectors as usize, ..Staging::default() }
    }

    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<u32> {
        if self.index.is_empty() { None } else { self.index.find(lpn) }
    }

    /// The sectors of a page whose newest data are in RAM.
    pub fn mask(&self, lpn: Lpn) -> SectorMask {
        self.find(lpn).map_or(SectorMask::EMPTY, |i| self.entries[i as usize].mask)
    }

    /// The entry of a page, created if missing.
    #[inline(always)]
    pub fn enter(&mut self, lpn: Lpn) -> u32 {
        let vacant = match self.index.look(lpn) {
            Ok(i) => return i,
            Err(vacant) => vacant,
        };
        let i = self.free.pop().unwrap_or_else(|| self.further());
        self.entries[i as usize].use_again(lpn);
        self.index.put(vacant, i);
        i
    }

    #[cold]
    fn further(&mut self) -> u32 {
        self.entries.push(Staged::new(Lpn(0), self.sectors));
        self.entries.len() as u32 - 1
    }

    #[inline(always)]
    pub fn get(&mut self, i: u32) -> &mut Staged {
        &mut self.entries[i as usize]
    }

    /// Version of the newest commit or trim of an entry's page.
    pub fn committed(&self, i: u32) -> u64 {
        self.entries[i as usize].committed
    }

    /// A program of the entry has ended; the last one removes the entry. Returns whether the entry was removed.
    #[inline]
    pub fn settle(&mut self, i: u32) -> bool {
        let entry = &mut self.entries[i as usize];
        entry.pending -= 1;
        if entry.pending > 0 {
            return false;
        }
        self.index.remove(entry.lpn);
        self.free.push(i);
        true
    }

    /// Forget removed entries, and renumber the versions of the others.
    pub fn forget_history(&mut self, mut anew: impl FnMut(&mut u64)) {
        let alive: Vec<u32> = self.index.iter().map(|(_, i)| i).collect();
        let end = alive.iter().max().map_or(0, |last| last + 1);
        self.entries.truncate(end as usize);
        self.free = (0..end).rev().filter(|i| !alive.contains(i)).collect();
        for (i, entry) in self.entries.iter_mut().enumerate() {
            if alive.contains(&(i as u32)) {
                anew(&mut entry.committed);
                entry.by_sector.iter_mut().for_each(&mut anew);
            } else {
                *entry = Staged::new(Lpn(0), self.sectors);
            }
        }
    }

    /// The entries in the order of their pages.
    pub fn entries(&self) -> Vec<u32> {
        let mut entries: Vec<(Lpn, u32)> = self.index.iter().collect();
        entries.sort_unstable();
        entries.into_iter().map(|(_, i)| i).collect()
    }

    /// The entries, unordered.
    pub fn iter(&self) -> impl Iterator<Item = &Staged> {
        self.index.iter().map(|(_, i)| &self.entries[i as usize])
    }

    pub fn len(&self) -> usize {
        self.index.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Lpn = Lpn(7);

    #[test]
    fn page_commits_whole_unless_newer_data_replaced_it() {
        let mut staging = Staging::new(0);
        let stage = staging.enter(PAGE);
        let all = SectorMask(0b1111);
        staging.get(stage).commit(SectorMask(1), 5);
        let entry = staging.get(stage);
        assert_eq!([4, 5, 6].map(|version| entry.current(all, version)), [SectorMask::EMPTY, all, all]);
        entry.commit(all, 3);
        assert_eq!(staging.committed(stage), 5);
    }

    #[test]
    fn sector_map_gives_each_sector_its_own_version() {
        let mut staging = Staging::new(4);
        let stage = staging.enter(PAGE);
        let entry = staging.get(stage);
        entry.commit(SectorMask(0b0011), 5);
        entry.commit(SectorMask(0b0100), 9);
        assert_eq!(entry.current(SectorMask(0b1111), 5), SectorMask(0b1011));
        assert_eq!(entry.current(SectorMask(0b1111), 4), SectorMask(0b1000));
    }

    #[test]
    fn data_in_ram_returns_unless_replaced() {
        for (sectors, left) in [(0, SectorMask::EMPTY), (4, SectorMask(0b0110))] {
            let mut staging = Staging::new(sectors);
            let stage = staging.enter(PAGE);
            let entry = staging.get(stage);
            entry.begin_relocation(OpId(1), SectorMask(0b0111));
            entry.begin_relocation(OpId(2), SectorMask(0b1000));
            entry.commit(SectorMask(0b0001), 5);
            assert_eq!(entry.relocating(OpId(1)), left);
            assert_eq!(entry.commit_relocation(OpId(1)), left);
            assert_eq!(entry.commit_relocation(OpId(1)), SectorMask::EMPTY);
        }
    }

    #[test]
    fn entry_leaves_with_its_last_program_and_starts_blank() {
        let mut staging = Staging::new(0);
        let stage = staging.enter(PAGE);
        let entry = staging.get(stage);
        (entry.pending, entry.mask) = (2, SectorMask(1));
        entry.fill = Some(Fill { program: OpId(3), read: OpId(4) });
        assert_eq!(staging.enter(PAGE), stage);
        assert!(!staging.settle(stage) && staging.len() == 1);
        assert!(staging.settle(stage) && staging.find(PAGE).is_none());
        let stage = staging.enter(Lpn(8));
        assert_eq!((staging.get(stage).mask, staging.get(stage).fill), (SectorMask::EMPTY, None));
        let other = staging.enter(Lpn(2));
        assert_eq!(staging.entries(), [other, stage]);
        assert_eq!(staging.mask(PAGE), SectorMask::EMPTY);
    }
}
