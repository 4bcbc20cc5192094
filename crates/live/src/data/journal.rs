//! The log of a folder. Each record is appended to a segment by one write call; the bytes of its pages are in it if they are
//! few since the last sync, and otherwise in the file of pages, where they stay.

use crate::data::ahead::{Ahead, FEW};
use crate::data::page_file::{Allocation, PageFile, read, write};
use crate::data::places::{Extent, Place, Places, Source};
use crate::data::presence::Presence;
use crate::data::record::{Held, Record, around, hold};
use crate::data::segment::Segment;
use crate::data::spare::Spare;
use crate::data::stored::{PageBytes, Stored, Written};
use crate::lock;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use wordline_ftl::PageData;

/// Size in bytes at which a segment is ended.
const LONG: u64 = 16 << 20;
/// Bytes of pages since the last sync that are written to the log, so that a sync waits for one file and not for two.
const LOGGED: u64 = 256 << 10;
/// Bytes that leave the log and are synced together, so that a sync of the log never waits behind many.
const MOVED: u64 = 1 << 20;

/// The bytes of a folder as an earlier server left them.
pub(crate) struct Bytes {
    pub pages: PageFile,
    pub places: Places,
    pub allocation: Allocation,
}

/// The log of a folder that is served.
pub(crate) struct Journal {
    folder: PathBuf,
    presence: Presence,
    pages: PageFile,
    /// The same file, opened again for bytes that leave the log, so that a FLUSH also learns of an error of the disk.
    moving: PageFile,
    spare: Spare,
    state: Mutex<State>,
    /// Bytes that have left the log since the last of them were synced.
    moved: AtomicU64,
    /// Held during a sync: whether one has failed.
    syncing: Mutex<bool>,
    /// The newest segment whose name is durable, by its first record.
    named: AtomicU64,
    /// Waits for the disk since the server began, one for each file.
    waits: AtomicU64,
    /// A record has been written that is likely to be synced next.
    soon: AtomicBool,
}

struct State {
    current: Arc<Segment>,
    length: u64,
    ahead: Ahead,
    /// The number of the next record.
    next: u64,
    /// Segments of which the newest may not be durable.
    unsynced: Vec<Arc<Segment>>,
    stored: Stored,
    /// Bytes of pages that the log has got since the last sync.
    logged: u64,
    /// Since the last sync, records have written to the file of pages.
    is_filed: bool,
}

impl Journal {
    /// Begin a log for a database, with this record number.
    pub(crate) fn begin(folder: &Path, database: &Path, first: u64, bytes: Bytes) -> io::Result<Journal> {
        let current = Arc::new(Segment::create(folder, first)?);
        let Bytes { pages, places, allocation } = bytes;
        let state = State {
            current,
            length: 0,
            ahead: Ahead::new(first),
            next: first,
            unsynced: vec![],
            stored: Stored::new(places, allocation),
            logged: 0,
            is_filed: false,
        };
        Ok(Journal {
            folder: folder.to_path_buf(),
            presence: Presence::of(database, (pages.path(), pages.inode()))?,
            pages,
            moving: PageFile::open(folder)?,
            spare: Spare::none(folder),
            state: Mutex::new(state),
            moved: AtomicU64::new(0),
            syncing: Mutex::default(),
            named: AtomicU64::new(0),
            waits: AtomicU64::new(0),
            soon: AtomicBool::new(false),
        })
    }

    /// Set the most bytes that a page has.
    pub(crate) fn set_page(&self, bytes: u64) {
        lock(&self.state).stored.allocation_mut().set_page(bytes);
    }

    /// Append a record with data, and the bytes of its pages. Returns the segment to fold into the database, if it has
    /// reached its length.
    pub(crate) fn append(
        &self,
        mut record: Record,
        data: &mut Vec<u8>,
        pages: Vec<PageBytes>,
    ) -> io::Result<Option<Arc<Segment>>> {
        let mut state = lock(&self.state);
        state.stored.allocation_mut().look_at_forks();
        let mut shared = FxHashMap::default();
        let pages: Vec<(usize, PageData)> =
            pages.into_iter().filter_map(|page| state.stored.share(&mut record, page, &mut shared)).collect();
        let bytes: u64 = pages.iter().map(|(_, page)| page.len() as u64).sum();
        let filed = if state.logged + bytes <= LOGGED {
            state.logged += bytes;
            for (at, page) in &pages {
                record.pages[*at].data = Some(hold(data, page));
            }
            Ok(())
        } else {
            self.file(&mut state, &mut record, &pages)
        };
        record.later.synced = state.stored.allocation_mut().synced();
        let written = Written { record: &record, shared: &shared };
        if let Err(e) = filed.and_then(|()| self.write(&mut state, &written, data)) {
            for (_, held) in &record.later.filed {
                let extent = Extent { at: held.at, length: held.length };
                if !state.stored.allocation_mut().unshare(extent) {
                    state.stored.allocation_mut().put_back(extent);
                }
            }
            return Err(e);
        }
        if state.length < LONG {
            return Ok(None);
        }
        self.turn(&mut state).map(Some)
    }

