//! Opens the folder of a drive: its lock, its database, and the log that the last server has left.

use crate::data::convert::{NotConverted, convert};
use crate::data::crashed::{boot, cut_off, incomplete};
use crate::data::fold::{Behind, NotFolded, fold, settle};
use crate::data::journal::Bytes;
use crate::data::page_file::{Allocation, PAGES, PageFile};
use crate::data::places::{Extent, Place, Places, Source};
use crate::data::rows::{APPLICATION, FIRST_FORMAT, FORMAT, LATER, TABLES};
use crate::data::segment::{SEGMENT, Segment, segments};
use crate::data::sums::{Sums, noted};
use crate::error::ServeError;
use rusqlite::{Connection, ErrorCode};
use rustix::fs::FlockOperation;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The database of a folder.
pub(crate) const DATABASE: &str = "drive.sqlite";
/// The file that marks a running server.
const LOCK: &str = "lock";
/// The same while it is created.
const NEW: &str = "lock.new";
/// What that file contains until a new drive has its initial contents.
const MARK: &[u8] = b"a new drive, which has never been served\n";
/// How long to wait for a lock.
const LOCKED: Duration = Duration::from_millis(500);
/// Bytes of a page of the database.
const PAGE: i32 = 4096;
/// Segments kept at a start although they are in the database.
const MOST_KEPT: usize = 4;

/// A folder as it is opened.
pub(crate) struct Opened {
    pub lock: File,
    pub database: Connection,
    pub bytes: Bytes,
    /// The number of the next record of the log.
    pub next: u64,
    /// Bytes of a page, or 1 if they are not known.
    pub unit: u64,
    /// Segments that are in the database, and kept until it is on the disk.
    pub kept: Vec<Arc<Segment>>,
    /// Damage found, as lines for the log.
    pub notes: Vec<String>,
}

pub(crate) fn sql(folder: &Path, what: &str, e: &rusqlite::Error) -> ServeError {
    ServeError::Machine(format!("{}: {what}: {e}", folder.join(DATABASE).display()))
}

/// Lock a folder, which is created if missing. Returns the lock, and whether the folder holds a drive. What an unfinished
/// start has left there is removed.
fn take(path: &Path) -> Result<(File, bool), ServeError> {
    let wrong = |what: String| ServeError::Input(format!("--data {}: {what}", path.display()));
    let io = |what: &str, e: io::Error| wrong(format!("{what}: {e}"));
    std::fs::create_dir_all(path).map_err(|e| io("cannot create the folder", e))?;
    let is_ours = |name: &str| name == LOCK || name == NEW || is_of_drive(name);
    let mut is_new = true;
    for entry in std::fs::read_dir(path).map_err(|e| io("cannot be read", e))? {
        let name = entry.map_err(|e| io("cannot be read", e))?.file_name();
        is_new &= !is_of_drive(&name.to_string_lossy());
        if !is_ours(&name.to_string_lossy()) {
            let what = format!("contains other files, such as {}", name.to_string_lossy());
            return Err(wrong(format!("{what}\n  allowed: a new or empty folder, or the folder of a drive")));
        }
    }
    begin(path, is_new).map_err(|e| io("cannot create a lock file", e))?;
    let options = File::options().read(true).write(true).open(path.join(LOCK));
    let lock = options.map_err(|e| io("cannot open the lock file", e))?;
    // A process that another thread is just starting has its files for a moment, and with them a lock given up meanwhile.
    let begun = Instant::now();
    while rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        if begun.elapsed() >= LOCKED {
            let allowed = "a folder that no server uses";
            return Err(wrong(format!("in use by another server\n  allowed: {allowed}")));
        }
        std::thread::sleep(LOCKED / 20);
    }
    let is_begun = lock.metadata().map_err(|e| io("cannot read the lock file", e))?.len() > 0;
    if is_begun {
        clear(path).map_err(|e| io("cannot remove what an unfinished start has left", e))?;
    }
    Ok((lock, !is_begun))
}

/// Create the lock file if missing. That of a new folder is never seen without its mark, which [`end`] removes.
fn begin(path: &Path, is_new: bool) -> io::Result<()> {
    let (lock, marked) = (path.join(LOCK), path.join(NEW));
    if lock.exists() {
        return Ok(());
    }
    let mark = if is_new { MARK } else { &[] };
    std::fs::write(&marked, mark)?;
    let linked = std::fs::hard_link(&marked, &lock);
    let _ = std::fs::remove_file(&marked);
    // Another server was faster, or the file system has no links.
    match linked.or_else(|_| File::create_new(&lock).and_then(|mut lock| lock.write_all(mark))) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        begun => begun,
    }
}

