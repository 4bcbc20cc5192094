//! The file of zeroes that becomes the next segment of the log: the thread that folds the log writes it while the one before is
//! used, so that no FLUSH waits for zeroes.

use crate::data::segment::{SEGMENT, Segment, write_zeroes};
use crate::lock;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What follows the prefix of a segment in its name.
const SPARE: &str = "spare";
/// Zeroes that are synced together, so that a FLUSH never waits behind many.
const STEP: u64 = 1 << 20;

/// The zeroes for the next segment.
pub(crate) struct Spare {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    file: Option<File>,
    is_wanted: bool,
}

impl Spare {
    /// A folder without one. What an earlier server has left may hold records, and is removed.
    pub(crate) fn none(folder: &Path) -> Spare {
        let spare = Spare { path: folder.join(format!("{SEGMENT}{SPARE}")), state: Mutex::default() };
        spare.remove();
        spare
    }

    /// Say whether the segment after the current one should begin with zeroes.
    pub(crate) fn want(&self, is_wanted: bool) {
        lock(&self.state).is_wanted = is_wanted;
    }

    /// Make it a segment, if it is there.
    pub(crate) fn take(&self, folder: &Path, first: u64) -> Option<Segment> {
        let file = lock(&self.state).file.take()?;
        std::fs::rename(&self.path, Segment::name(folder, first)).ok()?;
        Segment::of(folder, first, file).ok()
    }

    /// Write it, if it is wanted and not there, with this length. Returns once it is on the disk. If the disk is full, there
    /// is none.
    pub(crate) fn write(&self, length: u64) {
        let is_wanted = {
            let mut state = lock(&self.state);
            std::mem::take(&mut state.is_wanted) && state.file.is_none()
        };
        if !is_wanted {
            return;
        }
        match create(&self.path, length) {
            Ok(file) => lock(&self.state).file = Some(file),
            Err(_) => self.remove(),
        }
    }

    /// Remove it.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn create(path: &Path, length: u64) -> io::Result<File> {
    let file = File::options().create(true).truncate(true).read(true).write(true).open(path)?;
    for from in (0..length).step_by(STEP as usize) {
        write_zeroes(&file, from, length.min(from + STEP))?;
        file.sync_data()?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::segment::segments;

    const LENGTH: usize = STEP as usize + 100;

    #[test]
    fn zeroes_become_a_segment_once_they_are_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.log.spare");
        std::fs::write(&path, "of an earlier server").unwrap();
        let spare = Spare::none(folder.path());
        assert!(!path.exists());
        spare.write(LENGTH as u64);
        assert!(!path.exists() && spare.take(folder.path(), 5).is_none(), "nobody wants it");
        spare.want(true);
        spare.write(LENGTH as u64);
        assert_eq!(std::fs::read(&path).unwrap(), vec![0; LENGTH]);
        assert_eq!(segments(folder.path()).unwrap(), [0; 0], "it is no segment");
        let segment = spare.take(folder.path(), 5).unwrap();
        assert_eq!((segments(folder.path()).unwrap(), segment.read().unwrap().len()), (vec![5], LENGTH));
        assert!(!path.exists() && spare.take(folder.path(), 6).is_none());
        // It is wanted for one segment.
        spare.write(LENGTH as u64);
        assert!(!path.exists());
    }
}
