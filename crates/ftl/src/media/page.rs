//! A logical page on its way through RAM.

use crate::file::state_file::is_zero;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use wordline_units::SectorMask;

/// What is read of sectors that a page has no bytes for.
static ZEROS: [u8; 65_536] = [0; 65_536];

/// The bytes of a logical page in transit through RAM, up to its last sector with data. Copies share them. Under media
/// without bytes, pages are empty and allocate nothing.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Arc<[u8]>", into = "Arc<[u8]>")]
pub struct PageData(Option<Arc<[u8]>>);

/// How many sectors a page has that ends with the last of a mask.
fn sectors_to(mask: SectorMask) -> usize {
    32 - mask.0.leading_zeros() as usize
}

impl PageData {
    /// A page of zeros.
    pub fn blank(bytes: usize) -> PageData {
        // From zeros that are there, since a slice that is shared cannot be had without copying something.
        PageData::from(match ZEROS.get(..bytes) {
            Some(zeros) => Arc::<[u8]>::from(zeros),
            None => vec![0; bytes].into(),
        })
    }

    /// Its bytes, mutable, if no other copy shares them.
    pub fn get_mut(&mut self) -> Option<&mut [u8]> {
        self.0.as_mut().and_then(Arc::get_mut)
    }

    /// Whether two copies share their bytes.
    pub fn is_same(&self, other: &PageData) -> bool {
        let both = self.0.as_ref().zip(other.0.as_ref());
        both.is_some_and(|(ours, theirs)| Arc::ptr_eq(ours, theirs))
    }

    /// Whether another copy shares its bytes.
    pub fn is_shared(&self) -> bool {
        self.0.as_ref().is_some_and(|bytes| Arc::strong_count(bytes) > 1)
    }

    /// A page with the host's bytes for the sectors of a mask, consecutively; `sector` is the sector size in bytes.
    pub fn of(data: &[u8], mask: SectorMask, sector: usize) -> PageData {
        let end = sectors_to(mask) * sector;
        let data = &data[..data.len().min(mask.count() as usize * sector)];
        // Whole from its first sector on: copied once, into where it stays.
        if data.len() == end {
            return PageData::from(Arc::<[u8]>::from(data));
        }
        let mut page = PageData::blank(end);
        if let Some(bytes) = page.get_mut() {
            for (chunk, s) in data.chunks(sector).zip(mask.iter()) {
                bytes[s as usize * sector..][..chunk.len()].copy_from_slice(chunk);
            }
        }
        page
    }

    /// Copy the sectors of a mask from another page; if that has no others, its bytes are shared. Sectors outside the
    /// mask are omitted: those trimmed meanwhile read as zeros.
    pub fn copy(&mut self, from: &PageData, mask: SectorMask, sector: usize) {
        let end = sectors_to(mask) * sector;
        if self.is_empty() && from.len() == end {
            let mut beside = SectorMask::first(sectors_to(mask) as u32).minus(mask).iter();
            // Reading zeroes costs less than a copy of them.
            if beside.all(|s| is_zero(from.sector(s, sector))) {
                self.clone_from(from);
                return;
            }
        }
        let length = self.len().max(end);
        if self.len() < length || self.get_mut().is_none() {
            // One allocation, and no byte twice but those of the fewer sectors.
            if from.len() == length {
                let old = std::mem::replace(self, PageData::from(Arc::<[u8]>::from(&from[..])));
                let kept = SectorMask::first((length / sector) as u32).minus(mask);
                return self.write(&old, kept, sector);
            }
            let mut longer = PageData::blank(length);
            if let Some(bytes) = longer.get_mut() {
                bytes[..self.len()].copy_from_slice(self);
            }
            *self = longer;
        }
        self.write(from, mask, sector);
    }

    /// Write sectors of another page over those of this one, which nobody shares.
    fn write(&mut self, from: &PageData, mask: SectorMask, sector: usize) {
        let Some(bytes) = self.get_mut() else { return };
        for s in mask.iter() {
            bytes[s as usize * sector..][..sector].copy_from_slice(from.sector(s, sector));
        }
    }

