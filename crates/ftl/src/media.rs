//! The seam behind which data are kept: nothing, the metadata of each page, or its bytes too. It is
//! called when an operation completes and never before, so that what it holds is what a power cut
//! would leave.

use crate::map::Span;
use crate::saved::sorted;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use wordline_units::{BlockId, Lpn, Ppn, SectorMask};

/// What a page's spare area says of a span stored in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Oob {
    /// What is stored.
    pub span: Span,
    /// The host write that the data come from; travels unchanged with relocation.
    pub version: u64,
    /// The order of programs.
    pub sequence: u64,
}

/// Where programmed data go.
pub trait Media: Default {
    /// The sectors of a logical page on their way, in RAM.
    type Page: Clone + Default;
    /// Whether pages carry bytes. Where not, none of their copies is made.
    const BYTES: bool;
    /// Whether the version of each page is wanted back from where it is stored.
    const METADATA: bool;

    /// A page holding the host's bytes for the sectors of a mask, one sector after another.
    fn page(data: &[u8], mask: SectorMask, sector: usize) -> Self::Page;
    /// Copy the sectors of a mask from one page onto another.
    fn copy(into: &mut Self::Page, from: &Self::Page, mask: SectorMask, sector: usize);
    /// The bytes of a sector, if the page has them.
    fn sector(page: &Self::Page, sector: u32, bytes: usize) -> &[u8];
    /// A program completes.
    fn program(&mut self, ppn: Ppn, oob: Oob, page: Self::Page);
    /// What is stored for a logical page at a place.
    fn read(&self, ppn: Ppn, lpn: Lpn) -> Self::Page;
    /// The version stored for a logical page at a place; 0 for data older than the run.
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64;
    /// An erase completes.
    fn erase(&mut self, block: BlockId, slot_shift: u32);
}

/// Keeps nothing: for simulation.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct NoMedia;

impl Media for NoMedia {
    type Page = ();
    const BYTES: bool = false;
    const METADATA: bool = false;

    fn page(_: &[u8], _: SectorMask, _: usize) {}
    fn copy(_: &mut (), _: &(), _: SectorMask, _: usize) {}
    fn sector(_: &(), _: u32, _: usize) -> &[u8] {
        &[]
    }
    #[inline(always)]
    fn program(&mut self, _: Ppn, _: Oob, _: ()) {}
    fn read(&self, _: Ppn, _: Lpn) {}
    fn version(&self, _: Ppn, _: Lpn) -> u64 {
        0
    }
    #[inline(always)]
    fn erase(&mut self, _: BlockId, _: u32) {}
}

/// Keeps each page's metadata: what recovery after a power cut has to go by.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Metadata {
    #[serde(serialize_with = "sorted")]
    pages: FxHashMap<u32, Vec<Oob>>,
}

impl Metadata {
    /// Everything stored, by place.
    pub fn pages(&self) -> impl Iterator<Item = (Ppn, &[Oob])> {
        self.pages.iter().map(|(ppn, oobs)| (Ppn(*ppn), oobs.as_slice()))
    }
}

impl Media for Metadata {
    type Page = ();
    const BYTES: bool = false;
    const METADATA: bool = true;

    fn page(_: &[u8], _: SectorMask, _: usize) {}
    fn copy(_: &mut (), _: &(), _: SectorMask, _: usize) {}
    fn sector(_: &(), _: u32, _: usize) -> &[u8] {
        &[]
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, _: ()) {
        self.pages.entry(ppn.0).or_default().push(oob);
    }
    fn read(&self, _: Ppn, _: Lpn) {}
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64 {
        let oobs = self.pages.get(&ppn.0);
        oobs.and_then(|o| o.iter().find(|o| o.span.lpn == lpn)).map_or(0, |o| o.version)
    }
    fn erase(&mut self, block: BlockId, slot_shift: u32) {
        for slot in 0..1 << slot_shift {
            self.pages.remove(&(block.0 << slot_shift | slot));
        }
    }
}

/// Keeps metadata and bytes by physical place, so that a wrong map shows as wrong data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Bytes {
    #[serde(serialize_with = "sorted")]
    slots: FxHashMap<u32, Vec<(Oob, Vec<u8>)>>,
}

impl Bytes {
    fn find(&self, ppn: Ppn, lpn: Lpn) -> Option<&(Oob, Vec<u8>)> {
        self.slots.get(&ppn.0)?.iter().find(|(oob, _)| oob.span.lpn == lpn)
    }
}

impl Media for Bytes {
    type Page = Vec<u8>;
    const BYTES: bool = true;
    const METADATA: bool = true;

    fn page(data: &[u8], mask: SectorMask, sector: usize) -> Vec<u8> {
        let last = 32 - mask.0.leading_zeros() as usize;
        let mut page = vec![0; last * sector];
        for (chunk, s) in data.chunks(sector).zip(mask.iter()) {
            page[s as usize * sector..][..chunk.len()].copy_from_slice(chunk);
        }
        page
    }
    fn copy(into: &mut Vec<u8>, from: &Vec<u8>, mask: SectorMask, sector: usize) {
        for s in mask.iter() {
            let at = s as usize * sector;
            if into.len() < at + sector {
                into.resize(at + sector, 0);
            }
            into[at..at + sector].copy_from_slice(Bytes::sector(from, s, sector));
        }
    }
    fn sector(page: &Vec<u8>, sector: u32, bytes: usize) -> &[u8] {
        static ZEROS: [u8; 65_536] = [0; 65_536];
        page.get(sector as usize * bytes..(sector as usize + 1) * bytes)
            .unwrap_or(&ZEROS[..bytes.min(65_536)])
    }
    fn program(&mut self, ppn: Ppn, oob: Oob, page: Vec<u8>) {
        self.slots.entry(ppn.0).or_default().push((oob, page));
    }
    fn read(&self, ppn: Ppn, lpn: Lpn) -> Vec<u8> {
        self.find(ppn, lpn).map(|(_, page)| page.clone()).unwrap_or_default()
    }
    fn version(&self, ppn: Ppn, lpn: Lpn) -> u64 {
        self.find(ppn, lpn).map_or(0, |(oob, _)| oob.version)
    }
    fn erase(&mut self, block: BlockId, slot_shift: u32) {
        for slot in 0..1 << slot_shift {
            self.slots.remove(&(block.0 << slot_shift | slot));
        }
    }
}
