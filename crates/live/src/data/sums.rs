//! A checksum over the rows of each table of the database, so that a missing or modified row is detected when
//! the drive starts. The bytes of pages and sectors have checksums of their own.

use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, OptionalExtension, Params, params};
use std::collections::BTreeMap;
use wordline_hash::fnv1a;

/// A table whose rows are numbered.
#[derive(Debug)]
pub(crate) struct Table {
    pub name: &'static str,
    /// The column with the row number.
    key: &'static str,
    /// The columns that the checksum covers: each value of a row, or a checksum in its place.
    columns: &'static str,
}

pub(crate) const PAGE: Table = Table {
    name: "page",
    key: "id",
    columns: "id, logical_page, sectors, offset, version, sequence, checksum, at, bytes",
};
/// The same in a database of before.
const PAGE_BEFORE: Table =
    Table { columns: "id, logical_page, sectors, offset, version, sequence, checksum, length(data)", ..PAGE };
pub(crate) const BLOCK: Table = Table {
    name: "block",
    key: "block",
    columns: "block, region, mode, erases_then, opened, erases, slots, half_erased, base",
};
pub(crate) const TRIM_PAGE: Table =
    Table { name: "trim_page", key: "physical_page", columns: "physical_page, versions" };
pub(crate) const PROTECTED_WRITE: Table =
    Table { name: "protected_write", key: "id", columns: "id, version, checksum, length(data)" };
pub(crate) const PROTECTED_TRIM: Table =
    Table { name: "protected_trim", key: "entry", columns: "entry, version" };
pub(crate) const AFTER_CUT: Table =
    Table { name: "after_cut", key: "sector", columns: "sector, checksum, length(data)" };
pub(crate) const DAMAGED: Table = Table { name: "damaged", key: "sector", columns: "sector" };

const ALL: [&Table; 7] = [&PAGE, &BLOCK, &TRIM_PAGE, &PROTECTED_WRITE, &PROTECTED_TRIM, &AFTER_CUT, &DAMAGED];

/// Keys of the table of notes that have their own sum.
const SUMMED: [&str; 4] = ["drive", "wear", "now_ns", "folded"];

impl Table {
    /// The version of a row, if it exists.
    pub(crate) fn version(&self, t: &Connection, key: u64) -> rusqlite::Result<Option<u64>> {
        let sql = format!("SELECT version FROM {} WHERE {} = ?1", self.name, self.key);
        t.prepare_cached(&sql)?.query_row([key], |row| row.get(0)).optional()
    }
}

/// The number of rows of each table, and the sum of their hashes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Sums(BTreeMap<String, (u64, u64)>);

/// Row of the table of pages: all its columns.
pub(crate) type PageRow = [Option<i64>; 9];

/// The same for a row of numbers.
fn hash_of_numbers(table: &str, row: &[Option<i64>]) -> u64 {
    let mut bytes = table.as_bytes().to_vec();
    for number in row {
        bytes.push(u8::from(number.is_some()));
        number.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    }
    fnv1a(bytes)
}

/// FNV-1a over the name of the table and the values of a row.
fn hash_of(table: &str, row: &rusqlite::Row<'_>) -> rusqlite::Result<u64> {
    let mut bytes = table.as_bytes().to_vec();
    for at in 0..row.as_ref().column_count() {
        match row.get_ref(at)? {
            ValueRef::Null => bytes.push(0),
            ValueRef::Integer(n) => {
                bytes.push(1);
                bytes.extend(n.to_le_bytes());
            }
            ValueRef::Real(n) => {
                bytes.push(2);
                bytes.extend(n.to_le_bytes());
            }
            ValueRef::Text(value) | ValueRef::Blob(value) => {
                bytes.push(3);
                bytes.extend((value.len() as u64).to_le_bytes());
                bytes.extend(value);
            }
        }
    }
    Ok(fnv1a(bytes))
}

impl Sums {
    /// The recorded sums.
    pub(crate) fn noted(t: &Connection) -> rusqlite::Result<Sums> {
        let text: String = noted(t, "rows")?.unwrap_or_default();
        let mut sums = Sums::default();
        for line in text.lines() {
            let mut words = line.split(' ');
            if let (Some(name), Some(Ok(rows)), Some(Ok(sum))) =
                (words.next(), words.next().map(str::parse), words.next().map(str::parse))
            {
                sums.0.insert(name.to_string(), (rows, sum));
            }
        }
        Ok(sums)
    }

    /// The sums of the rows as found.
    pub(crate) fn found(t: &Connection) -> rusqlite::Result<Sums> {
        Sums::found_in(t, &ALL)
    }

    fn found_in(t: &Connection, all: &[&Table]) -> rusqlite::Result<Sums> {
        let mut sums = Sums::default();
        for table in all {
            let sql = format!("SELECT {} FROM {}", table.columns, table.name);
            let mut query = t.prepare(&sql)?;
            let mut rows = query.query([])?;
            while let Some(row) = rows.next()? {
                sums.count(table, hash_of(table.name, row)?);
            }
        }
        Ok(sums)
    }

    /// Record the sums, with a checksum of the other notes.
    pub(crate) fn note(&self, t: &Connection) -> rusqlite::Result<()> {
        let line = |(name, (rows, sum)): (&String, &(u64, u64))| format!("{name} {rows} {sum}\n");
        let text: String = self.0.iter().map(line).collect();
        note(t, "rows", &text)?;
        note(t, "check", &Sums::of_notes(t)?)
    }

