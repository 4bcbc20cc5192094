//! The log of a folder. Each record is appended to a segment by one write call; the bytes of its pages are in it if they are
//! few since the last sync, and otherwise in the file of pages, where they stay.

use crate::data::changes::{LAST_PART, row_id};
use crate::data::merged::pages_of;
use crate::data::page_file::{Allocation, PageFile, read, write};
use crate::data::places::{Extent, Place, Places, Source};
use crate::data::record::{Held, Record, around, hold};
use crate::data::segment::Segment;
use crate::lock;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use wordline_ftl::PageData;

/// Size in bytes at which a segment is ended.
const LONG: u64 = 16 << 20;
/// Bytes of pages since the last sync that are written to the log, so that a sync waits for one file and not for two.
const LOGGED: u64 = 256 << 10;

/// The bytes of a folder as an earlier server left them.
pub(crate) struct Bytes {
    pub pages: PageFile,
    pub places: Places,
    pub allocation: Allocation,
}

/// Bytes of pages: the position of each page in the record, and its bytes.
pub(crate) type PageBytes = Vec<(usize, PageData)>;

/// The log of a folder that is served.
pub(crate) struct Journal {
    folder: PathBuf,
    /// The database and the file of pages with their inodes, to detect their removal.
    files: [(PathBuf, u64); 2],
    pages: PageFile,
    state: Mutex<State>,
    /// Held during a sync.
    syncing: Mutex<()>,
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
    allocation: Allocation,
    /// Bytes of pages that the log has got since the last sync.
    logged: u64,
    /// Since the last sync, the file of pages was written to: by records, and with bytes that leave the log.
    is_filed: bool,
    is_moved: bool,
}

impl State {
    fn free(&mut self, place: &Place, number: u64) {
        if let Source::Pages(written) = place.source {
            self.allocation.free(place.extent, written, number);
        }
    }

    /// Set the places of pages as a record says.
    fn apply(&mut self, number: u64, record: &Record, (segment, data_at): (&Arc<Segment>, u64)) {
        let mut over = vec![];
        for (block, slot_shift) in &record.emptied {
            let pages = pages_of(*block, *slot_shift);
            let parts = row_id(*pages.start(), 0)..=row_id(*pages.end(), LAST_PART);
            over.extend(self.places.remove_all(parts));
        }
        let place = |source: Source, held: &Held, from: u64| {
            let extent = Extent { at: from + held.at, length: held.length };
            Place { source, extent, checksum: held.checksum }
        };
        for page in &record.pages {
            if let Some(held) = &page.data {
                let logged = place(Source::Log(Arc::clone(segment)), held, data_at);
                over.extend(self.places.insert(page.id, logged));
            }
        }
        for (id, held) in &record.later.filed {
            over.extend(self.places.insert(*id, place(Source::Pages(number), held, 0)));
        }
        over.extend(record.later.replaced.iter().filter_map(|id| self.places.remove(*id)));
        over.iter().for_each(|place| self.free(place, number));
    }
}

impl Journal {
    /// Begin a log for a database, with this record number.
    pub(crate) fn begin(folder: &Path, database: &Path, first: u64, bytes: Bytes) -> io::Result<Journal> {
        let current = Arc::new(Segment::create(folder, first)?);
        let Bytes { pages, places, allocation } = bytes;
        let state = State {
            current,
            length: 0,
            next: first,
            unsynced: vec![],
            places,
            allocation,
            logged: 0,
            is_filed: false,
            is_moved: false,
        };
        let database = (database.to_path_buf(), std::fs::metadata(database)?.ino());
        Ok(Journal {
            folder: folder.to_path_buf(),
            files: [database, (pages.path().to_path_buf(), pages.inode())],
            pages,
            state: Mutex::new(state),
            syncing: Mutex::default(),
            named: AtomicU64::new(0),
        })
    }

    /// Pages have at most so many bytes.
    pub(crate) fn set_page(&self, bytes: u64) {
        lock(&self.state).allocation.set_page(bytes);
    }

    /// Append a record with data, and the bytes of its pages. Returns the segment to fold into the database, if it has
    /// reached its length.
    pub(crate) fn append(
        &self,
        mut record: Record,
        data: &mut Vec<u8>,
        pages: &PageBytes,
    ) -> io::Result<Option<Arc<Segment>>> {
        let mut state = lock(&self.state);
        state.allocation.look_at_forks();
        let bytes: u64 = pages.iter().map(|(_, page)| page.len() as u64).sum();
        if state.logged + bytes <= LOGGED {
            state.logged += bytes;
            for (at, page) in pages {
                record.pages[*at].data = Some(hold(data, page));
            }
        } else {
            self.file(&mut state, &mut record, pages)?;
        }
        record.later.synced = state.allocation.synced();
        let written = self.write(&mut state, &record, data);
        if let Err(e) = written {
            let unused =
                record.later.filed.iter().map(|(_, held)| Extent { at: held.at, length: held.length });
            unused.for_each(|extent| state.allocation.put_back(extent));
            return Err(e);
        }
        if state.length < LONG {
            return Ok(None);
        }
        self.turn(&mut state).map(Some)
    }

