//! The bytes of a folder's pages, read: as they are now, or as they were when a fork was made.

use crate::data::changes::row_id;
use crate::lock;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use wordline_ftl::{MediaError, PageData};
use wordline_units::Ppn;

/// The database of a folder.
pub(crate) const DATABASE: &str = "drive.sqlite";

/// The pages of a folder, as they are now or as they were when a fork was made.
pub(crate) struct Pages {
    path: PathBuf,
    database: Mutex<Connection>,
}

impl Pages {
    pub(crate) fn open(folder: &Path) -> rusqlite::Result<Pages> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(folder.join(DATABASE), flags)?;
        Ok(Pages { path: folder.to_path_buf(), database: Mutex::new(database) })
    }

    /// The same pages as they are now, whatever is written from now on.
    pub(crate) fn as_now(&self) -> Result<Pages, MediaError> {
        let begun = || -> rusqlite::Result<Pages> {
            let pages = Pages::open(&self.path)?;
            lock(&pages.database).execute_batch("BEGIN; SELECT count(*) FROM drive;")?;
            Ok(pages)
        };
        begun().map_err(|e| self.failed(e.to_string(), "fix the cause and retry"))
    }

    /// The bytes of a page's part.
    pub(crate) fn read(&self, ppn: Ppn, part: usize) -> Result<PageData, MediaError> {
        let id = row_id(ppn.0, part);
        let place = || format!("physical page {}", ppn.0);
        let mend = "restore the folder from a copy, or rewrite the page";
        let database = lock(&self.database);
        let found = database
            .prepare_cached("SELECT checksum, data FROM page WHERE id = ?1 AND data IS NOT NULL")
            .and_then(|mut query| {
                query.query_row([id], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, Vec<u8>>(1)?))).optional()
            });
        match found.map_err(|e| self.failed(format!("{} cannot be read: {e}", place()), mend))? {
            Some((checksum, data)) if crc32fast::hash(&data) == checksum => Ok(data.into()),
            Some(_) => Err(self.failed(format!("{}: checksum mismatch", place()), mend)),
            None => Err(self.failed(format!("{} is missing", place()), mend)),
        }
    }

    fn failed(&self, what: String, mend: &str) -> MediaError {
        MediaError::new(self.path.join(DATABASE).display().to_string(), what, mend)
    }
}