    /// A checksum of the other notes.
    fn of_notes(t: &Connection) -> rusqlite::Result<i64> {
        let mut sum = 0u64;
        for key in SUMMED.into_iter().chain(["rows"]) {
            let mut query = t.prepare_cached("SELECT key, value FROM drive WHERE key = ?1")?;
            let hash = query.query_row([key], |row| hash_of("drive", row)).optional()?;
            sum = sum.wrapping_add(hash.unwrap_or(0));
        }
        Ok(sum as i64)
    }

    /// What in the database differs from what was written, in words.
    pub(crate) fn wrong(t: &Connection) -> rusqlite::Result<Option<String>> {
        Sums::wrong_in(t, &ALL)
    }

    /// The same for a database that has the bytes of pages.
    pub(crate) fn wrong_before(t: &Connection) -> rusqlite::Result<Option<String>> {
        let mut all = ALL;
        all[0] = &PAGE_BEFORE;
        Sums::wrong_in(t, &all)
    }

    fn wrong_in(t: &Connection, all: &[&Table]) -> rusqlite::Result<Option<String>> {
        if noted::<i64>(t, "check")? != Some(Sums::of_notes(t)?) {
            return Ok(Some("the description of the drive is damaged".to_string()));
        }
        let (noted, found) = (Sums::noted(t)?, Sums::found_in(t, all)?);
        let wrong = all.iter().find(|table| noted.of(table) != found.of(table));
        Ok(wrong.map(|table| {
            let (then, now) = (noted.of(table).0, found.of(table).0);
            format!("table {}: {now} rows, but {then} were written", table.name)
        }))
    }

    fn of(&self, table: &Table) -> (u64, u64) {
        self.0.get(table.name).copied().filter(|(rows, _)| *rows > 0).unwrap_or_default()
    }

    fn count(&mut self, table: &Table, hash: u64) {
        let (rows, sum) = self.0.entry(table.name.to_string()).or_default();
        (*rows, *sum) = (*rows + 1, sum.wrapping_add(hash));
    }

    /// Remove the rows with these numbers; the last number is included.
    pub(crate) fn remove(
        &mut self,
        t: &Connection,
        table: &Table,
        first: u64,
        last: u64,
    ) -> rusqlite::Result<()> {
        let Table { name, key, columns } = table;
        let (mut removed, mut sum) = (0, 0u64);
        let sql = format!("SELECT {columns} FROM {name} WHERE {key} BETWEEN ?1 AND ?2");
        let mut query = t.prepare_cached(&sql)?;
        let mut rows = query.query([first, last])?;
        while let Some(row) = rows.next()? {
            removed += 1;
            sum = sum.wrapping_add(hash_of(name, row)?);
        }
        if removed > 0 {
            t.prepare_cached(&format!("DELETE FROM {name} WHERE {key} BETWEEN ?1 AND ?2"))?
                .execute([first, last])?;
            let (rows, of) = self.0.entry((*name).to_string()).or_default();
            (*rows, *of) = (rows.saturating_sub(removed), of.wrapping_sub(sum));
        }
        Ok(())
    }

    /// Insert or replace the row of a page.
    pub(crate) fn put_page(&mut self, t: &Connection, row: &PageRow) -> rusqlite::Result<()> {
        let key = row[0].unwrap_or(0) as u64;
        self.remove(t, &PAGE, key, key)?;
        let mut insert = t.prepare_cached("INSERT INTO page VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
        insert.execute(rusqlite::params_from_iter(row))?;
        self.count(&PAGE, hash_of_numbers(PAGE.name, row));
        Ok(())
    }

    /// Note that a page has no bytes any more.
    pub(crate) fn clear_page(&mut self, t: &Connection, key: u64) -> rusqlite::Result<()> {
        let mut query = t.prepare_cached(
            "SELECT id, logical_page, sectors, offset, version, sequence, checksum, at, bytes FROM page WHERE id = ?1",
        )?;
        let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<PageRow> {
            let mut numbers = PageRow::default();
            for (at, number) in numbers.iter_mut().enumerate() {
                *number = row.get(at)?;
            }
            Ok(numbers)
        };
        let Some(mut row) = query.query_row([key], read).optional()? else { return Ok(()) };
        let before = hash_of_numbers(PAGE.name, &row);
        row[6..].fill(None);
        t.prepare_cached("UPDATE page SET checksum = NULL, at = NULL, bytes = NULL WHERE id = ?1")?
            .execute([key])?;
        let (_, sum) = self.0.entry(PAGE.name.to_string()).or_default();
        *sum = sum.wrapping_sub(before).wrapping_add(hash_of_numbers(PAGE.name, &row));
        Ok(())
    }

    /// Insert or replace a row.
    pub(crate) fn put(
        &mut self,
        t: &Connection,
        table: &Table,
        key: u64,
        row: impl Params,
    ) -> rusqlite::Result<()> {
        self.remove(t, table, key, key)?;
        let Table { name, key: column, columns } = table;
        let places = vec!["?"; columns.split(", ").count()].join(", ");
        t.prepare_cached(&format!("INSERT INTO {name} VALUES ({places})"))?.execute(row)?;
        let sql = format!("SELECT {columns} FROM {name} WHERE {column} = ?1");
        let hash = t.prepare_cached(&sql)?.query_row([key], |row| hash_of(name, row))?;
        self.count(table, hash);
        Ok(())
    }
}

/// The note under a key.
pub(crate) fn noted<T: FromSql>(t: &Connection, key: &str) -> rusqlite::Result<Option<T>> {
    t.prepare_cached("SELECT value FROM drive WHERE key = ?1")?.query_row([key], |row| row.get(0)).optional()
}

/// Write a note under a key.
pub(crate) fn note(t: &Connection, key: &str, value: &dyn rusqlite::ToSql) -> rusqlite::Result<()> {
    t.prepare_cached("REPLACE INTO drive VALUES (?1, ?2)")?.execute(params![key, value]).map(drop)
}
