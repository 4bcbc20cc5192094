//! The folder of a drive: its lock, its log, its database, and what is written to it.
//!
//! All changes since the last replies are one record of the log, written by one call before the replies are sent; a
//! background thread folds the log into the database. If a server is killed, the next start folds the rest of the log.

use crate::data::changes::Changes;
use crate::data::crashed::boot;
use crate::data::flash::Flash;
use crate::data::fold::{Folding, settle};
use crate::data::journal::Journal;
use crate::data::merged::Merged;
use crate::data::not_written::{NotWritten, gone, not_written};
use crate::data::opening::{DATABASE, Opened, end, open, settings, sql};
use crate::data::pages::Pages;
use crate::data::record::{BlockState, PagePart, Record, hold};
use crate::data::row_id::{of_row_id, row_id};
use crate::data::rows::runs;
use crate::data::segment::segments;
use crate::data::stored::PageBytes;
use crate::data::sums::{Sums, note, noted};
use crate::error::ServeError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wordline_ftl::{BlockFound, Ftl, Media};
use wordline_units::{Lpn, SimTime};

/// How often the wear of the flash is written.
const WEAR_EVERY: Duration = Duration::from_secs(1);
/// How often to check, while writing, whether the folder still exists.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Maximum bytes of memory that are kept for the next record.
const BUFFER: usize = 4 << 20;
/// Number of possibly obsolete rows of protected RAM before they are checked.
const FEWEST_ROWS: usize = 1024;

/// Data written to the folder in addition to the changes of the drive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    /// Contents of sectors after a power cut, or that flash has them again.
    pub left: Vec<(u64, Option<Vec<u8>>)>,
    /// Sectors that are damaged from now on, or no longer.
    pub damaged: Vec<(u64, bool)>,
}

/// The folder of a drive that is served.
pub(crate) struct Folder {
    path: PathBuf,
    /// Declared before the connection, so that the connection is closed last and checkpoints SQLite's log.
    folding: Option<Folding>,
    database: Connection,
    journal: Arc<Journal>,
    /// Held as long as the folder is open.
    lock: File,
    /// Contents of protected RAM in the database: sectors, and entries of the trim log.
    writes: BTreeSet<u64>,
    trims: BTreeSet<u64>,
    /// Number of rows at which obsolete rows are looked for.
    look_at: usize,
    wear_written: Instant,
    looked: Instant,
    /// Damage found, as lines for the log.
    notes: Vec<String>,
    /// Memory for the data of the next record.
    buffer: Vec<u8>,
    /// Commits since the server began.
    commits: u64,
}

/// The log of a folder, to be synced while commits continue.
pub(crate) struct Log {
    path: PathBuf,
    journal: Arc<Journal>,
}

impl Log {
    /// Sync all commits to the disk.
    pub(crate) fn sync(&self) -> Result<(), NotWritten> {
        if let Some(file) = self.journal.missing() {
            return Err(gone(&self.path, &file));
        }
        self.journal.sync().map_err(|e| not_written(&self.path, &e))
    }

    /// Let the system begin to write what is likely to be synced next.
    pub(crate) fn begin_writing(&self) {
        self.journal.begin_writing();
    }

    /// Waits for the disk since the server began, one for each file.
    pub(crate) fn waits(&self) -> u64 {
        self.journal.waits()
    }
}

impl Folder {
    /// Lock the folder, which is created if missing. The lock is exclusive.
    pub(crate) fn open(path: &Path) -> Result<Folder, ServeError> {
        let opened = open(path)?;
        let Opened { lock, database, bytes, next, unit, kept, notes } = opened;
        let machine =
            |e: io::Error| ServeError::Machine(format!("--data {}: cannot be written: {e}", path.display()));
        let journal = Journal::begin(path, &path.join(DATABASE), next, bytes).map_err(machine)?;
        let journal = Arc::new(journal);
        let noted = note(&database, "open", &true).and_then(|()| note(&database, "boot", &boot()));
        noted.map_err(|e| sql(path, "cannot be written", &e))?;
        let behind = Folder::connect(path).map_err(|e| sql(path, "cannot be opened", &e))?;
        let folding = Some(Folding::new(behind, Arc::clone(&journal), kept, unit).map_err(machine)?);
        Ok(Folder {
            path: path.to_path_buf(),
            database,
            journal,
            lock,
            writes: BTreeSet::new(),
            trims: BTreeSet::new(),
            look_at: FEWEST_ROWS,
            wear_written: Instant::now(),
            looked: Instant::now(),
            folding,
            notes,
            buffer: vec![],
            commits: 0,
        })
    }

