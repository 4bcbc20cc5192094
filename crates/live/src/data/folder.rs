//! The folder of a drive: its lock, its database, what is written into it and read from it.

use crate::data::changes::{Changes, LAST_PART, of_row_id, row_id};
use crate::data::flash::Flash;
use crate::data::pages::{DATABASE, Pages};
use crate::data::rows::{APPLICATION, FORMAT, LEFT, TABLES, runs};
use crate::error::ServeError;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};
use rustix::fs::FlockOperation;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use wordline_ftl::{Ftl, Media, OtherMedia};
use wordline_units::{BlockId, Lpn, Ppn, SimTime};

/// The file that says that a server is at work.
const LOCK: &str = "lock";
/// Bytes of a page of the database.
const PAGE: i32 = 4096;
/// Bytes that are committed before a thread begins to bring the pages of the log to where they belong.
const LOG_PART: u64 = 16 << 20;
/// Pages of the log at which a commit does that itself: 256 MiB.
const LOG: i32 = 65_536;
/// How often it is written how worn the flash is.
const WEAR_EVERY: Duration = Duration::from_secs(1);
/// Rows of protected RAM that may be over before they are looked through.
const FEWEST_ROWS: usize = 1024;

/// What was moved comes to protected RAM with the version that it had, and so may be older than what is there.
const NEWEST_WRITE: &str = "INSERT INTO protected_write VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE
    SET version = excluded.version, checksum = excluded.checksum, data = excluded.data
    WHERE excluded.version >= version";
const NEWEST_TRIM: &str = "INSERT INTO protected_trim VALUES (?1, ?2) ON CONFLICT DO UPDATE
    SET version = excluded.version WHERE excluded.version >= version";

/// Why what a drive has done could not be written.
#[derive(Clone, Debug)]
pub(crate) struct NotWritten {
    /// In words, with how it is mended.
    pub why: String,
    /// There is no room.
    pub is_full: bool,
}

impl From<OtherMedia> for NotWritten {
    fn from(other: OtherMedia) -> NotWritten {
        NotWritten { why: other.to_string(), is_full: false }
    }
}

/// What a commit is about, besides all that has changed.
#[derive(Clone, Copy, Default)]
struct Commit<'a> {
    /// It is on the disk before anything goes on.
    synced: bool,
    /// What the drive is, with the first.
    identity: Option<&'a str>,
    /// How worn the flash is.
    with_wear: bool,
}

/// The folder of a drive that is served.
pub(crate) struct Folder {
    path: PathBuf,
    /// Before the connection, so that the last to be closed takes the log with it.
    tidier: Tidier,
    database: Connection,
    /// Held as long as the folder is.
    #[expect(dead_code, reason = "the lock goes with it")]
    lock: File,
    /// What of protected RAM stands in the database: sectors, and entries of the trim log.
    writes: BTreeSet<u64>,
    trims: BTreeSet<u64>,
    /// How many rows there may be before those that are over are deleted.
    look_at: usize,
    wear_written: Instant,
    /// Bytes that were committed since the thread was asked to bring them to where they belong.
    log: u64,
    /// Commits since the server began.
    pub commits: u64,
}

/// The log of a database, to be written through while commits go on.
pub(crate) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// All that was committed is on the disk: in the log, or from there where it belongs.
    pub(crate) fn sync(&self) -> Result<(), NotWritten> {
        self.file.sync_data().map_err(|e| {
            let why = format!(
                "{}: cannot be written: {e}; fix the cause and start the server again",
                self.path.display()
            );
            NotWritten { why, is_full: e.kind() == io::ErrorKind::StorageFull }
        })
    }
}

fn sql(folder: &Path, what: &str, e: &rusqlite::Error) -> ServeError {
    ServeError::Machine(format!("{}: {what}: {e}", folder.join(DATABASE).display()))
}

