//! The changes of several records of the log as one: the database gets only what is left of them after the last, since
//! blocks change with each record.

use crate::data::record::{BlockState, Held, PagePart, Record};
use crate::data::row_id::{LAST_PART, row_id};
use crate::data::sums::{
    AFTER_CUT, BLOCK, DAMAGED, PAGE, PROTECTED_TRIM, PROTECTED_WRITE, PageRow, Sums, TRIM_PAGE, note,
};
use rusqlite::{Transaction, params};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::RangeInclusive;
use wordline_ftl::Oob;

/// Bytes with their checksum.
#[derive(Clone, Copy)]
struct Checked<'a> {
    checksum: u32,
    bytes: &'a [u8],
}

/// What becomes of a row of protected RAM.
struct Row<T> {
    /// The row of the database is obsolete, whatever its version.
    is_over: bool,
    newest: Option<T>,
}

impl<T> Default for Row<T> {
    fn default() -> Row<T> {
        Row { is_over: false, newest: None }
    }
}

impl<T> Row<T> {
    const OVER: Row<T> = Row { is_over: true, newest: None };
}

/// A part of a page.
#[derive(Clone, Copy)]
struct Page<'a> {
    oob: Oob,
    /// Its bytes in the file of pages.
    filed: Option<Held>,
    /// Its bytes, if they are in the log.
    logged: Option<Checked<'a>>,
}

impl Page<'_> {
    fn row(&self, id: u64) -> PageRow {
        let Oob { span, version, sequence } = self.oob;
        let (filed, number) = (self.filed, |n: u64| Some(n as i64));
        [
            number(id),
            Some(span.lpn.0.into()),
            Some(span.mask.0.into()),
            Some(span.offset.into()),
            number(version),
            number(sequence),
            filed.map(|held| held.checksum.into()),
            filed.map(|held| held.at as i64),
            filed.map(|held| held.length.into()),
        ]
    }
}

/// What is left of records, in their order.
#[derive(Default)]
pub(crate) struct Merged<'a> {
    emptied: BTreeMap<u32, u32>,
    pages: BTreeMap<u64, Page<'a>>,
    /// Pages of before whose bytes are replaced.
    replaced: BTreeSet<u64>,
    blocks: BTreeMap<u32, BlockState>,
    trim_pages: BTreeMap<u32, Vec<u64>>,
    writes: BTreeMap<u64, Row<(u64, Checked<'a>)>>,
    trims: BTreeMap<u64, Row<u64>>,
    trims_are_all: bool,
    left: BTreeMap<u64, Option<Checked<'a>>>,
    damaged: BTreeMap<u64, bool>,
    wear: Option<Vec<u8>>,
    now: Option<u64>,
}

/// The physical pages of a block.
pub(crate) fn pages_of(block: u32, slot_shift: u32) -> RangeInclusive<u32> {
    let first = block << slot_shift;
    first..=first + ((1 << slot_shift) - 1)
}

