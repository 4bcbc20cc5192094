//! The contents of a drive, shared between states: only differences are copied.

use crate::content::Content;
use crate::sectors::Sectors;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use twox_hash::XxHash3_128;

/// Unit of sharing in bytes.
const CHUNK: u64 = 4096;
/// Number of chunks that are found together, so that a copy of an image takes little time and memory: a log has thousands.
const GROUP: usize = 64;

/// Chunks that follow each other. Those that were never written are `None`.
type Group = [Option<Arc<[u8]>>; GROUP];

/// The contents of a drive. Only written parts are stored.
#[derive(Clone, Debug)]
pub struct Image {
    size: u64,
    sector: u64,
    groups: BTreeMap<u64, Arc<Group>>,
    /// The sum of the hashes of all nonzero sectors.
    hash: u128,
}

impl Image {
    /// An empty drive.
    pub fn new(size: u64, sector: u64) -> Image {
        Image { size, sector, groups: BTreeMap::new(), hash: 0 }
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
        self.get(chunk).map_or(Content::ZERO, |bytes| Content::of(bytes, at as usize))
    }

    /// A chunk, if it was written.
    fn get(&self, chunk: u64) -> Option<&Arc<[u8]>> {
        let (group, at) = (chunk / GROUP as u64, (chunk % GROUP as u64) as usize);
        self.groups.get(&group)?[at].as_ref()
    }

    /// The written chunks of a range, in order.
    fn chunks(&self, range: Range<u64>) -> impl Iterator<Item = (u64, &Arc<[u8]>)> {
        let groups = self.groups.range(range.start / GROUP as u64..range.end.div_ceil(GROUP as u64));
        let all = groups.flat_map(|(group, chunks)| (group * GROUP as u64..).zip(chunks.iter()));
        all.filter(move |(at, _)| range.contains(at)).filter_map(|(at, chunk)| Some((at, chunk.as_ref()?)))
    }

    /// The contents of a range of bytes.
    pub fn read(&self, offset: u64, into: &mut [u8]) {
        into.fill(0);
        let (size, end) = (self.chunk(), offset + into.len() as u64);
        for (chunk, bytes) in self.chunks(offset / size..end.div_ceil(size)) {
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
        if new.is_none() && self.get(chunk).is_none() {
            return;
        }
        let group = self.groups.entry(chunk / GROUP as u64);
        let group = Arc::make_mut(group.or_insert_with(|| Arc::new([const { None }; GROUP])));
        let bytes = &mut group[(chunk % GROUP as u64) as usize];
        let bytes = bytes.get_or_insert_with(|| vec![0; chunk_size as usize].into());
        let place = &mut Arc::make_mut(bytes)[at..at + size];
        self.hash = self.hash.wrapping_sub(Image::hash_of(sector, place));
        content.copy_to(place);
        self.hash = self.hash.wrapping_add(Image::hash_of(sector, place));
    }

    /// The stored runs of bytes, each with its offset, in order.
    pub fn runs(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let size = self.chunk();
        let end = self.size;
        self.chunks(0..end.div_ceil(size)).map(move |(chunk, bytes)| {
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
    fn chunks_are_read_across_groups_and_copied() {
        let mut one = Image::new(8 << 20, 512);
        let group = GROUP as u64 * CHUNK / 512;
        for sector in [0, group - 1, group, 3 * group + 9, (8 << 20) / 512 - 1] {
            one.set(sector, &filled(sector as u8 | 1));
        }
        let mut two = one.clone();
        two.set(group, &filled(77));
        let mut bytes = [9; 1536];
        one.read((group - 1) * 512, &mut bytes);
        assert_eq!((bytes[0], bytes[512], bytes[1024]), (255, 1, 0));
        two.read((group - 1) * 512, &mut bytes);
        assert_eq!((bytes[0], bytes[512], bytes[1024]), (255, 77, 0));
        let runs: Vec<u64> = one.runs().map(|(offset, _)| offset / CHUNK).collect();
        assert_eq!(runs, [0, 63, 64, 193, 2047]);
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
