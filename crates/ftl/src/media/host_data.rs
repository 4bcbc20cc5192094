//! The bytes that a write of the host brings: one after another, or each logical page by itself, in the place where it stays.

use crate::media::page::PageData;
use serde::{Deserialize, Serialize};
use wordline_units::SectorMask;

/// The bytes of a write, on their way into the layer.
#[derive(Clone, Copy, Debug)]
pub enum HostData<'a> {
    /// One after another, from its first sector on; none where media keep none.
    Bytes(&'a [u8]),
    /// By logical page, each as far as its last sector that is written. They are shared from here on, and not copied. Of the
    /// first the write brings only what follows `skip` bytes.
    Pages {
        /// One for each logical page that the write touches.
        pages: &'a [PageData],
        /// Bytes of the first before those of the write.
        skip: usize,
    },
}

/// The same, owned: for a write that waits outside of the layer, and as a server receives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<u8>", into = "Vec<u8>")]
pub enum HeldData {
    /// One after another.
    Bytes(Vec<u8>),
    /// By logical page, with the bytes of the first before those of the write.
    Pages(Vec<PageData>, usize),
}

impl HostData<'_> {
    /// No data.
    pub const NONE: HostData<'static> = HostData::Bytes(&[]);

    /// The sectors of a mask of a logical page, of which it is the `number`th, and begins `before` bytes behind the first.
    pub(crate) fn page(&self, number: usize, before: usize, mask: SectorMask, sector: usize) -> PageData {
        match self {
            HostData::Bytes(data) => PageData::of(data.get(before..).unwrap_or(&[]), mask, sector),
            HostData::Pages { pages, .. } => pages.get(number).cloned().unwrap_or_default(),
        }
    }

    /// All bytes, contiguous.
    pub fn to_vec(&self) -> Vec<u8> {
        match *self {
            HostData::Bytes(data) => data.to_vec(),
            HostData::Pages { pages, skip } => joined(pages, skip),
        }
    }

    pub(crate) fn to_held(self) -> HeldData {
        match self {
            HostData::Bytes(data) => HeldData::Bytes(data.to_vec()),
            HostData::Pages { pages, skip } => HeldData::Pages(pages.to_vec(), skip),
        }
    }
}

impl<'a, T: AsRef<[u8]> + ?Sized> From<&'a T> for HostData<'a> {
    fn from(data: &'a T) -> HostData<'a> {
        HostData::Bytes(data.as_ref())
    }
}

impl HeldData {
    /// No data.
    pub const NONE: HeldData = HeldData::Bytes(vec![]);

    /// In the form that the layer takes.
    pub fn data(&self) -> HostData<'_> {
        match self {
            HeldData::Bytes(data) => HostData::Bytes(data),
            HeldData::Pages(pages, skip) => HostData::Pages { pages, skip: *skip },
        }
    }
}

impl From<Vec<u8>> for HeldData {
    fn from(data: Vec<u8>) -> HeldData {
        HeldData::Bytes(data)
    }
}

impl From<HeldData> for Vec<u8> {
    fn from(held: HeldData) -> Vec<u8> {
        match held {
            HeldData::Bytes(data) => data,
            HeldData::Pages(pages, skip) => joined(&pages, skip),
        }
    }
}

/// The bytes of pages, one after another, without some of the first.
fn joined(pages: &[PageData], skip: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pages.iter().map(|page| page.len()).sum());
    for (number, page) in pages.iter().enumerate() {
        bytes.extend_from_slice(page.get(if number == 0 { skip } else { 0 }..).unwrap_or(&[]));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTOR: usize = 512;

    #[test]
    fn pages_and_bytes_bring_the_same() {
        // From the second sector of a page of four to the third of the next.
        let bytes: Vec<u8> = (1..=6u8).flat_map(|s| [s; SECTOR]).collect();
        let masks = [SectorMask::span(1, 4), SectorMask::first(3)];
        let plain = HostData::Bytes(&bytes);
        let pages = [0, 1].map(|n| plain.page(n, n * 3 * SECTOR, masks[n], SECTOR));
        let paged = HostData::Pages { pages: &pages, skip: SECTOR };
        assert_eq!(paged.to_vec(), bytes);
        for (n, mask) in masks.into_iter().enumerate() {
            assert_eq!(paged.page(n, n * 3 * SECTOR, mask, SECTOR), pages[n]);
            assert_eq!(paged.page(n, 0, mask, SECTOR).as_ptr(), pages[n].as_ptr(), "it is not copied");
        }
        assert!(
            paged.page(2, 0, masks[0], SECTOR).is_empty(),
            "no write touches a page that it brings nothing of"
        );
    }

    #[test]
    fn what_waits_is_saved_as_its_bytes() {
        let bytes = vec![7; 2 * SECTOR];
        let page = PageData::of(&bytes, SectorMask::span(1, 3), SECTOR);
        let held = HostData::Pages { pages: &[page], skip: SECTOR }.to_held();
        let saved = postcard::to_stdvec(&held).unwrap();
        assert_eq!(saved, postcard::to_stdvec(&bytes).unwrap());
        let read: HeldData = postcard::from_bytes(&saved).unwrap();
        assert_eq!(read, HeldData::Bytes(bytes.clone()));
        assert_eq!((read.data().to_vec(), held.data().to_vec()), (bytes.clone(), bytes));
    }
}