    /// A sector of this many bytes, at most 64 KiB; zeros if the page lacks it.
    pub fn sector(&self, sector: u32, bytes: usize) -> &[u8] {
        self.get(sector as usize * bytes..(sector as usize + 1) * bytes)
            .unwrap_or(&ZEROS[..bytes.min(ZEROS.len())])
    }
}

impl Deref for PageData {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<Arc<[u8]>> for PageData {
    fn from(bytes: Arc<[u8]>) -> PageData {
        PageData((!bytes.is_empty()).then_some(bytes))
    }
}

impl From<Vec<u8>> for PageData {
    fn from(bytes: Vec<u8>) -> PageData {
        PageData((!bytes.is_empty()).then(|| bytes.into()))
    }
}

impl From<PageData> for Arc<[u8]> {
    fn from(page: PageData) -> Arc<[u8]> {
        page.0.unwrap_or_default()
    }
}

impl fmt::Debug for PageData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTOR: usize = 512;

    #[test]
    fn a_whole_page_is_shared_and_a_part_is_copied() {
        let whole = PageData::of(&[7; 4 * SECTOR], SectorMask::first(4), SECTOR);
        let mut page = PageData::default();
        page.copy(&whole, SectorMask::first(4), SECTOR);
        assert_eq!(page.as_ptr(), whole.as_ptr());
        page.copy(&PageData::from(vec![9; SECTOR]), SectorMask::first(1), SECTOR);
        assert_eq!((page[0], page[SECTOR], whole[0]), (9, 7, 7), "what others hold stays as it is");
        // What is longer than either half is put together once, whichever has more of it.
        let mut start = PageData::of(&[5; SECTOR], SectorMask::first(1), SECTOR);
        let shared = start.clone();
        start.copy(&whole, SectorMask::span(1, 4), SECTOR);
        assert_eq!([0, 1, 3].map(|s| start[s * SECTOR]), [5, 7, 7]);
        let mut end = PageData::of(&[5; SECTOR], SectorMask::span(3, 4), SECTOR);
        let kept = end.clone();
        end.copy(&shared, SectorMask::first(1), SECTOR);
        assert_eq!([0, 1, 3].map(|s| end[s * SECTOR]), [5, 0, 5]);
        assert_eq!((kept[0], shared.len()), (0, SECTOR), "what others hold stays as it is");
        let last = PageData::of(&[5; SECTOR], SectorMask::span(3, 4), SECTOR);
        let mut alone = PageData::default();
        alone.copy(&last, SectorMask::span(3, 4), SECTOR);
        assert_eq!(alone.as_ptr(), last.as_ptr(), "a page without other data is shared");
        let mut part = PageData::default();
        part.copy(&whole, SectorMask::span(1, 2), SECTOR);
        assert_eq!((part.len(), part[0], part[SECTOR]), (2 * SECTOR, 0, 7));
    }

    #[test]
    fn sectors_that_a_page_lacks_are_zeros() {
        let page = PageData::of(&[7; SECTOR], SectorMask::span(1, 2), SECTOR);
        assert_eq!([0, 1, 2].map(|s| page.sector(s, SECTOR)[0]), [0, 7, 0]);
        assert!(PageData::blank(70_000).iter().all(|byte| *byte == 0));
        assert_eq!(PageData::blank(70_000).len(), 70_000);
        assert_eq!(PageData::default().sector(3, SECTOR), [0; SECTOR]);
        let mut blank = PageData::default();
        blank.copy(&PageData::default(), SectorMask::EMPTY, SECTOR);
        assert!(blank.0.is_none(), "a page without bytes allocates nothing");
    }

    #[test]
    fn a_page_is_saved_as_its_bytes() {
        let page = PageData::from(vec![1, 2, 3]);
        assert_eq!(postcard::to_stdvec(&page).unwrap(), [3, 1, 2, 3]);
        assert_eq!(postcard::from_bytes::<PageData>(&[3, 1, 2, 3]).unwrap(), page);
        assert_eq!(postcard::to_stdvec(&PageData::default()).unwrap(), [0]);
        assert!(postcard::from_bytes::<PageData>(&[0]).unwrap().0.is_none());
    }
}
