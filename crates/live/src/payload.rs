//! Write data, received page by page into the memory in which the drive keeps them, so that whole sectors are
//! copied only once, from the socket.

use crate::page_memory::PageMemory;
use crate::pieces::Units;
use crate::protocol::request::Request;
use std::io::IoSliceMut;
use wordline_ftl::{HeldData, PageData};
use wordline_units::SectorMask;

/// Bytes of page memory that are allocated before data arrive. A client that announces data and does not send
/// them costs no more.
const AHEAD: usize = 256 << 10;

/// The data of a write while they are received.
pub(crate) struct Receiving<'a> {
    data: HeldData,
    /// Where pages are taken from that are written as a whole.
    memory: &'a PageMemory,
    /// Bytes that the client sends in all, and bytes received so far.
    length: usize,
    received: usize,
    /// Bytes per logical page.
    page: usize,
}

/// The data of a request that have been received in one piece.
pub(crate) fn gathered(request: &Request, data: &[u8], units: Units) -> HeldData {
    let Some(skip) = skip(request, units) else { return HeldData::Bytes(data.to_vec()) };
    let sector = units.sector as usize;
    let first = data.split_at(data.len().min(units.page as usize - skip));
    let page = |skip: usize, bytes: &[u8]| {
        let from = skip / sector;
        let mask = SectorMask::span(from as u32, (from + bytes.len() / sector) as u32);
        PageData::of(bytes, mask, sector)
    };
    let pages = std::iter::once(page(skip, first.0));
    let others = first.1.chunks(units.page as usize).map(|bytes| page(0, bytes));
    HeldData::Pages(pages.chain(others).collect(), skip)
}

/// Offset of a write within its first page, in bytes. Nothing for a write that covers sectors in part.
fn skip(request: &Request, units: Units) -> Option<usize> {
    let is_whole = |at: u64| at.is_multiple_of(units.sector);
    let whole = is_whole(request.offset) && is_whole(request.payload() as u64) && request.payload() > 0;
    whole.then_some((request.offset % units.page) as usize)
}

impl<'a> Receiving<'a> {
    /// Begin to receive the data of a request.
    pub(crate) fn new(request: &Request, units: Units, memory: &'a PageMemory) -> Receiving<'a> {
        let length = request.payload();
        let data = match skip(request, units) {
            Some(skip) => HeldData::Pages(vec![], skip),
            None => HeldData::Bytes(vec![0; length]),
        };
        Receiving { data, memory, length, received: 0, page: units.page as usize }
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.received == self.length
    }

    /// All received data.
    pub(crate) fn end(self) -> HeldData {
        self.data
    }

    /// Buffers for the next bytes.
    pub(crate) fn room(&mut self) -> Vec<IoSliceMut<'_>> {
        let (received, length, size) = (self.received, self.length, self.page);
        match &mut self.data {
            HeldData::Bytes(bytes) => vec![IoSliceMut::new(&mut bytes[received..])],
            HeldData::Pages(pages, skip) => {
                let (at, end) = (*skip + received, *skip + length);
                // Allocate the pages into which the next bytes go.
                let next = pages.len()..end.min(at + AHEAD).div_ceil(size);
                let is_whole = |n: &usize| (*n > 0 || *skip == 0) && (n + 1) * size <= end;
                let whole = next.clone().filter(is_whole).count();
                let taken = if whole > 0 { self.memory.take(whole, size) } else { vec![] };
                let mut taken = taken.into_iter();
                for n in next {
                    let page = if is_whole(&n) { taken.next() } else { None };
                    pages.push(page.unwrap_or_else(|| PageData::blank(size.min(end - n * size))));
                }
                let from = at / size;
                let begun = pages.iter_mut().skip(from).filter_map(PageData::get_mut).enumerate();
                begun
                    .map(|(n, page)| IoSliceMut::new(&mut page[if n == 0 { at % size } else { 0 }..]))
                    .collect()
            }
        }
    }

    /// Note that this many bytes were received into these buffers.
    pub(crate) fn fill(&mut self, bytes: usize) {
        self.received += bytes;
    }

    /// Number of bytes not yet received.
    pub(crate) fn left(&self) -> usize {
        self.length - self.received
    }

    /// Copy received bytes from another buffer. Returns how many were taken.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) -> usize {
        let most = bytes.len().min(self.left());
        bytes = &bytes[..most];
        while !bytes.is_empty() {
            let mut taken = 0;
            for mut room in self.room() {
                let n = room.len().min(bytes.len());
                room[..n].copy_from_slice(&bytes[..n]);
                bytes = &bytes[n..];
                taken += n;
            }
            self.fill(taken);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::request::Verb;

    const UNITS: Units = Units { sector: 512, page: 2048 };

    fn write(offset: u64, length: u32) -> Request {
        Request { verb: Some(Verb::Write), flags: 0, cookie: 0, offset, length }
    }

    fn bytes(length: u32) -> Vec<u8> {
        (0..length).map(|at| (at / 100 % 251) as u8).collect()
    }

    /// Memory of pages that were overwritten.
    fn used_memory() -> PageMemory {
        let memory = PageMemory::default();
        let used = memory.take(200, 2048);
        used.into_iter().for_each(|_| memory.put(PageData::from(vec![0xee; 2048])));
        memory
    }

    #[test]
    fn data_arrive_whole_in_pieces_of_any_size() {
        for (offset, length) in [(0, 2048), (512, 512), (1536, 4096), (2048, 300_032), (7, 5000), (0, 100)] {
            let (request, data) = (write(offset, length), bytes(length));
            for piece in [1, 500, 3000, 1 << 20] {
                let memory = used_memory();
                let mut receiving = Receiving::new(&request, UNITS, &memory);
                for some in data.chunks(piece) {
                    assert!(!receiving.is_whole());
                    assert_eq!(receiving.take(some), some.len());
                }
                assert_eq!((receiving.is_whole(), receiving.take(&[1])), (true, 0));
                let received = receiving.end();
                if let HeldData::Pages(pages, skip) = &received {
                    assert!(
                        pages[0][..*skip].iter().all(|byte| *byte == 0),
                        "nothing of what was overwritten"
                    );
                }
                assert_eq!(received.data().to_vec(), data, "{length} bytes at {offset}");
                assert_eq!(gathered(&request, &data, UNITS).data().to_vec(), data);
                assert_eq!(Vec::from(received), data);
            }
        }
    }

    #[test]
    fn whole_sectors_lie_by_page_and_parts_of_them_do_not() {
        let HeldData::Pages(pages, skip) = gathered(&write(1536, 4096), &bytes(4096), UNITS) else {
            panic!("sectors are whole");
        };
        assert_eq!(
            (skip, pages.iter().map(|page| page.len()).collect::<Vec<_>>()),
            (1536, vec![2048, 2048, 1536])
        );
        assert!(matches!(gathered(&write(1, 512), &bytes(512), UNITS), HeldData::Bytes(_)));
        assert!(matches!(gathered(&write(0, 513), &bytes(513), UNITS), HeldData::Bytes(_)));
    }

    #[test]
    fn what_has_not_come_takes_little_memory() {
        let memory = used_memory();
        let mut receiving = Receiving::new(&write(u64::MAX - 2559, 64 << 20), UNITS, &memory);
        let room: usize = receiving.room().iter().map(|room| room.len()).sum();
        assert!((2048..=AHEAD + 2048).contains(&room), "{room}");
    }
}
