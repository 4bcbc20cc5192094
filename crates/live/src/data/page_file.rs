//! The file of a folder with the bytes of its pages, and which of its ranges are free.

use crate::data::places::Extent;
use rustc_hash::FxHashMap;
use rustix::io::{Errno, pwritev};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IoSlice};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// The name of the file.
pub(crate) const PAGES: &str = "drive.pages";
/// Bytes of one write call, if a page has not more. Some file systems keep what one call writes in one piece of the page cache,
/// all of which they look at whenever a page in it is written again.
const CALL: usize = 16 << 10;
/// Bytes of a range, unless the drive has larger pages.
const GRAIN: u64 = 4096;

/// The file with the bytes of pages.
pub(crate) struct PageFile {
    path: PathBuf,
    file: File,
}

impl PageFile {
    /// Open the file, or create it.
    pub(crate) fn open(folder: &Path) -> io::Result<PageFile> {
        let path = folder.join(PAGES);
        let file = File::options().create(true).truncate(false).read(true).write(true).open(&path)?;
        Ok(PageFile { path, file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of its inode, by which its removal is detected.
    pub(crate) fn inode(&self) -> u64 {
        self.file.metadata().map_or(0, |found| found.ino())
    }

    pub(crate) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    pub(crate) fn shorten(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    /// Read the bytes at a place, without a check. Returns how many the file has.
    pub(crate) fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
        read(&self.file, at, bytes)
    }

    /// Write bytes to ranges. Adjacent ranges are written by one call.
    pub(crate) fn write(&self, parts: &mut [(u64, &[u8])]) -> io::Result<()> {
        parts.sort_unstable_by_key(|(at, _)| *at);
        let adjacent = |a: &(u64, &[u8]), b: &(u64, &[u8])| a.0 + a.1.len() as u64 == b.0;
        let longest = parts.iter().map(|(_, bytes)| bytes.len()).max().unwrap_or(0);
        let most = (CALL / longest.max(1)).max(1);
        for run in parts.chunk_by(adjacent).flat_map(|run| run.chunks(most)) {
            if let [(at, bytes)] = run {
                self.file.write_all_at(bytes, *at)?;
                continue;
            }
            let mut bytes: Vec<&[u8]> = run.iter().map(|(_, bytes)| *bytes).collect();
            write(&self.file, &mut bytes, run[0].0)?;
        }
        Ok(())
    }

    /// Wait until what was written is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// Read the bytes at a place. Returns how many the file has.
pub(crate) fn read(file: &File, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let mut found = 0;
    while found < bytes.len() {
        match file.read_at(&mut bytes[found..], at + found as u64) {
            Ok(0) => break,
            Ok(count) => found += count,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(found)
}

/// Write parts in sequence, usually by one call.
pub(crate) fn write(file: &File, parts: &mut [&[u8]], mut at: u64) -> io::Result<()> {
    while parts.iter().any(|part| !part.is_empty()) {
        let slices: Vec<IoSlice<'_>> = parts.iter().map(|part| IoSlice::new(part)).collect();
        let mut written = match pwritev(file, &slices, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => written,
            Err(Errno::INTR) => continue,
            Err(e) => return Err(e.into()),
        };
        at += written as u64;
        for part in parts.iter_mut() {
            let taken = written.min(part.len());
            *part = &part[taken..];
            written -= taken;
        }
    }
    Ok(())
}

/// A range that no page has any more: it was written by one record of the log and freed by another.
#[derive(Clone, Copy, Debug)]
struct Freed {
    extent: Extent,
    written: u64,
    freed: u64,
}

/// Which ranges of the file are free. A crash of the system may return the drive to the last record that is known
/// to be on the disk, or to a later one: a range that such a state needs is reused only after the next sync. The
/// same holds for forks, which read the pages that were there when they began.
#[derive(Debug, Default)]
pub(crate) struct Allocation {
    /// All ranges are multiples of this many bytes; 0 stands for the least.
    grain: u64,
    end: u64,
    /// Free ranges by their bytes.
    free: BTreeMap<u64, Vec<u64>>,
    waiting: Vec<Freed>,
    /// Ranges that several pages share: how many beside one, by place.
    shared: FxHashMap<u64, u32>,
    /// The number of the record up to which all is on the disk, and the same once the sync under way is done.
    synced: u64,
    syncing: u64,
    /// Forks, by the last record before them.
    forks: Vec<(u64, Weak<()>)>,
}

impl Allocation {
    /// Every range but the used ones is free. `page` is the most bytes that a page has, 0 if that is not known.
    pub(crate) fn around(mut used: Vec<Extent>, page: u64, synced: u64) -> Allocation {
        let mut allocation = Allocation { grain: page, synced, syncing: synced, ..Allocation::default() };
        // A page without bytes has no room.
        used.retain(|extent| extent.length > 0);
        used.sort_unstable_by_key(|extent| extent.at);
        let grain = allocation.grain();
        let mut last = None;
        for extent in used {
            if last == Some(extent.at) {
                allocation.share(extent);
                continue;
            }
            last = Some(extent.at);
            // What is as long as a page is free from its start on; a rest that is shorter is not used.
            while allocation.end + grain <= extent.at {
                allocation.free.entry(grain).or_default().push(allocation.end);
                allocation.end += grain;
            }
            allocation.end = allocation.end.max(extent.at + allocation.rounded(extent.length));
        }
        allocation.free.values_mut().for_each(|places| places.reverse());
        allocation
    }

    /// Set the most bytes that a page has.
    pub(crate) fn set_page(&mut self, page: u64) {
        self.grain = page;
    }

    /// The bytes of the file that are used, or free in between.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    fn grain(&self) -> u64 {
        if self.grain < 512 { GRAIN } else { self.grain }
    }

    fn rounded(&self, length: u32) -> u64 {
        u64::from(length).next_multiple_of(self.grain())
    }

    /// Take a range. The one that was freed last is the most likely to be in the page cache.
    pub(crate) fn take(&mut self, length: u32) -> Extent {
        let rounded = self.rounded(length);
        let found = self.free.get_mut(&rounded).and_then(Vec::pop);
        let at = found.unwrap_or_else(|| {
            self.end += rounded;
            self.end - rounded
        });
        Extent { at, length }
    }

    /// Return a range that was not used.
    pub(crate) fn put_back(&mut self, extent: Extent) {
        if extent.length > 0 {
            self.free.entry(self.rounded(extent.length)).or_default().push(extent.at);
        }
    }

    /// One more page has its bytes in this range.
    pub(crate) fn share(&mut self, extent: Extent) {
        *self.shared.entry(extent.at).or_default() += 1;
    }

    /// One page less has its bytes in this range. Returns whether another has.
    pub(crate) fn unshare(&mut self, extent: Extent) -> bool {
        let shared = self.shared.get_mut(&extent.at).filter(|_| extent.length > 0);
        let Some(others) = shared else { return false };
        *others -= 1;
        if *others == 0 {
            self.shared.remove(&extent.at);
        }
        true
    }

    /// A record has freed a range that another had written, unless another page has it.
    pub(crate) fn free(&mut self, extent: Extent, written: u64, freed: u64) {
        if self.unshare(extent) {
            return;
        }
        let freed = Freed { extent, written, freed };
        if self.is_free(&freed) {
            self.put_back(extent);
        } else {
            self.waiting.push(freed);
        }
    }

    fn is_free(&self, freed: &Freed) -> bool {
        let by_disk = freed.freed <= self.synced || freed.written > self.syncing;
        by_disk && !self.forks.iter().any(|(begun, _)| (freed.written..freed.freed).contains(begun))
    }

    fn release(&mut self) {
        for freed in std::mem::take(&mut self.waiting) {
            self.free(freed.extent, freed.written, freed.freed);
        }
    }

    /// A sync of all up to this record begins.
    pub(crate) fn begin_sync(&mut self, number: u64) {
        self.syncing = self.syncing.max(number);
    }

    /// All up to this record is on the disk.
    pub(crate) fn end_sync(&mut self, number: u64) {
        self.synced = self.synced.max(number);
        self.release();
    }

    /// The number of the record up to which all is on the disk.
    pub(crate) fn synced(&self) -> u64 {
        self.synced
    }

    /// A fork reads the pages as of this record for as long as it keeps the result.
    pub(crate) fn fork(&mut self, number: u64) -> Arc<()> {
        let fork = Arc::new(());
        self.forks.push((number, Arc::downgrade(&fork)));
        fork
    }

    /// Release what forks needed that have ended.
    pub(crate) fn look_at_forks(&mut self) {
        let before = self.forks.len();
        self.forks.retain(|(_, fork)| fork.strong_count() > 0);
        if self.forks.len() < before {
            self.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 16 << 10;

    fn at(page: u64) -> Extent {
        Extent { at: page * PAGE, length: PAGE as u32 }
    }

    fn take(allocation: &mut Allocation) -> u64 {
        allocation.take(PAGE as u32).at / PAGE
    }

    #[test]
    fn gaps_are_filled_before_the_file_grows() {
        let short = Extent { at: 4 * PAGE, length: 512 };
        let mut allocation = Allocation::around(vec![short, at(1)], PAGE, 9);
        assert_eq!(allocation.end(), 5 * PAGE);
        let taken: Vec<u64> = (0..5).map(|_| take(&mut allocation)).collect();
        assert_eq!(taken, [0, 2, 3, 5, 6]);
        allocation.put_back(at(3));
        assert_eq!([take(&mut allocation), take(&mut allocation)], [3, 7]);
    }

    #[test]
    fn what_the_disk_may_return_to_is_reused_after_a_sync() {
        let mut allocation = Allocation::around(vec![at(0)], PAGE, 9);
        // Of the state on the disk: not free before a sync of the record that frees it.
        allocation.free(at(0), 0, 10);
        assert_eq!(take(&mut allocation), 1);
        // Written and freed since: the state on the disk does not have it.
        allocation.free(at(1), 10, 11);
        assert_eq!(take(&mut allocation), 1);
        // A sync begins that covers record 12, which wrote it: from now on it may be on the disk.
        allocation.begin_sync(12);
        allocation.free(at(1), 12, 13);
        assert_eq!(take(&mut allocation), 2);
        allocation.end_sync(12);
        assert_eq!([take(&mut allocation), take(&mut allocation)], [0, 3], "1 is freed by 13");
        allocation.begin_sync(13);
        allocation.end_sync(13);
        assert_eq!((take(&mut allocation), allocation.synced()), (1, 13));
    }

    #[test]
    fn a_range_that_pages_share_is_free_after_the_last() {
        let empty = |page| Extent { length: 0, ..at(page) };
        let mut allocation = Allocation::around(vec![at(0), empty(1), at(1), at(0), empty(0)], PAGE, 0);
        assert_eq!(allocation.end(), 2 * PAGE);
        allocation.share(at(0));
        allocation.free(empty(0), 1, 1);
        for number in [1, 2, 3] {
            assert_eq!(take(&mut allocation), u64::from(number as u32) + 1, "{number}");
            allocation.free(at(0), 1, number);
        }
        assert_eq!(take(&mut allocation), 0);
    }

    #[test]
    fn what_a_fork_reads_is_reused_after_its_end() {
        let mut allocation = Allocation::around(vec![at(0), at(1)], PAGE, 0);
        let fork = allocation.fork(5);
        allocation.free(at(0), 3, 6);
        allocation.free(at(1), 6, 7);
        assert_eq!([take(&mut allocation), take(&mut allocation)], [1, 2]);
        drop(fork);
        assert_eq!(take(&mut allocation), 3, "not looked at");
        allocation.look_at_forks();
        assert_eq!(take(&mut allocation), 0);
    }

    #[test]
    fn bytes_are_found_where_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = PageFile::open(folder.path()).unwrap();
        let parts = [(8192, vec![3; 4096]), (0, vec![1; 4096]), (4096, vec![2; 4096]), (20480, vec![4; 100])];
        file.write(&mut parts.iter().map(|(at, bytes)| (*at, &bytes[..])).collect::<Vec<_>>()).unwrap();
        for (at, bytes) in &parts {
            let mut found = vec![0; bytes.len()];
            assert_eq!((file.read(*at, &mut found).unwrap(), &found), (bytes.len(), bytes));
        }
        assert_eq!(file.read(20480, &mut [0; 4096]).unwrap(), 100);
        assert_eq!(file.length().unwrap(), 20580);
    }
}