    fn connect(path: &Path) -> rusqlite::Result<Connection> {
        let database = Connection::open(path.join(DATABASE))?;
        settings(&database)?;
        Ok(database)
    }

    /// Note durably that the drive has its initial contents. A folder without that note is made anew by the next start.
    pub(crate) fn complete(&self) -> Result<(), NotWritten> {
        self.journal.sync().and_then(|()| end(&self.lock)).map_err(|e| not_written(&self.path, &e))
    }

    /// Its log.
    pub(crate) fn log(&self) -> Log {
        Log { path: self.path.clone(), journal: Arc::clone(&self.journal) }
    }

    /// Damage found, as lines for the log.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Check that the folder still exists.
    pub(crate) fn look(&mut self) -> Result<(), NotWritten> {
        self.looked = Instant::now();
        self.journal.missing().map_or(Ok(()), |file| Err(gone(&self.path, &file)))
    }

    /// Commits since the server began.
    pub(crate) fn commits(&self) -> u64 {
        self.commits
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> &Connection {
        &self.database
    }

    /// Note which rows protected RAM has in the database.
    pub(crate) fn note_rows(&mut self, writes: BTreeSet<u64>, trims: BTreeSet<u64>) {
        (self.writes, self.trims) = (writes, trims);
    }

    /// Copy the folder to a new one, without the bytes of pages: all that a drive needs to start.
    pub(crate) fn copy_without_bytes(&self, to: &Path) -> Result<(), ServeError> {
        let copy = Folder::open(to)?;
        copy.complete().map_err(|e| ServeError::Machine(e.why))?;
        drop(copy);
        let copied = || -> rusqlite::Result<()> {
            let at = to.join(DATABASE);
            self.database.execute("ATTACH ?1 AS copy", [at.to_string_lossy()])?;
            for table in ["drive", "block", "trim_page", "protected_write", "protected_trim"] {
                self.database.execute(
                    &format!("INSERT OR REPLACE INTO copy.{table} SELECT * FROM main.{table}"),
                    [],
                )?;
            }
            self.database.execute_batch(
                "INSERT INTO copy.page SELECT id, logical_page, sectors, offset, version, sequence, NULL, NULL, NULL
                    FROM main.page;
                DELETE FROM copy.drive WHERE key IN ('open', 'folded', 'boot');
                DETACH copy;",
            )?;
            let copy = Connection::open(at)?;
            Sums::found(&copy)?.note(&copy)
        };
        copied().map_err(|e| sql(to, "cannot be written", &e))
    }

    /// Its pages, read on demand.
    pub(crate) fn pages(&self) -> Pages {
        Pages::open(&self.path, Arc::clone(&self.journal))
    }

    /// The note under a key.
    pub(crate) fn noted<T: rusqlite::types::FromSql>(&self, key: &str) -> rusqlite::Result<Option<T>> {
        noted(&self.database, key)
    }

    /// Write the description of a drive and its initial state to the disk, and immediately to the database.
    pub(crate) fn begin(&mut self, identity: &str, ftl: &mut Ftl, now: SimTime) -> Result<(), NotWritten> {
        let changes = ftl.media_mut::<Flash>()?.take_changes();
        let unit = ftl.view().geometry().unit;
        self.journal.set_page(unit);
        let mut data = vec![];
        let (mut record, pages) = self.record(changes, ftl, &Beside::default(), &mut data)?;
        (record.now, record.wear) = (now.0, Some(wear(ftl)?));
        for PageBytes { at, page, .. } in pages {
            record.pages[at].data = Some(hold(&mut data, &page));
        }
        let mut merged = Merged::default();
        merged.add(record, &data);
        let moved = merged.file(|bytes| self.journal.put(bytes));
        let moved = moved
            .and_then(|moved| self.journal.sync_moved().map(|()| moved))
            .map_err(|e| not_written(&self.path, &e))?;
        let path = &self.path;
        let written = |database: &mut Connection| -> rusqlite::Result<()> {
            database.pragma_update(None, "synchronous", "FULL")?;
            let t = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut sums = Sums::noted(&t)?;
            merged.apply(&t, &mut sums)?;
            note(&t, "drive", &identity)?;
            note(&t, "unit", &unit)?;
            sums.note(&t)?;
            t.commit()?;
            settle(database);
            database.pragma_update(None, "synchronous", "NORMAL")
        };
        written(&mut self.database).map_err(|e| {
            let is_full = e.sqlite_error_code() == Some(ErrorCode::DiskFull);
            let why = format!("{}: cannot be written: {e}", path.join(DATABASE).display());
            NotWritten { why, is_full, is_gone: false }
        })?;
        self.journal.begun(&moved);
        ftl.media_mut::<Flash>()?.forget_bytes();
        self.commits += 1;
        Ok(())
    }

    /// Commit all changes of the drive in one step. Replies may be sent afterwards. Replies that guarantee
    /// durability across a crash of the system also need a sync of the log.
    pub(crate) fn commit(&mut self, ftl: &mut Ftl, now: SimTime, beside: &Beside) -> Result<(), NotWritten> {
        self.write(ftl, now, beside, false)
    }

    fn write(
        &mut self,
        ftl: &mut Ftl,
        now: SimTime,
        beside: &Beside,
        with_wear: bool,
    ) -> Result<(), NotWritten> {
        let changes = ftl.media_mut::<Flash>()?.take_changes();
        let is_nothing = changes.is_empty() && beside.left.is_empty() && beside.damaged.is_empty();
        if is_nothing && !with_wear {
            return Ok(());
        }
        if self.looked.elapsed() >= LOOK_EVERY {
            self.look()?;
        }
        let with_wear = with_wear || self.wear_written.elapsed() >= WEAR_EVERY && !changes.emptied.is_empty();
        self.writes.extend(changes.writes.keys());
        if changes.trims_are_all {
            self.trims.clear();
        }
        self.trims.extend(changes.trims.keys());
        let mut data = std::mem::take(&mut self.buffer);
        data.clear();
        let (mut record, pages) = self.record(changes, ftl, beside, &mut data)?;
        record.now = now.0;
        if with_wear {
            record.wear = Some(wear(ftl)?);
            self.wear_written = Instant::now();
        }
        record.writes_over.iter().for_each(|id| _ = self.writes.remove(id));
        record.trims_over.iter().for_each(|id| _ = self.trims.remove(id));
        if !record.writes_over.is_empty() || !record.trims_over.is_empty() {
            self.look_at = 2 * (self.writes.len() + self.trims.len()) + FEWEST_ROWS;
        }
        let ended = self.journal.append(record, &mut data, pages).map_err(|e| not_written(&self.path, &e))?;
        self.buffer = Some(data).filter(|data| data.capacity() <= BUFFER).unwrap_or_default();
        ftl.media_mut::<Flash>()?.forget_bytes();
        if let (Some(ended), Some(folding)) = (ended, &self.folding) {
            folding.push(ended);
        }
        self.commits += 1;
        Ok(())
    }

    /// Changes, and the bytes of pages. All other bytes are added to the data.
    fn record(
        &self,
        mut changes: Changes,
        ftl: &Ftl,
        beside: &Beside,
        data: &mut Vec<u8>,
    ) -> Result<(Record, Vec<PageBytes>), NotWritten> {
        let flash = ftl.media().get::<Flash>()?;
        let mut record = Record {
            emptied: changes.emptied.iter().map(|(block, shift)| (block.0, *shift)).collect(),
            trims: changes.trims.iter().map(|(entry, version)| (*entry, *version)).collect(),
            trims_are_all: changes.trims_are_all,
            damaged: beside.damaged.clone(),
            ..Record::default()
        };
        let count = changes.pages.len();
        let mut pages = Vec::with_capacity(count);
        record.pages.reserve(count);
        let mut replaced = changes.replaced;
        for (ppn, from) in &changes.pages {
            for part in *from..flash.spare_areas().page(*ppn).len() {
                let (oob, page) = flash.part(*ppn, part);
                let id = row_id(ppn.0, part);
                // Bytes that are replaced already are not written at all.
                if !replaced.remove(&id)
                    && let Some(page) = page
                {
                    let from = changes.copied.remove(&id);
                    pages.push(PageBytes { at: record.pages.len(), page: page.clone(), from });
                }
                record.pages.push(PagePart { id, oob, data: None });
            }
        }
        record.later.replaced = replaced.into_iter().collect();
        for block in &changes.blocks {
            let blank = BlockFound::default();
            let found = flash.spare_areas().block(*block).unwrap_or(&blank);
            record.blocks.push(BlockState {
                block: block.0,
                header: found.header,
                erases: found.erases,
                slots: runs(&found.slots),
                half_erased: found.half_erased,
                base: found.base,
            });
        }
        for ppn in &changes.trim_pages {
            record.trim_pages.push((ppn.0, flash.trims(*ppn).unwrap_or_default().to_vec()));
        }
        let sector = ftl.view().geometry().sector as usize;
        for (id, (version, page)) in &changes.writes {
            let held = hold(data, page.sector(of_row_id(*id).1, sector));
            record.writes.push((*id, *version, held));
        }
        for (sector, bytes) in &beside.left {
            record.left.push((*sector, bytes.as_ref().map(|bytes| hold(data, bytes))));
        }
        (record.writes_over, record.trims_over) = self.rows_over(ftl);
        Ok((record, pages))
    }

    /// Data that protected RAM no longer holds, if they may be many: they are on flash, or obsolete.
    fn rows_over(&self, ftl: &Ftl) -> (Vec<u64>, Vec<u64>) {
        if self.writes.len() + self.trims.len() < self.look_at {
            return (vec![], vec![]);
        }
        let writes = self.writes.iter().filter(|id| !ftl.inspect().is_in_ram(Lpn(of_row_id(**id).0)));
        let trims =
            self.trims.iter().filter(|entry| !ftl.inspect().is_in_ram(ftl.inspect().page_of_trim(**entry)));
        (writes.copied().collect(), trims.copied().collect())
    }

    /// Write the wear of the flash, and wait until the log is folded into the database.
    pub(crate) fn end(&mut self, ftl: &mut Ftl, now: SimTime, beside: &Beside) -> Result<(), NotWritten> {
        self.write(ftl, now, beside, true)?;
        self.journal.sync().map_err(|e| not_written(&self.path, &e))?;
        let ended = self.journal.end_segment().map_err(|e| not_written(&self.path, &e))?;
        let Some(folding) = &self.folding else { return Ok(()) };
        ended.into_iter().for_each(|segment| folding.push(segment));
        // Segments that are not folded now are folded at the next start.
        folding.wait().map_err(NotWritten::because)
    }

    /// Wait until background work on the folder has ended.
    #[cfg(test)]
    pub(crate) fn settle(&self) {
        if let Some(folding) = &self.folding {
            folding.wait().unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.folding = None;
        let is_whole = segments(&self.path).is_ok_and(|found| found.len() == 1) && settle(&self.database);
        if is_whole && self.journal.remove_empty() {
            let _ = note(&self.database, "open", &false);
        }
    }
}

fn wear(ftl: &Ftl) -> Result<Vec<u8>, NotWritten> {
    postcard::to_stdvec(&ftl.worn()).map_err(|e| NotWritten::because(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::fold::{NotFolded, fold};
    use crate::data::segment::FAILS;

    const UNIT: u64 = 16 << 10;

    fn opened(folder: &Path) -> (Connection, Journal) {
        let Opened { database, bytes, next, .. } = open(folder).unwrap_or_else(|e| panic!("{e}"));
        let journal = Journal::begin(folder, &folder.join("drive.sqlite"), next, bytes).unwrap();
        (database, journal)
    }

    /// A record that must reach the disk.
    fn append(journal: &Journal, block: u32) {
        let record = Record { emptied: vec![(block, 2)], ..Record::default() };
        journal.append(record, &mut vec![], vec![]).unwrap();
    }

    #[test]
    fn a_failed_sync_of_a_flush_fails_each_later_one() {
        let folder = tempfile::tempdir().unwrap();
        let (_, journal) = opened(folder.path());
        append(&journal, 0);
        journal.sync().unwrap();
        append(&journal, 1);
        FAILS.set(true);
        assert_eq!(journal.sync().unwrap_err().raw_os_error(), Some(libc::EIO));
        for _ in 0..2 {
            assert_eq!(journal.sync().unwrap_err().to_string(), "an earlier sync has failed");
            append(&journal, 2);
        }
    }

    // A FLUSH has nothing to sync any more, or its own sync succeeds.
    #[test]
    fn a_failed_sync_in_the_background_fails_each_later_flush() {
        let folder = tempfile::tempdir().unwrap();
        let (mut database, journal) = opened(folder.path());
        append(&journal, 0);
        let ended = journal.end_segment().unwrap().unwrap();
        FAILS.set(true);
        let Err(NotFolded::Machine(why)) = fold(&mut database, (&ended, Some(0)), UNIT, &journal) else {
            panic!("it is folded");
        };
        assert!(why.contains("os error 5"), "{why}");
        assert_eq!(noted::<u64>(&database, "folded").unwrap(), None, "the database is as before");
        assert_eq!(journal.sync().unwrap_err().to_string(), "an earlier sync has failed");
        append(&journal, 1);
        assert_eq!(journal.sync().unwrap_err().to_string(), "an earlier sync has failed");
        assert!(!FAILS.get());
    }
}