    /// Write bytes of pages to the file of pages, for a record that is not written yet.
    fn file(&self, state: &mut State, record: &mut Record, pages: &[(usize, PageData)]) -> io::Result<()> {
        let mut parts: Vec<(u64, &[u8])> = vec![];
        for (at, page) in pages {
            let extent = state.stored.allocation_mut().take(page.len() as u32);
            let held = Held { at: extent.at, length: extent.length, checksum: crc32fast::hash(page) };
            record.later.filed.push((record.pages[*at].id, held));
            parts.push((extent.at, page));
        }
        state.is_filed = !parts.is_empty() || state.is_filed;
        self.pages.write(&mut parts)
    }

    /// Write a record, and set the places of its pages.
    fn write(&self, state: &mut State, written: &Written<'_>, data: &[u8]) -> io::Result<()> {
        let number = state.next;
        let (before, behind) = around(number, written.record, data.len()).map_err(io::Error::other)?;
        let (at, current) = (state.length, Arc::clone(&state.current));
        if let Err(e) = write(&current.file, &mut [&before, data, &behind], at) {
            // Cut off what was written: it would be a record without an end.
            let _ = state.ahead.cut_off(&current, at);
            return Err(e);
        }
        state.length += (before.len() + data.len() + behind.len()) as u64;
        state.next += 1;
        self.soon.store(state.ahead.is_soon(state.next), Ordering::Relaxed);
        if !state.unsynced.iter().any(|s| s.first == current.first) {
            state.unsynced.push(Arc::clone(&current));
        }
        state.stored.apply(number, written, (&current, at + before.len() as u64));
        Ok(())
    }

    /// End the segment and begin the next. Returns the ended segment, if it has a record.
    pub(crate) fn end_segment(&self) -> io::Result<Option<Arc<Segment>>> {
        let mut state = lock(&self.state);
        let ended = if state.length == 0 { None } else { Some(self.turn(&mut state)?) };
        self.spare.want(false);
        Ok(ended)
    }

    fn turn(&self, state: &mut State) -> io::Result<Arc<Segment>> {
        let of_spare = self.spare.take(&self.folder, state.next);
        let zeroes = if of_spare.is_some() { LONG + FEW } else { 0 };
        let next = Arc::new(of_spare.map_or_else(|| Segment::create(&self.folder, state.next), Ok)?);
        let State { current, length, ahead, .. } = state;
        self.spare.want(ahead.end(current, std::mem::take(length), zeroes));
        Ok(std::mem::replace(current, next))
    }

    /// Write zeroes for the next segment, if it should begin with them. Nobody waits for them.
    pub(crate) fn write_spare(&self) {
        self.spare.write(LONG + FEW);
    }

