//! The log of a folder. Each record is appended to a segment by one write call. Also the places of page bytes
//! that are in the log and not yet in the database.

use crate::data::record::{Held, Record, around};
use crate::lock;
use rustc_hash::FxHashMap;
use rustix::io::{Errno, pwritev};
use std::fs::File;
use std::io::{self, IoSlice};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Prefix of the name of a segment; the number of its first record follows.
pub(crate) const SEGMENT: &str = "drive.log.";
/// Size in bytes at which a segment is ended.
const LONG: u64 = 16 << 20;

/// A file of the log.
pub(crate) struct Segment {
    /// The number of its first record.
    pub first: u64,
    pub path: PathBuf,
    pub file: File,
}

/// Place of the bytes of a page in the log.
#[derive(Clone)]
pub(crate) struct Place {
    segment: Arc<Segment>,
    at: u64,
    pub held: Held,
}

/// Places by the number of a page's part.
pub(crate) type Places = FxHashMap<u64, Place>;

/// The log of a folder that is served.
pub(crate) struct Journal {
    folder: PathBuf,
    /// The database and its inode, to detect its removal.
    database: (PathBuf, u64),
    state: Mutex<State>,
    /// The newest segment whose name is durable, by its first record.
    named: AtomicU64,
}

struct State {
    current: Arc<Segment>,
    length: u64,
    /// The number of the next record.
    next: u64,
    /// Segments of which the newest may not be durable.
    unsynced: Vec<Arc<Segment>>,
    places: Places,
}

impl Segment {
    pub(crate) fn name(folder: &Path, first: u64) -> PathBuf {
        folder.join(format!("{SEGMENT}{first}"))
    }

    /// Create a segment.
    fn create(folder: &Path, first: u64) -> io::Result<Segment> {
        let path = Segment::name(folder, first);
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path)?;
        Ok(Segment { first, path, file })
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

impl Place {
    /// Read the bytes, without a check.
    pub(crate) fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.held.length as usize];
        self.segment.file.read_exact_at(&mut bytes, self.at + self.held.at)?;
        Ok(bytes)
    }

    /// Its place, in words.
    pub(crate) fn file(&self) -> String {
        self.segment.path.display().to_string()
    }
}

impl Journal {
    /// Begin a log for a database, with this record number.
    pub(crate) fn begin(folder: &Path, database: &Path, first: u64) -> io::Result<Journal> {
        let current = Arc::new(Segment::create(folder, first)?);
        let state = State { current, length: 0, next: first, unsynced: vec![], places: Places::default() };
        let database = (database.to_path_buf(), std::fs::metadata(database)?.ino());
        Ok(Journal {
            folder: folder.to_path_buf(),
            database,
            state: Mutex::new(state),
            named: AtomicU64::new(0),
        })
    }

    /// Append a record. Returns the segment to fold into the database, if it has reached its length.
    pub(crate) fn append(&self, record: &Record, data: &[u8]) -> io::Result<Option<Arc<Segment>>> {
        let mut state = lock(&self.state);
        let number = state.next;
        let (before, behind) = around(number, record, data.len()).map_err(io::Error::other)?;
        let (at, current) = (state.length, Arc::clone(&state.current));
        if let Err(e) = write(&current.file, &mut [&before, data, &behind], at) {
            // Cut off what was written: it would be a record without an end.
            let _ = current.file.set_len(at);
            return Err(e);
        }
        state.length += (before.len() + data.len() + behind.len()) as u64;
        state.next += 1;
        if !state.unsynced.iter().any(|s| s.first == current.first) {
            state.unsynced.push(Arc::clone(&current));
        }
        let data_at = at + before.len() as u64;
        for page in &record.pages {
            if let Some(held) = page.data {
                let place = Place { segment: Arc::clone(&current), at: data_at, held };
                state.places.insert(page.id, place);
            }
        }
        if state.length < LONG {
            return Ok(None);
        }
        self.turn(&mut state).map(Some)
    }

    /// End the segment and begin the next. Returns the ended segment, if it has a record.
    pub(crate) fn end_segment(&self) -> io::Result<Option<Arc<Segment>>> {
        let mut state = lock(&self.state);
        if state.length == 0 { Ok(None) } else { self.turn(&mut state).map(Some) }
    }

    fn turn(&self, state: &mut State) -> io::Result<Arc<Segment>> {
        let next = Arc::new(Segment::create(&self.folder, state.next)?);
        state.length = 0;
        Ok(std::mem::replace(&mut state.current, next))
    }

    /// Sync: on return, all records are on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let unsynced = std::mem::take(&mut lock(&self.state).unsynced);
        for segment in &unsynced {
            segment.file.sync_data()?;
        }
        let newest = unsynced.iter().map(|segment| segment.first).max().unwrap_or(0);
        if newest > self.named.load(Ordering::Acquire) {
            // Sync the name of the segment, too.
            File::open(&self.folder)?.sync_all()?;
            self.named.fetch_max(newest, Ordering::AcqRel);
        }
        Ok(())
    }

    /// Note that a segment has been folded: the bytes of its pages are in the database.
    pub(crate) fn folded(&self, first: u64) {
        lock(&self.state).places.retain(|_, place| place.segment.first != first);
    }

    /// Place of the bytes of a page's part, if they are in the log.
    pub(crate) fn place(&self, id: u64) -> Option<Place> {
        lock(&self.state).places.get(&id).cloned()
    }

    /// Places of all bytes that are now in the log, with the result of `meanwhile`, which reads the database
    /// before more is folded.
    pub(crate) fn places<T>(&self, meanwhile: impl FnOnce() -> T) -> (Places, T) {
        let state = lock(&self.state);
        let found = meanwhile();
        (state.places.clone(), found)
    }

    /// A file of the folder that is missing or was replaced.
    pub(crate) fn missing(&self) -> Option<PathBuf> {
        let (path, number) = {
            let state = lock(&self.state);
            (state.current.path.clone(), state.current.file.metadata().map(|m| m.ino()).unwrap_or(0))
        };
        let is_there = |path: &Path, number: u64| {
            std::fs::metadata(path).is_ok_and(|m| m.ino() == number && m.len() > 0)
        };
        if std::fs::metadata(&path).is_ok_and(|m| m.ino() == number) {
            return (!is_there(&self.database.0, self.database.1)).then(|| self.database.0.clone());
        }
        Some(path)
    }

    /// Remove the last segment if it is empty. Returns whether it was.
    pub(crate) fn remove_empty(&self) -> bool {
        let state = lock(&self.state);
        if state.length == 0 {
            state.current.remove();
        }
        state.length == 0
    }
}

/// Write parts in sequence, usually by one call.
fn write(file: &File, parts: &mut [&[u8]], mut at: u64) -> io::Result<()> {
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
