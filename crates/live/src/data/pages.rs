//! Reads the bytes of a folder's pages: current ones, or those at the creation of a fork.

use crate::data::changes::row_id;
use crate::data::journal::{Journal, Places};
use crate::lock;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use wordline_ftl::{MediaError, PageData};
use wordline_units::Ppn;

/// The database of a folder.
pub(crate) const DATABASE: &str = "drive.sqlite";

/// The pages of a folder, current or as of the creation of a fork.
pub(crate) struct Pages {
    path: PathBuf,
    database: Mutex<Connection>,
    log: Logged,
}

/// Places of pages that are in the log and not in the database.
enum Logged {
    /// The current places.
    Journal(Arc<Journal>),
    /// The places when a fork was created.
    Places(Places),
}

/// What was found at the place of a page.
pub(crate) enum Bytes {
    Whole(PageData),
    /// The bytes are missing, or differ from those written: where, in words.
    Damaged(String),
}

impl Pages {
    pub(crate) fn open(folder: &Path, journal: Arc<Journal>) -> rusqlite::Result<Pages> {
        let database = Mutex::new(connect(folder)?);
        Ok(Pages { path: folder.to_path_buf(), database, log: Logged::Journal(journal) })
    }

    /// A constant view of the current pages, independent of later writes.
    pub(crate) fn as_now(&self) -> Result<Pages, MediaError> {
        let Logged::Journal(journal) = &self.log else {
            return Err(self.failed("has gone on".to_string()));
        };
        let begun = || -> rusqlite::Result<Connection> {
            let database = connect(&self.path)?;
            database.execute_batch("BEGIN; SELECT count(*) FROM drive;")?;
            Ok(database)
        };
        let (places, database) = journal.places(begun);
        let database = Mutex::new(database.map_err(|e| self.failed(e.to_string()))?);
        Ok(Pages { path: self.path.clone(), database, log: Logged::Places(places) })
    }

    /// The bytes of a page's part.
    pub(crate) fn read(&self, ppn: Ppn, part: usize) -> Result<Bytes, MediaError> {
        let id = row_id(ppn.0, part);
        let place = || format!("physical page {}", ppn.0);
        let logged = match &self.log {
            Logged::Journal(journal) => journal.place(id),
            Logged::Places(places) => places.get(&id).cloned(),
        };
        let (file, found) = if let Some(logged) = logged {
            let data = logged.read().map_err(|e| self.failed(format!("{} cannot be read: {e}", place())))?;
            (logged.file(), Some((logged.held.checksum, data)))
        } else {
            let database = lock(&self.database);
            let found = database
                .prepare_cached("SELECT checksum, data FROM page WHERE id = ?1 AND data IS NOT NULL")
                .and_then(|mut query| {
                    let row =
                        |row: &rusqlite::Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, Vec<u8>>(1)?));
                    query.query_row([id], row).optional()
                });
            let file = self.path.join(DATABASE).display().to_string();
            match found {
                // The row differs from what was written.
                Err(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => (file, None),
                found => (file, found.map_err(|e| self.failed(format!("{} cannot be read: {e}", place())))?),
            }
        };
        Ok(match found {
            Some((checksum, data)) if crc32fast::hash(&data) == checksum => Bytes::Whole(data.into()),
            Some(_) => Bytes::Damaged(format!("{file}: {}: checksum mismatch", place())),
            None => Bytes::Damaged(format!("{file}: {} is missing", place())),
        })
    }

    fn failed(&self, what: String) -> MediaError {
        MediaError::new(self.path.join(DATABASE).display().to_string(), what, "fix the cause and retry")
    }
}

fn connect(folder: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(folder.join(DATABASE), flags)
}
