//! Converts the database of a folder of before, which has the bytes of pages in its rows.

use crate::data::page_file::PageFile;
use crate::data::rows::{FORMAT, TABLES};
use crate::data::sums::Sums;
use rusqlite::Connection;
use rusqlite::types::ValueRef;
use std::io;

/// Bytes of ranges in the file of pages: those of units of before are multiples of it.
const GRAIN: u64 = 4096;

/// Why a database of before cannot be converted.
pub(crate) enum NotConverted {
    Sql(rusqlite::Error),
    Io(io::Error),
}

impl From<rusqlite::Error> for NotConverted {
    fn from(e: rusqlite::Error) -> NotConverted {
        NotConverted::Sql(e)
    }
}

impl From<io::Error> for NotConverted {
    fn from(e: io::Error) -> NotConverted {
        NotConverted::Io(e)
    }
}

/// Move the bytes of all pages to their file, in one transaction. `unit` is the bytes of a page, if known.
pub(crate) fn convert(
    database: &mut Connection,
    pages: &PageFile,
    unit: Option<u64>,
) -> Result<(), NotConverted> {
    pages.shorten(0)?;
    let grain = unit.filter(|unit| *unit > 1).unwrap_or(GRAIN);
    let t = database.transaction()?;
    t.execute_batch("DROP VIEW spare_area; ALTER TABLE page RENAME TO page_before;")?;
    for (kind, name) in [("TABLE", "page "), ("VIEW", "spare_area ")] {
        let begin = format!("CREATE {kind} {name}");
        let statement = TABLES.split_inclusive(';').map(str::trim).find(|sql| sql.contains(&begin));
        t.execute_batch(statement.unwrap_or_default())?;
    }
    {
        let mut query = t.prepare("SELECT id, data FROM page_before WHERE data IS NOT NULL ORDER BY id")?;
        let mut place = t.prepare(
            "INSERT INTO page SELECT id, logical_page, sectors, offset, version, sequence, checksum, ?2, length(data)
               FROM page_before WHERE id = ?1",
        )?;
        let (mut rows, mut end) = (query.query([])?, 0u64);
        while let Some(row) = rows.next()? {
            let ValueRef::Blob(bytes) = row.get_ref(1)? else { continue };
            pages.write(&mut [(end, bytes)])?;
            place.execute((row.get::<_, i64>(0)?, end as i64))?;
            end += (bytes.len() as u64).next_multiple_of(grain);
        }
        t.execute(
            "INSERT INTO page SELECT id, logical_page, sectors, offset, version, sequence, NULL, NULL, NULL
               FROM page_before WHERE data IS NULL",
            [],
        )?;
    }
    t.execute_batch("DROP TABLE page_before")?;
    Sums::found(&t)?.note(&t)?;
    t.pragma_update(None, "user_version", FORMAT)?;
    pages.sync()?;
    t.commit()?;
    // The database gives back the room of the bytes.
    database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); VACUUM;")?;
    Ok(())
}