/// Note durably that the folder holds a drive.
pub(crate) fn end(lock: &File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.sync_all()
}

/// Remove all files but the lock.
fn clear(path: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_name() != LOCK {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn is_of_drive(name: &str) -> bool {
    name == PAGES || name.starts_with(DATABASE) || name.starts_with(SEGMENT)
}

/// Settings of each connection that writes.
pub(crate) fn settings(database: &Connection) -> rusqlite::Result<()> {
    database.pragma_update(None, "synchronous", "NORMAL")?;
    // SQLite's log is kept until the folding thread checkpoints all of it.
    database.pragma_update(None, "wal_autocheckpoint", 0)?;
    database.pragma_update(None, "cache_size", -16_384)
}

/// Open or create the database of a folder and its file of pages. Returns whether they are new.
fn database(path: &Path, was_there: bool) -> Result<(Connection, bool, PageFile), ServeError> {
    let wrong = |what: String| ServeError::Input(format!("--data {}: {what}", path.display()));
    let file = path.join(DATABASE);
    let is_empty = std::fs::metadata(&file).map_or(true, |found| found.len() == 0);
    let has_log = !segments(path).unwrap_or_default().is_empty();
    if is_empty && (was_there || has_log) {
        return Err(wrong(format!(
            "{DATABASE} is missing or empty, although the folder held a drive\n  hint: restore the folder from a copy, or \
             delete it to start a new drive"
        )));
    }
    let no_drive = |what: String| {
        wrong(format!("{DATABASE} {what}\n  allowed: a folder that `wordline serve --data` created"))
    };
    let open = |e: rusqlite::Error| match e.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            no_drive(format!("is not a drive: {e}"))
        }
        _ => sql(path, "cannot be opened", &e),
    };
    let mut database = Connection::open(file).map_err(open)?;
    let number = |key: &str| database.pragma_query_value(None, key, |row| row.get::<_, i32>(0)).map_err(open);
    let (application, format) = (number("application_id")?, number("user_version")?);
    let is_new = application == 0 && format == 0 && number("schema_version")? == 0;
    if !is_new && application != APPLICATION {
        return Err(no_drive("belongs to another program".to_string()));
    }
    if !is_new && !(FIRST_FORMAT..=FORMAT).contains(&format) {
        return Err(no_drive(format!(
            "has format {format}; this version of Wordline reads formats {FIRST_FORMAT} to {FORMAT}"
        )));
    }
    let set = |key: &str, value: &dyn rusqlite::ToSql| database.pragma_update(None, key, value).map_err(open);
    if is_new {
        set("page_size", &PAGE)?;
    }
    set("journal_mode", &"WAL")?;
    settings(&database).map_err(open)?;
    if is_new {
        let tables = format!("BEGIN; {TABLES} PRAGMA application_id={APPLICATION}; COMMIT;");
        database.execute_batch(&tables).map_err(open)?;
    }
    database.execute_batch(LATER).map_err(open)?;
    if !is_new && format == FORMAT && !path.join(PAGES).exists() {
        return Err(damaged(path, &format!("{PAGES} is missing, although the folder held a drive")));
    }
    let pages = PageFile::open(path).map_err(|e| machine(path, &e))?;
    if is_new {
        let made = || -> rusqlite::Result<()> {
            let t = database.unchecked_transaction()?;
            Sums::found(&t)?.note(&t)?;
            t.pragma_update(None, "user_version", FORMAT)?;
            t.commit()
        };
        made().map_err(open)?;
    } else if format < FORMAT {
        if format > FIRST_FORMAT
            && let Some(what) = Sums::wrong_before(&database).map_err(open)?
        {
            return Err(damaged(path, &format!("{DATABASE} is damaged: {what}")));
        }
        let unit = noted(&database, "unit").map_err(open)?;
        convert(&mut database, &pages, unit).map_err(|e| match e {
            NotConverted::Sql(e) => open(e),
            NotConverted::Io(e) => machine(path, &e),
        })?;
    }
    Ok((database, is_new, pages))
}

