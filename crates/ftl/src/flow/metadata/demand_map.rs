//! Look-ups in a demand-paged map: a map page is loaded into the cache, and operations that need one of its entries
//! wait. The number of changes that wait for their map page is limited.

use crate::ftl::Ftl;
use crate::state::demand_map::{Found, Waiting};
use crate::state::op::{Class, Op, OpId, Owner};
use crate::state::state::State;
use wordline_counters::{Cause, OpKind};
use wordline_units::{Lpn, SectorMask, SimTime};

/// Source of a map page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// From flash, which takes a read.
    Flash,
    /// From RAM, where it waits for its program.
    Ram,
    /// It was never programmed, and is blank.
    Nothing,
}

impl Ftl {
    /// Look up the entry of a logical page: returns whether it is in RAM. If not, its map page is being loaded.
    #[inline(always)]
    pub(crate) fn finds_entry(&mut self, lpn: Lpn) -> bool {
        self.state.demand.is_none() || self.look_up(lpn)
    }

    #[inline(never)]
    fn look_up(&mut self, lpn: Lpn) -> bool {
        let state = &mut self.state;
        let Some(map) = &mut state.demand else { return true };
        state.counters.map.lookups += 1;
        let page = match map.find(lpn) {
            Found::InCache => {
                state.counters.map.hits += 1;
                return true;
            }
            Found::Loading => return false,
            Found::Missing(page) => page,
        };
        let from = self.bring(page);
        self.state.counters.map.hits += u64::from(from == Source::Ram);
        from != Source::Flash
    }

    /// Whether a map page is in the cache, or is being loaded.
    fn bring(&mut self, page: u32) -> Source {
        let state = &mut self.state;
        let Some(map) = &mut state.demand else { return Source::Nothing };
        let at = map.lpn(page);
        // It has just been displaced, and has not come to flash yet.
        let is_in_ram = !state.staging.mask(at).is_empty();
        let ppn = state.map.place(at);
        if is_in_ram || ppn.is_none() {
            self.keep_map_page(page);
            return if is_in_ram { Source::Ram } else { Source::Nothing };
        }
        map.begin_read(page);
        let block = state.geometry.block_of(ppn);
        state.blocks[block.index()].readers += 1;
        let mut read = Op::new(OpKind::Read, state.geometry.plane_of(block), Cause::Metadata, Class::Read);
        (read.lpn, read.ppn) = (at, ppn);
        read.mask = SectorMask::first(state.geometry.sectors_per_unit);
        read.owner = Owner::Map;
        let read = self.add_op(read);
        self.emit(read);
        Source::Flash
    }

    /// The entry of a logical page has changed, or its place.
    #[inline(always)]
    pub(crate) fn note_map_change(&mut self, lpn: Lpn) {
        if self.state.demand.is_some() {
            self.change_entry(lpn);
        }
    }

    #[inline(never)]
    fn change_entry(&mut self, lpn: Lpn) {
        if self.state.is_metadata(lpn) {
            return;
        }
        let State { demand, staging, .. } = &mut self.state;
        if let Some(map) = demand {
            map.change(lpn, staging);
        }
        self.shorten_journal();
    }

    /// Handle the end of the program of a page of the drive's own tables.
    #[cold]
    pub(crate) fn metadata_over(&mut self, lpn: Lpn) {
        let State { demand, staging, .. } = &mut self.state;
        let Some(map) = demand else { return };
        let Some(page) = map.number(lpn).filter(|_| staging.mask(lpn).is_empty()) else { return };
        // Collection may have moved a page that is being read: it is on its way to the cache, and is not brought twice.
        if map.end_program(page) {
            self.shorten_journal();
        }
    }

    /// Handle the arrival of a request, which allows map pages to be loaded.
    #[inline(always)]
    pub(crate) fn allow_map_pages(&mut self) {
        if let Some(map) = &mut self.state.demand {
            map.allow_reads();
            self.shorten_journal();
        }
    }

    /// If more changes wait than the limit, map pages are loaded until the rest is within it.
    fn shorten_journal(&mut self) {
        while let Some(page) = self.state.demand.as_mut().and_then(|map| map.next_to_bring()) {
            if self.bring(page) == Source::Flash
                && let Some(map) = &mut self.state.demand
            {
                map.note_asked(page);
            }
        }
    }

    /// Make a host program wait for the last of the map pages being loaded, if more changes wait than the limit.
    /// Returns whether it does.
    #[inline(always)]
    pub(crate) fn awaits_journal(&mut self, lead: OpId) -> bool {
        self.state.demand.as_mut().is_some_and(|map| map.await_journal(lead))
    }

    /// Maximum RAM, in bytes, of changes that waited for their map page.
    pub fn map_journal_peak_bytes(&self) -> u64 {
        self.state.demand.as_ref().map_or(0, |map| map.journal_peak_bytes())
    }

    /// Wait for the map page of a logical page, if it is being loaded. Returns whether it is.
    #[inline(always)]
    pub(crate) fn awaits_entry(&mut self, lpn: Lpn, waiting: Waiting) -> bool {
        self.state.demand.as_mut().is_some_and(|map| map.await_entry(lpn, waiting))
    }

    /// Queue a read of a page's data, as soon as its map page is in RAM.
    #[inline]
    pub(crate) fn emit_mapped(&mut self, read: Op) -> OpId {
        if self.state.demand.is_none() {
            return self.add_and_emit(read);
        }
        let lpn = read.lpn;
        let read = self.add_op(read);
        if !self.awaits_entry(lpn, Waiting::Read(read)) {
            self.emit(read);
        }
        read
    }

    /// The map page that an operation waited for is in RAM.
    pub(crate) fn on_map_entry_loaded(&mut self, waiting: Waiting) {
        match waiting {
            Waiting::Read(read) => {
                self.note_entry(read);
                self.emit(read);
            }
            Waiting::Program(lead) => {
                let mut part = lead;
                while !part.is_none() {
                    self.note_entry(part);
                    part = self.state.ops[part].chain;
                }
                self.awaited(lead);
            }
            Waiting::Request(request) => {
                self.set_ending(self.state.now);
                self.part_done(request);
                self.set_ending(SimTime(0));
            }
        }
    }

    /// The map page that an operation waited for is in RAM.
    fn note_entry(&mut self, id: OpId) {
        if let Some(map) = &mut self.state.demand {
            map.note_arrival(id, self.state.now);
        }
    }

    /// A map page that was read enters the cache.
    pub(crate) fn keep_read_map_page(&mut self, lpn: Lpn) {
        let page = self.state.demand.as_ref().and_then(|map| map.number(lpn));
        page.into_iter().for_each(|page| self.keep_map_page(page));
    }

    /// A map page enters the cache, and another may be evicted.
    fn keep_map_page(&mut self, page: u32) {
        let Some(map) = &mut self.state.demand else { return };
        let Some(gone) = map.keep(page) else { return };
        let lpn = map.lpn(gone);
        let program = self.program_metadata(lpn, None);
        self.launch(program);
    }

    /// A map page has no place: its changes continue to wait in RAM.
    #[cold]
    pub(crate) fn map_page_not_written(&mut self, lpn: Lpn) {
        if let Some(map) = &mut self.state.demand {
            map.owe(lpn);
        }
    }
}