impl<'a> Merged<'a> {
    /// Add the next record, with its data.
    pub(crate) fn add(&mut self, record: Record, data: &'a [u8]) {
        let checked = |held: Held| Checked {
            checksum: held.checksum,
            bytes: &data[held.at as usize..][..held.length as usize],
        };
        for (block, slot_shift) in record.emptied {
            let pages = pages_of(block, slot_shift);
            let parts = row_id(*pages.start(), 0)..=row_id(*pages.end(), LAST_PART);
            let over: Vec<u64> = self.pages.range(parts.clone()).map(|(id, _)| *id).collect();
            over.iter().for_each(|id| _ = self.pages.remove(id));
            let over: Vec<u64> = self.replaced.range(parts).copied().collect();
            over.iter().for_each(|id| _ = self.replaced.remove(id));
            self.trim_pages.retain(|page, _| !pages.contains(page));
            self.emptied.insert(block, slot_shift);
        }
        let page = |page: PagePart| Page { oob: page.oob, filed: None, logged: page.data.map(checked) };
        self.pages.extend(record.pages.into_iter().map(|part| (part.id, page(part))));
        for (id, held) in record.later.filed {
            if let Some(page) = self.pages.get_mut(&id) {
                page.filed = Some(held);
            }
        }
        for id in record.later.replaced {
            if let Some(page) = self.pages.get_mut(&id) {
                (page.filed, page.logged) = (None, None);
            } else {
                self.replaced.insert(id);
            }
        }
        self.blocks.extend(record.blocks.into_iter().map(|block| (block.block, block)));
        self.trim_pages.extend(record.trim_pages);
        // Moved data enter protected RAM with their old version, and may be older than what is there.
        for (id, version, held) in record.writes {
            let row = self.writes.entry(id).or_default();
            if row.newest.is_none_or(|(there, _)| there <= version) {
                row.newest = Some((version, checked(held)));
            }
        }
        if record.trims_are_all {
            self.trims.clear();
            self.trims_are_all = true;
        }
        for (entry, version) in record.trims {
            let row = self.trims.entry(entry).or_default();
            row.newest = row.newest.max(Some(version));
        }
        self.writes.extend(record.writes_over.into_iter().map(|id| (id, Row::OVER)));
        self.trims.extend(record.trims_over.into_iter().map(|entry| (entry, Row::OVER)));
        self.left.extend(record.left.into_iter().map(|(sector, held)| (sector, held.map(checked))));
        self.damaged.extend(record.damaged);
        self.wear = record.wear.or(self.wear.take());
        self.now = Some(record.now);
    }

    /// Move bytes of pages from the log to the file of pages. Returns their row numbers and places.
    pub(crate) fn file(&mut self, put: impl Fn(&[u8]) -> io::Result<u64>) -> io::Result<Vec<(u64, Held)>> {
        let mut moved = vec![];
        for (id, page) in &mut self.pages {
            if let Some(Checked { checksum, bytes }) = page.logged.take() {
                let held = Held { at: put(bytes)?, length: bytes.len() as u32, checksum };
                page.filed = Some(held);
                moved.push((*id, held));
            }
        }
        Ok(moved)
    }

    /// Write to the database what is left.
    pub(crate) fn apply(&self, t: &Transaction<'_>, sums: &mut Sums) -> rusqlite::Result<()> {
        for (block, slot_shift) in &self.emptied {
            let pages = pages_of(*block, *slot_shift);
            let (first, last) = (*pages.start(), *pages.end());
            sums.remove(t, &PAGE, row_id(first, 0), row_id(last, LAST_PART))?;
            sums.remove(t, &TRIM_PAGE, first.into(), last.into())?;
        }
        for id in &self.replaced {
            sums.clear_page(t, *id)?;
        }
        for (id, page) in &self.pages {
            sums.put_page(t, &page.row(*id))?;
        }
        for block in self.blocks.values() {
            let header = block.header;
            let row = params![
                block.block,
                header.map(|h| h.region.0),
                header.map(|h| h.mode.key()),
                header.map(|h| h.erases),
                header.map(|h| h.opened),
                block.erases,
                block.slots,
                block.half_erased,
                block.base
            ];
            sums.put(t, &BLOCK, block.block.into(), row)?;
        }
        for (page, versions) in &self.trim_pages {
            let bytes: Vec<u8> = versions.iter().flat_map(|v| v.to_le_bytes()).collect();
            sums.put(t, &TRIM_PAGE, (*page).into(), params![page, bytes])?;
        }
        self.apply_protected(t, sums)?;
        for (sector, data) in &self.left {
            match data {
                Some(data) => {
                    sums.put(t, &AFTER_CUT, *sector, params![sector, data.checksum, data.bytes])?;
                }
                None => sums.remove(t, &AFTER_CUT, *sector, *sector)?,
            }
        }
        for (sector, is_damaged) in &self.damaged {
            if *is_damaged {
                sums.put(t, &DAMAGED, *sector, params![sector])?;
            } else {
                sums.remove(t, &DAMAGED, *sector, *sector)?;
            }
        }
        if let Some(wear) = &self.wear {
            note(t, "wear", wear)?;
        }
        self.now.map_or(Ok(()), |now| note(t, "now_ns", &now))
    }

