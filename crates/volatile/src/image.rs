//! The contents of a drive, shared between states: only differences are copied.

use crate::content::Content;
use crate::sectors::Sectors;
use std::collections::BTreeMap;
use std::sync::Arc;
use twox_hash::XxHash3_128;

/// Unit of sharing in bytes.
const CHUNK: u64 = 4096;

/// The contents of a drive. Only written parts are stored.
#[derive(Clone, Debug)]
pub struct Image {
    size: u64,
    sector: u64,
    chunks: BTreeMap<u64, Arc<[u8]>>,
    /// The sum of the hashes of all nonzero sectors.
    hash: u128,
}

impl Image {
    /// An empty drive.
    pub fn new(size: u64, sector: u64) -> Image {
        Image { size, sector, chunks: BTreeMap::new(), hash: 0 }
    }

    /// Size of the drive in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// A hash that is equal for equal contents.
    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// A hash that is equal for equal contents of these sectors.
    pub fn hash_of_sectors(&self, sectors: &Sectors) -> u128 {
        let mut hash: u128 = 0;
        for sector in sectors.iter() {
            if let Some(bytes) = self.sector(sector).bytes(self.sector as usize) {
                hash = hash.wrapping_add(Image::hash_of(sector, bytes));
            }
        }
        hash
    }

    /// Size of a chunk in bytes.
    fn chunk(&self) -> u64 {
        CHUNK.max(self.sector)
    }

    /// The hash of a sector's contents; 0 for zeroes.
    fn hash_of(sector: u64, bytes: &[u8]) -> u128 {
        if bytes.iter().all(|b| *b == 0) { 0 } else { XxHash3_128::oneshot_with_seed(sector, bytes) }
    }

    /// The contents of a sector.
    pub fn sector(&self, sector: u64) -> Content {
        let (chunk, at) = (sector * self.sector / self.chunk(), sector * self.sector % self.chunk());
        self.chunks.get(&chunk).map_or(Content::ZERO, |bytes| Content::of(bytes, at as usize))
    }

    /// The contents of a range of bytes.
    pub fn read(&self, offset: u64, into: &mut [u8]) {
        into.fill(0);
        let (size, end) = (self.chunk(), offset + into.len() as u64);
        for (chunk, bytes) in self.chunks.range(offset / size..end.div_ceil(size)) {
            let (from, to) = ((chunk * size).max(offset), ((chunk + 1) * size).min(end));
            let part = &bytes[(from - chunk * size) as usize..(to - chunk * size) as usize];
            into[(from - offset) as usize..(to - offset) as usize].copy_from_slice(part);
        }
    }

    /// Set the contents of a sector.
    pub fn set(&mut self, sector: u64, content: &Content) {
        let (size, chunk_size) = (self.sector as usize, self.chunk());
        let (chunk, at) = (sector * self.sector / chunk_size, (sector * self.sector % chunk_size) as usize);
        let new = content.bytes(size);
        if new.is_none() && !self.chunks.contains_key(&chunk) {
            return;
        }
        let bytes = self.chunks.entry(chunk).or_insert_with(|| vec![0; chunk_size as usize].into());
        let place = &mut Arc::make_mut(bytes)[at..at + size];
        self.hash = self.hash.wrapping_sub(Image::hash_of(sector, place));
        content.copy_to(place);
        self.hash = self.hash.wrapping_add(Image::hash_of(sector, place));
    }

    /// The stored runs of bytes, each with its offset, in order.
    pub fn runs(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let size = self.chunk();
        let end = self.size;
        self.chunks.iter().map(move |(chunk, bytes)| {
            let at = chunk * size;
            (at, &bytes[..bytes.len().min(end.saturating_sub(at) as usize)])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(byte: u8) -> Content {
        Content::of(&vec![byte; 512].into(), 0)
    }

    #[test]
    fn images_are_equal_by_hash_as_by_contents() {
        let mut one = Image::new(1 << 20, 512);
        let empty = one.hash();
        one.set(3, &filled(1));
        let mut two = one.clone();
        two.set(9, &filled(2));
        assert_ne!(one.hash(), two.hash());
        two.set(9, &Content::ZERO);
        assert_eq!(one.hash(), two.hash(), "zeroes that were written are zeroes");
        two.set(3, &filled(0));
        assert_eq!(two.hash(), empty);
        let mut bytes = [9; 1024];
        one.read(3 * 512 - 256, &mut bytes);
        assert_eq!((bytes[255], bytes[256], bytes[767], bytes[768]), (0, 1, 1, 0));
        let mut read = Sectors::default();
        read.insert(0..9);
        two.set(9, &filled(7));
        two.set(3, &filled(1));
        assert_eq!(one.hash_of_sectors(&read), two.hash_of_sectors(&read), "they differ in sector 9 alone");
        two.set(8, &filled(7));
        assert_ne!(one.hash_of_sectors(&read), two.hash_of_sectors(&read));
    }
}