impl Folder {
    /// Take the folder, which is made where there is none. Nobody else can as long as it is held.
    pub(crate) fn open(path: &Path) -> Result<Folder, ServeError> {
        let wrong = |what: String| ServeError::Input(format!("--data {}: {what}", path.display()));
        let io = |what: &str, e: io::Error| wrong(format!("{what}: {e}"));
        std::fs::create_dir_all(path).map_err(|e| io("cannot create the folder", e))?;
        let is_ours = |name: &str| name == LOCK || name.starts_with(DATABASE);
        for entry in std::fs::read_dir(path).map_err(|e| io("cannot be read", e))? {
            let name = entry.map_err(|e| io("cannot be read", e))?.file_name();
            if !is_ours(&name.to_string_lossy()) {
                let what = format!("contains other files, such as {}", name.to_string_lossy());
                return Err(wrong(format!(
                    "{what}\n  allowed: a new or empty folder, or the folder of a \
                                          drive"
                )));
            }
        }
        let options = File::options().create(true).truncate(false).write(true).open(path.join(LOCK));
        let lock = options.map_err(|e| io("cannot create a lock file", e))?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            wrong("in use by another server\n  allowed: a folder that no server uses".to_string())
        })?;
        let database = path.join(DATABASE);
        let no_drive = |what: String| {
            wrong(format!("{DATABASE} {what}\n  allowed: a folder that `wordline serve --data` created"))
        };
        let open = |e: rusqlite::Error| match e.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                no_drive(format!("is not a drive: {e}"))
            }
            _ => sql(path, "cannot be opened", &e),
        };
        let database = Connection::open(database).map_err(open)?;
        let number =
            |key: &str| database.pragma_query_value(None, key, |row| row.get::<_, i32>(0)).map_err(open);
        let (application, format) = (number("application_id")?, number("user_version")?);
        let is_new = application == 0 && format == 0 && number("schema_version")? == 0;
        if !is_new && application != APPLICATION {
            return Err(no_drive("is a database of another program".to_string()));
        }
        if !is_new && format != FORMAT {
            return Err(no_drive(format!(
                "has format {format}; this version of Wordline reads format {FORMAT}"
            )));
        }
        let set =
            |key: &str, value: &dyn rusqlite::ToSql| database.pragma_update(None, key, value).map_err(open);
        if is_new {
            set("page_size", &PAGE)?;
        }
        // What is committed is at once with the system, so that it outlives the server; a sync has it outlive the system.
        set("journal_mode", &"WAL")?;
        set("synchronous", &"NORMAL")?;
        set("wal_autocheckpoint", &LOG)?;
        set("cache_size", &-16_384)?;
        if is_new {
            let tables = format!(
                "BEGIN; {TABLES} PRAGMA application_id={APPLICATION}; PRAGMA user_version={FORMAT}; COMMIT;"
            );
            database.execute_batch(&tables).map_err(open)?;
        }
        database.execute_batch(LEFT).map_err(open)?;
        Ok(Folder {
            path: path.to_path_buf(),
            database,
            lock,
            writes: BTreeSet::new(),
            trims: BTreeSet::new(),
            look_at: FEWEST_ROWS,
            wear_written: Instant::now(),
            tidier: Tidier::new(path)
                .map_err(|e| ServeError::Machine(format!("cannot start a thread: {e}")))?,
            log: 0,
            commits: 0,
        })
    }

    /// Its log.
    pub(crate) fn log(&self) -> Result<Log, ServeError> {
        let path = self.path.join(format!("{DATABASE}-wal"));
        let file = File::open(&path)
            .map_err(|e| ServeError::Machine(format!("{}: cannot be opened: {e}", path.display())))?;
        Ok(Log { path, file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn database(&self) -> &Connection {
        &self.database
    }

    /// Protected RAM has these rows.
    pub(crate) fn note_rows(&mut self, writes: BTreeSet<u64>, trims: BTreeSet<u64>) {
        (self.writes, self.trims) = (writes, trims);
    }

    /// Copy it into a new folder, without the bytes of pages: all that a drive starts from.
    pub(crate) fn copy_without_bytes(&self, to: &Path) -> Result<(), ServeError> {
        drop(Folder::open(to)?);
        let copied = || -> rusqlite::Result<()> {
            let at = to.join(DATABASE);
            self.database.execute("ATTACH ?1 AS copy", [at.to_string_lossy()])?;
            for table in ["drive", "block", "trim_page", "protected_write", "protected_trim"] {
                self.database.execute(&format!("INSERT INTO copy.{table} SELECT * FROM main.{table}"), [])?;
            }
            self.database.execute_batch(
                "INSERT INTO copy.page SELECT id, logical_page, sectors, offset, version, sequence, NULL, NULL
                    FROM main.page;
                DETACH copy;",
            )
        };
        copied().map_err(|e| sql(to, "cannot be written", &e))
    }

    /// Its pages, as they are whenever they are asked for.
    pub(crate) fn pages(&self) -> Result<Pages, ServeError> {
        Pages::open(&self.path).map_err(|e| sql(&self.path, "cannot be read", &e))
    }

    /// What was noted under a key.
    pub(crate) fn noted<T: rusqlite::types::FromSql>(&self, key: &str) -> rusqlite::Result<Option<T>> {
        let sql = "SELECT value FROM drive WHERE key = ?1";
        self.database.query_row(sql, [key], |row| row.get(0)).optional()
    }

    /// Write what a drive is, with its initial state.
    pub(crate) fn begin(&mut self, identity: &str, ftl: &mut Ftl, now: SimTime) -> Result<(), NotWritten> {
        self.write(ftl, now, Commit { synced: true, identity: Some(identity), with_wear: true })
    }

    /// Write all that a drive has done, as one: after it the answers may leave, and when its log is written through, those
    /// that promise that it is there even where the system fails.
    pub(crate) fn commit(&mut self, ftl: &mut Ftl, now: SimTime) -> Result<(), NotWritten> {
        self.write(ftl, now, Commit::default())
    }

    fn write(&mut self, ftl: &mut Ftl, now: SimTime, mut commit: Commit<'_>) -> Result<(), NotWritten> {
        let changes = ftl.media_mut::<Flash>()?.take_changes();
        if changes.is_empty() && !commit.synced {
            return Ok(());
        }
        commit.with_wear |= self.wear_written.elapsed() >= WEAR_EVERY && !changes.emptied.is_empty();
        self.writes.extend(changes.writes.keys());
        if changes.trims_are_all {
            self.trims.clear();
        }
        self.trims.extend(changes.trims.keys());
        let over = self.rows_over(ftl);
        let flash = ftl.media().get::<Flash>()?;
        self.transact(&changes, (ftl, flash), now, commit, &over).map_err(|e| self.not_written(&e))?;
        if commit.with_wear {
            self.wear_written = Instant::now();
        }
        self.writes.retain(|id| over.0.binary_search(id).is_err());
        self.trims.retain(|id| over.1.binary_search(id).is_err());
        if !over.0.is_empty() || !over.1.is_empty() {
            self.look_at = 2 * (self.writes.len() + self.trims.len()) + FEWEST_ROWS;
        }
        ftl.media_mut::<Flash>()?.forget_bytes();
        self.log += changes.bytes(ftl.view().geometry().unit);
        if self.log > LOG_PART && self.tidier.ask() {
            self.log = 0;
        }
        self.commits += 1;
        Ok(())
    }

    fn not_written(&self, e: &rusqlite::Error) -> NotWritten {
        let is_full = e.sqlite_error_code() == Some(ErrorCode::DiskFull);
        let fix = if is_full { "free some space" } else { "fix the cause" };
        let place = self.path.join(DATABASE);
        NotWritten {
            why: format!("{}: cannot be written: {e}; {fix} and start the server again", place.display()),
            is_full,
        }
    }

    /// What protected RAM no longer holds, where there may be much of it: it is on flash, or not needed any more.
    fn rows_over(&self, ftl: &Ftl) -> (Vec<u64>, Vec<u64>) {
        if self.writes.len() + self.trims.len() < self.look_at {
            return (vec![], vec![]);
        }
        let writes = self.writes.iter().filter(|id| !ftl.is_in_ram(Lpn(of_row_id(**id).0)));
        let trims = self.trims.iter().filter(|entry| !ftl.is_in_ram(ftl.page_of_trim(**entry)));
        (writes.copied().collect(), trims.copied().collect())
    }

    fn transact(
        &mut self,
        changes: &Changes,
        (ftl, flash): (&Ftl, &Flash),
        now: SimTime,
        Commit { synced, identity, with_wear }: Commit<'_>,
        over: &(Vec<u64>, Vec<u64>),
    ) -> rusqlite::Result<()> {
        self.database.pragma_update(None, "synchronous", if synced { "FULL" } else { "NORMAL" })?;
        let t = self.database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for (block, slot_shift) in &changes.emptied {
            let first = block.0 << slot_shift;
            let last = first + ((1 << slot_shift) - 1);
            t.prepare_cached("DELETE FROM page WHERE id BETWEEN ?1 AND ?2")?
                .execute([row_id(first, 0), row_id(last, LAST_PART)])?;
            t.prepare_cached("DELETE FROM trim_page WHERE physical_page BETWEEN ?1 AND ?2")?
                .execute([first, last])?;
        }
        for (ppn, from) in &changes.pages {
            write_page(&t, flash, *ppn, *from)?;
        }
        for block in &changes.blocks {
            write_block(&t, flash.spare_areas(), *block)?;
        }
        for ppn in &changes.trim_pages {
            let versions = flash.trims(*ppn).unwrap_or_default();
            let bytes: Vec<u8> = versions.iter().flat_map(|v| v.to_le_bytes()).collect();
            t.prepare_cached("REPLACE INTO trim_page VALUES (?1, ?2)")?.execute(params![ppn.0, bytes])?;
        }
        let sector = ftl.view().geometry().sector as usize;
        for (id, (version, page)) in &changes.writes {
            let (_, at) = of_row_id(*id);
            let data = page.sector(at, sector);
            t.prepare_cached(NEWEST_WRITE)?.execute(params![id, version, crc32fast::hash(data), data])?;
        }
        if changes.trims_are_all {
            t.execute("DELETE FROM protected_trim", [])?;
        }
        for (entry, version) in &changes.trims {
            t.prepare_cached(NEWEST_TRIM)?.execute([entry, version])?;
        }
        for id in &over.0 {
            t.prepare_cached("DELETE FROM protected_write WHERE id = ?1")?.execute([id])?;
        }
        for entry in &over.1 {
            t.prepare_cached("DELETE FROM protected_trim WHERE entry = ?1")?.execute([entry])?;
        }
        if with_wear {
            let bytes = postcard::to_stdvec(&ftl.worn())
                .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
            note(&t, "wear", &bytes)?;
        }
        note(&t, "now_ns", &now.0)?;
        if let Some(identity) = identity {
            note(&t, "drive", &identity)?;
        }
        t.commit()
    }

    /// Write what a power cut left in sectors, or that the flash has them again.
    pub(crate) fn write_left(&mut self, rows: &[(u64, Option<Vec<u8>>)]) -> Result<(), NotWritten> {
        let mut written = || -> rusqlite::Result<()> {
            let t = self.database.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (sector, data) in rows {
                match data {
                    Some(data) => t
                        .prepare_cached("REPLACE INTO after_cut VALUES (?1, ?2, ?3)")?
                        .execute(params![sector, crc32fast::hash(data), data])?,
                    None => t.prepare_cached("DELETE FROM after_cut WHERE sector = ?1")?.execute([sector])?,
                };
            }
            t.commit()
        };
        written().map_err(|e| self.not_written(&e))
    }

    /// Write how worn the flash is, and let the log go to where it belongs.
    pub(crate) fn end(&mut self, ftl: &mut Ftl, now: SimTime) -> Result<(), NotWritten> {
        self.write(ftl, now, Commit { synced: true, with_wear: true, identity: None })
    }
}

/// A thread that brings the pages of the log to where they belong, whenever it is asked, while commits go on.
struct Tidier {
    asked: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Tidier {
    fn new(folder: &Path) -> io::Result<Tidier> {
        let (sender, asked) = sync_channel(1);
        let path = folder.join(DATABASE);
        let work = move || {
            // Where it cannot, a commit does it in the end, or fails for the reason.
            let Ok(database) = Connection::open(path) else { return };
            while asked.recv().is_ok() {
                let _ = database.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
            }
        };
        let thread = std::thread::Builder::new().name("wordline-folder".to_string()).spawn(work)?;
        Ok(Tidier { asked: Some(sender), thread: Some(thread) })
    }

    /// Returns whether it will begin once more.
    fn ask(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.try_send(()).is_ok())
    }
}

impl Drop for Tidier {
    fn drop(&mut self) {
        self.asked = None;
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

fn note(t: &Transaction<'_>, key: &str, value: &dyn rusqlite::ToSql) -> rusqlite::Result<()> {
    t.prepare_cached("REPLACE INTO drive VALUES (?1, ?2)")?.execute(params![key, value]).map(drop)
}

fn write_page(t: &Transaction<'_>, flash: &Flash, ppn: Ppn, from: usize) -> rusqlite::Result<()> {
    for part in from..flash.spare_areas().page(ppn).len() {
        let (oob, data) = flash.part(ppn, part);
        let id = row_id(ppn.0, part);
        t.prepare_cached("REPLACE INTO page VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")?.execute(params![
            id,
            oob.span.lpn.0,
            oob.span.mask.0,
            oob.span.offset,
            oob.version,
            oob.sequence,
            data.map(crc32fast::hash),
            data
        ])?;
    }
    Ok(())
}

fn write_block(
    t: &Transaction<'_>,
    metadata: &wordline_ftl::Metadata,
    block: BlockId,
) -> rusqlite::Result<()> {
    let found = metadata.block(block).cloned().unwrap_or_default();
    let header = found.header;
    t.prepare_cached("REPLACE INTO block VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
        .execute(params![
            block.0,
            header.map(|h| h.region.0),
            header.map(|h| h.mode.key()),
            header.map(|h| h.erases),
            header.map(|h| h.opened),
            found.erases,
            runs(&found.slots),
            found.half_erased,
            found.base
        ])
        .map(drop)
}