    /// Write bytes of pages to the file of pages, for a record that is not written yet.
    fn file(&self, state: &mut State, record: &mut Record, pages: &PageBytes) -> io::Result<()> {
        let mut parts: Vec<(u64, &[u8])> = vec![];
        for (at, page) in pages {
            let extent = state.allocation.take(page.len() as u32);
            let held = Held { at: extent.at, length: extent.length, checksum: crc32fast::hash(page) };
            record.later.filed.push((record.pages[*at].id, held));
            parts.push((extent.at, page));
        }
        state.is_filed = true;
        let written = self.pages.write(&mut parts);
        if written.is_err() {
            for (at, bytes) in parts {
                state.allocation.put_back(Extent { at, length: bytes.len() as u32 });
            }
        }
        written
    }

    /// Write a record, and set the places of its pages.
    fn write(&self, state: &mut State, record: &Record, data: &[u8]) -> io::Result<()> {
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
        state.apply(number, record, (&current, at + before.len() as u64));
        Ok(())
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

    /// Sync: on return, all records are on the disk. A record that is then on the disk says how far the file of pages is, too:
    /// after a crash of the system, later records count for as long as their pages are whole.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let _alone = lock(&self.syncing);
        let (number, is_filed, is_moved) = {
            let mut state = lock(&self.state);
            let number = state.next - 1;
            state.allocation.begin_sync(number);
            state.logged = 0;
            (number, std::mem::take(&mut state.is_filed), std::mem::take(&mut state.is_moved))
        };
        if is_filed || is_moved {
            self.pages.sync()?;
        }
        let unsynced = {
            let mut state = lock(&self.state);
            if is_filed {
                let mut record = Record::default();
                record.later.synced = number;
                self.write(&mut state, &record, &[])?;
            }
            std::mem::take(&mut state.unsynced)
        };
        for segment in &unsynced {
            segment.file.sync_data()?;
        }
        let newest = unsynced.iter().map(|segment| segment.first).max().unwrap_or(0);
        if newest > self.named.load(Ordering::Acquire) {
            // Sync the names of the segment and of the file of pages, too.
            File::open(&self.folder)?.sync_all()?;
            self.named.fetch_max(newest, Ordering::AcqRel);
        }
        lock(&self.state).allocation.end_sync(number);
        Ok(())
    }

    /// Write bytes that leave the log to the file of pages. Returns their place.
    pub(crate) fn put(&self, bytes: &[u8]) -> io::Result<u64> {
        let extent = {
            let mut state = lock(&self.state);
            state.is_moved = true;
            state.allocation.take(bytes.len() as u32)
        };
        self.pages.write(&mut [(extent.at, bytes)])?;
        Ok(extent.at)
    }

    /// Set the places of the initial state, which is on the disk.
    pub(crate) fn begun(&self, filed: &[(u64, Held)]) {
        let mut state = lock(&self.state);
        for (id, held) in filed {
            let extent = Extent { at: held.at, length: held.length };
            state.places.insert(*id, Place { source: Source::Pages(0), extent, checksum: held.checksum });
        }
    }

    /// Note that a segment has been folded: the bytes of these pages are in the file of pages.
    pub(crate) fn folded(&self, first: u64, moved: &[(u64, Held)]) {
        let mut state = lock(&self.state);
        let last = state.next - 1;
        for (id, held) in moved {
            let extent = Extent { at: held.at, length: held.length };
            let place = Place { source: Source::Pages(0), extent, checksum: held.checksum };
            if state.places.get(*id).is_some_and(|place| place.is_in(first)) {
                state.places.insert(*id, place);
            } else {
                // Freed by a record of a later segment. The database has it for now.
                state.free(&place, last);
            }
        }
    }

    /// The place of a page's part, if there is one. It stays until the next record.
    pub(crate) fn place(&self, id: u64) -> Option<Place> {
        lock(&self.state).places.get(id).cloned()
    }

    /// Read the bytes at a place, without a check. Returns how many its file has.
    pub(crate) fn read(&self, place: &Place, bytes: &mut [u8]) -> io::Result<usize> {
        match &place.source {
            Source::Log(segment) => read(&segment.file, place.extent.at, bytes),
            Source::Pages(_) => self.pages.read(place.extent.at, bytes),
        }
    }

    /// The file of a place, in words.
    pub(crate) fn file_of(&self, place: &Place) -> String {
        match &place.source {
            Source::Log(segment) => segment.path.display().to_string(),
            Source::Pages(_) => self.pages.path().display().to_string(),
        }
    }

    /// The places of all bytes now, which stay for as long as the second result is kept.
    pub(crate) fn fork(&self) -> (Places, Arc<()>) {
        let mut state = lock(&self.state);
        let last = state.next - 1;
        (state.places.clone(), state.allocation.fork(last))
    }

    /// A file of the folder that is missing or was replaced.
    pub(crate) fn missing(&self) -> Option<PathBuf> {
        let (path, number) = {
            let state = lock(&self.state);
            (state.current.path.clone(), state.current.file.metadata().map(|m| m.ino()).unwrap_or(0))
        };
        let is_there = |path: &Path, number: u64| std::fs::metadata(path).is_ok_and(|m| m.ino() == number);
        if !is_there(&path, number) {
            return Some(path);
        }
        let is_empty = |path: &Path| std::fs::metadata(path).is_ok_and(|m| m.len() == 0);
        let [database, pages] = &self.files;
        let is_missing = |(path, number): &(PathBuf, u64)| !is_there(path, *number);
        let gone = [database, pages].into_iter().find(|file| is_missing(file));
        gone.or(Some(database).filter(|(path, _)| is_empty(path))).map(|(path, _)| path.clone())
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