    /// Write what protected RAM holds. Data that leave flash for it may have no other copy once their block is erased.
    fn apply_protected(&self, t: &Transaction<'_>, sums: &mut Sums) -> rusqlite::Result<()> {
        for (id, row) in &self.writes {
            if row.is_over {
                sums.remove(t, &PROTECTED_WRITE, *id, *id)?;
            }
            let Some((version, data)) = row.newest else { continue };
            if PROTECTED_WRITE.version(t, *id)?.is_none_or(|there| there <= version) {
                sums.put(t, &PROTECTED_WRITE, *id, params![id, version, data.checksum, data.bytes])?;
            }
        }
        if self.trims_are_all {
            sums.remove(t, &PROTECTED_TRIM, 0, i64::MAX as u64)?;
        }
        for (entry, row) in &self.trims {
            if row.is_over {
                sums.remove(t, &PROTECTED_TRIM, *entry, *entry)?;
            }
            let Some(version) = row.newest else { continue };
            if PROTECTED_TRIM.version(t, *entry)?.is_none_or(|there| there <= version) {
                sums.put(t, &PROTECTED_TRIM, *entry, params![entry, version])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::record::hold;
    use crate::data::rows::{LATER, TABLES};
    use rusqlite::Connection;
    use wordline_ftl::Span;
    use wordline_units::{Lpn, SectorMask};

    /// A page of four sectors at a place.
    fn page(data: &mut Vec<u8>, ppn: u32, lpn: u32, version: u64) -> PagePart {
        let span = Span { lpn: Lpn(lpn), mask: SectorMask::first(4), offset: 0 };
        let oob = Oob { span, version, sequence: version };
        PagePart { id: row_id(ppn, 0), oob, data: Some(hold(data, &[version as u8; 64])) }
    }

    /// The rows of both tables with data: place and version.
    fn rows(t: &Transaction<'_>) -> [Vec<(u64, u64)>; 2] {
        ["page", "protected_write"].map(|table| {
            let mut query = t.prepare(&format!("SELECT id, version FROM {table} ORDER BY id")).unwrap();
            let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect()
        })
    }

    #[test]
    fn database_gets_what_follows_the_last_record() {
        let mut database = Connection::open_in_memory().unwrap();
        database.execute_batch(&format!("{TABLES} {LATER}")).unwrap();
        let t = database.transaction().unwrap();
        let mut sums = Sums::noted(&t).unwrap();
        let (mut first, mut second) = (vec![], vec![]);
        let held = hold(&mut first, &[5; 16]);
        // Of the first record: a page that stays, one whose block is erased, and sectors of both in protected RAM.
        let before = Record {
            pages: vec![page(&mut first, 1, 7, 5), page(&mut first, 16, 8, 5)],
            writes: vec![(row_id(7, 0), 5, held), (row_id(7, 3), 6, held), (row_id(8, 0), 5, held)],
            trims: vec![(1, 9), (2, 9)],
            ..Record::default()
        };
        let held = hold(&mut second, &[6; 16]);
        let after = Record {
            emptied: vec![(4, 2)],
            pages: vec![page(&mut second, 17, 9, 6)],
            writes: vec![(row_id(8, 0), 4, held), (row_id(9, 1), 7, held)],
            writes_over: vec![row_id(9, 1)],
            trims: vec![(1, 8)],
            trims_over: vec![2],
            now: 3,
            ..Record::default()
        };
        let mut merged = Merged::default();
        merged.add(before, &first);
        merged.add(after, &second);
        merged.apply(&t, &mut sums).unwrap();
        let wanted = [
            vec![(row_id(1, 0), 5), (row_id(17, 0), 6)],
            vec![(row_id(7, 0), 5), (row_id(7, 3), 6), (row_id(8, 0), 5)],
        ];
        assert_eq!(rows(&t), wanted);
        assert_eq!([1, 2].map(|entry| PROTECTED_TRIM.version(&t, entry).unwrap()), [Some(9), None]);
        assert_eq!(sums, Sums::found(&t).unwrap());
        assert_eq!(crate::data::sums::noted::<u64>(&t, "now_ns").unwrap(), Some(3));
    }
}
