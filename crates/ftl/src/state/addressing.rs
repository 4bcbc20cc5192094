//! From the host's blocks of 512 bytes to logical pages and their sectors.

use std::ops::Range;
use wordline_flash::Geometry;
use wordline_units::{HostRequest, LBA_BYTES, Lpn, SectorMask};

/// Division by a number that is mostly a power of two.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    by: u64,
    shift: Option<u32>,
}

impl Divisor {
    fn new(by: u64) -> Divisor {
        Divisor { by, shift: by.is_power_of_two().then(|| by.trailing_zeros()) }
    }

    #[inline(always)]
    fn of(self, n: u64) -> u64 {
        match self.shift {
            Some(shift) => n >> shift,
            None => n / self.by,
        }
    }
}

/// How long sectors and logical pages are, in the host's blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addressing {
    /// Blocks in a sector.
    lbas: Divisor,
    /// Sectors in a logical page.
    sectors: Divisor,
    /// Blocks in a logical page.
    pages: Divisor,
}

/// The extent of a request: logical pages, whole ones except the first and the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// The first logical page.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// The first sector covered of the first page.
    from: u32,
    /// One past the last sector covered of the last page.
    to: u32,
    /// Sectors in a page.
    per_page: u32,
}

impl Addressing {
    pub fn new(geometry: &Geometry) -> Addressing {
        Addressing::of(geometry.sector / LBA_BYTES, geometry.sectors_per_unit as u64)
    }

    /// With `lbas` blocks in a sector and `sectors` sectors in a logical page.
    fn of(lbas: u64, sectors: u64) -> Addressing {
        let [lbas, sectors, pages] = [lbas, sectors, lbas * sectors].map(Divisor::new);
        Addressing { lbas, sectors, pages }
    }

    /// Blocks in a sector.
    #[inline(always)]
    pub fn lbas_per_sector(&self) -> u64 {
        self.lbas.by
    }

    /// Blocks in a logical page.
    #[inline(always)]
    pub fn lbas_per_page(&self) -> u64 {
        self.pages.by
    }

    /// The logical page of a block.
    #[inline(always)]
    pub fn page_of(&self, lba: u64) -> u32 {
        self.pages.of(lba) as u32
    }

    /// The extent of a request, rounded outward to sectors. It covers at least one block.
    #[inline]
    pub fn extent(&self, request: &HostRequest) -> Extent {
        let (first, last) = (request.lba.0, request.lba.0 + request.blocks as u64 - 1);
        let (first_page, last_page) = (self.pages.of(first), self.pages.of(last));
        let within = |lba, page| self.lbas.of(lba - page * self.pages.by) as u32;
        Extent {
            first: first_page as u32,
            last: last_page as u32,
            from: within(first, first_page),
            to: within(last, last_page) + 1,
            per_page: self.sectors.by as u32,
        }
    }
}

impl Extent {
    /// The logical pages that it touches.
    #[inline(always)]
    pub fn units(&self) -> Range<u32> {
        self.first..self.last + 1
    }

    /// How many logical pages it touches.
    #[inline]
    pub fn pages(&self) -> u32 {
        self.last + 1 - self.first
    }

    /// Number of its sectors.
    pub fn sectors(&self) -> u32 {
        (self.last - self.first) * self.per_page + self.to - self.from
    }

    /// Its sectors within one of its pages.
    #[inline]
    pub fn covered(&self, page: u32) -> SectorMask {
        let from = if page == self.first { self.from } else { 0 };
        SectorMask::span(from, if page == self.last { self.to } else { self.per_page })
    }

    /// Sectors from its first one to the first of one of its pages. The first page can start one sector earlier, for
    /// the sectors of a merged program.
    #[inline]
    pub fn before(&self, lpn: Lpn, sector: u32) -> u32 {
        ((lpn.0 - self.first) * self.per_page + sector).saturating_sub(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wordline_units::HostOp;

    fn addressing(lbas: u64, sectors: u64) -> Addressing {
        Addressing::of(lbas, sectors)
    }

    #[test]
    fn extent_covers_its_request_and_ignores_bare_sectors() {
        for (lbas, sectors) in [(8, 4), (1, 8), (3, 5), (32, 1)] {
            let a = addressing(lbas, sectors);
            for lba in 0..90 {
                for blocks in 1..70 {
                    let e = a.extent(&HostRequest::new(HostOp::Write, lba, blocks));
                    let wanted: Vec<u64> = (lba / lbas..=(lba + blocks as u64 - 1) / lbas).collect();
                    let found: Vec<u64> = e
                        .units()
                        .flat_map(|page| e.covered(page).iter().map(move |s| (page, s)).collect::<Vec<_>>())
                        .map(|(page, s)| page as u64 * sectors + s as u64)
                        .collect();
                    assert_eq!(found, wanted, "{lba} {blocks} {lbas} {sectors}");
                    assert_eq!(e.sectors() as usize, wanted.len());
                    assert_eq!((e.first, e.pages()), (a.page_of(lba), e.last - e.first + 1));
                    let last = *wanted.last().unwrap();
                    let at = e.before(Lpn(e.last), (last % sectors) as u32);
                    assert_eq!(at as usize, wanted.len() - 1);
                }
            }
            assert_eq!((a.lbas_per_sector(), a.lbas_per_page()), (lbas, lbas * sectors));
        }
    }
}
