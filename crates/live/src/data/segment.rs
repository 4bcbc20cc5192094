//! A file of the log of a folder.

use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Prefix of the name of a segment; the number of its first record follows.
pub(crate) const SEGMENT: &str = "drive.log.";

/// Bytes of one call that writes zeroes. Some file systems keep what one call writes in one piece of the page cache, all of which
/// they look at for each record that is written into it.
const CALL: u64 = 16 << 10;

#[cfg(test)]
thread_local! {
    /// The disk fails in the next sync of a segment by this thread. Linux says so once, and drops what it could not write.
    pub(crate) static FAILS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// A file of the log.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The number of its first record.
    pub first: u64,
    pub path: PathBuf,
    pub file: File,
    /// The number of its inode, by which its removal is detected.
    pub inode: u64,
}

impl Segment {
    pub(crate) fn name(folder: &Path, first: u64) -> PathBuf {
        folder.join(format!("{SEGMENT}{first}"))
    }

    /// Create a segment.
    pub(crate) fn create(folder: &Path, first: u64) -> io::Result<Segment> {
        let path = Segment::name(folder, first);
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path)?;
        Segment::of(folder, first, file)
    }

    /// Open a segment of an earlier server.
    pub(crate) fn open(folder: &Path, first: u64) -> io::Result<Segment> {
        let path = Segment::name(folder, first);
        let file = File::options().read(true).write(true).open(&path)?;
        Segment::of(folder, first, file)
    }

    /// A file as the segment that has its name.
    pub(crate) fn of(folder: &Path, first: u64, file: File) -> io::Result<Segment> {
        let (path, inode) = (Segment::name(folder, first), file.metadata()?.ino());
        Ok(Segment { first, path, file, inode })
    }

    /// Let the system begin to write what is in its memory only, without a wait.
    pub(crate) fn begin_writing(&self) {
        // SAFETY: the file is open, and the call reads and writes no memory of this process. If it fails, the next sync
        // writes all.
        #[cfg(target_os = "linux")]
        unsafe {
            libc::sync_file_range(self.file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE);
        }
    }

    /// Wait until what was written is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        #[cfg(test)]
        if FAILS.take() {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        self.file.sync_data()
    }

    /// Read the whole segment.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.file.metadata()?.len() as usize];
        self.file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    /// Remove a segment that is no longer needed.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Write zeroes to a range of a file.
pub(crate) fn write_zeroes(file: &File, from: u64, to: u64) -> io::Result<()> {
    let zeroes = [0; CALL as usize];
    let mut at = from;
    while at < to {
        let next = (at / CALL * CALL + CALL).min(to);
        file.write_all_at(&zeroes[..(next - at) as usize], at)?;
        at = next;
    }
    Ok(())
}

/// First records of the segments of a folder, oldest first.
pub(crate) fn segments(folder: &Path) -> io::Result<Vec<u64>> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(SEGMENT));
        found.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    found.sort_unstable();
    Ok(found)
}