/// A folder that cannot be served as it is.
fn damaged(path: &Path, what: &str) -> ServeError {
    let hint = "restore the folder from a copy, or start a new one";
    ServeError::Input(format!("--data {}: {what}\n  hint: {hint}", path.display()))
}

fn machine(path: &Path, e: &io::Error) -> ServeError {
    ServeError::Machine(format!("--data {}: cannot be written: {e}", path.display()))
}

/// Lock a folder and open it. What the log has is folded into the database.
pub(crate) fn open(path: &Path) -> Result<Opened, ServeError> {
    let (lock, was_there) = take(path)?;
    let (mut database, is_new, pages) = database(path, was_there)?;
    let wrong = |e: rusqlite::Error| damaged(path, &format!("{DATABASE} is damaged: {e}"));
    if !is_new && let Some(what) = Sums::wrong(&database).map_err(wrong)? {
        return Err(damaged(path, &format!("{DATABASE} is damaged: {what}")));
    }
    let length = pages.length().map_err(|e| damaged(path, &format!("{PAGES} cannot be read: {e}")))?;
    if length == 0 && !places(&database).map_err(wrong)?.extents().is_empty() {
        return Err(damaged(path, &format!("{PAGES} is empty, although the folder held a drive")));
    }
    let unit = noted::<u64>(&database, "unit").map_err(wrong)?.unwrap_or(1);
    let found = segments(path).map_err(|e| damaged(path, &format!("cannot be read: {e}")))?;
    if noted::<bool>(&database, "open").map_err(wrong)? == Some(true) && found.is_empty() {
        return Err(damaged(path, "the log of the last server is missing"));
    }
    let opened = found.into_iter().map(|first| {
        let unread = |e| damaged(path, &format!("{}: {e}", Segment::name(path, first).display()));
        Segment::open(path, first).map_err(unread)
    });
    let mut found: Vec<Segment> = opened.collect::<Result<_, _>>()?;
    let mut next = noted::<u64>(&database, "folded").map_err(wrong)?.unwrap_or(0) + 1;
    let mut notes = vec![];
    let then = noted::<Option<String>>(&database, "boot").map_err(wrong)?.flatten();
    if then.is_some() && then != boot() {
        let from = incomplete(&found, next - 1, &pages).map_err(|e| machine(path, &e))?;
        if let Some(from) = from {
            cut_off(&mut found, from).map_err(|e| machine(path, &e))?;
            notes.push(format!(
                "{}: the system has crashed: records from {} on, which no FLUSH covered, are incomplete; ignored",
                path.display(),
                from.number
            ));
        }
    }
    let filing = Behind { pages: &pages, page: unit };
    for (at, segment) in found.iter().enumerate() {
        if segment.first > next {
            return Err(damaged(
                path,
                &format!("records {next} to {} of the log are missing", segment.first - 1),
            ));
        }
        let follows = found.get(at + 1).map(|segment| segment.first);
        let read = fold(&mut database, (segment, follows), unit, &filing).map_err(|e| match e {
            NotFolded::Damaged(what) => damaged(path, &what),
            NotFolded::Machine(what) => ServeError::Machine(format!("--data {}: {what}", path.display())),
            NotFolded::Sql(e) => sql(path, "cannot be written", &e),
        })?;
        next = next.max(read.next);
        notes.extend(read.notes);
    }
    let places = places(&database).map_err(wrong)?;
    let allocation = Allocation::around(places.extents(), unit, next - 1);
    if pages.length().is_ok_and(|length| length > allocation.end()) {
        pages.shorten(allocation.end()).map_err(|e| machine(path, &e))?;
    }
    let mut kept: Vec<Arc<Segment>> = found.into_iter().map(Arc::new).collect();
    // Keep few segments, so that a start need not wait for the disk.
    if kept.len() > MOST_KEPT && settle(&database) {
        kept.drain(..).for_each(|segment| segment.remove());
    }
    kept.retain(|segment| segment.first != next);
    Ok(Opened { lock, database, bytes: Bytes { pages, places, allocation }, next, unit, kept, notes })
}

/// The places of all pages.
fn places(database: &Connection) -> rusqlite::Result<Places> {
    let mut places = Places::default();
    let mut query = database.prepare("SELECT id, at, bytes, checksum FROM page WHERE at IS NOT NULL")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let extent = Extent { at: row.get(1)?, length: row.get(2)? };
        places.insert(row.get(0)?, Place { source: Source::Pages(0), extent, checksum: row.get(3)? });
    }
    Ok(places)
}