    /// Sync: on return, all records are on the disk. A record that is then on the disk says how far the file of pages is, too:
    /// after a crash of the system, later records count for as long as their pages are whole.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let mut has_failed = lock(&self.syncing);
        // The system reports an error of the disk once, and whoever asked may not have been a FLUSH.
        if *has_failed {
            return Err(io::Error::other("an earlier sync has failed"));
        }
        let synced = self.sync_alone();
        *has_failed = synced.is_err();
        synced
    }

    fn sync_alone(&self) -> io::Result<()> {
        let (number, is_filed) = {
            let mut state = lock(&self.state);
            let number = state.next - 1;
            state.stored.allocation_mut().begin_sync(number);
            state.logged = 0;
            (number, std::mem::take(&mut state.is_filed))
        };
        if is_filed {
            self.waits.fetch_add(1, Ordering::Relaxed);
            self.pages.sync()?;
        }
        let unsynced = {
            let mut state = lock(&self.state);
            if is_filed {
                let mut record = Record::default();
                record.later.synced = number;
                let written = Written { record: &record, shared: &FxHashMap::default() };
                self.write(&mut state, &written, &[])?;
            }
            let State { current, length, next, ahead, .. } = &mut *state;
            ahead.sync(current, *length, *next);
            self.soon.store(false, Ordering::Relaxed);
            std::mem::take(&mut state.unsynced)
        };
        for segment in &unsynced {
            self.waits.fetch_add(1, Ordering::Relaxed);
            segment.sync()?;
        }
        let newest = unsynced.iter().map(|segment| segment.first).max().unwrap_or(0);
        if newest > self.named.load(Ordering::Acquire) {
            // Sync the names of the segment and of the file of pages, too.
            self.waits.fetch_add(1, Ordering::Relaxed);
            File::open(&self.folder)?.sync_all()?;
            self.named.fetch_max(newest, Ordering::AcqRel);
        }
        lock(&self.state).stored.allocation_mut().end_sync(number);
        Ok(())
    }

    /// Let the system begin to write the last record, if the last sync followed a single one, too. Returns whether it does.
    pub(crate) fn begin_writing(&self) -> bool {
        let begins = self.soon.swap(false, Ordering::Relaxed).then(|| Arc::clone(&lock(&self.state).current));
        begins.inspect(|current| current.begin_writing()).is_some()
    }

    /// Write bytes that leave the log to the file of pages. Returns their place.
    pub(crate) fn put(&self, bytes: &[u8]) -> io::Result<u64> {
        let extent = lock(&self.state).stored.allocation_mut().take(bytes.len() as u32);
        self.moving.write(&mut [(extent.at, bytes)])?;
        if self.moved.fetch_add(bytes.len() as u64, Ordering::Relaxed) > MOVED {
            self.moved.store(0, Ordering::Relaxed);
            self.moving.sync()?;
        }
        Ok(extent.at)
    }

    /// Sync the bytes that have left the log, and then all records. A FLUSH does not wait for these bytes: the log has them, too,
    /// until its segment is removed.
    pub(crate) fn sync_moved(&self) -> io::Result<()> {
        self.moving.sync()?;
        self.sync()
    }

    /// Set the places of the initial state, which is on the disk.
    pub(crate) fn begun(&self, filed: &[(u64, Held)]) {
        let mut state = lock(&self.state);
        for (id, held) in filed {
            let extent = Extent { at: held.at, length: held.length };
            state.stored.insert(*id, Place { source: Source::Pages(0), extent, checksum: held.checksum });
        }
    }

    /// Note that a segment has been folded: the bytes of these pages are in the file of pages.
    pub(crate) fn folded(&self, first: u64, moved: &[(u64, Held)]) {
        let mut state = lock(&self.state);
        let last = state.next - 1;
        for (id, held) in moved {
            let extent = Extent { at: held.at, length: held.length };
            let place = Place { source: Source::Pages(0), extent, checksum: held.checksum };
            if state.stored.places().get(*id).is_some_and(|place| place.is_in(first)) {
                state.stored.insert(*id, place);
            } else {
                // Freed by a record of a later segment. The database has it for now.
                state.stored.free(&place, last);
            }
        }
    }

    /// The place of a page's part, if there is one. It stays until the next record.
    pub(crate) fn place(&self, id: u64) -> Option<Place> {
        lock(&self.state).stored.places().get(id).cloned()
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
        (state.stored.places().clone(), state.stored.allocation_mut().fork(last))
    }

    /// A file of the folder that is missing or was replaced.
    pub(crate) fn missing(&self) -> Option<PathBuf> {
        let current = Arc::clone(&lock(&self.state).current);
        self.presence.missing(&current)
    }

    /// Waits for the disk since the server began, one for each file.
    pub(crate) fn waits(&self) -> u64 {
        self.waits.load(Ordering::Relaxed)
    }

    /// Remove what has no record: the zeroes for the next segment, and the last segment if it is empty. Returns whether it was.
    pub(crate) fn remove_empty(&self) -> bool {
        self.spare.remove();
        let state = lock(&self.state);
        if state.length == 0 {
            state.current.remove();
        }
        state.length == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::lately::Copied;
    use crate::data::record::PagePart;
    use crate::data::row_id::row_id;
    use wordline_ftl::{Oob, Span};
    use wordline_units::{Lpn, SectorMask};

    const PAGE: usize = 300 << 10;

    fn journal(folder: &Path) -> Journal {
        let database = folder.join("drive.sqlite");
        std::fs::write(&database, "x").unwrap();
        let allocation = Allocation::around(vec![], PAGE as u64, 0);
        let bytes = Bytes { pages: PageFile::open(folder).unwrap(), places: Places::default(), allocation };
        Journal::begin(folder, &database, 1, bytes).unwrap()
    }

    /// A record that programs a physical page, whose bytes were read elsewhere or not.
    fn program(journal: &Journal, ppn: u32, byte: u8, from: Option<Copied>) {
        let span = Span { lpn: Lpn(7), mask: SectorMask::first(4), offset: 0 };
        let part = PagePart { id: row_id(ppn, 0), oob: Oob { span, version: 1, sequence: 1 }, data: None };
        let record = Record { pages: vec![part], ..Record::default() };
        let pages = vec![PageBytes { at: 0, page: PageData::from(vec![byte; PAGE]), from }];
        journal.append(record, &mut vec![], pages).unwrap();
    }

    fn erase(journal: &Journal, block: u32) {
        let record = Record { emptied: vec![(block, 2)], ..Record::default() };
        journal.append(record, &mut vec![], vec![]).unwrap();
    }

    fn first_byte(journal: &Journal, ppn: u32) -> Option<u8> {
        let place = journal.place(row_id(ppn, 0))?;
        let mut bytes = vec![0; PAGE];
        assert_eq!(journal.read(&place, &mut bytes).unwrap(), PAGE);
        assert_eq!(crc32fast::hash(&bytes), place.checksum);
        Some(bytes[0])
    }

    #[test]
    fn a_moved_page_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        let length = || std::fs::metadata(folder.path().join("drive.pages")).unwrap().len();
        program(&journal, 1, 5, None);
        let copied = || Copied { id: row_id(1, 0), place: journal.place(row_id(1, 0)).unwrap() };
        let from = copied();
        program(&journal, 4, 5, Some(from.clone()));
        assert_eq!((length(), first_byte(&journal, 4)), (PAGE as u64, Some(5)));
        erase(&journal, 0);
        assert_eq!([1, 4].map(|ppn| first_byte(&journal, ppn)), [None, Some(5)]);
        // Its bytes are no longer where they were read.
        program(&journal, 1, 6, None);
        program(&journal, 5, 5, Some(from));
        assert_eq!([1, 4, 5].map(|ppn| first_byte(&journal, ppn)), [Some(6), Some(5), Some(5)]);
        assert_eq!(length(), 3 * PAGE as u64);
        // What its last page has left is used again.
        erase(&journal, 1);
        program(&journal, 8, 8, None);
        program(&journal, 9, 9, None);
        assert_eq!([1, 4, 8, 9].map(|ppn| first_byte(&journal, ppn)), [Some(6), None, Some(8), Some(9)]);
        assert_eq!(length(), 3 * PAGE as u64);
    }

    #[test]
    fn a_record_that_is_synced_alone_waits_for_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        let mut begun = vec![];
        for _ in 0..4 {
            erase(&journal, 0);
            begun.extend([journal.begin_writing(), journal.begin_writing()]);
            journal.sync().unwrap();
        }
        assert_eq!(begun, [false, false, true, false, true, false, true, false]);
        assert_eq!(journal.waits(), 5, "one for the name of the log");
    }

    #[test]
    fn a_sync_of_the_log_waits_for_no_bytes_that_have_left_it() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        erase(&journal, 0);
        journal.sync().unwrap();
        journal.put(&[1; 4096]).unwrap();
        let waits = journal.waits();
        erase(&journal, 0);
        journal.sync().unwrap();
        assert_eq!(journal.waits(), waits + 1);
    }

    #[test]
    fn zeroes_begin_a_segment_where_few_bytes_are_synced() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        // Returns whether the segment that follows begins with zeroes.
        let begins = |flushes: bool| {
            loop {
                let is_near = lock(&journal.state).length >= LONG - (1 << 20);
                let mut data = vec![3; if is_near { 60 << 10 } else { 1 << 20 }];
                let ended = journal.append(Record::default(), &mut data, vec![]).unwrap();
                if ended.is_some() {
                    journal.write_spare();
                    let current = lock(&journal.state).current.read().unwrap();
                    return current == vec![0; (LONG + FEW) as usize];
                }
                if is_near && flushes {
                    journal.sync().unwrap();
                }
            }
        };
        assert_eq!([true, true, false, false].map(begins), [false, true, true, false]);
        journal.sync().unwrap();
        assert!(journal.remove_empty());
        assert!(!folder.path().join("drive.log.spare").exists());
    }

    #[test]
    fn bytes_stay_in_the_log_while_they_are_few() {
        let folder = tempfile::tempdir().unwrap();
        let journal = journal(folder.path());
        let few = |byte: u8| {
            let span = Span { lpn: Lpn(1), mask: SectorMask::first(1), offset: 0 };
            let oob = Oob { span, version: 1, sequence: 1 };
            let part = PagePart { id: row_id(byte.into(), 0), oob, data: None };
            let record = Record { pages: vec![part], ..Record::default() };
            let pages = vec![PageBytes { at: 0, page: PageData::from(vec![byte; 100 << 10]), from: None }];
            journal.append(record, &mut vec![], pages).unwrap();
            journal.place(row_id(byte.into(), 0)).unwrap().is_in(1)
        };
        assert_eq!([1, 2, 3].map(few), [true, true, false]);
        let records = lock(&journal.state).next;
        journal.sync().unwrap();
        assert_eq!(lock(&journal.state).next, records + 1, "one says how far the file of pages is");
        assert!(few(4));
        journal.sync().unwrap();
        assert_eq!(lock(&journal.state).next, records + 2);
    }
}
