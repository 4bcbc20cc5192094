//! Where the pages of a folder are, as its log says so far, and which ranges of the file of pages are free.

use crate::data::lately::Copied;
use crate::data::merged::pages_of;
use crate::data::page_file::Allocation;
use crate::data::places::{Extent, Place, Places, Source};
use crate::data::record::{Held, Record};
use crate::data::row_id::{LAST_PART, row_id};
use crate::data::segment::Segment;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use wordline_ftl::PageData;

/// The bytes of a page.
pub(crate) struct PageBytes {
    /// The position of the page in the record.
    pub at: usize,
    pub page: PageData,
    /// Where they were read.
    pub from: Option<Copied>,
}

/// A record, and of its pages those that share the bytes of others: by row number, the record that has written them.
pub(crate) struct Written<'a> {
    pub record: &'a Record,
    pub shared: &'a FxHashMap<u64, u64>,
}

/// The places of all pages, and the free ranges.
pub(crate) struct Stored {
    places: Places,
    allocation: Allocation,
}

impl Stored {
    pub(crate) fn new(places: Places, allocation: Allocation) -> Stored {
        Stored { places, allocation }
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    pub(crate) fn allocation_mut(&mut self) -> &mut Allocation {
        &mut self.allocation
    }

    /// Set the place of a page's part.
    pub(crate) fn insert(&mut self, id: u64, place: Place) {
        self.places.insert(id, place);
    }

    /// A record has replaced what is at a place.
    pub(crate) fn free(&mut self, place: &Place, number: u64) {
        if let Source::Pages(written) = place.source {
            self.allocation.free(place.extent, written, number);
        }
    }

    /// Let a page of a record share the bytes that it was read from, if they are still there. Returns it if they are not.
    pub(crate) fn share(
        &mut self,
        record: &mut Record,
        page: PageBytes,
        shared: &mut FxHashMap<u64, u64>,
    ) -> Option<(usize, PageData)> {
        let found = page.from.as_ref().and_then(|from| {
            let place = self.places.get(from.id)?;
            Some((place.written_as(&from.place)?, place.extent, place.checksum))
        });
        let Some((written, extent, checksum)) = found else { return Some((page.at, page.page)) };
        let id = record.pages[page.at].id;
        record.later.filed.push((id, Held { at: extent.at, length: extent.length, checksum }));
        shared.insert(id, written);
        self.allocation.share(extent);
        None
    }

    /// Set the places of pages as a record says.
    pub(crate) fn apply(
        &mut self,
        number: u64,
        written: &Written<'_>,
        (segment, data_at): (&Arc<Segment>, u64),
    ) {
        let Written { record, shared } = written;
        let mut over = vec![];
        for (block, slot_shift) in &record.emptied {
            let pages = pages_of(*block, *slot_shift);
            let parts = row_id(*pages.start(), 0)..=row_id(*pages.end(), LAST_PART);
            over.extend(self.places.remove_all(parts));
        }
        let place = |source: Source, held: &Held, from: u64| {
            let extent = Extent { at: from + held.at, length: held.length };
            Place { source, extent, checksum: held.checksum }
        };
        for page in &record.pages {
            if let Some(held) = &page.data {
                let logged = place(Source::Log(Arc::clone(segment)), held, data_at);
                over.extend(self.places.insert(page.id, logged));
            }
        }
        for (id, held) in &record.later.filed {
            let written = shared.get(id).copied().unwrap_or(number);
            over.extend(self.places.insert(*id, place(Source::Pages(written), held, 0)));
        }
        over.extend(record.later.replaced.iter().filter_map(|id| self.places.remove(*id)));
        over.iter().for_each(|place| self.free(place, number));
    }
}
