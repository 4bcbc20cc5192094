//! Detects that files of a folder were deleted or replaced while they are in use.

use crate::data::segment::Segment;
use std::io;
#[cfg(not(target_os = "linux"))]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files that stay, with their inodes and the bytes that each has at least.
pub(crate) struct Presence([(PathBuf, u64, u64); 2]);

impl Presence {
    /// Of the database and the file of pages. Only the database has bytes from the beginning.
    pub(crate) fn of(database: &Path, (pages, inode): (&Path, u64)) -> io::Result<Presence> {
        let (of_database, _) = inode_at(database)?;
        Ok(Presence([(database.to_path_buf(), of_database, 1), (pages.to_path_buf(), inode, 0)]))
    }

    /// A file that is missing or was replaced: one of them, or the current segment of the log.
    pub(crate) fn missing(&self, current: &Segment) -> Option<PathBuf> {
        let others = self.0.iter().map(|(path, inode, least)| (path, *inode, *least));
        let is_there = |path: &Path, inode: u64, least: u64| {
            inode_at(path).is_ok_and(|(found, length)| found == inode && length >= least)
        };
        std::iter::once((&current.path, current.inode, 0))
            .chain(others)
            .find(|(path, inode, least)| !is_there(path, *inode, *least))
            .map(|(path, ..)| path.clone())
    }
}

/// The number of the inode at a path, and the length of the file. It asks for no times, unlike `std::fs::metadata`: of a file
/// whose times were asked for, Linux notes the next write exactly, and each sync then has to write its inode, too.
fn inode_at(path: &Path) -> io::Result<(u64, u64)> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
        let found = statx(CWD, path, AtFlags::empty(), StatxFlags::INO | StatxFlags::SIZE)?;
        Ok((found.stx_ino, found.stx_size))
    }
    #[cfg(not(target_os = "linux"))]
    std::fs::metadata(path).map(|found| (found.ino(), found.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_file_that_is_missing_or_another_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let [database, pages] = ["database", "pages"].map(|name| folder.path().join(name));
        std::fs::write(&database, "x").unwrap();
        std::fs::write(&pages, "").unwrap();
        let segment = Segment::create(folder.path(), 1).unwrap();
        let inode = std::fs::metadata(&pages).unwrap().ino();
        let presence = Presence::of(&database, (&pages, inode)).unwrap();
        assert_eq!(presence.missing(&segment), None);
        std::fs::write(&database, "").unwrap();
        assert_eq!(presence.missing(&segment), Some(database.clone()), "it is empty");
        std::fs::write(&database, "x").unwrap();
        std::fs::rename(&pages, folder.path().join("kept")).unwrap();
        std::fs::write(&pages, "").unwrap();
        assert_eq!(presence.missing(&segment), Some(pages), "another file has its name");
        segment.remove();
        assert_eq!(presence.missing(&segment), Some(segment.path.clone()));
    }

    #[test]
    fn inode_and_length_are_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert!(inode_at(&path).is_err());
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(inode_at(&path).unwrap(), (std::fs::metadata(&path).unwrap().ino(), 3));
    }
}
